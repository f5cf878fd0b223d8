"""Pictures in cells of parquet files: which bytes come, at what cost, and what is said where there are none."""

from __future__ import annotations

import os
import threading
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from clip_files import taking, write_clip
from glyphrank.bad_items import of_equal
from glyphrank.media.decoder import Decoder, Look, Seen
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.look import look
from glyphrank.media.parquet import cell_bytes
from glyphrank.records import Cell, Media
from odd_files import odd_file
from parquet_damage import write_encrypted
from parquet_files import COLOURS, png, write_pictures
from pdf_files import write_pdf

PNGS = [png(colour) for colour in COLOURS]
FORMS = [None, pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.binary())]


def at(path: Path, row: int, column: str = "image") -> bytes:
    return cell_bytes(path, Cell(column, row))


def fault(path: Path, row: int, column: str = "image") -> MediaError:
    with pytest.raises(MediaError) as caught:
        at(path, row, column)
    return caught.value


def media(path: Path, row: int) -> Media:
    return Media(path, None, f"digest of {path.name} {row}", cell=Cell("image", row))


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The row groups that are begun to be read, as that happens."""
    groups: list[int] = []
    original = pq.ParquetFile.iter_batches

    def noted(self: pq.ParquetFile, **options: Any) -> Any:
        groups.extend(options["row_groups"])
        return original(self, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    return groups


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_picture_comes_from_a_struct_and_from_bytes(tmp_path: Path, form: Any) -> None:  # case C05
    path = write_pictures(tmp_path / "a.parquet", PNGS, form)
    assert [at(path, row) for row in range(len(PNGS))] == PNGS


def test_rows_that_ascend_cost_one_pass_whichever_are_left_out(tmp_path: Path, begun: list[int]) -> None:
    path = write_pictures(tmp_path / "a.parquet", PNGS)
    assert [at(path, row) for row in (1, 2, 4, 5, 7)] == [PNGS[row] for row in (1, 2, 4, 5, 7)]
    assert begun == [0, 1, 2]


def test_going_back_begins_the_row_group_anew_and_going_on_skips_groups(tmp_path: Path, begun: list[int]) -> None:
    path = write_pictures(tmp_path / "a.parquet", PNGS, group=2)
    assert [at(path, row) for row in (7, 2, 3, 3, 0, 6)] == [PNGS[row] for row in (7, 2, 3, 3, 0, 6)]
    assert begun == [3, 1, 1, 0, 3]


def test_rows_of_several_files_by_turns_keep_their_places(tmp_path: Path, begun: list[int]) -> None:
    paths = [write_pictures(tmp_path / f"{name}.parquet", PNGS[number:]) for number, name in enumerate("ab")]
    for row in range(5):
        assert [at(path, row) for path in paths] == [PNGS[row], PNGS[row + 1]]
    assert begun == [0, 0, 1, 1]


def test_many_files_are_not_all_held_open(tmp_path: Path) -> None:
    open_files = Path("/proc/self/fd")
    if not open_files.is_dir():
        pytest.skip("only Linux lists the files that a process holds open")
    for number in range(30):
        at(write_pictures(tmp_path / f"{number}.parquet", PNGS[:1]), 0)
    held = [os.readlink(path) for path in open_files.iterdir() if path.is_symlink()]  # noqa: PTH115
    assert 0 < sum(name.startswith(str(tmp_path)) for name in held) <= 8


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = write_pictures(tmp_path / "a.parquet", PNGS[:4])
    assert at(path, 0) == PNGS[0]
    write_pictures(tmp_path / "new", PNGS[4:]).replace(path)
    assert at(path, 1) == PNGS[5]


def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = write_pictures(tmp_path / "a.parquet", PNGS)
    found: dict[int, list[bytes]] = {}

    def read(start: int) -> None:
        found[start] = [at(path, row) for row in range(start, 8, 2)]

    threads = [threading.Thread(target=read, args=(start,)) for start in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: PNGS[::2], 1: PNGS[1::2]}


@pytest.mark.parametrize("form", [*FORMS, pa.string()], ids=str)
def test_a_null_picture_is_named_by_its_row(tmp_path: Path, form: Any) -> None:  # case C05
    path = write_pictures(tmp_path / "corpus.parquet", [None, None], form)
    found = fault(path, 1)
    assert (found.fault, str(found)) == (MediaFault.empty, "corpus.parquet row 1: the picture is null")


def test_a_struct_without_bytes_is_a_null_picture(tmp_path: Path) -> None:  # case C05
    path = write_pictures(tmp_path / "a.parquet", [PNGS[0], {"bytes": None, "path": "x.png"}])
    assert str(fault(path, 1)) == "a.parquet row 1: the picture is null"
    assert at(path, 0) == PNGS[0]


@pytest.mark.parametrize("row", [8, 999, -1])
def test_a_row_that_is_not_there_is_named(tmp_path: Path, row: int) -> None:
    found = fault(write_pictures(tmp_path / "a.parquet", PNGS), row)
    assert found.fault is MediaFault.no_page
    assert str(found) == f"a.parquet row {row}: there is no such row; the file has 8, from 0"


def test_what_is_no_column_of_pictures_is_named(tmp_path: Path) -> None:
    path = write_pictures(tmp_path / "a.parquet", PNGS)
    assert str(fault(path, 2, "page")) == "a.parquet row 2: there is no column 'page'; the file has id, image"
    assert "a.parquet row 2: the picture is text ('p2'); wanted bytes" in str(fault(path, 2, "id"))
    pq.write_table(pa.table({"image": [1.5], "box": [{"left": 1}]}), tmp_path / "b.parquet")
    assert "the picture is of type float; wanted bytes" in str(fault(tmp_path / "b.parquet", 0))
    assert "wanted a struct with a field 'bytes'" in str(fault(tmp_path / "b.parquet", 0, "box"))


def test_a_missing_or_empty_file_and_what_is_none_are_named_with_the_row(tmp_path: Path) -> None:
    assert str(fault(tmp_path / "a.parquet", 3)) == "a.parquet row 3: there is no such file"
    (tmp_path / "a.parquet").touch()
    assert str(fault(tmp_path / "a.parquet", 3)) == "a.parquet row 3: the file is empty (0 bytes)"
    assert "odd row 3: cannot be read (a named pipe" in str(fault(odd_file(tmp_path / "odd", "a named pipe"), 3))


@pytest.mark.parametrize("content", [b"version https://git-lfs.github.com/spec/v1\n", b"PAR1" * 9, b"\x89PNG" * 99])
def test_what_is_no_parquet_file_is_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    found = fault(tmp_path / "a.parquet", 3)
    assert found.fault is MediaFault.damaged
    assert str(found).startswith("a.parquet row 3: the parquet file is damaged or none (")


@pytest.mark.parametrize("plain_footer", [True, False])
def test_a_picture_in_an_encrypted_file_is_said_to_be_encrypted(tmp_path: Path, plain_footer: bool) -> None:
    table = pq.read_table(write_pictures(tmp_path / "a.parquet", PNGS))
    path = write_encrypted(tmp_path / "b.parquet", table, "image.bytes", plain_footer)
    found = fault(path, 3)
    assert found.fault is MediaFault.encrypted
    assert str(found).startswith("b.parquet row 3: the parquet file is encrypted (")


def test_a_file_that_is_cut_off_or_damaged_inside_fails_by_row_and_other_groups_are_read(tmp_path: Path) -> None:
    path = write_pictures(tmp_path / "a.parquet", PNGS)
    whole = path.read_bytes()
    start = pq.ParquetFile(path).metadata.row_group(1).column(1).dictionary_page_offset
    path.write_bytes(whole[: len(whole) // 2])
    assert fault(path, 1).fault is MediaFault.damaged
    path.write_bytes(whole[:start] + b"\xff" * 40 + whole[start + 40 :])
    assert at(path, 1) == PNGS[1]
    assert str(fault(path, 4)).startswith("a.parquet row 4: the parquet file is damaged")
    assert at(path, 7) == PNGS[7]


def test_a_cell_is_seen_as_a_file_of_the_same_bytes(tmp_path: Path) -> None:
    turned, exif = Image.effect_noise((40, 20), 90).convert("RGB"), Image.Exif()
    exif[0x0112] = 6
    held = BytesIO()
    turned.save(held, "JPEG", exif=exif)
    deep = BytesIO()
    Image.fromarray(np.linspace(0, 65535, 64).astype(np.uint16).reshape(8, 8)).save(deep, "PNG")
    contents = [held.getvalue(), deep.getvalue(), png("red", (3000, 20))]
    path = write_pictures(tmp_path / "a.parquet", contents)
    for row, content in enumerate(contents):
        (tmp_path / "a.png").write_bytes(content)
        single = look(Media(tmp_path / "a.png", None, ""), taking(1)).images[0]
        found = look(media(path, row), taking(1))
        assert found.times is None
        assert np.array_equal(found.images[0], single)
    assert look(media(path, 0), taking(1)).images[0].shape == (40, 20, 3)


def test_a_cell_that_cannot_be_seen_is_named_by_its_row(tmp_path: Path) -> None:
    contents = [
        write_pdf(tmp_path / "a.pdf", "text").read_bytes(),
        write_clip(tmp_path / "a.mp4", 3).read_bytes(),
        b"",
        PNGS[0][:-30],
        b"\0" * 500,
        png("red", (200, 100)),
    ]
    path = write_pictures(tmp_path / "a.parquet", contents)
    said = {
        0: "holds a PDF document; of a parquet file only pictures are read",
        1: "holds a clip; of a parquet file only pictures are read",
        2: "the picture is empty (0 bytes)",
        3: "the picture is cut off",
        4: "neither a picture, nor a PDF, nor a clip by what it holds",
        5: "has 20000 pixels, wanted at most 10000",
    }
    for row, why in said.items():
        with pytest.raises(MediaError) as caught:
            look(media(path, row), taking(1, most_pixels=10_000))
        assert str(caught.value).startswith(f"a.parquet row {row}: {why}")


def test_processes_that_decode_ahead_share_the_rows_of_a_file(tmp_path: Path) -> None:
    path = write_pictures(tmp_path / "a.parquet", [*PNGS, None, b"x", *PNGS])
    items = [media(path, row) for row in range(18)]
    with Decoder(2, 60, 4) as decoder:
        seen = list(decoder.run(items, Look(taking(1), None, pixels=True)))
    assert [str(one) for one in seen if isinstance(one, MediaError)] == [
        "a.parquet row 8: the picture is null",
        "a.parquet row 9: neither a picture, nor a PDF, nor a clip by what it holds",
    ]
    wanted = [look(media(path, row), taking(1)).images[0] for row in range(8)] * 2
    found = [one.frames.images[0] for one in seen if isinstance(one, Seen) and one.frames]
    assert all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


def test_a_row_that_takes_too_long_is_named_by_its_row(tmp_path: Path) -> None:
    path = write_pictures(tmp_path / "a.parquet", [png("red", (9000, 9000))])
    with Decoder(1, 0.05, 4) as decoder:
        (seen,) = decoder.run([media(path, 0)], Look(taking(1), None, pixels=True))
    assert str(seen).startswith("a.parquet row 0: not decoded within 0.05 s")


def test_rows_of_equal_content_fail_each_in_its_own_name() -> None:
    first, second = media(Path("/x/a.parquet"), 1), media(Path("/x/a.parquet"), 17)
    other, file = media(Path("/x/b.parquet"), 1), Media(Path("/x/c.png"), None, "")
    assert of_equal("a.parquet row 1: torn", first, first) == "a.parquet row 1: torn"
    assert (
        of_equal("a.parquet row 1: torn", first, second) == "a.parquet row 17 has the content of a.parquet row 1: torn"
    )
    assert of_equal("a.parquet row 1: torn", first, other) == "b.parquet row 1 has the content of a.parquet row 1: torn"
    assert of_equal("c.png: torn", file, first) == "a.parquet row 1 has the content of c.png: torn"
    assert of_equal("a.parquet: it was changed", first, second) == "a.parquet: it was changed"


def test_a_row_whose_page_needs_more_memory_than_it_may_take_is_named(tmp_path: Path) -> None:
    noise = np.random.default_rng(7).bytes(1 << 20)
    path = write_pictures(tmp_path / "a.parquet", [noise + bytes([row]) for row in range(64)], group=64)
    with Decoder(1, 60, 0.05) as decoder:
        (seen,) = decoder.run([media(path, 0)], Look(taking(1), None, pixels=True))
    assert str(seen).startswith("a.parquet row 0: needs more memory than the 0.05 GiB that it may take")
