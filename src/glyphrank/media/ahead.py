"""One run of items through the processes that decode, a bounded number of items ahead of the consumer."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

from glyphrank.errors import ConfigError
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import shown_media
from glyphrank.media.processes import Limits, WorkerProcess
from glyphrank.records import Media

_AHEAD = 3
"""Items a process that may be decoded, or being decoded, and not yet taken."""
_MOST_HELD = 256 * 2**20
"""Bytes of items that are decoded and not yet taken, above which no further one is begun."""
_MOST_FAILED_STARTS = 3
_NUMBERS = itertools.count()
"""Numbers of items, never used twice: an answer to an earlier run that was left is known by its number."""


class Crew:
    """The processes of a decoder; those that are killed or die are replaced when there is work for them."""

    def __init__(self, size: int, limits: Limits) -> None:
        self.size = size
        self.limits = limits
        self.processes: list[WorkerProcess] = []
        self.failed_starts = 0

    def fill(self, wanted: int) -> None:
        """Starts processes until there are as many as wanted, or as many as there may be."""
        while len(self.processes) < min(wanted, self.size):
            self.processes.append(WorkerProcess(self.limits))

    def failed_start(self, process: WorkerProcess, how: str) -> None:
        """Forgets a process that never came to work; another one may.

        Raises:
            ConfigError: it is the last of several in a row, so none will.
        """
        self.remove(process)
        self.failed_starts += 1
        if self.failed_starts >= _MOST_FAILED_STARTS:
            raise ConfigError(
                f"{self.failed_starts} processes in a row that were to decode media did not start ({how}); what they "
                "said stands above, if anything"
            )

    def remove(self, process: WorkerProcess) -> None:
        """Ends a process and forgets it."""
        self.processes.remove(process)
        process.kill()

    def end(self) -> None:
        """Ends all processes."""
        for process in list(self.processes):
            self.remove(process)


class Ahead:
    """Has items looked at, in a thread of its own, so that answers are read and time is kept while the consumer works.

    Args:
        crew: the processes; nothing else may use them until `stop`.
        media: the items.
        look: the pickled `decoder.Look`.
    """

    def __init__(self, crew: Crew, media: Sequence[Media], look: bytes) -> None:
        self._crew = crew
        self._media = media
        self._look = look
        self._positions: dict[int, int] = {}
        self._results: dict[int, tuple[Any, int]] = {}
        self._given = self._taken = 0
        self._stopped = False
        self._failure: BaseException | None = None
        self._news = threading.Condition()
        self._ear: Connection[Any, Any]
        self._ear, self._mouth = Pipe(duplex=False)
        self._thread = threading.Thread(target=self._work, name="glyphrank-media", daemon=True)
        self._thread.start()

    def take(self, position: int) -> Any:
        """Waits for the item at a position, a `Seen` or a MediaError; positions must ascend one by one.

        Raises:
            ConfigError: the sampler or the preparation failed at this item, or no process can be started.
        """
        with self._news:
            while position not in self._results and self._failure is None and not self._stopped:
                self._news.wait()
            if self._stopped:
                raise RuntimeError("another run uses the processes that decode; only one may at a time")
            if position not in self._results and self._failure is not None:
                raise self._failure
            self._taken += 1
            result, _ = self._results.pop(position)
        self._mouth.send_bytes(b"x")
        if isinstance(result, ConfigError):
            raise result
        return result

    def stop(self) -> None:
        """Ends the run; what a process is working on is left to it."""
        with self._news:
            if self._stopped:
                return
            self._stopped = True
            self._news.notify_all()
        self._mouth.send_bytes(b"x")
        self._thread.join()
        self._ear.close()
        self._mouth.close()

    def _work(self) -> None:
        try:
            while not self._stopped:
                self._hand_out()
                self._listen()
        except BaseException as error:  # the consumer raises it
            with self._news:
                self._failure = error
                self._news.notify_all()

    def _hand_out(self) -> None:
        """Gives waiting processes the next items, as far ahead as is allowed."""
        with self._news:
            limit = min(len(self._media), self._taken + _AHEAD * self._crew.size)
            held = sum(size for _, size in self._results.values())
        while self._given < limit and held < _MOST_HELD:
            busy = sum(process.task is not None for process in self._crew.processes)
            self._crew.fill(busy + limit - self._given)
            process = next((process for process in self._crew.processes if process.waits), None)
            if process is None:
                return
            task = next(_NUMBERS)
            if process.give(task, self._look, self._media[self._given]):
                self._positions[task] = self._given
                self._given += 1
            else:  # it died while it waited
                self._crew.remove(process)

    def _listen(self) -> None:
        """Waits for an answer, the end of a process, the end of an item's time, or a word of the consumer."""
        processes: dict[Any, WorkerProcess] = {process.connection: process for process in self._crew.processes}
        deadlines = [process.deadline for process in processes.values() if process.deadline is not None]
        timeout = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
        for ready in wait([*processes, self._ear], timeout):
            if ready is self._ear:
                self._ear.recv_bytes()
            else:
                self._hear(processes[ready])
        now = time.monotonic()
        for process in list(self._crew.processes):
            if process.deadline is not None and process.deadline <= now:
                self._too_late(process)

    def _hear(self, process: WorkerProcess) -> None:
        task = process.task
        try:
            answer = process.receive()
        except (EOFError, OSError):
            self._ended(process)
            return
        if answer is None:
            return
        self._crew.failed_starts = 0
        for name, level, text in answer.logs:
            logging.getLogger(name).log(level, "%s", text)
        if task is None:
            return
        if answer.last:
            self._crew.remove(process)
            memory = f"the {self._crew.limits.memory:g} GiB that it may take (runtime.media_memory)"
            self._fail(task, MediaFault.too_large, f"needs more memory than {memory}")
            return
        if answer.bug is not None:
            fault = ConfigError(answer.bug[0])
            fault.add_note(answer.bug[1])
            self._deliver(task, fault)
            return
        self._deliver(task, answer.seen if answer.fault is None else MediaError(*answer.fault), answer.size)

    def _ended(self, process: WorkerProcess) -> None:
        task, starting, how = process.task, process.task is None and not process.waits, process.ending()
        if starting:
            self._crew.failed_start(process, how)
            return
        self._crew.remove(process)
        if task is not None:
            memory = f"perhaps it needed more than {self._crew.limits.memory:g} GiB (runtime.media_memory)"
            self._fail(task, MediaFault.crashed, f"the process that decoded it died ({how}); {memory}")

    def _too_late(self, process: WorkerProcess) -> None:
        task = process.task
        if task is None:
            self._crew.failed_start(process, "not within two minutes")
            return
        self._crew.remove(process)
        seconds = self._crew.limits.seconds
        self._fail(task, MediaFault.too_slow, f"not decoded within {seconds:g} s (runtime.media_seconds)")

    def _fail(self, task: int, fault: MediaFault, reason: str) -> None:
        if task in self._positions:
            name = shown_media(self._media[self._positions[task]])
            self._deliver(task, MediaError(fault, f"{name}: {reason}"))

    def _deliver(self, task: int, result: object, size: int = 0) -> None:
        """Keeps a result, of a number of bytes, for the consumer; one of an earlier run is dropped."""
        position = self._positions.pop(task, None)
        if position is not None:
            with self._news:
                self._results[position] = result, size
                self._news.notify_all()
