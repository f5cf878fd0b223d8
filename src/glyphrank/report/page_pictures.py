"""Thumbnails of items for a page: few, small, within limits of time and size; a picture that fails says why."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO

from glyphrank.media import Sampler
from glyphrank.media.decoder import Decoder, Look
from glyphrank.media.faults import MediaError
from glyphrank.media.sampling import middles
from glyphrank.records import Frames, Item, Media, UInt8Array
from glyphrank.report.page_records import Pictures
from glyphrank.runtime import Runtime

SIDE = 192
"""Pixels of a thumbnail's long side."""
MOST_FRAMES = 4
"""Frames of a clip that are shown."""
_QUALITY = 60


@dataclass(frozen=True)
class Limits:
    """What the pictures of a page may take: seconds until the last is begun, and characters of the page."""

    seconds: float
    characters: int


@dataclass(frozen=True)
class Small:
    """The same frames as another sampler's, no side above `SIDE` pixels and no more than `MOST_FRAMES` of them."""

    sampler: Sampler

    @property
    def long_side(self) -> int:
        """Never above the sampler's own."""
        return min(SIDE, self.sampler.long_side)

    @property
    def most_pixels(self) -> int:
        """The sampler's own."""
        return self.sampler.most_pixels

    def places(self, times: Sequence[float]) -> list[int]:
        """Those at the middles of equal parts of what the sampler takes."""
        taken = self.sampler.places(times)
        return [taken[place] for place in middles(len(taken), MOST_FRAMES)]


def thumbnails(items: Iterable[Item], sampler: Sampler, runtime: Runtime, limits: Limits) -> dict[str, Pictures]:
    """Item id -> its pictures; equal media are decoded once, in the order of the items, the most wanted first.

    Nothing is started where no item has media. What lies beyond the limits says so in place of its pictures.
    """
    pictured = [item for item in items if item.media is not None]
    media = {item.media.digest: item.media for item in reversed(pictured) if item.media}
    wanted = [media[digest] for digest in dict.fromkeys(item.media.digest for item in pictured if item.media)]
    found = dict(zip((one.digest for one in wanted), _drawn(wanted, sampler, runtime, limits), strict=False))
    beyond = Pictures(
        why_none=f"left out: the pictures of a page take at most {limits.seconds:g} s and "
        f"{limits.characters / 1e6:g} MB"
    )
    return {item.id: found.get(item.media.digest, beyond) for item in pictured if item.media}


def _drawn(wanted: Sequence[Media], sampler: Sampler, runtime: Runtime, limits: Limits) -> list[Pictures]:
    """The pictures of the first media, as many as the limits allow."""
    drawn: list[Pictures] = []
    if not wanted:
        return drawn
    began, left = time.monotonic(), limits.characters
    with Decoder(runtime.workers, runtime.media_seconds, runtime.media_memory) as decoder:
        looking = decoder.run(wanted, Look(Small(sampler), None, pixels=True))
        for seen in looking:
            frames = None if isinstance(seen, MediaError) else seen.frames
            pictures = Pictures(why_none=str(seen)) if frames is None else _pictures(frames)
            left -= sum(map(len, pictures.images))
            if left < 0:
                break
            drawn.append(pictures)
            if time.monotonic() - began > limits.seconds:
                break
    return drawn


def _pictures(frames: Frames) -> Pictures:
    return Pictures(tuple(map(_uri, frames.images)))


def _uri(image: UInt8Array) -> str:
    """A frame as a `data:` URI: WebP, or JPEG where Pillow lacks it."""
    from PIL import Image, features

    kind = "webp" if features.check("webp") else "jpeg"
    stream = BytesIO()
    Image.fromarray(image).save(stream, kind.upper(), quality=_QUALITY)
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"
