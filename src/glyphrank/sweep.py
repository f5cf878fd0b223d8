"""A sweep as a whole: one parent run in the store, and at the end the comparison of the cells that finished.

Hydra calls `Sweep` when a sweep begins, and around every cell in whatever process runs it. Of the end it says nothing
where an exception or a signal ends a sweep, so that `concluding` stands around Hydra's own main.
"""

from __future__ import annotations

import copy
import logging
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from glyphrank.config import build_parts
from glyphrank.job import result
from glyphrank.redaction import redact_file, redact_override
from glyphrank.report.cells import CELLS, CellRecord, State, launch_folder, read_cells, write_cell
from glyphrank.report.compared import COMPARISON
from glyphrank.runtime import Runtime
from glyphrank.sweep_cells import summarise
from glyphrank.tracking import TrackedRun, Tracker
from glyphrank.tracking.interruptions import Interruptions, Killed
from glyphrank.tracking.parents import remember_sweep, write_parent
from glyphrank.tracking.start import Start
from glyphrank.tracking.untracked import Untracked, UntrackedRun

MULTIRUN = "multirun.yaml"
"""What was asked for, as Hydra writes it into the sweep's folder; the launch's own is kept without secrets."""

logger = logging.getLogger("glyphrank")


class CellsFailedError(Exception):
    """Ends a parent run as FAILED; it reaches nobody else."""


class Sweep(Callback):
    """What Hydra calls; named in `conf/config.yaml`, pickled into the workers of a launcher.

    Nothing that goes wrong here ends a sweep.

    Attributes:
        began: when the command began, in seconds since 1970.
        folder: the sweep's in the launching process, known once it begins; a cell's own config may name another.
    """

    def __init__(self, launch: str) -> None:
        self.launch = launch
        self.began = time.time()
        self.folder: Path | None = None

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Opens the parent run, unless `concluding` is not there to end it."""
        if _open:
            self.folder = _open[-1].begin(config, self.launch)

    def on_job_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Records a cell of a sweep as running, and tells the process where the sweep is; a single run leaves none."""
        if config.hydra.mode == RunMode.MULTIRUN:
            if _open:
                _open[-1].ran += 1
            remember_sweep(self.launch, self._sweep(config))
            self._record(config, State.running)

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:
        """Records what became of a cell."""
        if config.hydra.mode == RunMode.MULTIRUN:
            value = job_return.return_value if job_return.status is JobStatus.COMPLETED else None
            finished = isinstance(value, float) and not math.isnan(value)  # as `job` says that a cell failed
            self._record(config, State.finished if finished else State.failed, str(result() or "") if finished else "")

    def _record(self, config: DictConfig, state: State, stored: str = "") -> None:
        hydra, sweep = config.hydra, self._sweep(config)
        folder = Path(hydra.runtime.output_dir)
        inside = str(folder.relative_to(sweep) if folder.is_relative_to(sweep) else folder)
        overrides = tuple(redact_override(override) for override in _texts(hydra.overrides.task))
        shown = redact_override(inside)  # a subdir may be made of overrides
        write_cell(sweep, CellRecord(self.launch, self.began, hydra.job.num, shown, overrides, state, stored))

    def _sweep(self, config: DictConfig) -> Path:
        return self.folder or Path(config.hydra.runtime.cwd, config.hydra.sweep.dir)


@contextmanager
def concluding() -> Iterator[None]:
    """Concludes the sweep that Hydra begins inside the block, whatever leaves the block; a single run is left alone.

    The cells that finished are compared, on the terminal, in the sweep's folder and in the parent run, which ends
    FINISHED, FAILED where a cell failed or an exception ended the sweep, and KILLED by a signal or Ctrl-C. A sweep
    that is ended from outside ends its parent run first, since what asks it to end may not wait for a table. A sweep
    that has no cells leaves no parent run.
    """
    sweep = _Open(ExitStack())
    _open.append(sweep)
    try:
        with suppress(CellsFailedError), sweep.stack:
            yield
            sweep.conclude(None)
        sweep.forget_if_empty()
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
        folder: of the sweep, which may be one that a person uses for other things; None before it begins.
        here: whether this process runs the cells itself.
        ran: how many cells began in this process.
    """

    stack: ExitStack
    folder: Path | None = None
    launch: str = ""
    tracked: TrackedRun = field(default_factory=UntrackedRun)
    here: bool = False
    ran: int = 0
    concluded: bool = False

    def begin(self, config: DictConfig, launch: str) -> Path | None:
        """Opens the parent run and leaves its reference in the sweep's folder, which it returns."""
        try:
            folder = Path(config.hydra.runtime.cwd, config.hydra.sweep.dir)
            for name in COMPARISON if (folder / CELLS).is_dir() else ():
                (folder / name).unlink(missing_ok=True)  # an earlier sweep's, not a person's own
            own = launch_folder(folder, launch)
            own.mkdir(parents=True, exist_ok=True)
            OmegaConf.save(config, own / MULTIRUN)
            redact_file(own / MULTIRUN)
        except (OSError, OmegaConfBaseException):  # Hydra meets it next, and says so
            return None
        self.folder, self.launch = folder, launch
        self.here = str(config.hydra.launcher.get("_target_")).endswith(".BasicLauncher")
        self.stack.enter_context(Interruptions().watched())
        try:
            self._open_parent(config, folder)
        except Exception as error:  # of a store, or of the config; Hydra would warn in its own words
            logger.error("the sweep has no parent run: %s", str(error).partition("\n")[0] or type(error).__name__)
        return folder

    def _open_parent(self, config: DictConfig, folder: Path) -> None:
        parts = _parts(config)
        apart = _stores_apart(config, parts.tracking)
        if apart:
            logger.warning("the sweep has no parent run, since its cells go to several stores: %s", " ".join(apart))
            return
        context = (parts.tracking or Untracked()).start(_start(config), parts.runtime)
        self.tracked = self.stack.enter_context(context)
        write_parent(folder, self.launch, self.tracked.reference)

    def conclude(self, error: BaseException | None) -> None:
        """Compares the cells and hands the result on, once; raises `CellsFailedError` where no other error is there."""
        if self.folder is None or self.concluded:
            return
        self.concluded = True
        cells = read_cells(self.folder, self.launch)
        if not cells and isinstance(error, HydraException | OmegaConfBaseException):
            self.tracked.discard()  # refused before anything ran, as a single run is, which leaves none either
            return
        if error is None and self._is_empty(cells):
            return
        interrupted = isinstance(error, KeyboardInterrupt | Killed)
        ended = (State.finished, State.running) if interrupted or error is None else (State.finished,)
        failed = sum(cell.state not in ended for cell in cells)
        try:
            self._summarise(self.folder, cells, failed, [] if interrupted else self._unknown(self.folder, cells, error))
        except Exception:
            logger.exception("the sweep's cells could not be compared; their results lie in %s", self.folder)
        if failed and error is None:
            raise CellsFailedError(f"{failed} of {len(cells)} cells failed")

    def forget_if_empty(self) -> None:
        """Discards the parent run, which has ended, of a sweep that had no cells."""
        if self.folder is not None and self._is_empty(read_cells(self.folder, self.launch)):
            logger.warning("the sweep has no cells: nothing was run")
            self.tracked.discard()

    def _is_empty(self, cells: Sequence[CellRecord]) -> bool:
        return self.here and not self.ran and not cells

    def _unknown(self, folder: Path, cells: Sequence[CellRecord], error: BaseException | None) -> list[str]:
        """What the records do not tell of the cells, where nobody asked the sweep to end."""
        notes = []
        if not cells:
            notes.append(f"nothing is known of the sweep's cells: no record of one lies in {folder / CELLS}")
        if self.ran > len(cells):
            notes.append(f"cells that began here and left no record: {self.ran - len(cells)}")
        silent = [] if error else [cell.name for cell in cells if cell.state is State.running]
        if silent:
            notes.append(f"left out, for how they ended could not be recorded: {', '.join(silent)}")
        return notes

    def _summarise(self, folder: Path, cells: Sequence[CellRecord], failed: int, notes: Sequence[str]) -> None:
        found = summarise(folder, self.launch, cells, notes)
        metrics, tags = {"cells": float(max(self.ran, len(cells))), **found.metrics}, found.tags
        if cells:
            metrics["failed_cells"] = float(failed)
        if self.ran > len(cells):
            tags["complete"] = "false"
        redact_file(folder / MULTIRUN)
        self.tracked.summarise(metrics, tags, [*found.files, launch_folder(folder, self.launch) / MULTIRUN])


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


def _stores_apart(config: DictConfig, tracking: Tracker | None) -> list[str]:
    """The overrides, secrets removed, by which the cells of a sweep go to other stores or experiments than each other.

    Raises:
        HydraException: of an override that cannot be read.
    """
    from glyphrank.tracking.local import Local

    given = [f"{name}={value}" for name, value in (config.hydra.sweeper.get("params") or {}).items()]
    deciding = {"tracking"} | ({"paths", "paths.outputs"} if isinstance(tracking, Local) else set())
    return [
        redact_override(str(override.input_line))
        for override in OverridesParser.create().parse_overrides([*given, *_texts(config.hydra.overrides.task)])
        if override.is_sweep_override()
        and (override.key_or_group in deciding or override.key_or_group.startswith("tracking."))
    ]
