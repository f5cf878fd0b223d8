"""A sweep's end: what its parent run is told, whatever goes wrong on the way there."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from finished_runs import from_ranks, kept
from glyphrank import open_sweep
from glyphrank.open_sweep import CellsFailedError, OpenSweep
from glyphrank.report.cells import CellRecord, State, launch_folder, read_cells, write_cell
from glyphrank.report.claims import Asked
from glyphrank.tracking.interruptions import Killed
from glyphrank.tracking.pending import Sent
from glyphrank.tracking.processes import own_process

DEAD = own_process().replace("pid=", "pid=9")


@dataclass
class Told:
    """A parent run that remembers what it is told."""

    run_id: str | None = None
    dashboard: str | None = None
    reference: Mapping[str, str] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    def log(self, *_: object) -> None:
        raise AssertionError("a parent run has no result")

    def summarise(self, metrics: Mapping[str, float], tags: Mapping[str, str], files: Sequence[Path]) -> None:
        self.metrics |= metrics
        self.tags |= tags
        self.files += [path.name for path in files]

    def discard(self) -> None:
        raise AssertionError("there are cells")


@pytest.fixture
def parent() -> Told:
    return Told()


@pytest.fixture
def sweep(tmp_path: Path, parent: Told) -> Iterator[OpenSweep]:
    """A sweep of one cell that finished and, if it is asked for, others."""
    folder = tmp_path / "sweep"
    result = kept(from_ranks("a", [1, 2]), tmp_path / "results")
    write_cell(folder, CellRecord("a1", 0.0, 0, "0", ("k=1",), State.finished, str(result)))
    with ExitStack() as stack:
        yield OpenSweep(stack, folder, "a1", tracked=parent)


def add(sweep: OpenSweep, number: int, state: State, **fields: str) -> None:
    assert sweep.folder is not None
    write_cell(sweep.folder, CellRecord("a1", 0.0, number, str(number), (f"k={number}",), state, **fields))


def states(sweep: OpenSweep) -> list[tuple[str, str]]:
    assert sweep.folder is not None
    return [(cell.state.value, cell.error) for cell in read_cells(sweep.folder, "a1")]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ZeroDivisionError("of a library")])
def test_cells_that_cannot_be_compared_are_counted_with_a_note_that_says_why(
    error: Exception, sweep: OpenSweep, parent: Told, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(open_sweep, "summarise", fail)
    add(sweep, 1, State.failed, error="it is bad")
    with pytest.raises(CellsFailedError, match="1 of 2 cells failed"):
        sweep.conclude(None)
    assert parent.metrics == {"cells": 2, "failed_cells": 1}
    assert parent.tags["complete"] == "false"
    assert parent.tags["notes"].startswith("the sweep's cells could not be compared (")
    assert "glyphrank: 1 of the sweep's 2 cells failed:\n  cell 1: k=1\n    it is bad" in caplog.text


def test_error_that_ended_the_sweep_is_not_covered_by_one_of_the_disk(
    sweep: OpenSweep, parent: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(open_sweep, "summarise", fail)
    sweep.conclude(ValueError("of a launcher"))
    assert sweep.lacking
    assert parent.metrics == {"cells": 1, "failed_cells": 0}


def test_parent_has_the_best_cell_where_the_table_cannot_be_written(
    sweep: OpenSweep, parent: Told, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sweep" / "comparison.md").mkdir()
    with caplog.at_level(logging.WARNING):
        sweep.conclude(None)
    assert parent.metrics["cells"] == 1
    assert parent.tags["best_cell"] == "#0 k=1"
    assert parent.tags["complete"] == "true"
    assert parent.tags["notes"].startswith(f"the comparison cannot be written: {tmp_path}/sweep/comparison.md")
    assert "the comparison cannot be written: " in caplog.text
    assert {"comparison.md", "comparison.csv", "comparison.json"} <= set(parent.files)  # the launch's own
    assert "nDCG@10 of 1 run on 2 queries" in capsys.readouterr().out


def test_folder_in_the_place_of_the_table_does_not_keep_a_sweep_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "comparison.md").mkdir()
    (tmp_path / "cells").mkdir()
    with ExitStack() as stack:
        own = OpenSweep(stack).enter(tmp_path, "a1", Asked((), {}), "BasicLauncher")
        assert own == launch_folder(tmp_path, "a1")


@pytest.mark.parametrize(("error", "why"), [(Killed(15), "killed by SIGTERM"), (KeyboardInterrupt(), "interrupted")])
def test_cells_of_a_sweep_that_was_asked_to_end_are_interrupted_where_their_process_is_gone(
    error: BaseException, why: str, sweep: OpenSweep, parent: Told
) -> None:  # case L05
    here = socket.gethostname()
    add(sweep, 1, State.running, host=here, process=DEAD)
    add(sweep, 2, State.running, host=here, process=own_process())
    add(sweep, 3, State.running, host="node7", process="pid=5")  # which goes on, or nobody knows
    sweep.conclude(error)
    assert states(sweep) == [("finished", ""), ("interrupted", why), ("interrupted", why), ("running", "")]
    assert (parent.metrics["cells"], parent.metrics["failed_cells"], parent.tags["complete"]) == (4, 0, "false")


def test_cell_that_was_interrupted_alone_is_told_and_has_not_failed(sweep: OpenSweep, parent: Told) -> None:
    add(sweep, 1, State.interrupted, error="KeyboardInterrupt in the cell")
    with pytest.raises(CellsFailedError, match="cells have not ended"):
        sweep.conclude(None)
    assert (parent.metrics["failed_cells"], parent.tags["complete"]) == (0, "false")
    assert "left out, for they were interrupted: cell 1 (KeyboardInterrupt in the cell)" in parent.tags["notes"]


@pytest.mark.parametrize(
    ("waiting", "unended", "told"),
    [
        (0, 0, []),
        (2, 0, ["runs that wait for MLflow: 2; `glyphrank sync` sends them", "  no answer"]),
        (1, 1, ["runs of which only the beginning could be kept: 1; `glyphrank sync` sends that, as KILLED"]),
    ],
)
def test_run_whose_end_could_not_be_kept_is_not_among_those_that_sync_sends(
    waiting: int,
    unended: int,
    told: list[str],
    sweep: OpenSweep,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    troubles = ("no answer",) if waiting > unended else ()
    monkeypatch.setattr(OpenSweep, "_sent", lambda _: Sent(0, waiting, troubles, unended=unended))
    with caplog.at_level(logging.WARNING):
        sweep.settle()
    assert caplog.messages == told
