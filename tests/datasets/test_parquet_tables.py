"""Tables in parquet files: what their columns hold, what is said of files that are none, and pictures as media."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clip_files import taking
from glyphrank.datasets import parquet_tables
from glyphrank.datasets.parquet_tables import Kind, Table, pictures
from glyphrank.digests import digest_file, digest_text
from glyphrank.errors import DataError
from glyphrank.identity import stamp_of
from glyphrank.media.faults import MediaError
from glyphrank.media.look import look
from glyphrank.records import Cell, Media
from odd_files import odd_file
from parquet_damage import break_footer, write_encrypted
from parquet_files import png, write_pictures

RED, BLUE = png("red"), png("blue")


def write(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def fault(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        Table(path)
    return str(caught.value)


def of(path: Path, root: Path | None = None) -> list[Media]:
    return pictures(path, "image", root or path.parent, digest_file)


def test_what_columns_hold_is_told_by_their_type(tmp_path: Path) -> None:
    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    types = {
        Kind.text: [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
        Kind.whole: [pa.int64(), pa.uint8()],
        Kind.number: [pa.float32(), pa.float64(), pa.decimal128(5, 2)],
        Kind.whole_list: [pa.list_(pa.int32()), pa.large_list(pa.int64())],
        Kind.picture: [picture, pa.binary(), pa.large_binary()],
        Kind.other: [pa.list_(pa.string()), pa.struct([("a", pa.int8())]), pa.bool_(), pa.timestamp("s")],
    }
    columns = {f"{kind.name}{n}": pa.nulls(1, form) for kind, forms in types.items() for n, form in enumerate(forms)}
    table = Table(write(tmp_path / "a.parquet", **columns))
    assert {name: kind.name for name, kind in table.columns.items()} == {name: name[:-1] for name in columns}


def test_missing_and_wrong_columns_are_named_together(tmp_path: Path) -> None:
    table = Table(write(tmp_path / "a.parquet", id=[1], gold=["3"]))
    table.check({"id": [Kind.text, Kind.whole]})
    with pytest.raises(DataError) as caught:
        table.check({"id": [Kind.text], "gold": [Kind.whole_list], "query": [Kind.text]})
    assert str(caught.value) == (
        f"{tmp_path}/a.parquet: the column 'id' is int64; wanted text; the column 'gold' is string; wanted lists of "
        "whole numbers; no column 'query' (wanted: text). Its columns are id, gold"
    )


def test_a_column_that_stands_twice_is_a_fault(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["id", "id"]), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="the column 'id' stands 2 times"):
        Table(tmp_path / "a.parquet").check({"id": [Kind.text]})


def test_rows_come_in_order_over_all_row_groups_with_nulls(tmp_path: Path) -> None:
    table = Table(write(tmp_path / "a.parquet", id=["a", None, "c"], rows=[[1, 2], [], None], left=[1, 2, 3]))
    assert table.rows == 3
    assert table.read(["rows", "id"]) == [([1, 2], "a"), ([], None), (None, "c")]
    assert [row for batch in table.batches(["id"]) for row in batch] == [("a",), (None,), ("c",)]


def test_a_table_without_rows_is_read_as_none(tmp_path: Path) -> None:
    table = Table(write(tmp_path / "a.parquet", id=pa.array([], pa.string())))
    assert (table.rows, table.read(["id"])) == (0, [])


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", "a Git LFS pointer, which stands for"),
        (b"\n<!DOCTYPE html><title>404</title>", "a page in HTML or XML, perhaps what a server said instead"),
        (b'{"id": "a"}\n', "JSON, not a parquet file"),
        ("\ufeff질문,답\n".encode(), "a text that begins with '\\ufeff질문,답\\n', not a parquet file"),
        (("가" * 900).encode(), "a text that begins with '가가"),
        (b"PK\x03\x04\xff\xfe", r"a file that begins with b'PK\x03\x04\xff\xfe', not a parquet file"),
        (b"", "the file is empty (0 bytes); wanted a parquet file"),
        (b"PAR1" + b"\0" * 400, "the parquet file cannot be opened ("),
        (b"PARE" + b"\0" * 400, "the parquet file is encrypted; wanted one that is not"),
    ],
)
def test_what_a_file_is_that_is_no_parquet_file_is_said(tmp_path: Path, content: bytes, what: str) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    assert fault(tmp_path / "a.parquet").startswith(f"{tmp_path}/a.parquet: {what}")


def test_a_missing_file_a_folder_and_a_pipe_are_named(tmp_path: Path) -> None:
    assert fault(tmp_path / "a.parquet") == f"{tmp_path}/a.parquet: there is no such file; wanted a parquet file"
    assert "cannot be read (a directory, not a file)" in fault(tmp_path)
    assert "cannot be read (a named pipe, not a file)" in fault(odd_file(tmp_path / "pipe", "a named pipe"))


@pytest.mark.parametrize("kept", [0.3, 0.7, 0.999])
def test_a_file_that_is_cut_off_is_to_be_fetched_again(tmp_path: Path, kept: float) -> None:
    content = write(tmp_path / "a.parquet", id=["a", "b", "c"]).read_bytes()
    (tmp_path / "a.parquet").write_bytes(content[: int(len(content) * kept)])
    assert "cannot be opened (" in fault(tmp_path / "a.parquet")
    assert fault(tmp_path / "a.parquet").endswith("it is damaged or cut off: fetch it again")


def test_damage_inside_is_named_by_the_row_from_which_on_nothing_can_be_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", id=[f"{row:04}" for row in range(6)])
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).dictionary_page_offset
    content = path.read_bytes()
    path.write_bytes(content[:start] + b"\xff" * 9 + content[start + 9 :])
    with pytest.raises(DataError, match=r"a\.parquet: from row 0 on it cannot be read \(.*fetch it again"):
        Table(path).read(["id"])


@pytest.mark.parametrize("plain_footer", [True, False])
def test_what_is_encrypted_is_said_to_be(tmp_path: Path, plain_footer: bool) -> None:
    table = pa.table({"id": ["a", "b"], "text": ["x", "y"]})
    path = write_encrypted(tmp_path / "a.parquet", table, "id", plain_footer)
    with pytest.raises(DataError, match=r"a\.parquet: the parquet file is encrypted.*; wanted one that is not$"):
        Table(path).read(["id"])
    if plain_footer:
        assert Table(path).read(["text"]) == [("x",), ("y",)]


def test_pictures_of_a_file_whose_footer_is_damaged_are_a_fault_of_the_file(tmp_path: Path) -> None:
    path = break_footer(write_pictures(tmp_path / "a.parquet", [RED, BLUE]))
    with pytest.raises(DataError, match=r"a\.parquet: the parquet file's footer is damaged \(.*\); fetch it again$"):
        of(path)


@pytest.mark.parametrize("form", [None, pa.binary()], ids=str)
def test_pictures_are_cells_of_the_file(tmp_path: Path, form: Any) -> None:  # case C05
    path = write_pictures(tmp_path / "a.parquet", [RED, BLUE, None, RED], form)
    found = of(path)
    assert [one.cell for one in found] == [Cell("image", row) for row in range(4)]
    assert {one.path for one in found} == {path}
    assert {one.stamp for one in found} == {stamp_of(path)}
    assert found[1].digest == digest_text(digest_file(path), "image", "1")
    assert len({one.digest for one in found}) == 4


def test_two_columns_of_pictures_in_one_file_are_different_media(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", image=[RED], thumbnail=[BLUE])
    assert of(path)[0].digest != pictures(path, "thumbnail", tmp_path, digest_file)[0].digest


def test_no_picture_is_read_where_the_file_says_that_none_is_null(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("pictures were read")

    path = write_pictures(tmp_path / "a.parquet", [{"bytes": RED, "path": "a.png"}] * 4)
    monkeypatch.setattr(parquet_tables, "_field", fail)
    assert all(one.cell for one in of(path))


@pytest.mark.parametrize("statistics", [True, False])
def test_a_row_with_a_path_and_no_bytes_is_the_file_beside(tmp_path: Path, statistics: bool) -> None:  # case C05
    form = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    values = [
        {"bytes": RED, "path": "red.png"},
        {"bytes": None, "path": "pages/blue.png"},
        {"bytes": None, "path": None},
        None,
        {"bytes": None, "path": ""},
        {"bytes": None, "path": "pages/blue.png"},
    ]
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "blue.png").write_bytes(BLUE)
    table = pa.table({"image": pa.array(values, form)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2, write_statistics=statistics)
    found = of(tmp_path / "a.parquet")
    assert [one.cell.row if one.cell else one.path.name for one in found] == [0, "blue.png", 2, 3, 4, "blue.png"]
    assert found[1] == found[5]
    assert found[1].digest == digest_text(digest_file(tmp_path / "pages" / "blue.png"), "")
    for row in (2, 3, 4):
        with pytest.raises(MediaError, match=rf"^a\.parquet row {row}: the picture is null$"):
            look(found[row], taking(1))
    assert look(found[1], taking(1)).images[0][0, 0].tolist() == [0, 0, 255]


def test_a_column_of_texts_names_files_below_the_root_or_beside_the_table(tmp_path: Path) -> None:  # case C05
    (tmp_path / "data").mkdir()
    (tmp_path / "red.png").write_bytes(RED)
    (tmp_path / "data" / "blue.png").write_bytes(BLUE)
    path = write(tmp_path / "data" / "a.parquet", image=["red.png", "blue.png", "none.png", None])
    found = of(path, tmp_path)
    assert [one.path for one in found[:3]] == [tmp_path / "red.png", tmp_path / "data/blue.png", tmp_path / "none.png"]
    assert found[3].cell == Cell("image", 3)
    with pytest.raises(MediaError, match=r"^none\.png: there is no such file$"):
        look(found[2], taking(1))


@pytest.mark.parametrize(("saved", "named"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_file_beside_is_found_whatever_its_unicode_form(tmp_path: Path, saved: Any, named: Any) -> None:  # case C07
    (tmp_path / unicodedata.normalize(saved, "쪽.png")).write_bytes(RED)
    path = write(tmp_path / "a.parquet", image=[unicodedata.normalize(named, "쪽.png")])
    assert look(of(path)[0], taking(1)).images[0][0, 0].tolist() == [255, 0, 0]


def test_paths_that_lead_out_of_the_folder_or_fit_two_files_are_named_by_row(tmp_path: Path) -> None:  # case C07
    for form in ("NFC", "NFD"):
        (tmp_path / unicodedata.normalize(form, "쪽.png")).write_bytes(RED)
    path = write(tmp_path / "a.parquet", image=["x.png", "../x.png", "/etc/x.png", "쪽.png"])
    with pytest.raises(DataError) as caught:
        of(path)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{path}: 3 faults:"
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["row 1", "row 2", "row 3"]
    assert "image is '../x.png'; wanted a path below the dataset's folder" in lines[1]


def test_a_column_of_numbers_holds_no_pictures(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the column 'image' is int64; wanted pictures or text"):
        of(write(tmp_path / "a.parquet", image=[1]))
