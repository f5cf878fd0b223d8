"""One cell of a command: built, run, handed on. Launchers pickle `job` by its name, so it has a module of its own."""

from __future__ import annotations

import logging
import math
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glyphrank.errors import ConfigError, DataError

if TYPE_CHECKING:
    from glyphrank.config import Cell
    from glyphrank.run import Run
    from glyphrank.tracking.start import Start

logger = logging.getLogger("glyphrank")


class RunFailedError(SystemExit):
    """Ends a command of a single run that has failed, and been shown: 2 for what a person can mend, else 1."""


class CellFailedError(Exception):
    """Tells a sweeper of a cell that has failed, and been shown, where it takes no NaN for that."""


@dataclass(frozen=True)
class Ended:
    """What became of a cell.

    Attributes:
        result: absolute folder of the result that it gave or took; None where it failed.
        error: why it failed, in a line.
    """

    result: Path | None = None
    error: str = ""


_ended: list[Ended] = []


def ended() -> Ended:
    """What became of the last cell of this process."""
    return _ended[-1] if _ended else Ended()


def job(config: Any) -> float:
    """One cell, from the config that Hydra composed: builds and runs it, prints its table, returns the primary metric.

    A cell of a sweep that fails stops no other: it is shown at once and returns NaN, or raises `CellFailedError` where
    the sweeper needs that. A failed single run raises `RunFailedError`.
    """
    from glyphrank.config import current_cell
    from glyphrank.redacted_files import redact_file
    from glyphrank.report.results import REPORT
    from glyphrank.tracking.interruptions import Killed
    from glyphrank.workers import leave_worker

    _ended.clear()
    cell = current_cell()
    try:
        for path in cell.copies:
            redact_file(path)
        (cell.folder / REPORT).unlink(missing_ok=True)  # an earlier run's, which would pass for this one's
        return perform(*_built(config, cell), cell.folder, page=cell.sweep is None)
    except (ConfigError, DataError) as error:
        return _fail(cell, str(error), str(error), code=2)
    except (KeyboardInterrupt, Killed) as error:
        _record_interrupted(cell, error)
        leave_worker(int(error.code or 1) if isinstance(error, Killed) else 130)
        raise
    except SystemExit as error:
        message = f"a component ended the program (SystemExit: {error})"
        return _fail(cell, message, message, code=1)
    except BaseException as error:  # asyncio.CancelledError and GeneratorExit of a component too
        return _fail(cell, f"{type(error).__name__}: {error}", traceback.format_exc(), code=1)


def _record_interrupted(cell: Cell, error: BaseException) -> None:
    """Records a cell of a sweep that was asked to end, so that it does not look as if its process had just died."""
    from glyphrank.report.cells import State, read_cells, write_cell
    from glyphrank.tracking.processes import own_process

    if cell.sweep is not None:
        why = str(error) if isinstance(error, SystemExit) else f"{type(error).__name__} in the cell"
        for record in read_cells(cell.sweep, cell.launch):
            if record.state is State.running and record.process == own_process():
                write_cell(cell.sweep, replace(record, state=State.interrupted, error=why))


def _built(config: Any, cell: Cell) -> tuple[Run, Start]:
    """The run and what its tracker is told; a cell that cannot be built stands in the store as failed."""
    from glyphrank.config import build
    from glyphrank.launched import check_unchanged
    from glyphrank.report.cells import launch_folder

    try:
        if cell.sweep:
            check_unchanged(launch_folder(cell.sweep, cell.launch))
        run, start = build(config)
    except (ConfigError, DataError) as error:
        if cell.sweep:
            _track_failure(config, error)
        raise
    _write_used(cell, start)
    return run, start


def _write_used(cell: Cell, start: Start) -> None:
    """Puts what was used in the place of Hydra's copy of it, in which a resolver stands for its value."""
    from glyphrank.report.results import config_text
    from glyphrank.whole_files import replace_whole

    text = config_text(start.config)
    for path in (path for path in cell.copies if path.name == "config.yaml"):
        with suppress(OSError):
            replace_whole(path, lambda new: new.write_text(text, encoding="utf-8"), durable=False)


def _track_failure(config: Any, error: Exception) -> None:
    """Opens a run and fails it; where that does not go either, what the cell says of its own fault is enough."""
    from glyphrank.config import build_told

    with suppress(ConfigError, DataError):
        told, start = build_told(config)
        if told.tracking is not None:
            with told.tracking.start(start, told.runtime):
                raise error


def _fail(cell: Cell, reason: str, message: str, code: int) -> float:
    """Tells at once, on the terminal and in the cell's log, that and why a cell failed."""
    from glyphrank.redaction import redact_text

    where = f"failed: {' '.join(cell.overrides)}\n" if cell.sweep else ""
    logger.error("glyphrank: %s%s", where, message)
    if cell.sweep is None:
        raise RunFailedError(code)
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    shown = " ".join(lines[: 2 if lines[0].endswith(":") else 1])  # "1 fault in the configuration:" alone says nothing
    _ended.append(Ended(error=shown))
    if cell.counts:
        raise CellFailedError(redact_text(shown))  # a launcher may write it down
    return math.nan


def perform(run: Run, start: Start, folder: Path, page: bool = False) -> float:
    """Runs an experiment and hands its result on: to its own folder, to the tracker, to the terminal.

    A cell whose sweep has been started again meanwhile leaves the folder to its successor, and only keeps the result.

    Args:
        page: whether `report.html` is among the files.
    """
    from glyphrank.devices import leases
    from glyphrank.pipeline import execute
    from glyphrank.report import results
    from glyphrank.report.environment import keep_environment
    from glyphrank.report.table import show
    from glyphrank.tracking.untracked import Untracked

    store = run.runtime.outputs / "results"
    with leases(), (run.tracking or Untracked()).start(start, run.runtime) as tracked:
        done = execute(run, start.config, start.choices, start.changed)
        report = done.report
        if done.reused:  # it may come from a run with other paths, or with another name for the same choice
            report = replace(report, config=start.config, choices=start.choices, changed=start.changed)
        if _is_superseded(start):
            folder = store / report.identity
        else:
            results.deliver(store, report, folder, done.orders)
        keep_environment(store / report.identity, folder, run.runtime.device, run, done.reused)
        if page:
            from glyphrank.page_parts import keep_page

            keep_page(run, replace(done, report=report), start.name, folder)
        tracked.log(report, folder, done.reused)
        if tracked.reference:
            results.remember_run(store, report.identity, tracked.reference)
    _ended.append(Ended(result=store.absolute() / report.identity))
    show(report, done.reused, sys.stdout)
    sys.stdout.write(f"files: {folder}\n")
    if tracked.dashboard:
        sys.stdout.write(f"dashboard: {tracked.dashboard}\n")
    return report.metrics[report.primary]


def _is_superseded(start: Start) -> bool:
    from glyphrank.report.claims import latest_launch
    from glyphrank.tracking.parents import remembered_sweep

    sweep = remembered_sweep(start.launch)
    return sweep is not None and latest_launch(sweep) not in ("", start.launch)
