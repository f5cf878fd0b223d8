"""What a sweep came to: tables, figures and what its parent run is told."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from finished_runs import from_ranks, kept
from glyphrank.report import figures
from glyphrank.report.cells import CellRecord, State, launch_folder
from glyphrank.report.compared import COMPARISON
from glyphrank.sweep_cells import summarise

ORDER = list(enumerate("ab"))


def cells(folder: Path) -> list[CellRecord]:
    """Two cells that finished, and one that failed."""
    launch_folder(folder / "sweep", "a1").mkdir(parents=True)
    results = [kept(from_ranks(name, ranks), folder / "results") for name, ranks in (("a", [1, 2]), ("b", [3, 2]))]
    found = [
        CellRecord("a1", 0.0, number, str(number), (f"lexical={result.name}",), State.finished, str(result))
        for number, result in enumerate(results)
    ]
    return [*found, CellRecord("a1", 0.0, 2, "2", (), State.failed)]


def test_parent_gets_the_comparison_and_the_folder_of_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = summarise(tmp_path / "sweep", "a1", cells(tmp_path))
    own = launch_folder(tmp_path / "sweep", "a1")
    assert found.files == (*(own / name for name in COMPARISON), own / "figures")
    assert {path.name for path in (own / "figures").iterdir()} == {"recall_at_k.svg", "rank_histogram.svg"}
    assert f"figures: {own / 'figures'}" in capsys.readouterr().out
    assert found.tags["complete"] == "false"


def test_figures_that_fail_cost_a_warning_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of a library")

    monkeypatch.setattr(figures, "write_figures", fail)
    with caplog.at_level(logging.WARNING):
        found = summarise(tmp_path / "sweep", "a1", cells(tmp_path))
    assert [path.name for path in found.files] == list(COMPARISON)
    assert "the sweep's figures could not be drawn: ZeroDivisionError: of a library" in caplog.text


def test_sweep_without_a_finished_cell_has_no_figures(tmp_path: Path) -> None:
    assert summarise(tmp_path / "sweep", "a1", cells(tmp_path)[2:]).files == ()


def test_cells_of_several_evaluations_have_a_table_each_and_one_alone_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    made = [
        *((task, name, [1 + place] * queries) for task, queries in (("two", 6), ("one", 8)) for place, name in ORDER),
        ("odd", "alone", [1] * 5),
    ]
    folder = tmp_path / "sweep"
    launch_folder(folder, "a1").mkdir(parents=True)
    found = []
    for number, (task, name, ranks) in enumerate(made):
        stored = kept(from_ranks(f"{task} {name}", ranks, task=task), tmp_path / "results")
        given = (f"dataset={task}", f"lexical={name}")
        found.append(CellRecord("a1", 0.0, number, str(number), given, State.finished, str(stored)))
    with caplog.at_level(logging.WARNING):
        summary = summarise(folder, "a1", found)
    assert summary.tags["best_cell"] == "two: #0 dataset=two lexical=a\none: #2 dataset=one lexical=a"
    assert summary.tags["complete"] == "true"
    assert summary.metrics == {}
    assert "alone in their evaluation, so in no table: 'cell 4'" in caplog.text
    stored = json.loads((folder / "comparison.json").read_text())
    assert {name: len(part["runs"]) for name, part in stored["parts"].items()} == {"two": 2, "one": 2}
    shown = capsys.readouterr().out
    assert all(f"{task}: nDCG@10 of 2 runs" in shown for task in ("two", "one"))
    drawn = launch_folder(folder, "a1") / "figures"
    assert {path.parent.name for path in drawn.rglob("*.svg")} == {"1", "2"}
    assert summary.files[-1] == drawn


def test_one_table_beside_cells_that_are_alone_is_that_of_the_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [from_ranks("x", [1] * 5), from_ranks("a", [1] * 6), from_ranks("b", [2] * 6)]
    launch_folder(tmp_path / "sweep", "a1").mkdir(parents=True)
    found = [
        CellRecord("a1", 0.0, number, str(number), (run.name,), State.finished, str(kept(run, tmp_path / "results")))
        for number, run in enumerate(runs)
    ]
    summary = summarise(tmp_path / "sweep", "a1", found)
    assert summary.tags["best_cell"] == "#1 a"
    assert summary.metrics == {"ndcg_at_10": 1.0}
    assert summary.tags["notes"].startswith("alone in their evaluation, so in no table: 'cell 0'")
    assert "apart from" not in summary.tags["notes"]
    assert "\nnDCG@10 of 2 runs on 6 queries" in capsys.readouterr().out


def test_a_smaller_comparison_of_evaluations_leaves_a_fuller_one_at_the_top(tmp_path: Path) -> None:
    first = cells(tmp_path)
    summarise(tmp_path / "sweep", "a1", first)
    fuller = (tmp_path / "sweep" / "comparison.json").read_text()
    launch_folder(tmp_path / "sweep", "b2").mkdir(parents=True)
    summarise(tmp_path / "sweep", "b2", [replace(first[0], launch="b2")])
    assert (tmp_path / "sweep" / "comparison.json").read_text() == fuller
