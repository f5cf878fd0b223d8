"""Vectors of frames, behind the cache: one for each distinct look, encoded while the frames are decoded."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glyphrank.array_shards import ArraysCodec
from glyphrank.bad_items import of_equal
from glyphrank.cache import Stage, lookup, remember
from glyphrank.encoders import VisualEncoder
from glyphrank.errors import ConfigError
from glyphrank.identity import recipe
from glyphrank.media.decoder import Seen
from glyphrank.media.faults import MediaError
from glyphrank.progress import track
from glyphrank.records import Frames, Item, Vectors
from glyphrank.runtime import Runtime
from glyphrank.scoring import unit_rows
from glyphrank.sight import Prepare, Sight
from glyphrank.stages import component_stage

FRAMES_A_SHARD = 16

Value = Mapping[str, Any]


@dataclass(frozen=True)
class EncodedFrames:
    """Vectors of the distinct looks among n items, under the digests of their pixels.

    Attributes:
        digests: (n,) the look of each item, None where it has none.
        vectors: of the looks that could be encoded.
        failures: item id -> why it has no vector although it has media.
    """

    digests: tuple[str | None, ...]
    vectors: Vectors
    failures: Mapping[str, str]


def encode_frames(encoder: VisualEncoder, items: Sequence[Item], sight: Sight, runtime: Runtime) -> EncodedFrames:
    """Unit vectors of the items' frames; items that look alike share one."""
    task = _Encoding(encoder, runtime)
    pixels = sight.pixels(items, task)
    examples: dict[str, Item] = {}
    for item, digest in zip(items, pixels.digests, strict=True):
        if digest is not None:
            examples.setdefault(digest, item)
    inputs = list(examples)
    why: dict[str, str] = {}

    def work(positions: Sequence[int]) -> list[Value | None]:
        wanted = [inputs[position] for position in positions]
        frames = sight.frames([examples[digest] for digest in wanted], wanted, task.prepare)
        return task.encode_again(zip(wanted, frames, strict=True), why)

    with track(len(inputs), "encoding frames") as progress:
        found = remember(task.stage, inputs, work, progress.advance)
    kept = [row for row, digest in enumerate(found.digests) if digest not in found.failed]
    values = found.values.get("values", np.empty((0, 1), dtype=np.float32))
    failures = {items[position].id: reason for position, reason in pixels.failures.items() if items[position].media}
    for item, digest in zip(items, pixels.digests, strict=True):
        if digest in found.failed:
            reason = why.get(str(digest), "its vector is zero or not finite")
            failures[item.id] = of_equal(reason, examples[str(digest)].media, item.media)
    vectors = Vectors(tuple(found.digests[row] for row in kept), values[kept])
    return EncodedFrames(pixels.digests, vectors, failures)


def frames_stage(encoder: VisualEncoder, runtime: Runtime) -> Stage[Value, Any]:
    """Where the vectors of frames lie; its inputs are the digests of looks."""
    return component_stage(
        "vectors",
        lambda files: {"side": "frames", "encoder": recipe(encoder, files)},
        ArraysCodec(),
        FRAMES_A_SHARD,
        runtime,
        on_device=True,
    )


class _Encoding:
    """One encoder's work on frames; an `Onlooker` while they are decoded for the first time."""

    def __init__(self, encoder: VisualEncoder, runtime: Runtime) -> None:
        self.stage = frames_stage(encoder, runtime)
        self.prepare: Prepare = encoder.preparation(runtime)
        self._encoder = encoder
        self._runtime = runtime

    def take(self, seen: Iterator[Seen]) -> None:
        """Encodes looks that are new, as they come, and keeps their vectors."""
        is_known = lookup(self.stage)
        new: list[str] = []
        decoded, began = _Awaited(seen), time.perf_counter()

        def unknown() -> Iterator[Frames]:
            for one in decoded:
                if one.frames is not None and one.digest not in new and not is_known(one.digest):
                    new.append(one.digest)
                    yield one.frames

        values = self._encode(unknown(), new)
        spent = time.perf_counter() - began - decoded.seconds
        remember(self.stage, new, lambda positions: [values[position] for position in positions], spent=spent)

    def encode_again(self, looks: Iterable[tuple[str, Frames | MediaError]], why: dict[str, str]) -> list[Value | None]:
        """Vectors of looks whose pixels were known before; None, with the reason in `why`, where they are gone."""
        order: list[str] = []
        good: list[str] = []

        def readable() -> Iterator[Frames]:
            for digest, frames in looks:
                order.append(digest)
                if isinstance(frames, MediaError):
                    why[digest] = str(frames)
                else:
                    good.append(digest)
                    yield frames

        values = dict(zip(good, self._encode(readable(), good), strict=False))
        return [values.get(digest) for digest in order]

    def _encode(self, frames: Iterator[Frames], taken: Sequence[str]) -> list[Value | None]:
        """A value for each of the frames, whose digests are in `taken` by the time they are all read."""
        values = self._encoder.encode_frames(frames, self._runtime)
        left = next(frames, None)
        if left is not None or values.ndim != 2 or len(values) != len(taken):
            raise ConfigError(
                f"{type(self._encoder).__name__} gave values of shape {values.shape} for the frames of {len(taken)} "
                f"items{' and left some' if left is not None else ''}; wanted one row for each item"
            )
        rows, usable = unit_rows(values)
        return [{"values": row} if good else None for row, good in zip(rows, usable, strict=True)]


class _Awaited(Iterator[Seen]):
    """What is seen, with a count of the seconds for which it was waited for."""

    def __init__(self, seen: Iterator[Seen]) -> None:
        self.seconds = 0.0
        self._seen = seen

    def __next__(self) -> Seen:
        began = time.perf_counter()
        try:
            return next(self._seen)
        finally:
            self.seconds += time.perf_counter() - began
