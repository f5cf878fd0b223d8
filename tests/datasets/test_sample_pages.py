from __future__ import annotations

import importlib.util
import os
import time
from collections import Counter
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from generated_folders import DAMAGES, contents, loaded_by_two, spoil
from glyphrank.datasets.sample_english import ENGLISH
from glyphrank.datasets.sample_korean import KOREAN
from glyphrank.datasets.sample_pages import SamplePages
from glyphrank.datasets.sample_text import documents, questions
from glyphrank.errors import DataError
from glyphrank.garble import garble_share
from glyphrank.media.pdf import page_text
from glyphrank.records import Task
from glyphrank.runtime import Runtime

LANGUAGES = (KOREAN, ENGLISH)


def runtime(folder: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, folder / "outputs", folder / "cache")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sample")


@pytest.fixture(scope="module")
def task(place: Path) -> Task:
    return SamplePages(pages=24, seed=7).load(runtime(place))


def test_the_sample_has_24_pages_and_80_queries_in_two_languages(task: Task) -> None:
    assert task.name == "sample_pages"
    assert Counter(item.slices["language"] for item in task.items) == {"ko": 12, "en": 12}
    assert Counter((query.slices["language"], query.slices["type"]) for query in task.queries) == {
        (language, kind): count
        for language in ("ko", "en")
        for kind, count in (("text", 16), ("table", 12), ("chart", 12))
    }
    assert len({query.text for query in task.queries}) == len(task.queries)


def test_most_queries_have_one_page_and_a_few_have_two_or_graded_gains(task: Task) -> None:
    gains = Counter(tuple(sorted(task.relevant[query.id].values())) for query in task.queries)
    assert gains == {(1.0,): 72, (1.0, 1.0): 4, (1.0, 2.0): 4}


def test_the_relevant_page_names_what_the_query_asks_about(task: Task) -> None:
    items = {item.id: item for item in task.items}
    asked = next(query for query in task.queries if query.text == "Loans of children's books in Kestrelby")
    (item_id,) = task.relevant[asked.id]
    media = items[item_id].media
    assert media is not None
    assert media.page is not None
    lines = page_text(media.path, media.page).text.splitlines()
    assert lines[0] == "Kestrelby in figures 2025"
    assert any(line.startswith("Children ") for line in lines)


def test_every_page_has_its_words_its_table_and_its_chart_in_the_text_layer(task: Task) -> None:
    drawn = [page for document in documents(LANGUAGES, 24, 7) for page in document]
    for page, item in zip(drawn, task.items, strict=True):
        assert item.media is not None
        assert item.media.page == page.number
        text = " ".join(page_text(item.media.path, item.media.page).text.split())
        label, values = page.cells[-1]
        for part in (page.title, page.heading, page.table, page.chart, f"{label} {values[0]:,} {values[1]:,}"):
            assert part in text
        for words in (*" ".join(page.paragraphs).split(), *page.marks, *(f"{value:,}" for value in page.bars)):
            assert words in text


def test_a_total_is_the_sum_of_its_column() -> None:
    for document in documents(LANGUAGES, 48, 1):
        for page in document:
            *rows, (_, totals) = page.cells
            assert tuple(sum(column) for column in zip(*(values for _, values in rows), strict=True)) == totals


def test_equal_settings_give_equal_bytes_in_another_process(task: Task, place: Path, tmp_path: Path) -> None:
    # Two processes at once into one new folder: both must succeed, and leave one folder.
    printed = loaded_by_two("sample_pages", "SamplePages(24, 7)", "matplotlib", tmp_path)
    assert printed == [[task.fingerprint, "False"]] * 2
    (mine,), (theirs,) = (list((folder / "outputs" / "samples").iterdir()) for folder in (place, tmp_path))
    assert mine.name == theirs.name
    assert contents(mine) == contents(theirs)


@pytest.mark.parametrize("change", [{"pages": 7}, {"seed": 8}])
def test_another_setting_gives_another_folder_and_fingerprint(task: Task, place: Path, change: dict[str, int]) -> None:
    other = SamplePages(**{"pages": 24, "seed": 7, **change}).load(runtime(place))
    assert other.fingerprint != task.fingerprint
    assert other.items[0].media is not None
    assert task.items[0].media is not None
    assert other.items[0].media.path.parent != task.items[0].media.path.parent


def test_the_second_load_draws_nothing(task: Task, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glyphrank.datasets.sample_pages.draw_document", None)
    assert SamplePages(24, 7).load(runtime(place)) == task


@pytest.mark.parametrize("how", DAMAGES)
def test_a_folder_that_is_not_whole_is_drawn_anew(tmp_path: Path, how: str) -> None:
    sample = SamplePages(6, 7)
    wanted = sample.load(runtime(tmp_path))
    (folder,) = (tmp_path / "outputs" / "samples").iterdir()
    whole = contents(folder)
    years = (b"2025", b"2026"), (b"%PDF-1.4", b"%PDF-1.5")
    spoil(folder, folder / "report1.pdf", how, lambda data: data.replace(*years[0]).replace(*years[1]))
    assert sample.load(runtime(tmp_path)) == wanted
    assert contents(folder) == whole
    assert list((tmp_path / "outputs" / "samples").iterdir()) == [folder]


def test_what_dead_processes_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    samples = tmp_path / "outputs" / "samples"
    old, young, other = samples / ".pages-a.1", samples / ".pages-b.2", samples / "mine"
    for path in (old, young, other):
        path.mkdir(parents=True)
        (path / "report1.pdf").write_bytes(b"half")
    for path in (old, other):
        os.utime(path, (time.time() - 4000, time.time() - 4000))
    SamplePages(6, 7).load(runtime(tmp_path))
    assert [path.exists() for path in (old, young, other)] == [False, True, True]


def test_no_page_of_the_sample_is_garbled(task: Task) -> None:
    media = [item.media for item in task.items if item.media]
    assert {garble_share(page_text(place.path, place.page or 1).text) for place in media} == {0.0}


def test_a_drawing_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case C04
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("glyphrank.datasets.sample_pages.draw_document", full)
    with pytest.raises(DataError, match=r"cannot be written \(No space left on device\)"):
        SamplePages(6, 7).load(runtime(tmp_path))
    assert list((tmp_path / "outputs" / "samples").iterdir()) == []


@pytest.mark.parametrize("absent", ["reportlab", "koreanize_matplotlib"])
def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    real: Callable[..., ModuleSpec | None] = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == absent else real(name))
    with pytest.raises(DataError, match=r"pip install 'glyphrank\[samples\]'"):
        SamplePages(6, 7).load(runtime(tmp_path))


@pytest.mark.parametrize("pages", [0, 49])
def test_a_number_of_pages_out_of_range_is_refused(pages: int) -> None:
    with pytest.raises(ValueError, match=f"pages is {pages}; wanted 1 to 48"):
        SamplePages(pages, 7)


@pytest.mark.parametrize("pages", [1, 6, 13, 48])
def test_every_question_names_pages_that_are_drawn(pages: int) -> None:
    drawn = {
        (number, page.number) for number, document in enumerate(documents(LANGUAGES, pages, 7)) for page in document
    }
    assert len(drawn) == pages
    asked = questions(LANGUAGES, pages, 7)
    assert {page for question in asked for page in question.gains} == drawn
    assert not any("{" in question.text for question in asked)
