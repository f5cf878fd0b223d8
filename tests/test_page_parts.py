"""From a run to its page: which items stand where, by channel, and what is kept for the next run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import corpus
from composing import built
from glyphrank.page_parts import LONGEST_TEXT, keep_page, measured_again, page_of
from glyphrank.pipeline import Executed, execute
from glyphrank.report.page_records import Page, Placed
from glyphrank.report.results import deliver
from glyphrank.report_command import run_report
from glyphrank.run import Run

PAGES = [
    {"id": "a", "text": "red fox in the snow"},
    {"id": "b", "text": "red fox in the snow"},
    {"id": "c", "text": "blue whale " * 100},
    {"id": "d", "text": "grey owl at night"},
    {"id": "e", "text": ""},
]
QUERIES = [
    {"id": "q1", "text": "red fox", "kind": "animal"},
    {"id": "q2", "text": "blue owl", "kind": "animal"},
    {"id": "q3", "text": "nothing of it", "kind": "none"},
    {"id": "q4", "text": "red fox", "kind": "none"},
]
QRELS = ["q1\tb\t1", "q2\td\t2", "q2\te\t1", "q3\ta\t1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus of texts, two of them equal and one empty."""
    folder = tmp_path_factory.mktemp("parts")
    corpus(folder / "data", PAGES, QUERIES, QRELS)
    return folder


@pytest.fixture(scope="module")
def done(folder: Path) -> tuple[Run, Executed]:
    run, start = built(folder, "dataset=folder", f"dataset.root={folder}/data", "encoder@lexical=bm25_words")
    run = replace(run, tracking=None, runtime=replace(run.runtime, workers=0))
    return run, execute(run, start.config, start.choices)


@pytest.fixture(scope="module")
def page(done: tuple[Run, Executed]) -> Page:
    run, executed = done
    assert executed.material is not None
    return page_of(run, executed.report, executed.material, "a run")


def spots(placed: Placed) -> tuple[str, float | None, int, int]:
    spot = placed.spots["lexical"]
    return placed.item_id, placed.gain, spot.first, spot.last


def test_queries_come_worst_first_with_their_lists_and_the_relevant_items_beyond(page: Page) -> None:
    assert [query.id for query in page.queries] == ["q3", "q1", "q2", "q4"]
    found = {query.id: query for query in page.queries}
    assert [spots(placed) for placed in found["q1"].top] == [("b", 1.0, 1, 2), ("a", None, 1, 2)]
    assert [spots(placed) for placed in found["q2"].relevant] == [("e", 1.0, 0, 0)]
    assert found["q2"].relevant[0].spots["lexical"].score is None
    assert found["q3"].top == ()
    assert "unanswered" in found["q3"].kinds
    assert found["q3"].best_ranks == {"lexical": 5.0}
    assert found["q4"].best_ranks == {}
    assert found["q4"].kinds == ("unjudged",)


def test_cards_hold_what_the_text_channel_got_and_why_there_is_none(page: Page) -> None:
    assert page.items["a"].texts == ("red fox in the snow",)
    assert sum(map(len, page.items["c"].texts)) == LONGEST_TEXT
    assert page.items["c"].cut == len(("blue whale " * 100).strip()) - LONGEST_TEXT
    assert page.items["e"].why_none == "nothing was read"
    assert page.fields == {"kind": ("animal", "none")}


def test_ranks_of_the_page_are_those_of_the_run(done: tuple[Run, Executed], page: Page) -> None:
    _, executed = done
    assert executed.material is not None
    (ranks,) = executed.material.rankings["lexical"].values()
    where = {
        (ranks.query_ids[query], ranks.item_ids[item]): (higher + 1, higher + tied)
        for query, item, higher, tied in zip(ranks.query, ranks.item, ranks.higher, ranks.tied, strict=True)
    }
    for query in page.queries:
        for placed in (*query.top, *query.relevant):
            spot = placed.spots["lexical"]
            if placed.gain is not None and spot.score is not None:
                assert (spot.first, spot.last) == where[query.id, placed.item_id]
    assert sorted(page.best_ranks) == [2.0, 2.0, 5.0]


def test_a_page_of_few_queries_says_how_many_there_are(done: tuple[Run, Executed]) -> None:
    run, executed = done
    again = measured_again(run, run.dataset.load(run.runtime))
    few = page_of(run, executed.report, again, "a run", most=1)
    assert [query.id for query in few.queries] == ["q3"]
    assert few.notes[0].startswith("1 of 4 queries are shown")
    assert set(few.items) == {"a"}


def test_a_stored_result_brings_no_page_of_another_run_and_says_how_to_make_its_own(
    done: tuple[Run, Executed], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run, executed = done
    caplog.set_level("INFO")
    keep_page(run, executed, "a run", tmp_path)
    assert '<h1 dir="auto">a run</h1>' in (tmp_path / "report.html").read_text(encoding="utf-8")
    keep_page(run, replace(executed, reused=True, material=None), "another name", tmp_path)
    assert not (tmp_path / "report.html").exists()
    assert f"`glyphrank report {tmp_path}` makes its page" in caplog.text
    assert not list(run.runtime.outputs.glob("results/**/report.html"))


def test_a_page_that_cannot_be_made_costs_the_page_alone(
    done: tuple[Run, Executed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*given: Any) -> Page:
        raise RuntimeError("a picture of a new kind")

    monkeypatch.setattr("glyphrank.page_parts.page_of", fails)
    keep_page(*done, "a run", tmp_path)
    assert "report.html was not made (RuntimeError: a picture of a new kind)" in caplog.text


def test_the_command_refuses_another_dataset_and_notes_other_ranks(
    done: tuple[Run, Executed], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, executed = done
    place = folder / "run"
    deliver(run.runtime.outputs / "results", executed.report, place)
    command = [str(place), "tracking=none", "--outputs", str(run.runtime.outputs)]
    assert run_report(command) == 0
    assert capsys.readouterr().out == f"page: {place}/report.html\n"
    assert "that rank otherwise now" not in (place / "report.html").read_text(encoding="utf-8")

    corpus(folder / "data", [*PAGES[:3], {"id": "d", "text": "a grey whale"}, PAGES[4]], QUERIES, QRELS)
    assert run_report(command) == 0
    text = (place / "report.html").read_text(encoding="utf-8")
    assert "queries that rank otherwise now than when the run was measured: 1 (dataset changed)" in text

    corpus(folder / "data", PAGES, [*QUERIES[:3], {"id": "q4", "text": "red cat", "kind": "none"}], QRELS)
    assert run_report(command) == 2
    assert "is another one now: the queries changed" in capsys.readouterr().err
    corpus(folder / "data", PAGES, QUERIES, QRELS)
    assert run_report(["nowhere"]) == 2
    assert "there is no folder 'nowhere'" in capsys.readouterr().err
    assert run_report([str(place), "--queries", "0"]) == 2


def test_a_page_made_by_an_id_is_named_after_it_and_replaces_no_file_of_anybody_else(
    done: tuple[Run, Executed], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, executed = done
    monkeypatch.chdir(folder)
    identity = executed.report.identity
    deliver(run.runtime.outputs / "results", executed.report, folder / "named")
    command = [identity[:6], "tracking=none", "--outputs", str(run.runtime.outputs)]
    page = Path(f"report-{identity[:8]}.html")
    for _ in range(2):  # its own page is made anew
        assert run_report(command) == 0
        assert capsys.readouterr().out == f"page: {page}\n"
    assert not Path("report.html").exists()
    page.write_text("<!doctype html>\n<title>my notes</title>", encoding="utf-8")
    assert run_report(command) == 2
    assert f"{page} is there already and is no page that glyphrank made" in capsys.readouterr().err
    assert "my notes" in page.read_text(encoding="utf-8")
    assert run_report([*command, "--output", str(page)]) == 0
    assert "my notes" not in page.read_text(encoding="utf-8")


def test_the_command_asks_for_the_run_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_report([]) == 2
    assert capsys.readouterr().err.endswith("the following arguments are required: RUN\n")
