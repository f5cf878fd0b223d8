"""Frames of clips, through decord.

decord 0.6.0 believes what a container says, and fills what it cannot decode with copies of the last frame. So a copy
is an error here, and so is what FFmpeg repairs by guessing, as its messages tell. Clips are read by seeking only where
the container proves that this finds the right frames (`mp4_index`); in all others the frames are counted by decoding
them from the start.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from glyphrank.errors import ConfigError
from glyphrank.media import Sampler
from glyphrank.media.containers import Container, clip_kind, declared
from glyphrank.media.damage import heard
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import head_of, shown_name, too_many_pixels
from glyphrank.media.images import reduced
from glyphrank.records import Frames, UInt8Array

_KNOWN = ("mp4", "matroska")
"""Containers that are looked into, and of which decord loses the last frames alone; in others it may miss the first."""
_LEAST_DECODED = 0.9
"""Share of the visible frames of a known container that must be decodable; of others all must be."""
_NO_COPIES = "0.0000001"
"""decord's fault limit, as a share of the frames: the first one that it would replace by a copy is an error."""
_NO_DECODER = "-1128613112"
"""FFmpeg's AVERROR_DECODER_NOT_FOUND, as it stands in decord's message."""
_NAMES = {"av01": "AV1", "V_AV1": "AV1", "AV01": "AV1", "vvc1": "VVC", "apv1": "APV"}
_TRIES = 6
"""Times that a clip is decoded before its damage is believed: what decord decodes ahead of the last frame taken may be
heard or not, but the damage of frames that are needed is heard each time. One silent try in six proves them good."""
_FRAMES_A_SECOND = 25.0
"""Where neither frames nor container say when a frame is shown."""


def sample(path: Path, sampler: Sampler) -> Frames:
    """The frames of a clip that the sampler takes, upright RGB, with their times in seconds from the visible start.

    Rotation by quarter turns and mirroring are honoured; pixels are taken as square. Frames that an edit list hides are
    no frames of the clip. A frame whose longer side exceeds the sampler's is reduced. Times are whole milliseconds.

    Raises:
        MediaError: the file is no clip, is cut off, has no video or none that can be decoded, declares too many
            pixels, or has frames that can only be replaced by copies or guesses; or decord is not installed. Damage
            of frames that are decoded on the way counts too.
        ConfigError: the sampler takes places that it may not take.
    """
    kind = clip_kind(head_of(path, 400))
    if kind is None:
        raise MediaError(MediaFault.not_media, f"{shown_name(path)}: no clip by what it holds")
    clip = _Clip(path, declared(path, kind), sampler)
    _check(path, clip.container, sampler.most_pixels)
    log = _decord(path).logging
    cause: str | None = None
    for _ in range(_TRIES):
        with heard(log.set_level, log.INFO, log.QUIET) as damage:
            frames = _sampled(clip)
            cause = damage()
        if cause is None:
            return frames
    raise _damaged(path, str(cause))


@dataclass(frozen=True)
class _Clip:
    path: Path
    container: Container
    sampler: Sampler


def _sampled(clip: _Clip) -> Frames:
    reader = _opened(clip.path, clip.container)
    times = _times(reader)
    shown = [time for time in times or () if time >= 0]
    all_shown = bool(shown) and shown == times and reader.get_key_indices()[:1] == [0]
    if clip.container.seekable and all_shown:
        places = _places(clip.sampler, shown)
        images = _by_seeking(clip, reader, places)
        if images is not None:
            return Frames(images, tuple(shown[place] for place in places))
        reader = _opened(clip.path, clip.container)
    if shown:
        places = _places(clip.sampler, shown)
        images, count = _in_order(clip, reader, places)
        if count == len(shown):
            return Frames(images, tuple(shown[place] for place in places))
    else:
        count = sum(1 for _ in _all_frames(clip.path, reader))
    return _by_counting(clip, count, shown if times is not None else None)


def _check(path: Path, container: Container, most_pixels: int) -> None:
    name = shown_name(path)
    if not container.complete:
        raise MediaError(MediaFault.truncated, f"{name}: cut off: the file ends before the end that it declares")
    if container.kind == "audio" or (container.kind in _KNOWN and container.codec is None):
        raise MediaError(MediaFault.no_video, f"{name}: there is no video in it, at most sound")
    if container.width * container.height > most_pixels:
        raise too_many_pixels(name, container.width * container.height, most_pixels)


def _opened(path: Path, container: Container) -> Any:
    """A decord reader that stands before the first frame; it decodes in one thread, as other processes decode too."""
    decord = _decord(path)
    try:
        return decord.VideoReader(str(path.absolute()), num_threads=1, fault_tol=_NO_COPIES)
    except UnicodeEncodeError as error:
        raise MediaError(MediaFault.unreadable, f"{shown_name(path)}: decord wants a name in UTF-8") from error
    except (decord.DECORDError, RuntimeError, AssertionError) as error:
        message = str(error)
        if _NO_DECODER in message:
            codec = container.codec or "of an unknown name"
            raise MediaError(
                MediaFault.unsupported,
                f"{shown_name(path)}: its video is {_NAMES.get(codec, codec)} ({codec}), which decord does not decode; "
                "wanted H.264, HEVC, VP8 or VP9",
            ) from error
        if "cannot find video stream" in message:
            raise MediaError(MediaFault.no_video, f"{shown_name(path)}: there is no video in it") from error
        if "Failed to measure duration" in message:
            raise MediaError(
                MediaFault.unsupported,
                f"{shown_name(path)}: its container does not say how long it lasts, without which decord does not read "
                "it; copied into another it may (ffmpeg -i IN -c copy OUT.mkv, or OUT.mp4)",
            ) from error
        raise _damaged(path, error) from error


@cache
def _quiet_decord() -> Any:
    # Read when the library is loaded: how often it starts anew, and looks for last frames, before it gives up.
    os.environ.setdefault("DECORD_REWIND_RETRY_MAX", "4")
    os.environ.setdefault("DECORD_EOF_RETRY_MAX", "2048")
    import decord

    decord.logging.set_level(decord.logging.QUIET)
    return decord


def _decord(path: Path) -> Any:
    try:
        return _quiet_decord()
    except (ImportError, OSError) as error:
        raise MediaError(
            MediaFault.no_decoder,
            f"{shown_name(path)}: clips are decoded by decord, which is not here ({error}): pip install decord. It has "
            "wheels for x86-64 Linux and Windows; elsewhere everything but video works without it",
        ) from error


def _times(reader: Any) -> list[float] | None:
    """Seconds of every frame, hidden ones below 0; None where the container gives no usable times.

    Frames before the first key frame that lack a time, as where a clip was cut, come as far below 0, all alike.
    """
    times = [round(float(time), 3) for time in reader.get_frame_timestamp(range(len(reader)))[:, 0]]
    shown = [time for time in times if not time < 0]
    if not all(map(math.isfinite, shown)) or any(later <= time for time, later in itertools.pairwise(shown)):
        return None
    return times


def _places(sampler: Sampler, times: Sequence[float]) -> list[int]:
    try:
        places = [int(place) for place in sampler.places(times)]
    except Exception as error:
        raise ConfigError(f"{type(sampler).__name__}.places: {type(error).__name__}: {error}") from error
    if not places or sorted(set(places)) != places or places[0] < 0 or places[-1] >= len(times):
        raise ConfigError(
            f"{type(sampler).__name__} took {places[:5]} of {len(times)} frames; wanted ascending places below "
            f"{len(times)}, at least one and none twice"
        )
    return places


def _by_seeking(clip: _Clip, reader: Any, places: Sequence[int]) -> tuple[UInt8Array, ...] | None:
    """The frames at the places; None where decord cannot go there, as in a clip that lacks frames it counts."""
    decord = _decord(clip.path)
    try:
        return tuple(_upright(clip, reader[place]) for place in places)
    except (decord.DECORDLimitReachedError, decord.DECORDError):
        return None


def _in_order(clip: _Clip, reader: Any, places: Sequence[int]) -> tuple[tuple[UInt8Array, ...], int]:
    """The frames at the places, and how many there are in all, from a reader that stands before the first."""
    taken, images, count = set(places), [], 0
    for frame in _all_frames(clip.path, reader):
        if count in taken:
            images.append(_upright(clip, frame))
        count += 1
    return tuple(images), count


def _by_counting(clip: _Clip, count: int, times: Sequence[float] | None) -> Frames:
    """The frames of a clip of which decord decodes `count`, not as many as the container says.

    Args:
        times: seconds of the frames that the container shows; None where it does not say.
    """
    reader = _opened(clip.path, clip.container)
    known, wanted = clip.container.kind in _KNOWN, len(reader) if times is None else len(times)
    if count < max(1, wanted * (_LEAST_DECODED if known else 1)):
        advice = "" if known else "; copied into MP4 it may (ffmpeg -i IN -c copy OUT.mp4)"
        raise MediaError(
            MediaFault.damaged, f"{shown_name(clip.path)}: decord can decode {count} of its {wanted} frames{advice}"
        )
    shown = list(times or ())[:count]
    if len(shown) < count:
        rate = reader.get_avg_fps()
        rate = rate if math.isfinite(rate) and rate > 0 else _FRAMES_A_SECOND
        shown = [round(place / rate, 3) for place in range(count)]
    places = _places(clip.sampler, shown)
    images, _ = _in_order(clip, reader, places)
    return Frames(images, tuple(shown[place] for place in places))


def _all_frames(path: Path, reader: Any) -> Iterator[Any]:
    """Decord's arrays from the first to the last frame that can be decoded."""
    decord = _decord(path)
    for _ in range(len(reader)):
        try:
            frame = reader.next()
        except (StopIteration, decord.DECORDLimitReachedError):
            return
        except decord.DECORDError as error:
            if "Unable to handle EOF" in str(error):
                return
            raise _damaged(path, error) from error
        yield frame


def _upright(clip: _Clip, frame: Any) -> UInt8Array:
    """From decord's array, which is turned by quarters but never mirrored, to (h, w, 3) uint8.

    decord takes rows that are padded in memory for wider pixels where the padding is a multiple of the width: a frame
    48 pixels wide comes as (64, 48, 4), of which each row holds 48 * 3 values and then padding.
    """
    array = frame.asnumpy()
    height, width, depth = array.shape
    if height * width > clip.sampler.most_pixels:
        raise too_many_pixels(shown_name(clip.path), height * width, clip.sampler.most_pixels)
    if depth > 3:
        array = array.reshape(height, width * depth)[:, : width * 3].reshape(height, width, 3)
    if clip.container.flip is not None:
        array = np.flip(array, clip.container.flip)
    return reduced(np.ascontiguousarray(array), clip.sampler.long_side)


def _damaged(path: Path, error: BaseException | str) -> MediaError:
    line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    cause = re.sub(r"\[[^\]]*\] ?|/\S+: |`.*", "", line).strip()
    return MediaError(MediaFault.damaged, f"{shown_name(path)}: the video is damaged ({cause[:200]})")
