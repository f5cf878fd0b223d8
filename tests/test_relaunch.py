"""joblib's cells whose process died: which run again, and what is told of them before."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hydra.core.utils import JobReturn

from glyphrank import relaunch
from glyphrank.report.cells import CellRecord, State, write_cell
from glyphrank.tracking.processes import own_process

DEAD = own_process().replace("pid=", "pid=9")


def running(number: int, process: str) -> CellRecord:
    return CellRecord("a1", 0.0, number, str(number), (), State.running, host="here", process=process)


class Executor:
    """A process of its own that does at once what the test says of a cell."""

    does: Any = None

    def __init__(self, *_: object, **__: object) -> None: ...

    def submit(self, _: object, number: int, *__: object) -> Future[JobReturn]:
        future: Future[JobReturn] = Future()
        try:
            future.set_result(type(self).does(number))
        except BrokenProcessPool as error:
            future.set_exception(error)
        return future

    def shutdown(self, **_: object) -> None: ...


@pytest.fixture
def again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs cells 0 to 3 again, and returns what came back and the processes that were told before."""
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    monkeypatch.setattr("joblib.externals.loky.process_executor.ProcessPoolExecutor", Executor)
    launcher = SimpleNamespace(joblib={"n_jobs": 1}, hydra_context=None, config=None, task_function=None)
    told: list[list[str]] = []

    def run(does: Any) -> tuple[dict[int, JobReturn], list[list[str]]]:
        monkeypatch.setattr(Executor, "does", staticmethod(does))
        ended = relaunch._Ended(tmp_path, "a1", counts=False)
        cells: dict[int, Sequence[str]] = {number: [f"k={number}"] for number in range(4)}
        tell = lambda records: told.append([cell.process for cell in records])  # noqa: E731
        returned = relaunch._Again(launcher, cells, ended, tell).run()
        return returned, [processes for processes in told if processes]

    return run


def test_cell_that_runs_again_is_told_with_the_process_that_died(tmp_path: Path, again: Any) -> None:  # case H02
    write_cell(tmp_path, CellRecord("a1", 0.0, 0, "0", (), State.finished, process=DEAD))
    write_cell(tmp_path, running(1, f"{DEAD} innocent"))
    write_cell(tmp_path, running(2, f"{DEAD} guilty"))  # and the last had not begun
    ran: list[int] = []

    def does(number: int) -> JobReturn:
        ran.append(number)
        if number != 2:
            return JobReturn()
        write_cell(tmp_path, running(2, f"{DEAD} alone"))
        raise BrokenProcessPool

    returned, told = again(does)
    assert ran == [1, 2, 3]
    assert sorted(returned) == [1, 3]
    assert told == [[f"{DEAD} innocent", f"{DEAD} guilty"]]  # its last process is what it failed in


def test_cell_that_was_interrupted_does_not_run_again(tmp_path: Path, again: Any) -> None:
    write_cell(tmp_path, CellRecord("a1", 0.0, 0, "0", (), State.interrupted, process=DEAD))
    ran: list[int] = []

    def does(number: int) -> JobReturn:
        ran.append(number)
        if number != 1:
            return JobReturn()
        write_cell(tmp_path, CellRecord("a1", 0.0, 1, "1", (), State.interrupted, process=DEAD))
        raise BrokenProcessPool

    returned, told = again(does)
    assert ran == [1, 2, 3]
    assert (sorted(returned), told) == ([2, 3], [])
