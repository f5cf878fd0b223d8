"""Launchers of processes go on where a cell's process dies: the other cells keep what they came to, or are run."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, JobStatus
from hydra.utils import get_class

from glyphrank.job import CellFailedError
from glyphrank.report.cells import DIED, CellRecord, State, read_cells
from glyphrank.report.results import REPORT, read_report
from glyphrank.tracking.processes import Life, life_of
from glyphrank.workers import threads_each

_DEATHS = 2
"""As often a cell's process may die, once among others, of which any may have taken all down, and once alone."""
_SECONDS_TO_DIE = 10.0

logger = logging.getLogger("glyphrank")


@contextmanager
def surviving(
    target: str,
    sweep: Path,
    launch: str,
    counts: bool,
    died: Callable[[], None],
    again: Callable[[Sequence[CellRecord]], None],
) -> Iterator[None]:
    """Within this, the process of a cell that dies ends no sweep: the cell has failed, and the launcher goes on.

    joblib ends all processes where one dies. What has not ended then runs again, each process by itself, so that one
    that dies takes no other along; a cell whose process dies again has failed. submitit's jobs are not run again.

    Args:
        target: class of Hydra's launcher; with others than those two nothing happens.
        sweep: absolute folder of the sweep.
        launch: whose cells they are.
        counts: whether the sweeper counts a failed cell by an error, and takes no NaN.
        died: called where a process has died; it waits for the jobs that are left.
        again: called with the records of cells whose process has died, before they run again.
    """
    name = target.rpartition(".")[2]
    if name not in ("JoblibLauncher", "LocalLauncher", "SlurmLauncher"):
        yield
        return
    kind, attribute = get_class(target), "launch"
    before = kind.launch  # type: ignore[attr-defined]

    def launched(launcher: Any, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        try:
            return list(before(launcher, job_overrides, initial_job_idx))
        except Exception as error:
            of_submitit = type(error).__name__ == "UncompletedJobError"
            if not of_submitit and not isinstance(error, BrokenProcessPool):
                raise
        cells = dict(enumerate(job_overrides, initial_job_idx))
        ended = _Ended(sweep, launch, counts)
        died()
        if of_submitit:
            return list(ended.told(cells).values())
        returned = _Again(launcher, cells, ended, again).run()
        return list((ended.told(cells) | returned).values())

    setattr(kind, attribute, launched)
    try:
        yield
    finally:
        setattr(kind, attribute, before)


@dataclass(frozen=True)
class _Ended:
    """What the records of a launch tell its sweeper."""

    sweep: Path
    launch: str
    counts: bool

    def told(self, cells: Mapping[int, Sequence[str]]) -> dict[int, JobReturn]:
        """As the processes of the cells, given by their overrides, would have returned it; without a result: failed."""
        records = self.records()
        return {number: self._told(records.get(number), overrides) for number, overrides in cells.items()}

    def _told(self, cell: CellRecord | None, overrides: Sequence[str]) -> JobReturn:
        value = _value(cell) if cell is not None and cell.state is State.finished else math.nan
        done = JobReturn(overrides=overrides, status=JobStatus.COMPLETED)
        done.return_value = value
        if self.counts and math.isnan(value):
            done.status = JobStatus.FAILED
            done.return_value = CellFailedError((cell.error if cell is not None else "") or DIED)
        return done

    def records(self) -> dict[int, CellRecord]:
        """Those of the cells that began, by number."""
        return {cell.number: cell for cell in read_cells(self.sweep, self.launch)}

    def once_dead(self) -> dict[int, CellRecord]:
        """The same, when processes were given time to go: a cell that is running then died with its process."""
        until = time.monotonic() + _SECONDS_TO_DIE
        cells = self.records()
        while time.monotonic() < until and any(
            cell.state is State.running and life_of(cell.host, cell.process) is Life.alive for cell in cells.values()
        ):
            time.sleep(0.05)
            cells = self.records()
        return cells


@dataclass
class _Again:
    """The cells of a batch of joblib's that have not ended, each run in a process that no other shares at that time."""

    launcher: Any
    cells: dict[int, Sequence[str]]
    ended: _Ended
    again: Callable[[Sequence[CellRecord]], None]
    returned: dict[int, JobReturn] = field(default_factory=dict)
    idle: list[Any] = field(default_factory=list)
    busy: dict[Future[JobReturn], tuple[int, Any]] = field(default_factory=dict)

    def run(self) -> dict[int, JobReturn]:
        """What those cells returned that came to an end."""
        from joblib import effective_n_jobs  # type: ignore[import-untyped]

        records = self.ended.once_dead()
        left = deque(number for number in self.cells if not _has_ended(records.get(number)))
        deaths = Counter(number for number in left if number in records)
        shown = ", ".join(f"cell {number}" for number in deaths) or "none that had begun"
        logger.warning("a cell's process ended without a word; run again, in other processes: %s", shown)
        self.again([records[number] for number in deaths])
        at_once = max(min(effective_n_jobs(self.launcher.joblib["n_jobs"]), len(left)), 1)
        try:
            while left or self.busy:
                while left and len(self.busy) < at_once:
                    self._start(left.popleft(), at_once)
                for future in wait(self.busy, return_when=FIRST_COMPLETED).done:
                    number = self._finish(future)
                    deaths[number] += number not in self.returned
                    if number not in self.returned and deaths[number] < _DEATHS and self._is_left(number):
                        left.append(number)
        finally:
            for executor in [*self.idle, *(executor for _, executor in self.busy.values())]:
                executor.shutdown(wait=True, kill_workers=True)
        return self.returned

    def _is_left(self, number: int) -> bool:
        """Whether a cell whose process has died is to be run again, which is told then."""
        record = self.ended.records().get(number)
        if _has_ended(record):
            return False
        self.again([record] if record is not None else [])
        return True

    def _start(self, number: int, at_once: int) -> None:
        from hydra_plugins.hydra_joblib_launcher._core import execute_job
        from joblib.externals.loky.process_executor import ProcessPoolExecutor  # type: ignore[import-untyped]

        executor = self.idle.pop() if self.idle else ProcessPoolExecutor(1, env=threads_each(at_once))
        shared = (self.launcher.hydra_context, self.launcher.config, self.launcher.task_function)
        future = executor.submit(execute_job, number, self.cells[number], *shared, Singleton.get_state())
        self.busy[future] = (number, executor)

    def _finish(self, future: Future[JobReturn]) -> int:
        """The number of a cell whose process has returned or died."""
        number, executor = self.busy.pop(future)
        try:
            self.returned[number] = future.result()
            self.idle.append(executor)
        except BrokenProcessPool:
            executor.shutdown(wait=True, kill_workers=True)
        return number


def _has_ended(cell: CellRecord | None) -> bool:
    return cell is not None and cell.state is not State.running


def _value(cell: CellRecord) -> float:
    """The primary metric of a cell that has finished; NaN where its result cannot be read."""
    try:
        report = read_report(Path(cell.result) / REPORT)
        return report.metrics[report.primary]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning("the result of %s cannot be read: %s", cell.name, error)
        return math.nan
