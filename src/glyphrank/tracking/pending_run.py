"""A run of which no store knows yet: what it is told is kept in the folder of outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from glyphrank.outcome import Report
from glyphrank.tracking.content import content_of, now, run_files, summary_files, summary_of
from glyphrank.tracking.ending import EndedOnce
from glyphrank.tracking.kept import WAITS, Keeper


class PendingRun(EndedOnce):
    """One run; see `glyphrank.tracking.TrackedRun`. A process that is killed leaves it RUNNING, as in a store."""

    def __init__(self, keeper: Keeper, cause: str) -> None:
        self._keeper = keeper
        self.run_id: str | None = None
        self.dashboard: str | None = None
        record = keeper.record
        self.reference: Mapping[str, str] = {
            "store": record.store,
            "experiment": record.experiment,
            "run_id": f"{WAITS}{record.event}",
        }
        keeper.keep(cause)
        super().__init__()

    def log(self, report: Report, folder: Path, reused: bool) -> None:
        """Keeps numbers and tags, and a copy of every file of the folder."""
        files = run_files(folder)
        self._keeper.add(content_of(report, reused, whole=bool(files)), files)

    def summarise(self, metrics: Mapping[str, float], tags: Mapping[str, str], files: Sequence[Path]) -> None:
        """Keeps numbers, tags and copies of the files."""
        self._keeper.add(summary_of(metrics, tags), summary_files(files))

    def discard(self) -> None:
        """Removes what was kept."""
        self._keeper.forget()

    def finish(self, status: str, why: str) -> None:
        """Keeps the status."""
        self._keeper.note(status=status, error=why, ended=now())
        self._keeper.tell_if_lost(finished=status == "FINISHED" and self._keeper.record.content is not None)
