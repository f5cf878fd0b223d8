"""What the sample encoder is trained on: frames of drawn clips, and captions that say what of them is meant."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from random import Random

import numpy as np

from glyphrank.datasets.sample_clips_design import Clip, Scene
from glyphrank.datasets.sample_clips_video import FRAMES, draw_clip
from glyphrank.datasets.sample_clips_words import MOTIONS, PLACES, THINGS, queries
from glyphrank.encoders.clip_crop import Preparation
from glyphrank.records import UInt8Array

FRAMES_A_CLIP = 3
"""How many different frames of a drawn clip are trained on."""
_PARTS = (
    ("A {colour} {thing}.", ("thing", "colour")),
    ("A {thing} {place}.", ("place", "thing")),
    ("Something {colour} {place}.", ("place", "colour")),
    ("{Place}.", ("place",)),
    ("A {thing} {moves}.", ("thing", "motion")),
    ("A {colour} {thing} {place}.", ("place", "thing", "colour")),
)


@dataclass(frozen=True)
class Pictures:
    """Frames of clips.

    Attributes:
        scenes: (n,) what each clip shows.
        frames: (n, k, h, w, 3) uint8, k frames of each clip, of the model's size.
    """

    scenes: tuple[Scene, ...]
    frames: UInt8Array


@dataclass(frozen=True)
class Caption:
    """A text, and what a scene must be for the text to be true of it."""

    text: str
    names: tuple[tuple[str, str], ...]

    def fits(self, scene: Scene) -> bool:
        """Whether all that the caption names is so.

        >>> Caption("A red ball.", (("thing", "ball"), ("colour", "red"))).fits(Scene("snow", "ball", "red", "left"))
        True
        """
        return all(getattr(scene, kind) == name for kind, name in self.names)


@dataclass(frozen=True)
class Drawing:
    """One clip to draw, and which of its frames are wanted."""

    clip: Clip
    seed: str
    frames: tuple[int, ...]
    preparation: Preparation


def draw(drawings: Sequence[Drawing], processes: int) -> Pictures:
    """The frames of clips, drawn as those of the sample are; the same whatever the number of processes."""
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            frames = list(pool.map(_frames, drawings, chunksize=16))
    else:
        frames = [_frames(drawing) for drawing in drawings]
    return Pictures(tuple(drawing.clip.scene for drawing in drawings), np.stack(frames))


def training_drawings(
    scenes: Sequence[Scene], words: Sequence[str], count: int, preparation: Preparation, seed: int
) -> list[Drawing]:
    """Clips for training: every scene equally often, each with a sign of its own and frames from anywhere in it."""
    chance = Random(f"{seed}/clips").random
    drawings = []
    for number in range(count):
        clip = Clip(scenes[number % len(scenes)], sign(words, chance(), chance()))
        order = sorted(range(FRAMES), key=lambda _: chance())
        drawings.append(Drawing(clip, f"{seed}/training/{number}", tuple(order[:FRAMES_A_CLIP]), preparation))
    return drawings


def sign(words: Sequence[str], first: float, second: float) -> str:
    """Two words, chosen by two numbers in [0, 1), as they stand on a sign."""
    return " ".join(words[int(share * len(words))].capitalize() for share in (first, second))


def captions(scene: Scene, text: str, chance: Random) -> tuple[Caption, Caption]:
    """A query as the sample asks it, with the text of some sign, and a shorter text about a part of the scene."""
    asked = queries(scene.place, scene.thing, scene.colour, scene.motion, text)
    whole = asked[int(chance.random() * len(asked))]
    form, kinds = _PARTS[int(chance.random() * len(_PARTS))]
    where = PLACES[scene.place]
    part = form.format(
        place=where,
        Place=where.capitalize(),
        thing=scene.thing,
        colour=scene.colour,
        moves=THINGS[scene.thing][MOTIONS.index(scene.motion)],
    )
    everything = ("place", "thing", "colour", "motion")
    return Caption(whole, _named(scene, everything)), Caption(part, _named(scene, kinds))


def _named(scene: Scene, kinds: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((kind, getattr(scene, kind)) for kind in kinds)


def _frames(drawing: Drawing) -> UInt8Array:
    """(k, h, w, 3) uint8, the wanted frames of one clip."""
    last = max(drawing.frames)
    drawn = list(itertools.islice(draw_clip(drawing.clip, drawing.seed), last + 1))
    return np.stack([drawing.preparation(drawn[number]) for number in drawing.frames])
