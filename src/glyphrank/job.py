"""One cell of a command: built, run, handed on. Launchers pickle `job` by its name, so it has a module of its own."""

from __future__ import annotations

import logging
import math
import os
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glyphrank.errors import ConfigError, DataError

if TYPE_CHECKING:
    from glyphrank.config import Cell
    from glyphrank.run import Run
    from glyphrank.tracking.start import Start

logger = logging.getLogger("glyphrank")

_launcher = 0
_failed: list[tuple[Cell, BaseException]] = []
_results: list[Path] = []


def begin() -> None:
    """Makes this process the launching one, whose failed cells `exit_code` tells of."""
    global _launcher
    _launcher = os.getpid()
    _failed.clear()


def exit_code() -> int:
    """0 when no cell failed here, 2 for a single run that a person can mend, 1 for any other and for a sweep."""
    if not _failed:
        return 0
    cell, error = _failed[0]
    if not cell.sweep:
        return 2 if isinstance(error, ConfigError | DataError) else 1
    logger.error("glyphrank: %d of the sweep's cells failed; each is shown above with its overrides", len(_failed))
    return 1


def result() -> Path | None:
    """Absolute folder of the result that the last cell of this process gave or took; None where it failed."""
    return _results[-1] if _results else None


def job(config: Any) -> float:
    """One cell, from the config that Hydra composed: builds and runs it, prints its table, returns the primary metric.

    A failure is kept for the end when Hydra runs the cell in the launching process, and the cell returns NaN; in a
    worker process it is raised, since the launcher must learn of it.
    """
    from glyphrank.config import build, current_cell
    from glyphrank.redaction import redact_file
    from glyphrank.report.results import REPORT
    from glyphrank.tracking.interruptions import Killed

    _results.clear()
    cell = current_cell()
    try:
        for path in cell.copies:
            redact_file(path)
        (cell.folder / REPORT).unlink(missing_ok=True)  # an earlier run's, which would pass for this one's
        return perform(*build(config), cell.folder)
    except (ConfigError, DataError) as error:
        return _fail(cell, error, str(error))
    except SystemExit as error:
        if isinstance(error, Killed):
            raise
        return _fail(cell, error, f"a component ended the program (SystemExit: {error})")
    except Exception as error:
        return _fail(cell, error, traceback.format_exc())


def _fail(cell: Cell, error: BaseException, message: str) -> float:
    """Tells at once, on the terminal and in the cell's log, that and why a cell failed."""
    where = f"failed: {' '.join(cell.overrides)}\n" if cell.sweep else ""
    logger.error("glyphrank: %s%s", where, message)
    if os.getpid() != _launcher:
        # A SystemExit would end the worker, or even the launcher, as if nothing were wrong.
        raise RuntimeError(message) if isinstance(error, SystemExit) else error
    _failed.append((cell, error))
    return math.nan


def perform(run: Run, start: Start, folder: Path) -> float:
    """Runs an experiment and hands its result on: to its own folder, to the tracker, to the terminal."""
    from glyphrank.pipeline import execute
    from glyphrank.report import results
    from glyphrank.report.table import show
    from glyphrank.tracking.untracked import Untracked

    store = run.runtime.outputs / "results"
    with (run.tracking or Untracked()).start(start, run.runtime) as tracked:
        done = execute(run, start.config, start.choices, start.changed)
        # A stored result may come from a run with other paths, or with another name for the same choice.
        report = replace(done.report, config=start.config, choices=start.choices, changed=start.changed)
        results.deliver(store, report, folder, done.orders)
        tracked.log(report, folder, done.reused)
        if tracked.reference:
            results.remember_run(store, report.identity, tracked.reference)
    _results.append(store.absolute() / report.identity)
    show(report, done.reused, sys.stdout)
    sys.stdout.write(f"files: {folder}\n")
    if tracked.dashboard:
        sys.stdout.write(f"dashboard: {tracked.dashboard}\n")
    return report.metrics[report.primary]
