"""What frames are, apart from the file they came from."""

from __future__ import annotations

import hashlib

import numpy as np

from glyphrank.records import Frames


def digest_frames(frames: Frames) -> str:
    """32 hexadecimal digits for the shapes, the pixels and the times, in whole milliseconds, of frames.

    A picture and a clip of one frame with the same pixels differ: the one has no time.
    """
    hasher = hashlib.sha256()
    times = None if frames.times is None else [round(time * 1000) for time in frames.times]
    hasher.update(repr([times, [image.shape for image in frames.images]]).encode())
    for image in frames.images:
        hasher.update(np.ascontiguousarray(image).data)
    return hasher.hexdigest()[:32]
