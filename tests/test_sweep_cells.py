from __future__ import annotations

import logging
from pathlib import Path

import pytest

from finished_runs import from_ranks, kept
from glyphrank.report import figures
from glyphrank.report.cells import CellRecord, State, launch_folder
from glyphrank.report.compared import COMPARISON
from glyphrank.sweep_cells import summarise


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
