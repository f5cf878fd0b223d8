"""Tracking: where a run's parameters, numbers and files are shown beside those of other runs."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from glyphrank.outcome import Report
from glyphrank.runtime import Runtime
from glyphrank.tracking.start import Start


class TrackedRun(Protocol):
    """One run in a store, open until its context is left."""

    @property
    def run_id(self) -> str | None:
        """The store's name of the run; None when nothing is tracked."""
        ...

    @property
    def dashboard(self) -> str | None:
        """The shell command that opens the dashboard, without credentials; None when nothing is tracked."""
        ...

    @property
    def reference(self) -> Mapping[str, str]:
        """Where the run stands: `store` (without credentials), `experiment`, `run_id`; empty if nothing is tracked."""
        ...

    def log(self, report: Report, folder: Path, reused: bool) -> None:
        """Sends numbers, tags and every file of `folder`.

        A store that fails is reported in the log and never raises: the results on disk are not lost by tracking.

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
            files: they go to the top of the run's files.
        """
        ...

    def discard(self) -> None:
        """Puts a run that came to nothing among the store's deleted ones. A store's failure as in `log`."""
        ...


class Tracker(Protocol):
    """A store of runs, as a person names it."""

    def start(self, start: Start, runtime: Runtime) -> AbstractContextManager[TrackedRun]:
        """Opens a run. Left normally it ends FINISHED, by a signal or Ctrl-C KILLED, by any other exception FAILED.

        A store in which this process has had a run before, and which fails now, costs the run its tracking and no
        more: one error line is logged, and the run stands in no store.

        Raises:
            ConfigError: on entering, before anything expensive: the store cannot be reached or is of another kind.
        """
        ...
