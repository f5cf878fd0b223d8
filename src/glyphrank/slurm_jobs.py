"""The jobs that a launch gave to Slurm, which may keep no accounts of jobs that have ended."""

from __future__ import annotations

import logging
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_POLL = 2.0
_ATTEMPTS = 60
_LONGEST = 60
"""Seconds between two looks at most."""
_JOB = re.compile(r"\d+_\d+")

logger = logging.getLogger("glyphrank")


@dataclass(frozen=True)
class SlurmJobs:
    """The jobs of one launch.

    Attributes:
        submitted: folder in which submitit keeps its jobs, `<sweep>/.submitit`.
        former: the arrays that were there when the launch began.
    """

    submitted: Path
    former: frozenset[str]

    @classmethod
    def since_now(cls, submitted: Path) -> SlurmJobs:
        """The jobs that are submitted from now on."""
        return cls(submitted, frozenset(_arrays(submitted)))

    def leave(self, cancel: bool) -> None:
        """Cancels the jobs, or says how."""
        arrays = self._arrays()
        shown = " ".join(arrays)
        if arrays and cancel and _cancelled(arrays):
            logger.warning("the sweep's jobs in Slurm were cancelled: %s", shown)
        elif arrays:
            logger.warning(
                "the sweep's jobs in Slurm go on, and their results are kept; to end them: scancel %s", shown
            )

    def are_left(self) -> bool | None:
        """Whether jobs wait or run; None where Slurm, asked again for minutes, does not answer."""
        queued = _queued(self._arrays(), _ATTEMPTS)
        return None if queued is None else bool(queued)

    def _arrays(self) -> list[str]:
        return sorted(_arrays(self.submitted) - self.former)


@contextmanager
def heard() -> Iterator[None]:
    """Within this, submitit learns from the queue that a job has ended of which Slurm's accounts know nothing.

    A Slurm without accounting answers submitit's question with an error, for ever, where a job died without a result.
    """
    from submitit.slurm.slurm import SlurmInfoWatcher, SlurmJob

    class Watcher(SlurmInfoWatcher):
        """Asks both, and tells of no error: what does not answer is asked again."""

        def update(self) -> None:
            self._num_calls += 1
            if command := self._make_command():
                with suppress(OSError, subprocess.SubprocessError):
                    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
                    self._info_dict.update(self.read_info(done.stdout))
            self._info_dict.update(_ended(self._registered - self._finished, self._info_dict))
            self._last_status_check = time.time()
            self._finished |= {job for job in self._registered if self.is_done(job, mode="cache")}

    before = SlurmJob.watcher
    SlurmJob.watcher = Watcher(delay_s=_LONGEST)
    try:
        yield
    finally:
        SlurmJob.watcher = before


def _ended(jobs: set[str], told: dict[str, Any]) -> dict[str, dict[str, str]]:
    """What submitit is to know of jobs that have no account and are not in the queue."""
    unknown = [job for job in jobs if not told.get(job, {}).get("State")]
    queued = _queued(sorted({job.partition("_")[0] for job in unknown}), 1) if unknown else None
    return {} if queued is None else {job: {"State": "ENDED"} for job in unknown if job not in queued}


def _arrays(submitted: Path) -> set[str]:
    """Slurm's numbers of the arrays of jobs that submitit keeps in a folder."""
    try:
        return {path.name.partition("_")[0] for path in submitted.iterdir() if _JOB.fullmatch(path.name)}
    except OSError:
        return set()


def _queued(arrays: Sequence[str], attempts: int) -> set[str] | None:
    """The jobs of arrays that wait or run, as `ARRAY_NUMBER`; None where Slurm does not answer."""
    if not arrays:
        return set()
    command = ["squeue", "--noheader", "--array", "--format=%i", f"--jobs={','.join(arrays)}"]
    for attempt in range(attempts):
        if attempt:
            time.sleep(_POLL)
        with suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode == 0 or "Invalid job id" in done.stderr:
                return set(done.stdout.split())
    return None


def _cancelled(arrays: Sequence[str]) -> bool:
    try:
        subprocess.run(["scancel", *arrays], capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return False
    return True
