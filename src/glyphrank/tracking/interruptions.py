"""Signals that end a process, turned into exceptions so that a run can still be ended in its store."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP", "SIGINT")


class Killed(SystemExit):
    """Raised where a signal arrived that asks the process to end; the exit code is 128 + the signal's number."""

    def __init__(self, signum: int) -> None:
        super().__init__(128 + signum)
        self.signum = signum

    def __str__(self) -> str:
        return f"killed by {signal.Signals(self.signum).name}"


class Interruptions:
    """While `watched`, SIGTERM and SIGHUP raise `Killed` and SIGINT raises KeyboardInterrupt; while held they wait.

    Signals reach the main thread only, so elsewhere nothing is changed; one that the process ignores (`nohup`) stays
    ignored. A forked child does with a signal what it would have done without this.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._previous: dict[int, object] = {}
        self._holding = False
        self._waiting: int | None = None

    @contextmanager
    def watched(self) -> Iterator[Interruptions]:
        """Installs the handlers and puts back those that were there before; what still waits then is raised."""
        try:
            self._install()
            yield self
        except (Killed, KeyboardInterrupt):
            self._waiting = None  # the process is on its way out already
            raise
        finally:
            self._restore()
            self.release()

    def hold(self) -> None:
        """Keeps signals waiting until `release` or the end of `watched`, so that a request is not cut in two."""
        self._holding = True

    def release(self) -> None:
        """Lets signals through, and raises for the first that came meanwhile."""
        self._holding = False
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            raise _exception(waiting)

    def _install(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for signum in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
            previous = signal.getsignal(signum)
            if previous is None or previous is signal.SIG_IGN:  # None: set by other than Python, cannot be put back
                continue
            self._previous[signum] = previous
            signal.signal(signum, self._receive)

    def _restore(self) -> None:
        while self._previous and os.getpid() == self._pid:
            signum, previous = self._previous.popitem()
            signal.signal(signum, previous)  # type: ignore[arg-type]

    def _receive(self, signum: int, frame: FrameType | None) -> None:
        if os.getpid() != self._pid:
            signal.signal(signum, self._previous[signum])  # type: ignore[arg-type]
            os.kill(os.getpid(), signum)
        elif self._holding:
            self._waiting = self._waiting or signum
        else:
            raise _exception(signum)


def _exception(signum: int) -> BaseException:
    return KeyboardInterrupt() if signum == signal.SIGINT else Killed(signum)
