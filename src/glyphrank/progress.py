"""How far long work is: a bar with rate and remaining time on a terminal, plain log lines elsewhere."""

from __future__ import annotations

import logging
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

EVERY = 10.0
"""Seconds between two log lines."""

QUIET = 1.0
"""Seconds of work that leave no log line at all."""

logger = logging.getLogger("glyphrank")

_terminal = threading.Lock()  # held by the one bar that the terminal shows


class Tracker(Protocol):
    """Takes note of what is done; any thread may call it."""

    def advance(self, count: int = 1) -> None:
        """`count` more units are done."""
        ...


@contextmanager
def track(total: int, description: str) -> Iterator[Tracker]:
    """Shows how much of `total` is done, for the length of a `with`.

    A bar on stderr where that is a terminal; it is removed in the end, whatever happens. Log lines of the logger
    `glyphrank` elsewhere, in worker processes, and where another bar is shown already: one every 10 seconds and one
    at the end, none for work of less than a second.
    """
    if _is_terminal(sys.stderr) and multiprocessing.parent_process() is None and _terminal.acquire(blocking=False):
        try:
            with _bar(total, description) as tracker:
                yield tracker
        finally:
            _terminal.release()
    else:
        lines = LineTracker(total, description)
        yield lines
        lines.finish()


class LineTracker:
    """Log lines with rate and remaining time.

    Args:
        total: units in all.
        description: what is done, the start of every line.
        clock: seconds that only grow.
    """

    def __init__(self, total: int, description: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._total = total
        self._description = description
        self._clock = clock
        self._done = 0
        self._lock = threading.Lock()
        self._start = self._last = clock()

    def advance(self, count: int = 1) -> None:
        """`count` more units are done; says so when the last line is 10 seconds old."""
        with self._lock:
            self._done += count
            now = self._clock()
            if now - self._last < EVERY or self._done >= self._total:
                return
            self._last = now
            rate = self._done / (now - self._start)
            left = duration((self._total - self._done) / rate) if rate else "an unknown time"
            line = f"{self._description}: {self._done} of {self._total}, {rate:.3g} a second, {left} left"
        logger.info("%s", line)

    def finish(self) -> None:
        """Says how long it took, unless that was less than a second."""
        took = self._clock() - self._start
        if took >= QUIET:
            rate = self._done / took
            logger.info("%s: %d in %s, %.3g a second", self._description, self._done, duration(took), rate)


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(7.4), duration(87), duration(7380)
    ('7 s', '1 min 27 s', '2 h 3 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a bar can be drawn: rich draws none on a terminal that cannot move its cursor."""
    if stream is None or stream.closed or not stream.isatty():
        return False
    from rich.console import Console

    console = Console(file=stream)
    return console.is_terminal and not console.is_dumb_terminal


@contextmanager
def _bar(total: int, description: str) -> Iterator[Tracker]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    # stdout is left alone: another program may read it.
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        yield _BarTracker(progress, progress.add_task(escape(description), total=total, rate=""))


class _BarTracker:
    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def advance(self, count: int = 1) -> None:
        self._progress.advance(self._task, count)
        speed = self._progress.tasks[0].speed
        if speed:
            self._progress.update(self._task, rate=f"{speed:.3g} a second")
