"""What Hydra calls around a sweep and each of its cells.

Hydra calls `Sweep` when a sweep begins, and around every cell in whatever process runs it. Of the end it says nothing
where an exception or a signal ends a sweep, so that `concluding` stands around Hydra's own main.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_launcher import BasicLauncher
from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from glyphrank.composed_once import composed_once
from glyphrank.composition import register_resolvers
from glyphrank.config import texts_of
from glyphrank.errors import ConfigError
from glyphrank.extras import check_launcher, missing_extra
from glyphrank.job import ended
from glyphrank.launched import write_launched
from glyphrank.open_sweep import MULTIRUN, CellsFailedError, OpenSweep
from glyphrank.planned_cells import plan_of_sweep
from glyphrank.redacted_files import redact_file
from glyphrank.redaction import redact_override, redact_text
from glyphrank.relaunch import surviving
from glyphrank.report.cells import CellRecord, State, forget_former, write_cell
from glyphrank.report.claims import Asked, claimed
from glyphrank.report.plan_table import write_plan
from glyphrank.slurm_jobs import SlurmJobs, heard
from glyphrank.snapshot import make_snapshot, restart, runs_from_snapshot
from glyphrank.sweep_config import (
    asked_of,
    check_store,
    is_for_all_cells,
    number_of_cells,
    parent_of,
    parts_of,
    searched,
    sources_of,
    stores_apart,
)
from glyphrank.tracking.parents import remember_sweep, write_parent
from glyphrank.tracking.processes import own_process
from glyphrank.tracking.untracked import Untracked
from glyphrank.workers import ending_workers, forget_given, orphan_of, outlast, removing_pickles, share_cores

_MOST_PLANNED = 100
"""Cells of a sweep that is planned when it begins."""

logger = logging.getLogger("glyphrank")


class RefusedError(BaseException):
    """Ends a sweep before it begins; Hydra lets no Exception of a callback through."""


class Sweep(Callback):
    """What Hydra calls; named in `conf/config.yaml`, pickled into the workers of a launcher.

    Nothing that goes wrong here ends a sweep, but for a folder that is another's, and what would end every cell.

    Attributes:
        began: when the command began, in seconds since 1970.
        process: number of the launching process.
        folder: the sweep's in the launching process, known once it begins; a cell's own config may name another.
    """

    def __init__(self, launch: str) -> None:
        self.launch = launch
        self.began = time.time()
        self.folder: Path | None = None
        self.process = os.getpid()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In a worker, which composes the config of its cell next, `conf/` may use what it may use here."""
        self.__dict__ |= state
        register_resolvers(self.launch)

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Takes the sweep's folder and opens the parent run, unless `concluding` is not there to end it.

        Raises:
            RefusedError: the folder is another sweep's, another process launches from it, or no cell could be tracked.
            Restart: the sweep is to run from a snapshot, which is there now.
        """
        if _open:
            try:
                self.folder = _begin(_open[-1], config, self.launch)
            except ConfigError as error:
                raise RefusedError(str(error)) from error

    def on_job_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Records a cell of a sweep as running, and tells the process where the sweep is; a single run leaves none."""
        if config.hydra.mode == RunMode.MULTIRUN:
            orphan_of(self.process).begin()
            if _open:
                _open[-1].ran += 1
            remember_sweep(self.launch, self._sweep(config))
            forget_former(Path(config.hydra.runtime.output_dir), self.began)
            self._record(config, State.running)

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:
        """Records what became of a cell."""
        if config.hydra.mode == RunMode.MULTIRUN:
            value = job_return.return_value if job_return.status is JobStatus.COMPLETED else None
            finished = isinstance(value, float) and not math.isnan(value)  # as `job` says that a cell failed
            self._record(config, State.finished if finished else State.failed)
            if _open and not finished:
                _open[-1].lacking = True
            forget_given(job_return)
            orphan_of(self.process).end()

    def _record(self, config: DictConfig, state: State) -> None:
        hydra, sweep = config.hydra, self._sweep(config)
        folder = Path(hydra.runtime.output_dir)
        inside = str(folder.relative_to(sweep) if folder.is_relative_to(sweep) else folder)
        cell = CellRecord(
            launch=self.launch,
            began=self.began,
            number=hydra.job.num,
            folder=redact_override(inside),  # a subdir may be made of overrides
            overrides=tuple(redact_override(override) for override in texts_of(hydra.overrides.task)),
            state=state,
            result=str(ended().result or "") if state is State.finished else "",
            error=redact_text(ended().error) if state is State.failed else "",
            host=socket.gethostname(),
            process=own_process(),
        )
        if _open:
            _open[-1].own[cell.number] = cell
        write_cell(sweep, cell)

    def _sweep(self, config: DictConfig) -> Path:
        return self.folder or Path(config.hydra.runtime.cwd, config.hydra.sweep.dir)


@contextmanager
def concluding() -> Iterator[OpenSweep]:
    """Concludes the sweep that Hydra begins inside the block, whatever leaves the block; a single run is left alone.

    The cells that finished are compared, on the terminal, in the sweep's folder and in the parent run, which ends
    FINISHED, FAILED where a cell failed or an exception ended the sweep, and KILLED by a signal or Ctrl-C. A sweep
    that is ended from outside ends its parent run first, since what asks it to end may not wait for a table. A sweep
    that has no cells leaves no parent run.
    """
    sweep = OpenSweep(ExitStack())
    _open.append(sweep)
    try:
        with suppress(CellsFailedError), sweep.stack:
            yield sweep
            sweep.conclude(None)
        sweep.forget_if_empty()
        sweep.settle()
    except BaseException as error:
        of_hydra = isinstance(error, HydraException | OmegaConfBaseException | RefusedError)
        sweep.conclude(error, refused=of_hydra or bool(missing_extra(error)))
        if isinstance(error, Exception):
            sweep.settle()
        raise
    finally:
        _open.remove(sweep)


_open: list[OpenSweep] = []
"""What `concluding` waits for: at most one, but for tests that run commands inside one another."""


def _begin(sweep: OpenSweep, config: DictConfig, launch: str) -> Path | None:
    """Opens the sweep and leaves in its folder, which it returns, what its cells look for.

    Raises:
        ConfigError, Restart: as `Sweep.on_multirun_start` has it.
    """
    targets = {name: str(config.hydra[name].get("_target_")) for name in ("launcher", "sweeper")}
    for target in targets.values():
        check_launcher(target)
    launcher = targets["launcher"].rpartition(".")[2]
    try:
        folder = Path(config.hydra.runtime.cwd, config.hydra.sweep.dir)
        asked = asked_of(config)
        if OmegaConf.select(config, "launch.snapshot") is True and not runs_from_snapshot(folder):
            _start_again(folder, launch, asked, config)
        own = sweep.enter(folder, launch, asked, launcher)
        OmegaConf.save(config, own / MULTIRUN)
        redact_file(own / MULTIRUN)
    except (OSError, HydraException, OmegaConfBaseException):  # Hydra meets it next, and says so
        return None
    try:
        write_launched(own, sources_of(config).places())
    except (OSError, OmegaConfBaseException) as error:
        logger.warning("changes of configs and sources will not be noticed: %s", error)
    try:
        sweep.planned = number_of_cells(config)
        if launcher == BasicLauncher.__name__ and sweep.planned is not None and sweep.planned <= _MOST_PLANNED:
            sweep.stack.enter_context(composed_once())
        share_cores(config.hydra.launcher, sweep.planned or config.hydra.sweeper.get("n_jobs") or 1)
        _write_plan(sweep, config, own)
        _open_parent(sweep, config, folder)
    except Exception as error:  # of a store, or of the config; Hydra would warn in its own words
        if isinstance(error, ConfigError) and is_for_all_cells(config):
            raise
        logger.error("the sweep has no parent run: %s", str(error).partition("\n")[0] or type(error).__name__)
    _watch_launcher(sweep, config, folder, launcher)
    return folder


def _watch_launcher(sweep: OpenSweep, config: DictConfig, folder: Path, launcher: str) -> None:
    """Prepares for processes that die, and for signals; after the parent run, whose handlers are to come last."""
    jobs = SlurmJobs.since_now(folder / ".submitit")
    target = str(config.hydra.launcher.get("_target_"))
    counts = not str(config.hydra.sweeper.get("_target_")).endswith(".BasicSweeper")

    def died() -> None:
        sweep.died = True
        outlast(launcher, jobs)

    if launcher == "SlurmLauncher":
        sweep.jobs = jobs
        sweep.stack.enter_context(heard())
    sweep.stack.enter_context(removing_pickles(jobs, launcher))
    sweep.stack.enter_context(ending_workers(launcher, jobs))
    sweep.stack.enter_context(surviving(target, folder, sweep.launch, counts, died, sweep.supersede))


def _start_again(folder: Path, launch: str, asked: Asked, config: DictConfig) -> None:
    """Makes the snapshot where it is not there yet, and raises `Restart`."""
    sources = sources_of(config)
    check_store(config)
    with claimed(folder, launch, asked):
        make_snapshot(folder, sources)
    overrides = [*texts_of(config.hydra.overrides.hydra), *texts_of(config.hydra.overrides.task)]
    raise restart(folder, launch, sources, searched(config), overrides)


def _write_plan(sweep: OpenSweep, config: DictConfig, own: Path) -> None:
    """Leaves the plan in the launch's folder; one of very many cells would take minutes to compose, and is left out."""
    if sweep.planned is not None and sweep.planned > _MOST_PLANNED:
        return
    try:
        write_plan(own, plan_of_sweep(config))
    except Exception as error:  # also of a plug-in; the cells meet it next, and say so
        logger.debug("the sweep has no plan: %s", error)


def _open_parent(sweep: OpenSweep, config: DictConfig, folder: Path) -> None:
    parts = parts_of(config)
    sweep.outputs = parts.runtime.outputs
    apart = stores_apart(config, parts.tracking)
    if apart:
        logger.warning("the sweep has no parent run, since its cells go to several stores: %s", " ".join(apart))
        return
    context = (parts.tracking or Untracked()).start(parent_of(config, sweep.launch), parts.runtime)
    sweep.tracked = sweep.stack.enter_context(context)
    write_parent(folder, sweep.launch, sweep.tracked.reference)
    sweep.tell_what_was_asked()
