"""What is said about tables that are wrong: every fault with its file and row, those of all files at once."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from beir_miniature import LAYOUTS, QUESTIONS, SUBSETS, TEXTS, judged, lines, picture_files, plain, structs, table
from glyphrank.datasets.beir_hub import BeirHub
from glyphrank.errors import DataError
from glyphrank.runtime import Runtime

ITEMS = list(map(str, TEXTS))
REVISION = "0" * 40


def fault(folder: Path, subset: str | None = None, split: str = "test") -> str:
    runtime = Runtime("cpu", 1, 0, 60, 4, False, folder.parent / "outputs", folder.parent / "cache")
    with pytest.raises(DataError) as caught:
        BeirHub(folder, None, None, subset, split).load(runtime)
    return str(caught.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The dataset in parquet files, texts only."""
    plain(tmp_path / "fruit")
    return tmp_path / "fruit"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The dataset in JSON lines, texts only."""
    plain(tmp_path / "lines", None, lines, "jsonl")
    return tmp_path / "lines"


def test_the_faults_of_all_files_come_at_once(folder: Path) -> None:
    table(folder / "corpus.parquet", {"id": ["1", "2", "2", "10", "11", None], "text": ["a", "b", "c", "d", None, "x"]})
    table(folder / "queries.parquet", {"id": ["1", "2", "7", "7"], "text": ["a", " ", "c", "d"]})
    more: dict[str, list[Any]] = {"query-id": ["9", "1"], "corpus-id": ["1", "1"], "score": [1, 3]}
    table(folder / "qrels.parquet", {name: [*values, *more[name]] for name, values in judged().items()})
    assert fault(folder).splitlines() == [
        f"{folder}/corpus.parquet: 3 faults:",
        "  row 2: the id '2' stands on row 1 already; ids must be unique",
        "  row 5: id: the id is null; wanted text or a whole number",
        "  row 4: the item '11' has neither text nor picture",
        f"{folder}/queries.parquet: 2 faults:",
        "  row 1: the query '2' has no text",
        "  row 3: the id '7' stands on row 2 already; ids must be unique",
        f"{folder}/qrels.parquet: row 0 gives query '1', item '1' the gain 2 and row 8 the gain 3; wanted one gain for "
        "a pair; remove the wrong one",
        f"{folder}/qrels.parquet: 2 faults:",
        "  the query '9' is not among the 3 queries of queries.parquet",
        "  query '7' names the item '3', not among the 4 items of corpus.parquet that could be read (1 could not)",
    ]


def test_the_rows_of_json_lines_are_named_by_line(written: Path) -> None:
    text = '{"id": "1", "text": 3}\n\n{"id": "1", "text": "x"}\n[1]\n{"text": "y"}\n{"id": "2", "id": "2"}\n'
    text += f'{{"id": "3", "text": {"9" * 5000}}}\n'
    (written / "corpus.jsonl").write_text(text)
    assert fault(written).splitlines()[:7] == [
        f"{written}/corpus.jsonl: 7 faults:",
        '  line 4: JSON of the type list; wanted one JSON object a line (JSON lines), such as {"id": ..., "text": ...}',
        "  line 1: '1': text is 3; wanted text",
        "  line 3: the id '1' stands on line 1 already; ids must be unique",
        "  line 5: no id; wanted a field 'corpus-id' or 'corpus_id' or '_id' or 'id'",
        "  line 6: the key 'id' stands twice in one object; wanted it once",
        "  and 2 more",
    ]


def test_an_empty_object_has_no_id(written: Path) -> None:
    (written / "queries.jsonl").write_text("{}\n")
    message = fault(written)
    assert "queries.jsonl: line 1: no id; wanted a field 'query-id' or 'query_id' or '_id' or 'id'" in message
    assert "\n" not in message


@pytest.mark.parametrize("value", [12.0, None, "", True, ["a"], "a\0b"])
@pytest.mark.parametrize("name", ["corpus", "queries"])
def test_an_id_that_is_no_text_is_refused(written: Path, name: str, value: object) -> None:  # case M12
    lines(written / f"{name}.jsonl", {"id": ["1", value], "text": ["x", "y"]})
    message = fault(written)
    assert (
        f"{name}.jsonl: line 2: id: the id " in message or f"{name}.jsonl: 2 faults:\n  line 2: id: the id" in message
    )
    assert "wanted text" in message or "NUL" in message


@pytest.mark.parametrize(("name", "column"), [("corpus", "id"), ("queries", "id"), ("qrels", "corpus-id")])
def test_a_column_of_ids_that_became_decimal_is_one_fault(folder: Path, name: str, column: str) -> None:  # case M12
    rows: dict[str, dict[str, Any]] = {
        "corpus": {"id": ITEMS, "text": ITEMS},
        "queries": {"id": list(map(str, QUESTIONS)), "text": list(QUESTIONS.values())},
        "qrels": judged(),
    }
    values = [float(value) for value in rows[name][column]]
    table(folder / f"{name}.parquet", {**rows[name], column: [*values[:-1], None]})
    message = fault(folder)
    assert f"{name}.parquet: the ids in '{column}' are numbers such as 12.0; wanted text or whole numbers" in message
    assert "\n" not in message


@pytest.mark.parametrize("value", [None, ""])
def test_judgements_without_an_id_are_named(folder: Path, value: str | None) -> None:  # case M12
    rows = judged()
    rows["corpus-id"][3] = value
    table(folder / "qrels.parquet", rows)
    assert "qrels.parquet: row 3: corpus-id: the id is " in fault(folder)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), None])
def test_a_score_that_is_no_finite_number_is_refused(folder: Path, score: float | None) -> None:
    rows = judged()
    table(folder / "qrels.parquet", {**rows, "score": [score, *map(float, rows["score"][1:])]})
    assert "row 0: the score is " in fault(folder)
    assert "wanted a finite number" in fault(folder)


@pytest.mark.parametrize("score", ["1", True, [1]])
def test_a_score_of_another_type_is_refused(written: Path, score: object) -> None:
    lines(written / "qrels.jsonl", {"query-id": ["1"], "corpus-id": ["1"], "score": [score]})
    assert "line 1: the score is " in fault(written)
    plain(written.parent / "other")
    table(written.parent / "other" / "qrels.parquet", {"query-id": ["1"], "corpus-id": ["1"], "score": [score]})
    assert "the column 'score' is " in fault(written.parent / "other")


def test_conflicting_grades_name_both_rows(folder: Path) -> None:  # case M08
    rows = {"query-id": ["1", "2", "1"], "corpus-id": ["1", "2", "1"], "score": [1, 1, 2]}
    table(folder / "qrels.parquet", rows)
    assert "row 0 gives query '1', item '1' the gain 1 and row 2 the gain 2" in fault(folder)


def test_ids_that_are_equal_in_nfc_are_an_error(folder: Path) -> None:  # case P04
    apart = unicodedata.normalize("NFD", "각")
    table(folder / "corpus.parquet", {"id": ["각", apart, *ITEMS], "text": ["x"] * 7})
    assert f"row 1: the id '{apart}' stands on row 0 already (there as '각', equal in NFC)" in fault(folder)


def test_rows_of_several_files_are_named_with_their_file(folder: Path) -> None:
    (folder / "corpus.parquet").unlink()
    for part in (0, 1):
        table(folder / f"corpus-0000{part}-of-00002.parquet", {"id": ["1", f"{part}0"], "text": ["x", "y"]})
    message = fault(folder)
    first, second = (f"corpus-0000{part}-of-00002.parquet row 0" for part in (0, 1))
    assert f"{second}: the id '1' stands on {first} already" in message


def test_judgements_of_another_dataset_are_one_fault(folder: Path) -> None:  # case M12
    table(folder / "corpus.parquet", {"id": [f"{int(name):04}" for name in ITEMS], "text": ["x"] * 5})
    assert fault(folder) == (
        f"{folder}/qrels.parquet: none of the 5 items that it names is among the 5 items of corpus.parquet: it names "
        "'1', '10', '2'; there are '0001', '0002', '0003'; they differ by leading zeros or a '.0' at the end, as where "
        "a program took ids for numbers"
    )


@pytest.mark.parametrize("name", ["corpus", "queries", "qrels"])
def test_a_missing_column_is_named_with_those_there_are(folder: Path, name: str) -> None:
    table(folder / f"{name}.parquet", {"number": [1], "body": ["x"]})
    message = fault(folder)
    assert f"{name}.parquet: no column " in message
    assert message.endswith("Its columns are number, body")


@pytest.mark.parametrize(("column", "said"), [("text", "wanted text"), ("image", "wanted pictures or text")])
def test_a_column_of_another_kind_is_not_passed_over(folder: Path, column: str, said: str) -> None:
    table(folder / "corpus.parquet", {"id": ITEMS, "text": ITEMS, column: [{"text": "x", "title": "y"}] * 5})
    assert f"corpus.parquet: the column '{column}' is struct<text: string, title: string>; {said}" in fault(folder)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1f98\nsize 7\n", "a Git LFS pointer"),
        (b"<html>404</html>", "a page in HTML"),
        (b"", "the file is empty"),
        (b"PAR1 and nothing else", "damaged or cut off"),
    ],
)
@pytest.mark.parametrize("name", ["corpus", "queries", "qrels"])
def test_a_file_that_is_no_parquet_file_is_named(folder: Path, name: str, content: bytes, said: str) -> None:
    (folder / f"{name}.parquet").write_bytes(content)
    message = fault(folder)
    assert f"{name}.parquet: " in message
    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["corpus", "queries", "qrels"])
def test_a_table_without_rows_is_an_error(folder: Path, written: Path, name: str) -> None:
    columns = {"corpus": ["id", "text"], "queries": ["id", "text"], "qrels": ["query-id", "corpus-id"]}[name]
    empty: dict[str, Any] = {column: pyarrow.array([], pyarrow.string()) for column in columns}
    scores = {"score": pyarrow.array([], pyarrow.int64())} if name == "qrels" else {}
    table(folder / f"{name}.parquet", {**empty, **scores})
    assert f"{name}.parquet: the file has no rows" in fault(folder)
    (written / f"{name}.jsonl").write_text("\n\n")
    assert f"{name}.jsonl: the file is empty" in fault(written)


def test_an_item_with_neither_text_nor_picture_is_named(folder: Path) -> None:
    table(folder / "corpus.parquet", {"id": ITEMS, "text": ["a", None, "b", "c", None]})
    assert "row 1: the item '2' has neither text nor picture" in fault(folder)
    table(folder / "corpus.parquet", {"id": ITEMS})
    assert "corpus.parquet: 5 faults:" in fault(folder)


FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "structs": lambda values: pyarrow.array(values, structs().type),
    "bytes": lambda values: pyarrow.array([value and value["bytes"] for value in values], pyarrow.binary()),
    "all null": lambda values: pyarrow.array([None] * len(values), structs().type),
    "paths": lambda values: [value and f"images/{value['path']}" for value in values],
}


@pytest.mark.parametrize("form", FORMS)
def test_a_null_picture_without_text_is_named(folder: Path, form: str) -> None:  # case C05
    picture_files(folder)
    values = structs().to_pylist()
    values[3] = None
    table(folder / "corpus.parquet", {"id": ITEMS, "text": ["a", "b", "c", None, "d"], "image": FORMS[form](values)})
    assert fault(folder) == f"{folder}/corpus.parquet: row 3: the item '10' has neither text nor picture"


@pytest.mark.parametrize("form", ["parquet", "lines"])
def test_a_path_that_leads_out_of_the_folder_is_refused(folder: Path, written: Path, form: str) -> None:
    rows = {"id": ITEMS, "text": ITEMS, "image": ["a.png", "../b.png", "c.png", "/d.png", "e.png"]}
    if form == "parquet":
        table(folder / "corpus.parquet", rows)
    else:
        lines(written / "corpus.jsonl", rows)
    message = fault(folder if form == "parquet" else written)
    assert "2 faults" in message
    assert "image is '../b.png'; wanted a path below the dataset's folder" in message
    assert "image is '/d.png'" in message


@pytest.mark.parametrize("value", [3, {"bytes": "aGVsbG8=", "path": None}, {"path": 3}, ["a.png"]])
def test_a_picture_in_json_lines_is_a_path(written: Path, value: object) -> None:
    lines(written / "corpus.jsonl", {"id": ITEMS, "text": ITEMS, "image": [value, None, None, None, None]})
    assert "line 1: '1': image is " in fault(written)
    assert "wanted the path of a picture" in fault(written)


def test_a_picture_that_no_table_has_is_named(folder: Path) -> None:
    LAYOUTS["miracl_vision"](folder / "sets")
    table(folder / "sets/ko/images.parquet", {"file_name": ["1.png", "2.png"], "image": structs()[:2]})
    message = fault(folder / "sets", SUBSETS["miracl_vision"])
    assert "3 faults" in message
    assert "row 2: '3': the picture '3.png' is not among the 2 of ko/images.parquet" in message


def test_a_damaged_table_of_pictures_is_one_fault(folder: Path) -> None:
    LAYOUTS["miracl_vision"](folder / "sets")
    (folder / "sets/ko/images.parquet").write_bytes(b"<html>")
    message = fault(folder / "sets", SUBSETS["miracl_vision"])
    assert (
        message
        == f"{folder}/sets/ko/images.parquet: a page in HTML or XML, perhaps what a server said instead of "
        + ("sending the file, not a parquet file")
    )


def test_bytes_that_are_not_utf8_are_named_by_line(written: Path) -> None:
    (written / "queries.jsonl").write_bytes('{"id": "1", "text": "한국"}'.encode("cp949"))
    assert "queries.jsonl, line 1: bytes that are not UTF-8" in fault(written)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ((None, None, None, None, "test"), "root is None and repository None; wanted a folder, or a repository"),
        ((Path("x"), "a/b", None, None, "test"), "repository is 'a/b' and revision None; wanted both or neither"),
        ((None, "a/b", "main", None, "test"), "revision is 'main'; wanted a commit of 40 hexadecimal digits"),
        ((None, "a b", REVISION, None, "test"), "repository is 'a b'; wanted a name"),
        ((Path("x"), None, None, "", "test"), "subset is ''"),
        ((Path("x"), None, None, None, ""), "split is ''"),
    ],
)
def test_fields_that_name_no_dataset_are_refused(fields: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        BeirHub(*fields)
