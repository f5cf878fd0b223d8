"""One process that decodes, seen from the process that wants frames.

It is started as a command of its own, not through multiprocessing: that would import the program's main module again
in every worker (and with it Hydra, MLflow, or a script that cannot be imported), or fork a process with threads in it.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from glyphrank.media.faults import MediaFault
from glyphrank.media.messages import Mailbox
from glyphrank.records import Media

_SECONDS_TO_START = 120.0
_SECONDS_TO_SEND = 10.0
_SECONDS_TO_DIE = 5.0
_START = "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); import glyphrank.media.worker as it; it.main()"
"""Looks for modules where this process does: in a list, as a variable of the environment cannot hold every path."""
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Limits:
    """What one item may take: seconds, and GiB above what its process has at the start."""

    seconds: float
    memory: float


@dataclass
class Answer:
    """What is sent back for an item; the first answer of a process has neither number nor content.

    Attributes:
        seen: a `decoder.Seen`.
        fault: cause and message of an item that cannot be seen.
        bug: what went wrong that is no fault of the item, with a note of where.
        last: the item needed more memory than it may take; the process ends, as what was taken may stay taken.
        logs: logger, level and text of what was logged on the way.
        size: bytes that it took to send.
    """

    task: int | None
    seen: Any = None
    fault: tuple[MediaFault, str] | None = None
    bug: tuple[str, str] | None = None
    last: bool = False
    logs: list[tuple[str, int, str]] = field(default_factory=list)
    size: int = 0


class WorkerProcess:
    """A running process for one item at a time.

    Attributes:
        connection: where its answers arrive; at its end there are none to come, as the process is dead.
        task: number of the item that it works on; None while it starts or waits.
        deadline: when, by `time.monotonic`, the time for the item or for starting is over; None while it waits. An item
            has its time to be decoded, and again after each part of the answer that arrives.
    """

    def __init__(self, limits: Limits) -> None:
        self.task: int | None = None
        self.deadline: float | None = time.monotonic() + _SECONDS_TO_START
        self._limits = limits
        self.connection, theirs = socket.socketpair()
        self.connection.setblocking(False)
        self._mailbox = Mailbox(self.connection)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(theirs.fileno()), str(os.getpid()), json.dumps(_places())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                process_group=0,  # an interrupt from the keyboard is for the run, which then ends its workers
                env={**os.environ, **_ONE_THREAD},
            )
        self._send(limits)

    @property
    def waits(self) -> bool:
        """Whether it can be given an item."""
        return self.deadline is None

    def give(self, task: int, look: bytes, media: Media) -> bool:
        """Gives it an item to look at, whose time begins; False when the process is dead."""
        if not self._send((task, look, media)):
            return False
        self.task = task
        self.deadline = time.monotonic() + self._limits.seconds
        return True

    def receive(self) -> Answer | None:
        """Its answer, after which it waits; None while some of it is still to arrive. This does not wait itself.

        Raises:
            EOFError, OSError: the process is dead.
        """
        data = self._mailbox.collect()
        if data is None:
            self.deadline = max(self.deadline or 0.0, time.monotonic() + self._limits.seconds)
            return None
        answer: Answer = pickle.loads(data)  # noqa: S301 -- our own process wrote it
        answer.size = len(data)
        self.task = self.deadline = None
        return answer

    def ending(self) -> str:
        """How a process whose connection has ended came to its end."""
        try:
            code = self._process.wait(_SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:
            return "no exit"
        return _named(code)

    def kill(self) -> None:
        """Ends the process, and what it started, at once; one that the system holds fast is not waited for."""
        if self._process.poll() is None:  # the number of one that has ended may be another's by now
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_SECONDS_TO_DIE)
        self.connection.close()

    def _send(self, message: object) -> bool:
        """Whether it has taken a message; one that is stopped must not stop the run."""
        self.connection.settimeout(_SECONDS_TO_SEND)
        try:
            self._mailbox.send(message)
        except OSError:
            return False
        finally:
            self.connection.setblocking(False)
        return True


def _places() -> list[str]:
    """Where modules are looked for; places below a working folder that is gone are left out."""
    places = []
    for place in map(os.fsdecode, sys.path):
        with suppress(OSError):
            places.append(os.path.abspath(place))  # noqa: PTH100 -- symbolic links are not followed
    return places


def _named(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
