"""No store at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from glyphrank.outcome import Report
from glyphrank.runtime import Runtime
from glyphrank.tracking.start import Start
from glyphrank.tracking.uris import remember_environment


@dataclass(frozen=True)
class Untracked:
    """Stands where a tracker stands when `tracking=none`: nothing is opened and nothing is logged."""

    def start(self, start: Start, runtime: Runtime) -> AbstractContextManager[UntrackedRun]:
        """A run of which no store knows."""
        remember_environment()
        return _untracked()


@dataclass(frozen=True)
class UntrackedRun:
    """A run of which no store knows."""

    run_id: str | None = None
    dashboard: str | None = None
    reference: Mapping[str, str] = field(default_factory=dict)

    def log(self, report: Report, folder: Path, reused: bool) -> None:
        """Does nothing: the results lie on disk."""

    def summarise(self, metrics: Mapping[str, float], tags: Mapping[str, str], files: Sequence[Path]) -> None:
        """Does nothing: the files lie on disk."""

    def discard(self) -> None:
        """Does nothing: there is no run."""


@contextmanager
def _untracked() -> Iterator[UntrackedRun]:
    yield UntrackedRun()
