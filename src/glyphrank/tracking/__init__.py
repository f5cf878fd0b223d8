"""Tracking: where a run's parameters, numbers and files are shown beside those of other runs."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from glyphrank.outcome import Report
from glyphrank.runtime import Runtime
from glyphrank.tracking.start import Start


class TrackedRun(Protocol):
    """One run in a store, or kept for one that cannot be used now; open until its context is left."""

    @property
    def run_id(self) -> str | None:
        """The store's name of the run; None when nothing is tracked, or the run is kept."""
        ...

    @property
    def dashboard(self) -> str | None:
        """The shell command that opens the dashboard, without credentials; None where there is no `run_id`."""
        ...

    @property
    def reference(self) -> Mapping[str, str]:
        """Where the run stands: `store` (without credentials), `experiment`, `run_id`; empty if nothing is tracked.

        The id of a run that is kept is `pending:` and its event, by which its store will find it.
        """
        ...

    def log(self, report: Report, folder: Path, reused: bool) -> None:
        """Sends numbers, tags and every file of `folder`.

        A store that fails is reported in the log and never raises: the run is kept then (`outputs/pending`), and
        `glyphrank sync` sends it later, once.

        Args:
            report: the run's outcome.
            folder: the run's folder, as it lies on disk.
            reused: whether the numbers come from a stored result.
        """
        ...

    def summarise(self, metrics: Mapping[str, float], tags: Mapping[str, str], files: Sequence[Path]) -> None:
        """Adds to a sweep's parent run what its cells came to; also after it has ended. A store's failure as in `log`.

        Args:
            metrics: names as in reports, finite values.
            tags: `complete` among them is set last, and only when all else is stored.
            files: they go to the top of the run's files; those in a folder `figures`, and whole folders, below it.
        """
        ...

    def discard(self) -> None:
        """Puts a run that came to nothing among the store's deleted ones. A store's failure as in `log`."""
        ...


class Tracker(Protocol):
    """A store of runs, as a person names it."""

    def start(self, start: Start, runtime: Runtime) -> AbstractContextManager[TrackedRun]:
        """Opens a run. Left normally it ends FINISHED, by a signal or Ctrl-C KILLED, by any other exception FAILED.

        A store that cannot be used now (dead, slow, refusing) is noticed within seconds, before anything expensive:
        one error line is logged, and the run is kept as in `TrackedRun.log`. So it is, without an error, where
        `start.off_host` is set and the store is an SQLite file: several machines at once would damage it.

        Raises:
            ConfigError: on entering at the latest: the store can never be used as it is named (a folder of files, a
                malformed URI, a deleted experiment, a file that is no database, a folder that cannot be written).
        """
        ...
