"""What is said of files of SDS KoPub VDR that are wrong, or contradict each other."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.parquet import read_table

from glyphrank.datasets.kopub_vdr import KopubVdr
from glyphrank.datasets.kopub_vdr_tables import ANNOTATIONS, CORPUS, QUESTIONS
from glyphrank.errors import DataError
from glyphrank.runtime import Runtime
from kopub_miniature import Kopub, kopub, write_table
from parquet_damage import break_footer, write_encrypted

REVISION = "759fcae092aef58436d125e72f74a2b53cdd5640"


@pytest.fixture
def published() -> Kopub:
    return kopub()


def fault(root: Path | None) -> str:
    folder = root or Path("/nowhere")
    runtime = Runtime("cpu", 8, 0, 60, 4, False, folder / "outputs", folder / "outputs" / "cache")
    with pytest.raises(DataError) as caught:
        KopubVdr(root, "team/pages", REVISION).load(runtime)
    return str(caught.value)


def test_a_corpus_with_a_damaged_footer_is_named(tmp_path: Path, published: Kopub) -> None:
    root = published.write(tmp_path)
    break_footer(root / CORPUS)
    assert fault(root).startswith(f"{root}/{CORPUS}: the parquet file's footer is damaged (")


@pytest.mark.parametrize("plain_footer", [True, False])
@pytest.mark.parametrize("column", ["id", "image.bytes"])
def test_a_corpus_that_is_encrypted_is_said_to_be(
    tmp_path: Path, published: Kopub, column: str, plain_footer: bool
) -> None:
    root = published.write(tmp_path)
    write_encrypted(root / CORPUS, read_table(root / CORPUS), column, plain_footer)
    message = fault(root)
    assert message.startswith(f"{root}/{CORPUS}: the parquet file is encrypted")
    assert message.endswith("; wanted one that is not")
    assert "fetch it again" not in message


def test_ids_that_stand_twice_are_named_with_both_rows(tmp_path: Path, published: Kopub) -> None:
    published.corpus[7]["id"] = published.corpus[1]["id"]
    message = fault(published.write(tmp_path))
    assert (
        f"{CORPUS}: row 7: the id {published.corpus[1]['id']!r} stands in row 1 already; ids must be unique" in message
    )


def test_ids_that_are_equal_in_nfc_are_named_with_both_rows(tmp_path: Path, published: Kopub) -> None:  # case P04
    published.corpus[7]["id"] = unicodedata.normalize("NFD", published.corpus[0]["id"])
    message = fault(published.write(tmp_path))
    assert "row 7: the id" in message
    assert "stands in row 0 already (there as '\\uc0ac" in message
    assert "equal in NFC); ids must be unique" in message


def test_null_and_empty_ids_questions_and_golds_are_named_together(tmp_path: Path, published: Kopub) -> None:
    published.questions[0]["query"] = None
    published.questions[1]["query"] = " \n"
    published.questions[2]["id"] = None
    published.questions[3]["ground_truth"] = None
    published.questions[4]["ground_truth"] = []
    published.questions[5]["ground_truth"] = [None]
    assert fault(published.write(tmp_path)).splitlines()[1:] == [
        "  row 0: no query",
        "  row 1: no query",
        "  row 2: the id is null",
        "  row 3: ground_truth is null; wanted rows of the corpus",
        "  row 4: ground_truth is empty; wanted rows of the corpus",
        "  row 5: ground_truth is [None]; wanted whole numbers",
    ]


def test_faults_of_all_three_files_come_together(tmp_path: Path, published: Kopub) -> None:
    published.questions[0]["query"] = None
    published.corpus[0]["id"] = ""
    published.annotations[0]["file_id"] = None
    assert fault(published.write(tmp_path)).splitlines() == [
        f"{tmp_path}/{QUESTIONS}: row 0: no query",
        f"{tmp_path}/{CORPUS}: row 0: the id is empty",
        f"{tmp_path}/{ANNOTATIONS}: row 0: the id is null",
    ]


def test_null_and_odd_ids_of_pages_and_documents_are_named(tmp_path: Path, published: Kopub) -> None:
    published.corpus[0]["id"] = ""
    published.corpus[1]["id"] = "a\0_1"
    message = fault(published.write(tmp_path))
    assert "row 0: the id is empty\n  row 1: the id 'a\\x00_1' holds a NUL character" in message
    published = kopub()
    published.annotations[2]["file_id"] = None
    published.annotations[2]["page_indices"] = None
    message = fault(published.write(tmp_path))
    assert f"{ANNOTATIONS}: 2 faults:\n  row 2: the id is null\n  row 2: page_indices is null" in message


@pytest.mark.parametrize(
    ("file", "column", "values", "said"),
    [
        (QUESTIONS, "ground_truth", ["0"] * 16, "the column 'ground_truth' is string; wanted lists of whole numbers"),
        (QUESTIONS, "query", [1] * 16, "the column 'query' is int64; wanted text"),
        (CORPUS, "image", [1] * 18, "the column 'image' is int64; wanted pictures or text"),
        (CORPUS, "id", [1] * 18, "the column 'id' is int64; wanted text"),
        (ANNOTATIONS, "page_indices", [["0"]] * 9, "; wanted lists of whole numbers"),
    ],
)
def test_a_column_of_another_type_is_named(  # case M12
    tmp_path: Path, published: Kopub, file: str, column: str, values: list[Any], said: str
) -> None:
    rows = {QUESTIONS: published.questions, CORPUS: published.corpus, ANNOTATIONS: published.annotations}[file]
    root = published.write(tmp_path)
    write_table(root / file, pa.Table.from_pylist(rows).drop_columns([column]).append_column(column, pa.array(values)))
    assert f"{file}: " in (message := fault(root))
    assert said in message


@pytest.mark.parametrize(
    ("file", "column"), [(QUESTIONS, "domain"), (CORPUS, "ocr"), (CORPUS, "image"), (ANNOTATIONS, "page_indices")]
)
def test_a_missing_column_is_named_with_those_that_are_there(
    tmp_path: Path, published: Kopub, file: str, column: str
) -> None:
    rows = {QUESTIONS: published.questions, CORPUS: published.corpus, ANNOTATIONS: published.annotations}[file]
    for row in rows:
        del row[column]
    message = fault(published.write(tmp_path))
    assert message.startswith(f"{tmp_path}/{file}: no column {column!r} (wanted: ")
    assert message.endswith(f"Its columns are {', '.join(rows[0])}")


@pytest.mark.parametrize("file", [QUESTIONS, CORPUS, ANNOTATIONS])
def test_a_table_without_rows_is_named(tmp_path: Path, published: Kopub, file: str) -> None:
    rows = {QUESTIONS: published.questions, CORPUS: published.corpus, ANNOTATIONS: published.annotations}[file]
    root = published.write(tmp_path)
    write_table(root / file, pa.Table.from_pylist(rows).slice(0, 0))
    assert f"{file}: the table has no rows; wanted at least one" in fault(root)


@pytest.mark.parametrize("file", [QUESTIONS, CORPUS, ANNOTATIONS])
def test_files_that_are_no_parquet_files_are_named(tmp_path: Path, published: Kopub, file: str) -> None:
    root = published.write(tmp_path)
    whole = (root / file).read_bytes()
    contents = {
        b"version https://git-lfs.github.com/spec/v1\n": "a Git LFS pointer",
        b"<html>not found</html>": "a page in HTML or XML",
        b"id,query\n": "a text that begins with 'id,query\\n', not a parquet file",
        whole[:-50]: "cannot be opened",
        b"": "the file is empty (0 bytes)",
    }
    for content, said in contents.items():
        (root / file).write_bytes(content)
        assert f"{root}/{file}: " in (message := fault(root))
        assert said in message


def test_an_older_revision_without_a_corpus_says_what_is_wanted(tmp_path: Path, published: Kopub) -> None:
    root = published.write(tmp_path / "k")
    (root / CORPUS).rename(root / "SDS-KoPub-pages.parquet")
    assert fault(root) == (
        f"{root}: there is no {CORPUS}, neither here nor below (found: SDS-KoPub-QA.parquet, "
        f"SDS-KoPub-annotations.parquet, SDS-KoPub-pages.parquet).\n  Wanted are the files of team/pages at revision "
        f"{REVISION} (21.9 GB); run\n"
        f"  `hf download team/pages --repo-type dataset --revision {REVISION} --local-dir {root}`"
    )


def test_nothing_at_all_says_what_to_fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    message = fault(None)
    assert message.startswith(f"the files {QUESTIONS}, {CORPUS}, {ANNOTATIONS} (21.9 GB) of team/pages at revision ")
    assert "Set runtime.download=true, or\n  run `hf download team/pages --repo-type dataset" in message


def test_a_file_that_is_there_twice_is_not_guessed(tmp_path: Path, published: Kopub) -> None:
    published.write(tmp_path / "a")
    published.write(tmp_path / "b")
    assert "SDS-KoPub-QA.parquet is there 2 times (a/SDS-KoPub-QA.parquet, b/" in fault(tmp_path)


@pytest.mark.parametrize(("repository", "revision"), [("a b", REVISION), ("a/b", "main")])
def test_a_repository_and_a_revision_that_cannot_be_are_refused(repository: str, revision: str) -> None:
    with pytest.raises(ValueError, match="wanted"):
        KopubVdr(None, repository, revision)
