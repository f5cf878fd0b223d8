from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from math import isclose

import pytest

from glyphrank.datasets.sample_clips_design import (
    MOST_SCENES,
    MOST_TEXTS,
    Clip,
    Scene,
    cross,
    draw_scenes,
    draw_texts,
    expected,
    notes,
    shuffled,
)
from glyphrank.datasets.sample_clips_words import COLOURS, MOTIONS, PLACES, TEXTS, THINGS, queries
from glyphrank.metrics import evaluate
from glyphrank.ties import TieRule
from ranked import rank

BALL = Scene("beach", "ball", "red", "left")
CAR = Scene("snow", "car", "blue", "still")


def words(text: str) -> set[str]:
    return set(re.findall("[a-z]+", text.lower()))


@pytest.mark.parametrize(
    ("texts", "scenes", "clips"), [(1, 1, 1), (2, 3, 6), (15, 15, 60), (6, 4, 12), (4, 10, 20), (30, 25, 750)]
)
def test_cross_gives_every_text_and_every_scene_its_share_of_different_pairs(
    texts: int, scenes: int, clips: int
) -> None:
    crossed = cross(draw_texts(texts, 1), draw_scenes(scenes, 1), clips)
    assert len(crossed) == len(set(crossed)) == clips
    assert sorted(Counter(clip.text for clip in crossed).values()) == [clips // texts] * texts
    assert sorted(Counter(clip.scene for clip in crossed).values()) == [clips // scenes] * scenes


@pytest.mark.parametrize("seed", range(5))
def test_any_two_scenes_share_at_most_one_of_place_thing_and_colour(seed: int) -> None:
    scenes = draw_scenes(MOST_SCENES, seed)
    assert len(scenes) == 25
    for one, other in combinations(scenes, 2):
        assert (one.place == other.place) + (one.thing == other.thing) + (one.colour == other.colour) <= 1


@pytest.mark.parametrize("count", [5, 15, 25])
def test_places_things_and_colours_come_equally_often(count: int) -> None:
    scenes = draw_scenes(count, 3)
    for name, values in (("place", PLACES), ("thing", THINGS), ("colour", COLOURS)):
        assert Counter(getattr(scene, name) for scene in scenes) == dict.fromkeys(values, count // 5)


@pytest.mark.parametrize("seed", range(5))
def test_no_place_thing_or_colour_has_a_motion_of_its_own(seed: int) -> None:
    scenes = draw_scenes(15, seed)
    assert {scene.motion for scene in scenes} == set(MOTIONS)
    for name in ("place", "thing", "colour"):
        motions: dict[str, set[str]] = {}
        for scene in scenes:
            motions.setdefault(getattr(scene, name), set()).add(scene.motion)
        assert min(map(len, motions.values())) >= 2


def test_another_seed_draws_other_texts_and_scenes() -> None:
    assert set(draw_texts(10, 1)) != set(draw_texts(10, 2))
    assert set(draw_scenes(10, 1)) != set(draw_scenes(10, 2))
    assert draw_texts(10, 1) == draw_texts(10, 1)


def test_the_order_of_a_seed_is_the_same_everywhere() -> None:
    assert shuffled("abcdefgh", "7/x") == list("fhecabgd")


def test_expected_counts_what_looks_the_same() -> None:
    clips = [Clip(BALL, "Wet Paint"), Clip(BALL, "Exit Only"), Clip(CAR, "Exit Only"), Clip(CAR, "Big Sale")]
    assert expected(clips, lambda clip: clip).hit_rate_at_1 == 1
    assert expected(clips, lambda clip: clip.scene).hit_rate_at_1 == 0.5
    assert expected(clips, lambda clip: clip.text).hit_rate_at_1 == (1 + 0.5 + 0.5 + 1) / 4
    assert expected(clips, lambda _: None).hit_rate_at_1 == 0.25
    assert isclose(expected(clips, lambda _: None).reciprocal_rank_at_10, (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)


def test_expected_reciprocal_rank_stops_after_ten_places() -> None:
    clips = [Clip(BALL, text) for text in TEXTS[:20]]
    wanted = sum(1 / rank for rank in range(1, 11)) / 20
    assert isclose(expected(clips, lambda clip: clip.scene).reciprocal_rank_at_10, wanted)


@pytest.mark.parametrize(("texts", "scenes"), [(6, 4), (12, 1), (3, 12)])
def test_expected_is_what_the_metrics_say_of_a_perfect_channel(texts: int, scenes: int) -> None:
    clips = cross(draw_texts(texts, 1), draw_scenes(scenes, 1), 12)
    names = [f"c{number:02}" for number in range(12)]
    for seen in (lambda clip: clip.text, lambda clip: clip.scene, lambda clip: clip, lambda _: 0):
        rows = {
            name: [float(seen(clip) == seen(other)) for other in clips] for name, clip in zip(names, clips, strict=True)
        }
        ranks = rank(rows, names, {name: {name: 1.0} for name in names})
        measured = evaluate(ranks, [1], TieRule.average)
        wanted = expected(clips, seen)
        assert isclose(measured["hit_rate_at_1"], wanted.hit_rate_at_1)
        assert isclose(measured["reciprocal_rank_at_10"], wanted.reciprocal_rank_at_10)


def test_notes_give_the_numbers_of_the_clips_at_hand() -> None:
    shared = notes(cross(draw_texts(6, 1), draw_scenes(4, 1), 12))
    assert [note.split("hit_rate_at_1 ")[1][:5] for note in shared] == ["0.083", "0.500", "0.333", "1.000"]
    alone = notes(cross(draw_texts(4, 1), draw_scenes(4, 1), 4))
    assert [note.split("hit_rate_at_1 ")[1][:5] for note in alone] == ["0.250", "1.000", "1.000", "1.000"]


def test_no_word_stands_on_two_signs_or_in_the_rest_of_a_query() -> None:
    counts = Counter(word for text in TEXTS for word in words(text))
    assert counts.most_common(1)[0][1] == 1
    assert len(TEXTS) == MOST_TEXTS == 30
    for scene in draw_scenes(MOST_SCENES, 1):
        for query in queries(scene.place, scene.thing, scene.colour, scene.motion, ""):
            assert not words(query) & set(counts)


def test_every_query_names_text_place_thing_colour_and_motion() -> None:
    asked: set[str] = set()
    for place in PLACES:
        for thing, moves in THINGS.items():
            assert len(moves) == len(set(moves)) == len(MOTIONS)
            for colour in COLOURS:
                for motion, moving in zip(MOTIONS, moves, strict=True):
                    wordings = queries(place, thing, colour, motion, "Wet Paint")
                    assert len(wordings) == 3
                    for query in wordings:
                        for part in ("Wet Paint", PLACES[place], f"{colour} {thing}", moving):
                            assert part.lower() in query.lower()
                    asked.update(wordings)
    assert len(asked) == 3 * 5 * 5 * 5 * 4
