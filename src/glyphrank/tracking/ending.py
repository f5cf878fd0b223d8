"""A run that is ended once, in the process that began it, whatever ends that process."""

from __future__ import annotations

import atexit
import os
from abc import ABC, abstractmethod

from glyphrank.redaction import redact_text
from glyphrank.tracking.interruptions import Killed
from glyphrank.tracking.origin import TAG_LIMIT


class EndedOnce(ABC):
    """Calls `finish` at `end`, or when the program ends without it; not in a forked child, nor a second time."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._ended = False
        atexit.register(self._end_at_exit)

    def end(self, error: BaseException | None) -> None:
        """Ends the run: FINISHED, KILLED by a signal or Ctrl-C, FAILED by any other exception; see `open_run`."""
        if self._ended or os.getpid() != self._pid:
            return
        self._ended = True
        atexit.unregister(self._end_at_exit)
        status = _status(error)
        why = "" if status == "FINISHED" else redact_text(f"{type(error).__name__}: {error}")[:TAG_LIMIT]
        self.finish(status, why)

    @abstractmethod
    def finish(self, status: str, why: str) -> None:
        """Writes the status, and why a run did not finish (without secrets); never raises."""

    def _end_at_exit(self) -> None:
        self.end(GeneratorExit("the program ended without leaving the run"))


def _status(error: BaseException | None) -> str:
    if error is None:
        return "FINISHED"
    return "KILLED" if isinstance(error, KeyboardInterrupt | Killed) or _is_left_open(error) else "FAILED"


def _is_left_open(error: BaseException) -> bool:
    """Whether nobody left the block: ended at exit, or its generator closed. A component's own came through frames."""
    trace = error.__traceback__
    return isinstance(error, GeneratorExit) and (trace is None or trace.tb_next is None)
