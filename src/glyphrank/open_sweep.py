"""The sweep of the launching process, from its claim on a folder to the comparison of its cells."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from glyphrank.ended_cells import interrupted, settled
from glyphrank.launched import changes
from glyphrank.redacted_files import redact_file
from glyphrank.report.cells import CELLS, DIED, CellRecord, State, launch_folder, read_cells, write_cell
from glyphrank.report.claims import Asked, claimed
from glyphrank.report.compared import COMPARISON
from glyphrank.report.plan_table import PLAN
from glyphrank.report.told_cells import failures_told
from glyphrank.slurm_jobs import SlurmJobs
from glyphrank.sweep_cells import Summary, summarise
from glyphrank.tracking import TrackedRun
from glyphrank.tracking.interruptions import Interruptions, Killed
from glyphrank.tracking.processes import own_process
from glyphrank.tracking.untracked import UntrackedRun

if TYPE_CHECKING:
    from glyphrank.tracking.pending import Sent

MULTIRUN = "multirun.yaml"
"""What was asked for, as Hydra writes it into the sweep's folder; the launch's own is kept without secrets."""
_HEARD = ("BasicLauncher", "JoblibLauncher")
"""Launchers whose cells speak on the terminal of the launching process."""
_SHOWN = 5

logger = logging.getLogger("glyphrank")


class CellsFailedError(Exception):
    """Ends a parent run as FAILED; it reaches nobody else."""


@dataclass
class OpenSweep:
    """The sweep that this process launches, if it launches one.

    Attributes:
        stack: what it opens is put here, and closed by `sweep.concluding`.
        folder: of the sweep, which may be one that a person uses for other things; None before it begins.
        outputs: where runs wait that no store took.
        here: whether this process runs the cells itself.
        planned: how many cells it has, None where that shows only as it goes.
        ran: how many cells began in this process.
        lacking: whether a cell failed or never came to an end.
        own: the records of cells of this process, by number.
        jobs: those of its cells that were given to Slurm; None with another launcher.
        died: whether the process of a cell was seen to die.
        superseded: hosts and processes whose last cell was run again in another one.
    """

    stack: ExitStack
    folder: Path | None = None
    launch: str = ""
    outputs: Path | None = None
    tracked: TrackedRun = field(default_factory=UntrackedRun)
    here: bool = False
    planned: int | None = None
    ran: int = 0
    lacking: bool = False
    own: dict[int, CellRecord] = field(default_factory=dict)
    jobs: SlurmJobs | None = None
    died: bool = False
    superseded: set[tuple[str, str]] = field(default_factory=set)
    concluded: bool = False

    def enter(self, folder: Path, launch: str, asked: Asked, launcher: str) -> Path:
        """Takes the folder until the end and makes the launch's own in it, which it returns.

        Args:
            folder: absolute.
            launch: name of the launch.
            asked: what the sweep is.
            launcher: class of Hydra's launcher.

        Raises:
            ConfigError: the folder is another's.
            OSError: it cannot be made.
        """
        again = (folder / CELLS).is_dir()
        self.stack.enter_context(claimed(folder, launch, asked))
        for name in COMPARISON if again else ():
            with suppress(OSError):
                (folder / name).unlink(missing_ok=True)  # an earlier launch's, not a person's own
        own = launch_folder(folder, launch)
        own.mkdir(parents=True, exist_ok=True)
        self.folder, self.launch, self.here = folder, launch, launcher == "BasicLauncher"
        self.stack.enter_context(Interruptions().watched())
        if launcher not in _HEARD:
            self.stack.enter_context(failures_told(folder, launch))
        return own

    @property
    def has_cells(self) -> bool:
        """Whether any cell has begun."""
        return self.folder is not None and (self.ran > 0 or bool(read_cells(self.folder, self.launch)))

    def tell_what_was_asked(self) -> None:
        """Gives the parent run, as soon as it is open, the configuration and the plan: it may be killed any time."""
        if self.folder is not None:
            own = launch_folder(self.folder, self.launch)
            files = [path for name in (MULTIRUN, *PLAN) if (path := own / name).is_file()]
            self.tracked.summarise({}, {}, files)

    def supersede(self, cells: Sequence[CellRecord]) -> None:
        """Takes from the store what the dead processes of these cells left there, since the cells are run again."""
        self.superseded |= {(cell.host, cell.process) for cell in cells}
        self._discard_superseded()

    def conclude(self, error: BaseException | None, refused: bool = False) -> None:
        """Compares the cells and hands the result on, once; raises `CellsFailedError` where no other error is there.

        Args:
            error: what ended the sweep.
            refused: whether that is a fault of what was asked for; before the first cell it leaves no parent run, as a
                single run that is refused leaves none.
        """
        if self.folder is None or self.concluded:
            return
        self.concluded = True
        cells = self._records(self.folder)
        if not cells and refused:
            self.tracked.discard()
            return
        if error is None and self._is_empty(cells):
            return
        asked = isinstance(error, KeyboardInterrupt | Killed)
        if asked:
            cells = interrupted(self.folder, cells, str(error) or "interrupted")
        else:
            cells = self._settled(self.folder, cells, error)
        failed = [cell for cell in cells if cell.state is State.failed]
        notes = [] if asked else self._unknown(self.folder, cells)
        if error is not None and not asked:
            differing = changes(launch_folder(self.folder, self.launch))
            notes += [f"since the launch there differ: {', '.join(differing[:_SHOWN])}"] if differing else []
        self.lacking = self.lacking or bool(failed) or error is not None
        try:
            if not asked:
                self._sent()  # what cells on other machines kept, so that the parent's table is the last to come
            self._summarise(self.folder, cells, failed, notes)
        except Exception as fault:  # what a sweep came to is told all the same
            logger.error("the sweep's parent run lacks what the sweep came to: %s: %s", type(fault).__name__, fault)
        if failed:
            lines = "\n".join(f"  {cell.name}: {' '.join(cell.overrides)}\n    {cell.error}" for cell in failed)
            logger.error(
                "glyphrank: %d of the sweep's %d cells failed:\n%s", len(failed), self.planned or len(cells), lines
            )
        if self.lacking and error is None:
            raise CellsFailedError(f"{len(failed)} of {len(cells)} cells failed" if failed else "cells have not ended")

    def forget_if_empty(self) -> None:
        """Discards the parent run, which has ended, of a sweep that had no cells."""
        if self.folder is not None and self._is_empty(read_cells(self.folder, self.launch)):
            logger.warning("the sweep has no cells: nothing was run")
            self.tracked.discard()

    def _is_empty(self, cells: Sequence[CellRecord]) -> bool:
        return self.here and not self.ran and not cells

    def _unknown(self, folder: Path, cells: Sequence[CellRecord]) -> list[str]:
        """What the records do not tell of the cells, where nobody asked the sweep to end."""
        notes = []
        if not cells:
            notes.append(f"nothing is known of the sweep's cells: no record of one lies in {folder}")
        if self.ran > len(cells):
            notes.append(f"cells that began here and left no record: {self.ran - len(cells)}")
        never = (self.planned or 0) - max(self.ran, len(cells))
        if cells and never > 0:
            self.lacking = True
            notes.append(
                f"cells that never began: {never} of {self.planned}; the same command in this folder runs them"
            )
        silent = [cell for cell in cells if cell.state is State.running]
        own = [cell.name for cell in silent if cell.process == own_process()]
        if own:
            notes.append(f"left out, for how they ended could not be recorded: {', '.join(own)}")
        others = [cell.name for cell in silent if cell.name not in own]
        if others:
            self.lacking = True
            notes.append(f"left out, for they have not ended, or ended without a word: {', '.join(others)}")
        ended = [f"{cell.name} ({cell.error})" for cell in cells if cell.state is State.interrupted]
        if ended:
            self.lacking = True
            notes.append(f"left out, for they were interrupted: {', '.join(ended)}; the same command runs them")
        return notes

    def _settled(self, folder: Path, cells: Sequence[CellRecord], error: BaseException | None) -> list[CellRecord]:
        """The records, with those of cells as failed that will not end any more; so they are written, and tracked."""
        from glyphrank.tracking.lost import fail_lost

        jobs_ended = self.jobs is not None and any(cell.state is State.running for cell in cells)
        jobs_ended = jobs_ended and self.jobs is not None and self.jobs.are_left() is False
        found = settled(cells, error, jobs_ended)
        lost = [cell for cell, before in zip(found, cells, strict=True) if cell is not before]
        for cell in lost:
            write_cell(folder, cell)
        self._discard_superseded()
        if self.outputs is not None and (self.died or any(cell.error == DIED for cell in lost)):
            gone = {(cell.host, cell.process) for cell in lost if cell.error == DIED}
            fail_lost(self.tracked.reference, self.outputs, self.launch, gone, DIED)
        return found

    def _discard_superseded(self) -> None:
        from glyphrank.tracking.lost import discard_lost

        if self.outputs is not None and self.superseded:
            discard_lost(self.tracked.reference, self.outputs, self.launch, self.superseded)

    def settle(self) -> None:
        """Once the parent run has ended: sends what still waits for the store, and says what has to wait longer."""
        sent = self._sent()
        if sent is None:
            return
        if sent.waiting > sent.unended:
            logger.warning("runs that wait for MLflow: %d; `glyphrank sync` sends them", sent.waiting - sent.unended)
        if sent.unended:
            told = "runs of which only the beginning could be kept: %d; `glyphrank sync` sends that, as KILLED"
            logger.warning(told, sent.unended)
        for trouble in sent.troubles if sent.waiting else ():
            logger.warning("  %s", trouble)

    def _sent(self) -> Sent | None:
        """Brings to the store the runs that were kept: of cells on other machines, or while it did not answer."""
        from glyphrank.tracking.pending import send_pending

        return send_pending(self.outputs, self.launch) if self.outputs is not None else None

    def _records(self, folder: Path) -> list[CellRecord]:
        """The cells' records; of cells of this process also those that could not be written."""
        found = {cell.number: cell for cell in read_cells(folder, self.launch)} | self.own
        return [found[number] for number in sorted(found)]

    def _summarise(
        self, folder: Path, cells: Sequence[CellRecord], failed: Sequence[CellRecord], notes: Sequence[str]
    ) -> None:
        found = self._compared(folder, cells, notes)
        metrics, tags = {"cells": float(max(self.ran, len(cells))), **found.metrics}, found.tags
        if cells:
            metrics["failed_cells"] = float(len(failed))
        if self.ran > len(cells) or self.lacking:
            tags["complete"] = "false"
        self.tracked.summarise(metrics, tags, found.files)
        redact_file(folder / MULTIRUN)

    def _compared(self, folder: Path, cells: Sequence[CellRecord], notes: Sequence[str]) -> Summary:
        """What the cells came to; where that cannot be found out, a note that says why."""
        try:
            return summarise(folder, self.launch, cells, notes)
        except OSError as fault:
            why = f"the sweep's cells could not be compared ({fault}); their results lie on disk"
            logger.error("%s", why)
        except Exception as fault:
            why = f"the sweep's cells could not be compared ({type(fault).__name__}); their results lie in {folder}"
            logger.exception("%s", why)
        return Summary({}, {"complete": "false", "notes": "\n".join([*notes, why])}, ())
