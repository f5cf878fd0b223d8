"""Decoding ahead of the model: in other processes, each item within limits of time and memory.

A decoder that hangs, crashes or eats memory costs its item, not the run.
"""

from __future__ import annotations

import logging
import os
import pickle
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import TracebackType

from glyphrank.errors import ConfigError
from glyphrank.media import Sampler
from glyphrank.media.ahead import Ahead, Crew
from glyphrank.media.digest import digest_frames
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import shown_media
from glyphrank.media.look import look
from glyphrank.media.processes import Limits
from glyphrank.records import Frames, Media, UInt8Array

_LOG = logging.getLogger(__name__)
_LONGEST, _MOST = 1e6, 1e6
"""Seconds and GiB that the system can count; more is no limit either."""


@dataclass(frozen=True)
class Seen:
    """What came of looking at one item.

    Attributes:
        digest: of the decoded frames, before they are prepared.
        frames: the prepared frames; None where only the digest was asked for.
    """

    digest: str
    frames: Frames | None


@dataclass(frozen=True)
class Look:
    """How items are looked at; it travels to the processes that decode.

    Attributes:
        sampler: which frames, and how large.
        prepare: what is done to each frame, (h, w, 3) uint8 to (h', w', 3) uint8; None: nothing.
        pixels: False: only the digest is sent back.
    """

    sampler: Sampler
    prepare: Callable[[UInt8Array], UInt8Array] | None
    pixels: bool

    def __call__(self, media: Media) -> Seen:
        """Looks at one item.

        Raises:
            MediaError: it cannot be seen.
            ConfigError: the sampler or the preparation is at fault.
        """
        frames = look(media, self.sampler)
        digest = digest_frames(frames)
        if not self.pixels:
            return Seen(digest, None)
        return Seen(digest, frames if self.prepare is None else _prepared(frames, self.prepare, media))


class Decoder:
    """Processes that decode items ahead of their consumer; started at the first use, kept until it is closed.

    Args:
        workers: number of processes; 0 decodes in this process, item by item and without limits.
        seconds: time that one item may take.
        memory: GiB that decoding may take in a process, above what the process has at its start (on Linux).
    """

    def __init__(self, workers: int, seconds: float, memory: float) -> None:
        if workers and os.name != "posix":
            _LOG.warning("media are decoded in this process, without limits: this system lacks what workers need")
            workers = 0
        self._crew = Crew(workers, Limits(min(seconds, _LONGEST), min(memory, _MOST)))
        self._running: Ahead | None = None

    def __enter__(self) -> Decoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the processes; a later run starts new ones."""
        self._stop()
        self._crew.end()

    def run(self, media: Sequence[Media], look: Look) -> Iterator[Seen | MediaError]:
        """Looks at items, in their order; one that cannot be seen is given as the error that says why.

        Decoding runs ahead by a few items a process, while the consumer works. The consumer may stop at any time. One
        run at a time: a new one ends the one before.

        Raises:
            ConfigError: the sampler or the preparation is at fault, or cannot be loaded where it is to run.
        """
        if not self._crew.size:
            return (_here(item, look) for item in media)
        return self._ahead(media, _packed(look))

    def _ahead(self, media: Sequence[Media], look: bytes) -> Iterator[Seen | MediaError]:
        self._stop()
        run = self._running = Ahead(self._crew, media, look)
        try:
            for position in range(len(media)):
                yield run.take(position)
        finally:
            run.stop()

    def _stop(self) -> None:
        if self._running is not None:
            self._running.stop()
            self._running = None


def _prepared(frames: Frames, prepare: Callable[[UInt8Array], UInt8Array], media: Media) -> Frames:
    """The frames, each prepared; a fault in that is one of the program, and must not pass for bad media."""
    try:
        return replace(frames, images=tuple(map(prepare, frames.images)))
    except MemoryError:
        raise
    except Exception as error:
        fault = ConfigError(f"preparing the frames of {shown_media(media)} failed: {type(error).__name__}: {error}")
        fault.add_note(traceback.format_exc())
        raise fault from error


def _here(item: Media, look: Look) -> Seen | MediaError:
    try:
        return look(item)
    except MediaError as error:
        return error
    except MemoryError:
        reason = "preparing its frames needs more memory than there is"
        return MediaError(MediaFault.too_large, f"{shown_media(item)}: {reason}")


def _packed(look: Look) -> bytes:
    try:
        return pickle.dumps(look, protocol=5)
    except Exception as error:
        raise ConfigError(f"the sampler or the preparation of frames cannot be sent to a process: {error}") from error
