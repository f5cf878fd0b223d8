from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glyphrank.errors import DataError
from glyphrank.report import finished
from glyphrank.report.cells import (
    CellRecord,
    State,
    finished_cells,
    forget_former,
    launch_folder,
    read_cells,
    runs_below,
    write_cell,
)
from glyphrank.report.finished import Finished
from tracked_runs import report_with

RECORD = CellRecord("a1", 100.0, 2, "2", ("lexical=단어", "fusion=weighted_sum"), State.finished, "/results/2b")


def test_record_reads_back_as_it_was_written(tmp_path: Path) -> None:
    write_cell(tmp_path, RECORD)
    assert read_cells(tmp_path, "a1") == [RECORD]


def test_later_record_of_a_cell_replaces_the_earlier(tmp_path: Path) -> None:
    write_cell(tmp_path, replace(RECORD, state=State.running))
    write_cell(tmp_path, RECORD)
    assert [cell.state for cell in read_cells(tmp_path, "a1")] == [State.finished]


def test_cells_come_by_number_and_launches_do_not_overwrite_one_another(tmp_path: Path) -> None:
    for number, launch in ((10, "a1"), (9, "a1"), (9, "b2")):
        write_cell(tmp_path, replace(RECORD, number=number, launch=launch))
    assert [cell.number for cell in read_cells(tmp_path, "a1")] == [9, 10]
    assert [cell.launch for cell in read_cells(tmp_path, "b2")] == ["b2"]


def test_folder_without_cells_has_none(tmp_path: Path) -> None:
    assert read_cells(tmp_path, "a1") == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"overrides": [], "state": "lost"}'])
def test_damaged_record_is_left_out_with_a_warning(text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_cell(tmp_path, RECORD)
    (launch_folder(tmp_path, "a1") / "7.json").write_text(text)
    assert read_cells(tmp_path, "a1") == [RECORD]
    assert "7.json cannot be read" in caplog.text


def holding(monkeypatch: pytest.MonkeyPatch, identities: Mapping[Path, str]) -> None:
    """Has folders hold finished runs of these identities, and no other folder any."""

    def read_finished(folder: Path, name: str) -> Finished:
        if folder not in identities:
            raise DataError(f"{folder} holds no run")
        return Finished(name, report_with(identity=identities[folder]), {}, {})

    monkeypatch.setattr(finished, "read_finished", read_finished)


def cell(sweep: Path, number: int, folder: str, identity: str, **changes: Any) -> CellRecord:
    """A cell that finished, whose result would lie in `results/<identity>`; its record is written."""
    result = str(sweep / "results" / identity) if identity else ""
    record = replace(RECORD, number=number, folder=folder, result=result)
    record = replace(record, **changes)
    write_cell(sweep, record)
    return record


def found(sweep: Path, *cells: CellRecord) -> tuple[dict[str, tuple[str, Path]], list[str]]:
    """Name -> identity and folder of what is read."""
    runs, faults = finished_cells(sweep, cells)
    return {run.name: (run.report.identity, place) for run, place in runs}, faults


def test_cell_is_read_from_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holding(monkeypatch, {tmp_path / "0": "1a"})
    assert found(tmp_path, cell(tmp_path, 0, "0", "1a")) == ({"cell 0": ("1a", tmp_path / "0")}, [])


def test_cells_with_one_folder_are_each_read_from_their_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = {identity: tmp_path / "results" / identity for identity in ("1a", "2b")}
    holding(monkeypatch, {tmp_path / "same": "2b", **{place: identity for identity, place in results.items()}})
    cells = [cell(tmp_path, number, "same", identity) for number, identity in enumerate(("1a", "2b"))]
    assert found(tmp_path, *cells) == ({"cell 0": ("1a", results["1a"]), "cell 1": ("2b", results["2b"])}, [])


@pytest.mark.parametrize("identity", ["1a", ""])
def test_cell_whose_folder_another_one_filled_later_is_left_out_where_it_has_no_result(
    identity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holding(monkeypatch, {tmp_path / "0": "2b", Path(): "3c"})
    runs, (fault,) = found(tmp_path, cell(tmp_path, 0, "0", identity))
    assert runs == {}
    assert fault.startswith(f"cell 0: {tmp_path / '0'} holds the files of another cell")


def test_folder_with_records_gives_the_cells_of_its_latest_launch_and_names_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = tmp_path / "kept"
    holding(monkeypatch, {sweep / str(number): f"{number}a" for number in range(4)})
    for number in (0, 1, 3):
        cell(sweep, number, str(number), f"{number}a", launch="f9")
    cell(sweep, 0, "0", "0a", launch="b2", began=200.0)
    cell(sweep, 1, "1", "", launch="b2", began=200.0, state=State.failed)
    cell(sweep, 2, "2", "", launch="b2", began=200.0, state=State.running)
    runs, left_out = runs_below(sweep)
    assert [(run.name, place) for run, place in runs] == [("kept/cell 0", sweep / "0")]
    assert left_out == [
        "kept/cell 1 has failed",
        "kept/cell 2 has not ended, or ended without a word",
        f"cells of earlier sweeps in {sweep}: 3",
    ]


def test_folder_without_records_gives_the_runs_in_its_own_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = tmp_path / "old"
    for name in ("10", "2", "ab" * 16):
        (sweep / name).mkdir(parents=True)
        (sweep / name / "report.json").touch()
    (sweep / "3" / ".hydra").mkdir(parents=True)
    (sweep / "cells").mkdir()
    holding(monkeypatch, {sweep / "2": "2a", sweep / ("ab" * 16): "4a"})
    runs, left_out = runs_below(sweep)
    assert [run.name for run, _ in runs] == ["old/2", "old/abababababab"]
    assert left_out == [
        "'old/3' has not finished: it has no report.json",
        f"'old/10': {sweep / '10'} holds no run",
    ]


def test_folder_of_a_cell_keeps_nothing_of_a_former_run_and_what_is_not_of_one(tmp_path: Path) -> None:  # case H03
    for name in ("report.json", "ranks.csv", "scores_rand.npy", "environment.json", "notes.md", "old.log", "new.log"):
        (tmp_path / name).write_text("written before")
    os.utime(tmp_path / "old.log", (50, 50))
    os.utime(tmp_path / "new.log", (150, 150))
    forget_former(tmp_path, began=100)
    left = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert left == {"notes.md": "written before", "old.log": "", "new.log": "written before"}
