from __future__ import annotations

import json
import os
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from glyphrank.datasets.folder import Folder
from glyphrank.errors import DataError
from glyphrank.records import Task
from glyphrank.runtime import Runtime
from glyphrank.starting import Started, start
from pdf_files import write_pdf
from pictures import write_picture


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "자료 모음"
    (folder / "예산").mkdir(parents=True)
    write_pdf(folder / "예산" / "report 2.pdf", "one", "two")
    write_picture(folder / "photo.png", "red")
    return folder


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def started(dataset: Path, folder: Path, add: bool = False) -> Started:
    return start(dataset, folder, add, dataset.parent / "outputs")


def items(dataset: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (dataset / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]


def loaded(dataset: Path, runtime: Runtime) -> Task:
    """The dataset with a query for its first item."""
    first = items(dataset)[0]["id"]
    (dataset / "queries.jsonl").write_text('{"id": "q", "text": "x"}\n')
    with (dataset / "qrels.tsv").open("a") as stream:
        stream.write(f"q\t{first}\t1\n")
    return Folder(dataset, "test").load(runtime)


@pytest.mark.parametrize("place", ["beside", "자료 모음", ".", "자료 모음/inside", "자료 모음/예산"])
def test_a_dataset_loads_wherever_it_lies(tmp_path: Path, documents: Path, place: str, runtime: Runtime) -> None:
    dataset = tmp_path / place
    done = started(dataset, documents)
    expected = ["photo.png", "예산/report 2.pdf#1", "예산/report 2.pdf#2"]
    if place.endswith("예산"):  # a folder of documents that is the dataset itself is passed over
        expected = expected[:1]
    assert list(done.ids) == [item["id"] for item in items(dataset)] == expected
    task = loaded(dataset, runtime)
    assert all(item.media is not None and item.media.path.is_file() for item in task.items)
    assert task.relevant == {"q": {"photo.png": 1.0}}


def test_a_link_is_relative_so_that_both_can_move_together(tmp_path: Path, documents: Path) -> None:
    assert started(tmp_path / "mine", documents).link == tmp_path / "mine" / documents.name
    (tmp_path / "elsewhere").mkdir()
    for folder in (tmp_path / "mine", documents):
        shutil.move(folder, tmp_path / "elsewhere")
    dataset = tmp_path / "elsewhere" / "mine"
    assert all((dataset / item["media"]).is_file() for item in items(dataset))


def test_the_files_to_fill_in_are_there(tmp_path: Path, documents: Path) -> None:
    started(tmp_path / "mine", documents)
    assert (tmp_path / "mine" / "queries.jsonl").read_bytes() == b""
    assert (tmp_path / "mine" / "qrels.tsv").read_text() == "query-id\tcorpus-id\tscore\n"


def test_nothing_that_is_there_is_overwritten(tmp_path: Path, documents: Path) -> None:
    dataset = tmp_path / "mine"
    dataset.mkdir()
    (dataset / "queries.jsonl").write_text("mine")
    with pytest.raises(DataError, match=r"holds queries\.jsonl already, and nothing was changed; --add appends"):
        started(dataset, documents)
    assert [path.name for path in dataset.iterdir()] == ["queries.jsonl"]


def test_add_appends_what_is_new_and_keeps_every_line(tmp_path: Path, documents: Path) -> None:
    dataset = tmp_path / "mine"
    started(dataset, documents)
    (dataset / "queries.jsonl").write_text('{"id": "q", "text": "x"}')
    renamed = (dataset / "corpus.jsonl").read_text(encoding="utf-8").replace('"id": "photo.png"', '"id": "my photo"')
    (dataset / "corpus.jsonl").write_text(renamed.rstrip("\n"), encoding="utf-8")
    write_pdf(documents / "예산" / "report 2.pdf", "one", "two", "three")
    write_picture(documents / "new.png", "red")
    done = started(dataset, documents, add=True)
    assert done.before == 3
    assert done.ids == ("new.png", "예산/report 2.pdf#3")
    assert (dataset / "corpus.jsonl").read_text(encoding="utf-8").startswith(renamed)
    assert (dataset / "queries.jsonl").read_text() == '{"id": "q", "text": "x"}'
    assert started(dataset, documents, add=True).ids == ()
    assert len(items(dataset)) == 5


def test_add_takes_another_folder_whose_names_are_taken(tmp_path: Path, documents: Path) -> None:
    dataset, other = tmp_path / "mine", tmp_path / "other"
    started(dataset, documents)
    other.mkdir()
    write_picture(other / "photo.png", "blue")
    assert started(dataset, other, add=True).ids == ("other/photo.png",)


def test_media_that_are_gone_stay_and_are_named(tmp_path: Path, documents: Path) -> None:
    started(tmp_path / "mine", documents)
    (documents / "photo.png").unlink()
    done = started(tmp_path / "mine", documents, add=True)
    assert done.gone == ("자료 모음/photo.png",)
    assert len(items(tmp_path / "mine")) == 3


def test_a_file_whose_name_is_spelled_apart_is_not_gone(tmp_path: Path) -> None:  # case C07
    folder = tmp_path / "pictures"
    folder.mkdir()
    write_picture(folder / unicodedata.normalize("NFD", "보고서.png"), "red")
    started(tmp_path / "mine", folder)
    assert started(tmp_path / "mine", folder, add=True).gone == ()


def test_a_name_too_long_for_any_disk_is_gone(tmp_path: Path, documents: Path) -> None:
    dataset = tmp_path / "mine"
    started(dataset, documents)
    with (dataset / "corpus.jsonl").open("a") as stream:
        stream.write(json.dumps({"id": "long", "media": "x" * 300}) + "\n")
    assert started(dataset, documents, add=True).gone == ("x" * 300,)


def test_an_example_is_an_id_that_is_there(tmp_path: Path, documents: Path) -> None:
    assert started(tmp_path / "mine", documents).example == "photo.png"
    assert started(tmp_path / "mine", documents, add=True).example == "photo.png"


@pytest.mark.parametrize("kind", ["a directory", "a named pipe", "a link to nothing"])
def test_add_refuses_a_corpus_that_is_no_file_before_anything_is_written(
    tmp_path: Path, documents: Path, kind: str
) -> None:
    dataset = tmp_path / "mine"
    dataset.mkdir()
    corpus = dataset / "corpus.jsonl"
    match kind:
        case "a directory":
            corpus.mkdir()
        case "a named pipe":
            os.mkfifo(corpus)
        case _:
            corpus.symlink_to("gone.jsonl")
    with pytest.raises(DataError, match=rf"corpus\.jsonl: is {kind}; wanted a file .* nothing was written"):
        started(dataset, documents, add=True)
    assert list(dataset.iterdir()) == [corpus]


def test_add_updates_the_file_that_a_linked_corpus_leads_to(tmp_path: Path, documents: Path) -> None:
    dataset, target = tmp_path / "mine", tmp_path / "elsewhere.jsonl"
    started(dataset, documents)
    (dataset / "corpus.jsonl").rename(target)
    (dataset / "corpus.jsonl").symlink_to("../elsewhere.jsonl")
    write_picture(documents / "new.png", "red")
    assert started(dataset, documents, add=True).ids == ("new.png",)
    assert (dataset / "corpus.jsonl").is_symlink()
    assert len(target.read_text(encoding="utf-8").splitlines()) == 4


def test_ids_hold_no_tab_and_no_line_end_and_stay_unique(tmp_path: Path, runtime: Runtime) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a\tb.png", "a\nb.png", "a_b.png"):
        write_picture(folder / "x.png", "red").rename(folder / name)
    done = started(folder, folder)
    assert sorted(done.ids) == ["a_b.png", "a_b.png~2", "a_b.png~3"]
    assert len(loaded(folder, runtime).items) == 3


def test_a_folder_without_a_document_lists_what_it_holds(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("x")
    with pytest.raises(DataError, match=r"(?s)no PDF, picture or clip that can be read, among 1 .*a\.txt: no PDF"):
        started(tmp_path / "mine", folder)
    assert not (tmp_path / "mine").exists()


def test_arguments_in_the_wrong_order_are_told(tmp_path: Path, documents: Path) -> None:
    with pytest.raises(DataError, match=r"no such folder; .* the order is: glyphrank new DATASET FOLDER"):
        started(documents, tmp_path / "mine")
    with pytest.raises(DataError, match="is a file; wanted the folder that holds it"):
        started(tmp_path / "mine", documents / "photo.png")
    with pytest.raises(DataError, match="is a file; wanted a folder for the dataset"):
        started(documents / "photo.png", documents)


def test_a_damaged_corpus_stops_add_before_anything_is_written(tmp_path: Path, documents: Path) -> None:
    started(tmp_path / "mine", documents)
    (tmp_path / "mine" / "corpus.jsonl").write_text("{")
    with pytest.raises(DataError, match="line 1: not JSON"):
        started(tmp_path / "mine", documents, add=True)
    assert (tmp_path / "mine" / "corpus.jsonl").read_text() == "{"


def test_what_the_disk_refuses_is_told(tmp_path: Path, documents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(link: Path, target: str, target_is_directory: bool = False) -> None:
        raise PermissionError(1, "Operation not permitted", target, None, str(link))

    monkeypatch.setattr(Path, "symlink_to", refuse)
    with pytest.raises(DataError, match=r"cannot be written .* a place that knows no links"):
        started(tmp_path / "mine", documents)
