"""A sweep as a whole: one parent run in the store, and at the end the comparison of the cells that finished.

Hydra calls `Sweep` when a sweep begins, and around every cell in whatever process runs it. Of the end it says nothing
where an exception or a signal ends a sweep, so that `concluding` stands around Hydra's own main.
"""

from __future__ import annotations

import copy
import logging
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from glyphrank.config import build_parts
from glyphrank.errors import ConfigError, DataError
from glyphrank.redaction import redact_file, redact_override
from glyphrank.report.cells import CellRecord, State, read_cells, write_cell
from glyphrank.runtime import Runtime
from glyphrank.tracking import TrackedRun, Tracker
from glyphrank.tracking.interruptions import Interruptions, Killed
from glyphrank.tracking.parents import PARENT_FILE, write_parent
from glyphrank.tracking.start import Start
from glyphrank.tracking.untracked import Untracked, UntrackedRun

if TYPE_CHECKING:
    from glyphrank.report.compared import Comparison
    from glyphrank.report.finished import Finished

logger = logging.getLogger("glyphrank")


class CellsFailedError(Exception):
    """Ends a parent run as FAILED; it reaches nobody else."""


class Sweep(Callback):
    """What Hydra calls; named in `conf/config.yaml`, pickled into the workers of a launcher.

    Nothing that goes wrong here ends a sweep.
    """

    def __init__(self, launch: str) -> None:
        self.launch = launch

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Opens the parent run, unless `concluding` is not there to end it."""
        if _open:
            _open[-1].begin(config, self.launch)

    def on_job_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Records a cell of a sweep as running; a single run leaves no record."""
        self._record(config, State.running)

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:
        """Records what became of a cell."""
        value = job_return.return_value if job_return.status is JobStatus.COMPLETED else None
        finished = isinstance(value, float) and not math.isnan(value)  # as `job` says that a cell failed
        self._record(config, State.finished if finished else State.failed)

    def _record(self, config: DictConfig, state: State) -> None:
        hydra = config.hydra
        if hydra.mode != RunMode.MULTIRUN:
            return
        sweep, folder = Path(hydra.runtime.cwd, hydra.sweep.dir), Path(hydra.runtime.output_dir)
        inside = folder.relative_to(sweep) if folder.is_relative_to(sweep) else folder
        overrides = tuple(redact_override(override) for override in _texts(hydra.overrides.task))
        record = CellRecord(self.launch, hydra.job.num, str(inside), overrides, state)
        write_cell(sweep, record)


@contextmanager
def concluding() -> Iterator[None]:
    """Concludes the sweep that Hydra begins inside the block, whatever leaves the block; a single run is left alone.

    The cells that finished are compared, on the terminal, in the sweep's folder and in the parent run, which ends
    FINISHED, FAILED where a cell failed or an exception ended the sweep, and KILLED by a signal or Ctrl-C. A sweep
    that is ended from outside ends its parent run first, since what asks it to end may not wait for a table.
    """
    sweep = _Open(ExitStack())
    _open.append(sweep)
    try:
        with suppress(CellsFailedError), sweep.stack:
            yield
            sweep.conclude(None)
    except BaseException as error:
        sweep.conclude(error)
        raise
    finally:
        _open.remove(sweep)


@dataclass
class _Open:
    """The sweep of the launching process.

    Attributes:
        stack: what it opens is put here, and closed by `concluding`.
        folder: of the sweep; None before it begins.
    """

    stack: ExitStack
    folder: Path | None = None
    launch: str = ""
    tracked: TrackedRun = field(default_factory=UntrackedRun)
    concluded: bool = False

    def begin(self, config: DictConfig, launch: str) -> None:
        """Opens the parent run and leaves its reference in the sweep's folder."""
        folder = Path(config.hydra.runtime.cwd, config.hydra.sweep.dir)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_parent(folder, launch, {})
        except OSError:  # Hydra meets it next, and says so
            return
        self.folder, self.launch = folder, launch
        self.stack.enter_context(Interruptions().watched())
        try:
            parts = _parts(config)
            context = (parts.tracking or Untracked()).start(_start(config), parts.runtime)
            self.tracked = self.stack.enter_context(context)
            write_parent(folder, launch, self.tracked.reference)
        except Exception as error:  # of a store, or of the config; Hydra would warn in its own words
            logger.error("the sweep has no parent run: %s", str(error).partition("\n")[0] or type(error).__name__)

    def conclude(self, error: BaseException | None) -> None:
        """Compares the cells and hands the result on, once; raises `CellsFailedError` where no other error is there."""
        if self.folder is None or self.concluded:
            return
        self.concluded = True
        cells = read_cells(self.folder, self.launch)
        if not cells and isinstance(error, HydraException | OmegaConfBaseException):
            self.tracked.discard()  # refused before anything ran, as a single run is, which leaves none either
            return
        ended = (State.finished, State.running) if isinstance(error, KeyboardInterrupt | Killed) else (State.finished,)
        failed = sum(cell.state not in ended for cell in cells)
        try:
            self._summarise(self.folder, cells, failed)
        except Exception:
            logger.exception("the sweep's cells could not be compared; their results lie in %s", self.folder)
        if failed and error is None:
            raise CellsFailedError(f"{failed} of {len(cells)} cells failed")

    def _summarise(self, folder: Path, cells: Sequence[CellRecord], failed: int) -> None:
        metrics = {"cells": float(len(cells)), "failed_cells": float(failed)}
        finished = [cell for cell in cells if cell.state is State.finished]
        complete = bool(finished) and len(finished) == len(cells)
        tags = {"complete": str(complete).lower()}
        runs, notes = _read(folder, finished)
        comparison = _compared(runs, notes)
        if comparison is not None:
            best = next(run for run in runs if run.name == comparison.best)
            cell = next(cell for cell in finished if _called(cell) == comparison.best)
            metrics[comparison.metric] = best.report.metrics[comparison.metric]
            tags["best_cell"] = " ".join([f"#{cell.number}", *cell.overrides])
            _show(folder, comparison)
        for note in notes:
            logger.warning("%s", note)
        if notes:
            tags["notes"] = "\n".join(notes)
        redact_file(folder / "multirun.yaml")
        self.tracked.summarise(metrics, tags, _files(folder))


_open: list[_Open] = []
"""What `concluding` waits for: at most one, but for tests that run commands inside one another."""


@dataclass(frozen=True)
class _Parts:
    """Of the config that all cells share, what the parent run needs."""

    tracking: Tracker | None
    runtime: Runtime


def _parts(config: DictConfig) -> _Parts:
    """Built from a copy, since building resolves and freezes; swept values are missing in it and not asked for.

    Raises:
        ConfigError: of `tracking`, `paths` or `runtime`.
    """
    own, current = copy.deepcopy(config), HydraConfig.instance()
    before = current.cfg
    with open_dict(own):
        own.hydra.runtime.output_dir = own.hydra.runtime.cwd
        own.hydra.job.num = 0
        current.set_config(own)
        del own["hydra"]
    try:
        return build_parts(_Parts, own)
    finally:
        current.cfg = before


def _start(config: DictConfig) -> Start:
    """Without parameters: those of its cells stand in the columns beside it."""
    asked = [redact_override(override) for override in _texts(config.hydra.overrides.task)]
    of_hydra = [redact_override(override) for override in _texts(config.hydra.overrides.hydra)]
    flags = ["-m", *(override for override in of_hydra if override != "hydra.mode=MULTIRUN")]
    return Start(
        name=" ".join(["sweep", *asked]),
        choices={},
        config={},
        overrides=(*flags, *asked),
        launched_from=Path(config.hydra.runtime.cwd),
        sweep=True,
    )


def _texts(overrides: Any) -> list[str]:
    plain = OmegaConf.to_container(overrides, resolve=False)
    return [str(override) for override in plain] if isinstance(plain, list) else []


def _read(folder: Path, cells: Sequence[CellRecord]) -> tuple[list[Finished], list[str]]:
    """The results of cells, and why others are not there."""
    from glyphrank.report.finished import read_finished

    runs, notes = [], []
    for cell in cells:
        try:
            runs.append(read_finished(folder / cell.folder, _called(cell)))
        except DataError as error:
            notes.append(f"{_called(cell)} is not compared: {error}")
    return runs, notes


def _called(cell: CellRecord) -> str:
    return f"cell {cell.number}"


def _compared(runs: Sequence[Finished], notes: list[str]) -> Comparison | None:
    """None where there is nothing, or where the cells cannot be compared; a note says why."""
    from glyphrank.compare import compare

    if not runs:
        return None
    try:
        return compare(runs)
    except (ConfigError, DataError) as error:
        notes.append(f"the sweep's cells are not compared: {error}")
        return None


def _show(folder: Path, comparison: Comparison) -> None:
    """On the terminal and as files."""
    from glyphrank.report.comparison import as_table, write_comparison

    write_comparison(folder, comparison)
    sys.stdout.write(f"{as_table(comparison)}\ncomparison: {folder / 'comparison.md'}\n")


def _files(folder: Path) -> list[Path]:
    """What lies at the top of a sweep's folder, but for what only workers need."""
    found = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return [path for path in found if path.name != PARENT_FILE]
