"""How well the sample encoder tells scenes apart that look like none it was trained on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

import scene_split
from glyphrank.datasets.sample_clips_design import Clip
from glyphrank.datasets.sample_clips_video import FRAMES
from glyphrank.datasets.sample_clips_words import COLOURS, PLACES, THINGS, queries
from glyphrank.encoders.clip_crop import Preparation
from glyphrank.encoders.clip_tokens import ClipTokeniser
from scene_pictures import Drawing, Pictures, sign

CLIPS_A_SCENE = 4
_FRAMES = (FRAMES // 4, FRAMES - FRAMES // 4)
"""The middles of two halves."""


def validation_drawings(words: Sequence[str], preparation: Preparation) -> list[Drawing]:
    """Clips of the scenes of the validation seeds, seed by seed, with signs as in training; two frames of each."""
    chance = Random("validation").random
    scenes = [scene for seed in scene_split.validation_seeds() for scene in scene_split.scenes_of(seed)]
    return [
        Drawing(Clip(scene, sign(words, chance(), chance())), f"validation/{number}/{copy}", _FRAMES, preparation)
        for number, scene in enumerate(scenes)
        for copy in range(CLIPS_A_SCENE)
    ]


def accuracies(
    network: Any,
    tokeniser: ClipTokeniser,
    pictures: Pictures,
    words: Sequence[str],
    scaled: Callable[[Any], Any],
) -> dict[str, float]:
    """Two shares: of queries whose nearest clip among a seed's shows their scene, and of clips that are named rightly.

    A clip is named by the nearest of the 125 texts "A COLOUR THING PLACE."; it is right if all three are.

    Args:
        pictures: of `validation_drawings`.
        scaled: pictures (n, h, w, 3) uint8 -> what the network takes.
    """
    import torch

    network.eval()
    count, frames = pictures.frames.shape[:2]
    with torch.no_grad():
        flat = pictures.frames.reshape(count * frames, *pictures.frames.shape[2:])
        seen = network.encode_image(scaled(flat), normalize=True).reshape(count, frames, -1).mean(dim=1).numpy()
    seen = seen / np.linalg.norm(seen, axis=1, keepdims=True)

    def said(texts: Sequence[str]) -> Any:
        with torch.no_grad():
            return network.encode_text(torch.from_numpy(tokeniser.ids(texts)[0]), normalize=True).numpy()

    chance = Random("validation queries").random
    found, each = [], count // len(scene_split.validation_seeds())
    for start in range(0, count, each):
        scenes = pictures.scenes[start : start + each]
        texts = [
            text
            for scene in scenes
            for text in queries(scene.place, scene.thing, scene.colour, scene.motion, sign(words, chance(), chance()))
        ]
        nearest = (said(texts) @ seen[start : start + each].T).argmax(axis=1)
        found += [scenes[best] == scenes[asked // 3] for asked, best in enumerate(nearest)]
    names = list(itertools.product(PLACES, THINGS, COLOURS))
    labels = said([f"A {colour} {thing} {PLACES[place]}." for place, thing, colour in names])
    nearest = (seen @ labels.T).argmax(axis=1)
    named = [names[best] == scene_split.look(scene) for best, scene in zip(nearest, pictures.scenes, strict=True)]
    return {
        "queries whose nearest clip of 60 shows their scene": float(np.mean(found)),
        "clips whose place, thing and colour are named rightly, of 125": float(np.mean(named)),
    }
