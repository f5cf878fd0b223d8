"""The process that decodes, started by `processes` with the numbers of a socket and of its parent as arguments.

It imports what decoding needs and nothing else, ends when its parent does, however that comes about, and answers each
item with one message.
"""

from __future__ import annotations

import importlib
import logging
import os
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from glyphrank.media.faults import MediaError
from glyphrank.media.messages import Mailbox
from glyphrank.media.processes import Answer, Limits
from glyphrank.records import Media

_GIB = 1 << 30
_WARM = ("glyphrank.media.decoder", "PIL.ImageCms", "pypdfium2", "decord")
"""Imported before the first item, so that no item's time pays for them."""
_GRACE = 10.0
"""Seconds beyond an item's limit after which the process ends itself, in case its parent no longer can."""


def main() -> None:
    """Answers items until the connection ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    mailbox = Mailbox(socket.socket(fileno=int(sys.argv[1])))
    threading.Thread(target=_end_with, args=(int(sys.argv[2]),), daemon=True).start()
    with suppress(EOFError, OSError):
        limits: Limits = mailbox.receive()
        _warm_up()
        _limit_memory(limits.memory)
        mailbox.send(Answer(None))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libraries chatter there about every odd file
        logs = _Logs()
        logging.getLogger("glyphrank").addHandler(logs)
        while True:
            task, look, media = mailbox.receive()
            signal.setitimer(signal.ITIMER_REAL, limits.seconds + _GRACE)
            answer = _answer(task, look, media)
            signal.setitimer(signal.ITIMER_REAL, 0)
            answer.logs = logs.taken()
            mailbox.send(answer)
            if answer.last:
                return
            del answer  # and its frames: nobody knows how long the next item is waited for


def _answer(task: int, look: bytes, media: Media) -> Answer:
    try:
        loaded = _loaded(look)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Answer(task, bug=(f"the sampler or the preparation of frames cannot be imported here: {reason}", ""))
    try:
        return Answer(task, seen=loaded(media))
    except MediaError as error:
        if isinstance(error.__cause__, MemoryError):
            return Answer(task, last=True)
        return Answer(task, fault=(error.fault, str(error)))
    except MemoryError:
        return Answer(task, last=True)
    except Exception as error:
        notes = "\n".join(getattr(error, "__notes__", ()))
        return Answer(task, bug=(str(error) or type(error).__name__, notes))


@lru_cache(maxsize=4)
def _loaded(look: bytes) -> Callable[[Media], Any]:
    loaded: Callable[[Media], Any] = pickle.loads(look)  # noqa: S301 -- our own parent wrote it
    return loaded


def _end_with(parent: int) -> None:
    """A decoder that hangs in native code does not see the connection end; whose child one is tells it too."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _warm_up() -> None:
    for name in _WARM:
        with suppress(ImportError, OSError):  # what is missing is reported with the item that needs it
            importlib.import_module(name)


def _limit_memory(gib: float) -> None:
    """Lets the process take that much more than it has: what it writes to, so that mapped libraries do not count."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # only Linux counts what a process has, and limits it
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        limit = pages * resource.getpagesize() + int(gib * _GIB)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


class _Logs(logging.Handler):
    """Keeps what is logged for the parent, which logs it where its user looks."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._kept: list[tuple[str, int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append((record.name, record.levelno, record.getMessage()))

    def taken(self) -> list[tuple[str, int, str]]:
        taken, self._kept = self._kept, []
        return taken
