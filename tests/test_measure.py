"""From ranks to a report: names, bounds of the reported rule, slices, counts, and what a reader should know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from composing import built
from glyphrank.channels import Part
from glyphrank.indexes.exact import Exact
from glyphrank.measure import (
    LONGEST_VALUE,
    MOST_VALUES,
    bounds_of,
    counts_of,
    counts_of_misses,
    counts_of_parts,
    counts_of_readings,
    failures_of_parts,
    failures_of_readings,
    lists_of_readings,
    losses_of,
    metrics_of,
    notes_of,
    notes_of_bounds,
    notes_of_run,
    of_this_run,
    slice_fields,
    slices_of,
    views_of,
)
from glyphrank.metrics import Protocol, evaluate
from glyphrank.ranking import RankCounter, reverse
from glyphrank.records import Direction, Item, Line, Query, Ranks, Reading, Source, Task, TextState, Vectors, View
from glyphrank.scoring import Channel
from glyphrank.ties import TieRule
from ranked import MISS
from tracked_runs import report_with

RELEVANT = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"c": 1.0}}
SCORES = np.array([[2, 2, 1], [1, 0, MISS], [1, 0, 0]], dtype=np.float32)


def _protocol(ties: TieRule = TieRule.pessimistic) -> Protocol:
    return Protocol(
        (1, 20), (Direction.t2v, Direction.v2t), ties, (View.text,), tuple(Source), None, "ndcg_at_10", "item"
    )


def _task(slices: list[dict[str, str]] | None = None) -> Task:
    fields = slices or [{"type": "text"}, {"type": "visual"}, {}]
    queries = tuple(Query(f"q{number}", "x", values) for number, values in enumerate(fields, start=1))
    items = tuple(Item(name, None, "text", {"kind": name}) for name in "abc")
    return Task("t", queries, items, RELEVANT, "f")


def _ranks(scores: Any = SCORES) -> dict[Direction, Ranks]:
    asking, gallery = [f"q{number}" for number in range(1, len(scores) + 1)], [*"abc"]
    forward = RankCounter(Direction.t2v, asking, gallery, RELEVANT, 0)
    forward.add(np.arange(len(scores)), scores)
    backward = RankCounter(Direction.v2t, gallery, asking, reverse(RELEVANT), 0)
    backward.add(np.arange(3), scores.T)
    return {Direction.t2v: forward.finish(), Direction.v2t: backward.finish()}


def slices_in(task: Task, ranks: dict[Direction, Ranks]) -> dict[str, dict[str, dict[str, float]]]:
    return slices_of(ranks, slice_fields(task, ranks), _protocol())


def test_metrics_of_names_the_reverse_direction() -> None:
    numbers = metrics_of(_ranks(), _protocol())
    assert numbers["mean_rank"] == (1 + 3) / 2
    assert numbers["v2t/mean_rank"] == (1 + 1 + 3) / 3
    backward = evaluate(_ranks()[Direction.v2t], (1, 20), TieRule.pessimistic)
    assert {name.removeprefix("v2t/") for name in numbers if name.startswith("v2t/")} == set(backward)


@pytest.mark.parametrize("rule", list(TieRule))
def test_bounds_of_hold_the_reported_value(rule: TieRule) -> None:
    numbers, limits = metrics_of(_ranks(), _protocol(rule)), bounds_of(_ranks(), _protocol(rule))
    assert ("mean_rank" in limits) == (rule is TieRule.textvr)  # the released code ranks a and b at 1.5
    for name, (worst, best) in limits.items():
        assert min(worst, best) <= numbers[name] <= max(worst, best)


def test_slices_of_are_fields_of_queries_with_their_numbers() -> None:
    table = slices_in(_task(), _ranks())
    assert set(table) == {"type"}  # the kind of an item is no slice
    assert {value: numbers["queries"] for value, numbers in table["type"].items()} == {"text": 1, "visual": 1}
    assert (table["type"]["text"]["mean_rank"], table["type"]["visual"]["mean_rank"]) == (1, 3)
    assert not any(name.startswith("v2t/") for numbers in table["type"].values() for name in numbers)


def test_slices_of_a_field_that_items_have_too_hold_the_reverse_direction() -> None:
    """a and b are relevant to q1, c to q2; no query is outdoors, and nothing asks of the kitchen."""
    scenes = ({"scene": "street"}, {"scene": "street"}, {"scene": "outdoors"})
    items = tuple(Item(name, None, "x", fields) for name, fields in zip("abc", scenes, strict=True))
    queries = [{"scene": "street"}, {"scene": "street"}, {"scene": "kitchen"}]
    task = replace(_task(queries), items=items)
    table = slices_in(task, _ranks())["scene"]
    assert set(table) == {"street", "kitchen", "outdoors"}
    assert (table["street"]["queries"], table["street"]["v2t/queries"]) == (2, 2)
    assert (table["street"]["mean_rank"], table["street"]["v2t/mean_rank"]) == (2, 1)
    assert (table["outdoors"]["queries"], table["outdoors"]["v2t/queries"]) == (0, 1)
    assert table["outdoors"]["v2t/mean_rank"] == 3
    assert table["kitchen"] == {"queries": 0}
    forward = {Direction.t2v: _ranks()[Direction.t2v]}
    assert set(slices_in(task, forward)["scene"]) == {"street", "kitchen"}


@pytest.mark.parametrize(("values", "left_out"), [(MOST_VALUES, False), (MOST_VALUES + 1, True)])
def test_a_field_of_many_values_is_left_out_with_a_note(values: int, left_out: bool) -> None:
    task = _task([{"type": "x", "answer": f"answer {number}"} for number in range(values)])
    ranks = _ranks(np.ones((values, 3), dtype=np.float32))
    assert set(slices_in(task, ranks)) == ({"type"} if left_out else {"type", "answer"})
    counts = counts_of(task, ranks)
    assert counts["fields_left_out"] == int(left_out)
    note = "fields of queries with more than 50 values, or with one of more than 200 characters, which are no slices: 1"
    assert (note in notes_of(counts)) == left_out


@pytest.mark.parametrize(("length", "left_out"), [(LONGEST_VALUE, False), (LONGEST_VALUE + 1, True)])
def test_a_field_of_long_texts_is_no_slice_however_few_there_are(length: int, left_out: bool) -> None:
    task = _task([{"type": "x", "context": "글" * length}, {"type": "y"}, {"type": "x", "context": ""}])
    assert set(slices_in(task, _ranks())) == ({"type"} if left_out else {"type", "context"})


def test_counts_of_say_what_the_means_are_over() -> None:
    assert counts_of(_task(), _ranks()) == {
        "queries": 3,
        "items": 3,
        "queries_without_relevant": 1,
        "relevant_not_retrieved": 1,
        "fields_left_out": 0,
        "tied_queries": 0,
        "v2t/tied_queries": 0,
    }


def test_counts_and_failures_of_readings_and_parts() -> None:
    readings = [
        Reading(Source.embedded, failure="broken"),
        Reading(Source.embedded, state=TextState.blank),
        Reading(Source.embedded),
    ]
    nothing = np.zeros(0, dtype=np.int64)
    searcher = Exact().build(Vectors((), np.empty((0, 1), dtype=np.float32)))
    text = Part(Channel("text", searcher, [], nothing, nothing), {"c": "zero"}, {"truncated_texts": 2})
    visual = Part(Channel("visual", searcher, [], nothing, nothing), {"c": "torn", "b": "gone"}, {})
    counts = counts_of_readings(readings, [(), (), ("x",)])
    assert counts == {
        "items_without_text": 2,
        "thin_items": 0,
        "image_only_items": 0,
        "blank_items": 1,
        "garbled_items": 0,
    }
    assert counts_of_readings([], []) == {}
    assert counts_of_parts([visual, text]) == {"truncated_texts": 2}
    assert failures_of_readings(_task(), readings) == {"a": "broken"}
    assert failures_of_readings(_task(), []) == {}
    assert failures_of_parts([visual, text]) == {
        "c": "channel visual: torn; channel text: zero",
        "b": "channel visual: gone",
    }


def test_poor_texts_are_counted_and_listed_by_their_state() -> None:  # case P01, P02
    states = [TextState.garbled, TextState.thin, TextState.garbled]
    readings = [Reading(Source.embedded, state=state) for state in states]
    assert lists_of_readings(_task(), readings) == {"thin": ("b",), "garbled": ("a", "c")}
    assert lists_of_readings(_task(), []) == {}
    assert lists_of_readings(_task(), [Reading(Source.embedded)] * 3) == {}
    counts = counts_of_readings(readings, [("x",)] * 3)
    assert counts["garbled_items"] == 2
    assert counts["thin_items"] == 1
    assert notes_of(counts) == [
        "items with little text (ocr.thin_below): 1",
        "items whose text is not readable: 2",
    ]


def test_windows_of_clips_of_unknown_length_are_told_of() -> None:
    known = Reading(Source.published, (Line("x"),), length=24)
    guessed = [replace(known, length_known=False), Reading(Source.published, length_known=False)]
    counts = counts_of_readings([known, *guessed], [("x", "y"), ("x",), ()])
    assert counts["windows_by_text"] == 1  # the last has no text to cut
    assert "clips of unknown length, whose windows end with their last text: 1" in notes_of(counts)
    assert "windows_by_text" not in counts_of_readings([known, *guessed], [("x",), ("x",), ()])


def test_views_of_say_what_each_channel_saw_and_compared(tmp_path: Path) -> None:
    run, _ = built(tmp_path, "ocr=embedded_else_easyocr")
    nothing = np.zeros(0, dtype=np.int64)
    searcher = Exact().build(Vectors((), np.empty((0, 1), dtype=np.float32)))
    sizes = {"visual": 512, "text": 384, "lexical": None}
    parts = [Part(Channel(name, searcher, [], nothing, nothing), {}, {}, None, size) for name, size in sizes.items()]
    assert views_of(run, parts) == {
        "visual": {"view": "frames", "vector_size": 512, "projection": "none"},
        "text": {"view": "text", "source": "embedded, scene", "vector_size": 384, "projection": "none"},
        "lexical": {"view": "text", "source": "embedded, scene"},
    }
    alone, _ = built(tmp_path, "ocr=none", "encoder@lexical=none", "encoder@visual=clip_vit_b_32")
    assert views_of(alone, parts[:1]) == {"visual": {"view": "frames", "vector_size": 512, "projection": "none"}}


def test_a_stored_report_says_of_this_run_what_equal_numbers_leave_open(tmp_path: Path) -> None:
    """Its own counts, metrics and states of texts stay; tags, notes and lists of the earlier run's files go."""
    stored = report_with(
        task="other",
        tags={"gallery": "all", "random_weights": "visual"},
        notes=("an odd file",),
        listed={"thin": ["a"], "missing_ocr": ["b"]},
        counts={"queries": 3, "items": 3, "failed_items": 0, "thin_items": 1},
    )
    task = replace(_task(), tags={"gallery": "3 of 4 videos"}, notes=("none",), listed={"mismatched": ("c",)})
    told = of_this_run(stored, built(tmp_path)[0], task, {})
    assert told.tags == {"gallery": "3 of 4 videos"}
    assert told.notes[:2] == ("none", "items with little text (ocr.thin_below): 1")
    assert told.listed == {"mismatched": ("c",), "thin": ["a"]}
    assert (told.task, told.metrics, told.counts) == (task.name, stored.metrics, stored.counts)
    assert of_this_run(told, built(tmp_path)[0], task, {}) == told


def test_random_weights_stand_beside_the_tags_of_a_task(tmp_path: Path) -> None:
    seen = ("encoder@visual=clip_folder", "visual.weights.folder=here", "visual.random_weights=true", "visual.seed=3")
    run, _ = built(tmp_path, *seen)
    told = of_this_run(report_with(), run, replace(_task(), tags={"gallery": "3 of 4 videos"}), {})
    assert told.tags == {"gallery": "3 of 4 videos", "random_weights": "visual"}
    assert told.notes[0] == "channel visual has random weights, which nobody trained"


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["metrics=clips", "encoder@visual=clip_vit_b_32"], True),
        (["metrics=pages", "encoder@visual=clip_vit_b_32"], False),
        (["metrics=clips"], False),
    ],
)
def test_saved_scores_of_a_fusion_say_that_the_reverse_direction_may_differ(
    tmp_path: Path, overrides: list[str], said: bool
) -> None:
    note = "scores.npy holds the forward fusion; v2t is fused anew, with items as queries, and may differ"
    assert (note in notes_of_run(built(tmp_path, *overrides, "save_scores=true")[0])) == said
    assert note not in notes_of_run(built(tmp_path, *overrides)[0])


def test_losses_of_are_exact_minus_found_for_every_channel_and_the_fusion() -> None:  # case I08
    exact = np.array([[3, 2, 1], [0, 1, 2], [1, 0, 0]], dtype=np.float32)
    found, best = _ranks(), _ranks(exact)
    alone = losses_of({"visual": found}, {"visual": best}, _protocol())
    assert alone["hit_rate_at_1"] == 0.5
    both = losses_of({"visual": found, "fused": found}, {"visual": best, "fused": best}, _protocol())
    assert {name for name in both if not name.startswith("channel/visual/")} == set(alone)
    assert both["channel/visual/mean_rank"] == both["mean_rank"] == alone["mean_rank"] == -1


def test_counts_of_misses_are_those_of_each_channel() -> None:
    assert counts_of_misses({"visual": _ranks(), "fused": _ranks()}) == {"channel/visual/relevant_not_retrieved": 1}


def test_notes_of_counts_that_are_zero_are_none() -> None:
    assert notes_of({"queries_without_relevant": 0, "truncated_texts": 0}) == []
    assert notes_of({"queries_without_relevant": 2}) == ["queries without a relevant item, which stand in no mean: 2"]


def test_notes_of_name_cutoffs_beyond_the_gallery() -> None:  # case M17
    counts = {"queries": 15, "items": 12, "tied_queries": 0, "v2t/tied_queries": 0}
    assert notes_of(counts) == []
    forward = "cut-offs above 12, the number of items that are ranked, see all of them"
    backward = "v2t/cut-offs above 15, the number of queries that are ranked, see all of them"
    assert notes_of(counts, (13,)) == [forward]
    assert notes_of(counts, (1, 16)) == [forward, backward]
    assert notes_of({"queries": 1, "items": 9, "tied_queries": 0}) == [forward.replace("12", "9")]


def test_notes_of_bounds_name_what_the_order_of_ties_decides() -> None:
    assert notes_of_bounds({}) == []
    narrow = {"hit_rate_at_1": (0.5, 0.505), "mean_rank": (2.5, 2.0), "v2t/median_rank_mean": (1.5, 1.0)}
    assert notes_of_bounds(narrow) == []
    wide = {"hit_rate_at_1": (0.5, 0.506), "recall_at_1": (0.1, 0.1), "v2t/mean_rank": (2.6, 2.0)}
    assert notes_of_bounds({**narrow, **wide}) == [
        "the order of equal scores decides more than 0.5 points (half a rank) of hit_rate_at_1, v2t/mean_rank"
    ]


def test_a_probe_and_groups_are_told_of_this_run_alone(tmp_path: Path) -> None:
    run, _ = built(tmp_path)
    grouped = report_with(counts={"queries": 3, "items": 3, "groups": 2}, metrics={"mean_rank": 1.0})
    task = replace(_task(), relevant={"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"b": 1.0}})
    told = of_this_run(grouped, run, task, {"text": {}})
    assert "intervals and tests take queries in 2 groups (metrics.group=item)" in told.notes
    assert told.probe == {"text": {}}
    assert of_this_run(told, run, task, {}).probe == {}
