"""From a clip of the design to a video file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image

from glyphrank.datasets import sample_clips_places as places
from glyphrank.datasets.sample_clips_design import Clip
from glyphrank.datasets.sample_clips_things import MOST_BOARDS, SIZE, draw_sign, draw_thing
from glyphrank.packages import import_package
from glyphrank.records import UInt8Array

WIDTH, HEIGHT = 320, 180
RATE = 10
"""Frames a second."""
FRAMES = 24
_PAN = (places.WIDTH - WIDTH) / 2
"""How far the camera moves from the middle at most; it follows the thing, so that signs move too."""
_ON_THE_GROUND = ("ball", "car")
_REACH = 96
"""From the middle of the frame to where a moving thing starts, in pixels."""


def draw_clip(clip: Clip, seed: str) -> Iterator[UInt8Array]:
    """The `FRAMES` frames of a clip, each (180, 320, 3) uint8 RGB; equal arguments give equal frames.

    Things on the ground pass below the sign, those in the air above it. Where the thing is still, all frames are equal.
    """
    chance = Random(seed).random  # noqa: S311 -- invented scenes, no secret
    ground = clip.scene.thing in _ON_THE_GROUND
    world = places.draw_place(clip.scene.place, seed)
    middle = (places.WIDTH / 2 + 20 * (chance() - 0.5), 44 if ground else 140)
    draw_sign(world, clip.text, int(MOST_BOARDS * chance()), middle)
    world = world.resize((places.WIDTH, places.HEIGHT), Image.Resampling.BOX)
    thing = draw_thing(clip.scene.thing, clip.scene.colour, clip.scene.motion)
    height, rest = (138 if ground else 52), WIDTH / 2 + 120 * (chance() - 0.5)
    for number in range(FRAMES):
        shift, size = _state(clip.scene.motion, number / (FRAMES - 1))
        x = rest if shift is None else WIDTH / 2 + _REACH * shift
        left = round(_PAN * (1 + (shift or 0)))
        frame = world.crop((left, 0, left + WIDTH, HEIGHT))
        small = thing.resize((round(SIZE * size), round(SIZE * size)), Image.Resampling.BOX)
        frame.paste(small, (round(x - small.width / 2), round(height - small.height / 2)), small)
        yield np.asarray(frame)


def write_video(path: Path, frames: Iterable[UInt8Array]) -> None:
    """Writes frames, (180, 320, 3) uint8 RGB, as MPEG-4 at `RATE` frames a second.

    Equal frames give equal bytes with equal versions of OpenCV on one kind of processor.

    Raises:
        OSError: OpenCV could not open the file.
        ConfigError: OpenCV cannot be imported.
    """
    cv2 = import_package("cv2", "opencv-python-headless")
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), RATE, (WIDTH, HEIGHT))
    try:
        if not writer.isOpened():
            raise OSError(f"{path}: OpenCV cannot write MPEG-4 there")
        for frame in frames:
            writer.write(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    finally:
        writer.release()


def _state(motion: str, share: float) -> tuple[float | None, float]:
    """Where the thing is after a share of the clip, in [-1, 1] or None where it stays, and how large (1: as drawn)."""
    match motion:
        case "left":
            return 1 - 2 * share, 0.95
        case "right":
            return 2 * share - 1, 0.95
        case "closer":
            return None, 0.45 + 0.85 * share
    return None, 0.95
