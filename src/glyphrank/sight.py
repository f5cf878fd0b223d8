"""What the stages see of items: frames, decoded ahead of them in other processes and addressed by their pixels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from glyphrank.bad_items import of_equal
from glyphrank.cache import Stage, remember
from glyphrank.digests import digest_json
from glyphrank.identity import FileDigest, FileDigests, Stamp, recipe, stamp_of
from glyphrank.media import Sampler
from glyphrank.media.decoder import Decoder, Look, Seen
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import shown_name
from glyphrank.progress import track
from glyphrank.records import Frames, Item, Media, UInt8Array
from glyphrank.runtime import Runtime
from glyphrank.shards import LinesCodec
from glyphrank.sources import changed_sources
from glyphrank.versions import installed_version

LOOKS_A_SHARD = 16
DECODERS = ("decord", "pillow", "pypdfium2")
VERSION = 2
"""Raised when the same files and fields give other pixels."""

NO_MEDIA = "it has no media to look at"
_CHANGED = "it was changed after the run began; run again"

Prepare = Callable[[UInt8Array], UInt8Array]


class Onlooker(Protocol):
    """A stage that works on frames while they are at hand, so that nothing is decoded twice."""

    @property
    def prepare(self) -> Prepare:
        """What is done to each frame where it is decoded."""
        ...

    def take(self, seen: Iterator[Seen]) -> None:
        """Works on what is seen, in order, as it comes."""
        ...


@dataclass(frozen=True)
class Pixels:
    """How n items look.

    Attributes:
        digests: (n,) digest of each item's decoded frames, None where it has none.
        failures: position of an item without frames -> why.
    """

    digests: tuple[str | None, ...]
    failures: Mapping[int, str]


class Sight:
    """Decodes the items of a run as its stages ask for them; a context, at whose end the decoding processes end."""

    def __init__(self, sampler: Sampler, runtime: Runtime) -> None:
        self._sampler = sampler
        self._decoder = Decoder(runtime.workers, runtime.media_seconds, runtime.media_memory)
        self._stage = looks_stage(sampler, runtime)

    def __enter__(self) -> Sight:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._decoder.__exit__(kind, error, trace)

    def pixels(self, items: Sequence[Item], onlooker: Onlooker | None = None) -> Pixels:
        """The digest of every item's frames; what was decoded before is remembered, failures are not.

        Args:
            items: n items; one without media has no frames.
            onlooker: gets to see what is decoded.
        """
        present = [item.media for item in items if item.media]
        why: dict[str, tuple[Media, str]] = {}

        def work(positions: Sequence[int]) -> list[dict[str, str] | None]:
            return self._look([present[position] for position in positions], onlooker, why)

        with track(len({media.digest for media in present}), "looking at frames") as progress:
            found = remember(self._stage, [media.digest for media in present], work, progress.advance)
        known = {digest: look_of(value) for digest, value in zip(found.digests, found.values, strict=True) if value}
        failures = {
            position: _reason(item.media, why)
            for position, item in enumerate(items)
            if item.media is None or item.media.digest not in known
        }
        digests = (known.get(item.media.digest) if item.media else None for item in items)
        return Pixels(tuple(digests), failures)

    def frames(
        self, items: Iterable[Item], wanted: Sequence[str], prepare: Prepare | None = None
    ) -> Iterator[Frames | MediaError]:
        """The frames of items that have media, in order, each decoded a little before it is taken.

        Args:
            wanted: the digest of each item's pixels; a file that shows others by now is an error.
            prepare: what is done to each frame where it is decoded.
        """
        media = [item.media for item in items if item.media]
        looking = self._decoder.run(media, Look(self._sampler, prepare, pixels=True))
        for one, digest, seen in zip(media, wanted, looking, strict=True):
            if isinstance(seen, MediaError):
                yield seen
            elif seen.digest != digest or seen.frames is None:
                yield MediaError(MediaFault.changed, f"{shown_name(one.path)}: {_CHANGED}")
            else:
                yield seen.frames

    def _look(
        self, media: Sequence[Media], onlooker: Onlooker | None, why: dict[str, tuple[Media, str]]
    ) -> list[dict[str, str] | None]:
        """Decodes once, for the digests and for the onlooker."""
        found: list[dict[str, str] | None] = []
        look = Look(self._sampler, onlooker.prepare if onlooker else None, pixels=onlooker is not None)

        def noted() -> Iterator[Seen]:
            for one, seen in zip(media, self._decoder.run(media, look), strict=True):
                reason = str(seen) if isinstance(seen, MediaError) else changed(one)
                if isinstance(seen, MediaError) or reason is not None:
                    why[one.digest] = (one, str(reason))
                    found.append(None)
                else:
                    found.append({"pixels": seen.digest})
                    yield seen

        looking = noted()
        if onlooker:
            onlooker.take(looking)
        deque(looking, maxlen=0)  # what the onlooker left
        return found


def looks_stage(sampler: Sampler, runtime: Runtime) -> Stage[dict[str, str], list[Any]]:
    """Where the digests of looks lie; its inputs are the digests of media."""
    what = looks_recipe(sampler, FileDigests(runtime.cache / "files"))
    plugin = {type(sampler).__module__.partition(".")[0]} - {"glyphrank"}  # decoders import it anew, perhaps edited
    return Stage(
        *(runtime.cache, "frames", what, digest_json(what), LOOKS_A_SHARD, LinesCodec()),
        is_current=lambda: not changed_sources(plugin),
    )


def look_of(stored: Mapping[str, str]) -> str:
    """The digest of a look, as `looks_stage` keeps it."""
    return stored["pixels"]


def looks_recipe(sampler: Sampler, files: FileDigest) -> dict[str, object]:
    """All that decides how a file looks: the sampler, and the versions of what decodes (None where it is missing)."""
    decoders = {name: installed_version(name) for name in DECODERS}  # decord has no wheel for some platforms
    return {"sampler": recipe(sampler, files), "decoders": decoders, "version": VERSION}


def changed(media: Media) -> str | None:
    """Why a file cannot stand for its digest, where it was changed since that was taken; None where it was not."""
    try:
        if media.stamp is None or _content(stamp_of(media.path)) == _content(media.stamp):
            return None
    except OSError:
        pass  # it went away
    return f"{shown_name(media.path)}: {_CHANGED}"


def _content(stamp: Stamp) -> Stamp:
    """A stamp without the time at which the file's mode, owner or links changed."""
    return stamp[:3] + stamp[4:]


def _reason(media: Media | None, why: Mapping[str, tuple[Media, str]]) -> str:
    if media is None:
        return NO_MEDIA
    looked_at, reason = why[media.digest]
    return of_equal(reason, looked_at, media)
