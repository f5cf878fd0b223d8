"""The crossed design of the sample clips: every scene with several texts, every text in several scenes.

Whoever sees only the scene, or reads only the sign, is left with several clips; how many follows from the clips
themselves, and so do the numbers that each can reach (`expected`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import lcm
from random import Random
from typing import TypeVar

from glyphrank.datasets.sample_clips_words import COLOURS, MOTIONS, PLACES, TEXTS, THINGS

MOST_TEXTS = len(TEXTS)
_ORDER = min(len(PLACES), len(THINGS), len(COLOURS))
MOST_SCENES = _ORDER**2
_PLACES_SEEN = 10

_T = TypeVar("_T")


@dataclass(frozen=True)
class Scene:
    """What can be seen without reading: a thing of some colour that moves somehow at some place."""

    place: str
    thing: str
    colour: str
    motion: str


@dataclass(frozen=True)
class Clip:
    """A scene with a text on its sign."""

    scene: Scene
    text: str


@dataclass(frozen=True)
class Expected:
    """Means over queries, each with one relevant clip, if clips that look the same are ordered by chance."""

    hit_rate_at_1: float
    reciprocal_rank_at_10: float


def cross(texts: Sequence[str], scenes: Sequence[Scene], clips: int) -> list[Clip]:
    """`clips` different pairs in which all texts stand equally often, and so do all scenes.

    Args:
        texts, scenes: different ones; the number of each divides `clips`.
        clips: at most as many as there are pairs.
    """
    # Both sides go round; whenever both are back at the start, the scenes are moved by one place.
    turn = lcm(len(texts), len(scenes))
    return [
        Clip(scenes[(number + number // turn) % len(scenes)], texts[number % len(texts)]) for number in range(clips)
    ]


def draw_texts(count: int, seed: int) -> list[str]:
    """Texts drawn from the pool, at most `MOST_TEXTS`."""
    return shuffled(TEXTS, f"{seed}/texts")[:count]


def draw_scenes(count: int, seed: int) -> list[Scene]:
    """Scenes of which no two share more than one of place, thing and colour; at most `MOST_SCENES`.

    Places, things and colours come equally often where their number (five each) divides `count`.
    """
    places, things, colours, motions = (
        shuffled(names, f"{seed}/{kind}")
        for kind, names in (("places", PLACES), ("things", THINGS), ("colours", COLOURS), ("motions", MOTIONS))
    )
    found = []
    for number in range(count):
        row, column = divmod(number, _ORDER)
        # Two Latin squares that are orthogonal, since the order is prime: any two of the three names decide the third.
        thing, colour = (column + row) % _ORDER, (column + 2 * row) % _ORDER
        motion = (column + 3 * row) % len(motions)  # no place, thing or colour has a motion of its own
        found.append(Scene(places[column], things[thing], colours[colour], motions[motion]))
    return found


def shuffled(values: Iterable[_T], seed: str) -> list[_T]:
    """The values in an order that the seed decides, the same everywhere."""
    # Random.random is the one method whose sequence Python promises to keep for a seed.
    source = Random(seed).random  # noqa: S311 -- invented scenes, no secret
    return sorted(values, key=lambda _: source())


def expected(clips: Sequence[Clip], seen: Callable[[Clip], Hashable]) -> Expected:
    """What a channel reaches that tells clips apart by `seen` alone, without ever being wrong about it.

    A query finds the s clips that are as its own; in a random order its own is first with 1/s, and its mean reciprocal
    rank is (1 + 1/2 + ... + 1/s) / s, of which the first ten places count.

    >>> scene = Scene("beach", "ball", "red", "left")
    >>> expected([Clip(scene, "Fish Market"), Clip(scene, "Wet Paint")], lambda clip: clip.scene)
    Expected(hit_rate_at_1=0.5, reciprocal_rank_at_10=0.75)
    """
    alike = Counter(map(seen, clips))
    sizes = [alike[seen(clip)] for clip in clips]
    reciprocal = [sum(1 / rank for rank in range(1, min(size, _PLACES_SEEN) + 1)) / size for size in sizes]
    return Expected(sum(1 / size for size in sizes) / len(sizes), sum(reciprocal) / len(sizes))


def notes(clips: Sequence[Clip]) -> tuple[str, ...]:
    """What chance, each channel alone, and both together reach on these clips, in sentences.

    The numbers are those of `ties=average`; `ties=pessimistic` counts a channel's equal scores against it.
    """
    channels: dict[str, Callable[[Clip], Hashable]] = {
        "a random order": lambda _: None,
        "a perfect text channel that sees no scene": lambda clip: clip.text,
        "a perfect scene channel that reads no sign": lambda clip: clip.scene,
        "who sees and reads all": lambda clip: clip,
    }
    reached = {name: expected(clips, seen) for name, seen in channels.items()}
    return tuple(
        f"by design, {name} reaches hit_rate_at_1 {values.hit_rate_at_1:.3f} and reciprocal_rank_at_10 "
        f"{values.reciprocal_rank_at_10:.3f}, on average over the orders of equal scores"
        for name, values in reached.items()
    )
