"""Which scenes and sign texts the sample encoder is trained on, which tune it, and which only measure it.

The sample's clips of the test seeds are the test split, those of the validation seeds choose what has to be chosen. No
scene of either shares place, thing and colour, under whatever motion, with a scene that is trained on; the two share
none with each other. Signs in training bear two words each of a dictionary of their own, without any word of the
sample.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable

from glyphrank.datasets.sample_clips_design import Clip, Scene, cross, draw_scenes, draw_texts, shuffled
from glyphrank.datasets.sample_clips_words import COLOURS, MOTIONS, PLACES, TEXTS, THINGS, queries

TEST_SEEDS = (7, 8, 9)
"""Of `sample_clips`; 7 is the seed of its configuration."""
CLIPS, CLIPS_A_TEXT, CLIPS_A_SCENE = 60, 4, 4
"""The fields of `sample_clips` under which the encoder is measured."""

_VALIDATION_SEEDS = 1
_LETTERS = (3, 7)
"""Least and most letters of a word on a sign in training: two of them fit on a board."""

Look = tuple[str, str, str]
"""Place, thing and colour of a scene."""


def look(scene: Scene) -> Look:
    """What of a scene one frame shows."""
    return scene.place, scene.thing, scene.colour


def scenes_of(seed: int) -> list[Scene]:
    """The scenes that `sample_clips` draws for a seed."""
    return draw_scenes(CLIPS // CLIPS_A_SCENE, seed)


def clips_of(seed: int) -> dict[str, Clip]:
    """The clips of `sample_clips` for a seed, by id, in the dataset's order."""
    clips = shuffled(cross(draw_texts(CLIPS // CLIPS_A_TEXT, seed), scenes_of(seed), CLIPS), f"{seed}/clips")
    return {f"clip{number:0{len(str(CLIPS))}}": clip for number, clip in enumerate(clips, start=1)}


@functools.cache
def validation_seeds() -> tuple[int, ...]:
    """The first seeds after those of the test whose scenes look like none of the test's."""
    tested = looks(TEST_SEEDS)
    fitting = (seed for seed in itertools.count(max(TEST_SEEDS) + 1) if not tested & looks([seed]))
    return tuple(itertools.islice(fitting, _VALIDATION_SEEDS))


def looks(seeds: Iterable[int]) -> set[Look]:
    """Place, thing and colour of all scenes of some seeds."""
    return {look(scene) for seed in seeds for scene in scenes_of(seed)}


def training_scenes() -> list[Scene]:
    """All scenes that look like none of the test and validation seeds, in a fixed order."""
    held_out = looks((*TEST_SEEDS, *validation_seeds()))
    every = itertools.starmap(Scene, itertools.product(PLACES, THINGS, COLOURS, MOTIONS))
    return [scene for scene in every if look(scene) not in held_out]


def training_words(vocabulary: Iterable[str]) -> list[str]:
    """The words of a tokeniser's vocabulary that signs bear in training: none that the sample uses anywhere.

    Args:
        vocabulary: byte pairs of CLIP; what ends a word ends in `</w>`.
    """
    words = (entry.removesuffix("</w>") for entry in vocabulary if entry.endswith("</w>"))
    least, most = _LETTERS
    plain = {word for word in words if re.fullmatch(f"[a-z]{{{least},{most}}}", word)}
    return sorted(plain - sample_words())


def sample_words() -> frozenset[str]:
    """Every word, in small letters, that stands on a sign of the sample or in any of its queries."""
    return asked_words() | frozenset(word for text in TEXTS for word in text.lower().split())


@functools.cache
def asked_words() -> frozenset[str]:
    """Every word, in small letters, that queries of the sample use beside the text of the sign."""
    every = itertools.product(PLACES, THINGS, COLOURS, MOTIONS)
    return frozenset(
        word for names in every for text in queries(*names, "") for word in re.findall("[a-z]+", text.lower())
    )
