from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from counting_parts import Counting, Letters
from glyphrank.bad_items import BadMedia, check_failures, check_texts
from glyphrank.channels import lexical_part, text_part
from glyphrank.encoders.bm25 import Bm25, Method
from glyphrank.encoders.words import Words
from glyphrank.errors import DataError
from glyphrank.indexes.exact import Exact
from glyphrank.media.sampling import Middles
from glyphrank.rankings import Asked
from glyphrank.reading import read_items
from glyphrank.records import FloatArray, Item, Query, Runtime, Task, TextState
from glyphrank.scoring import Channel
from glyphrank.sight import Sight

BM25 = Bm25(Words(), Method.lucene, Method.lucene, 1.5, 0.75)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    Letters.calls.clear()
    Counting.reads.clear()
    return Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def task(items: Sequence[str], queries: Sequence[str]) -> Task:
    return Task(
        "tiny",
        tuple(Query(f"q{number}", text) for number, text in enumerate(queries)),
        tuple(Item(f"p{number}", None, text) for number, text in enumerate(items)),
        {"q0": {"p0": 1.0}},
        "fingerprint",
    )


def rows(channel: Channel) -> FloatArray:
    return np.concatenate(list(channel.blocks(7)))


def test_lexical_part_leaves_items_without_text_out(runtime: Runtime) -> None:  # case P02
    asked = Asked.of(task(["x"], ["one", "!!", "!!", "one"]))
    part = lexical_part(BM25, asked, ["one page", "", "two pages"], runtime)
    assert asked.texts == ("one", "!!")
    assert np.isfinite(rows(part.channel)).tolist() == [[True, False, False], [False, False, False]]
    assert part.counts == {"queries_without_tokens": 2}


def test_text_part_encodes_each_distinct_text_once_and_scores_equals_equal(runtime: Runtime) -> None:
    tiny = task(["ab", "b", "ab", ""], ["a", "b", "a"])
    texts = [item.text or "" for item in tiny.items]
    part = text_part(Letters(1.0), Exact(), Asked.of(tiny), tiny.items, texts, runtime)
    assert sorted(Letters.calls) == ["a", "ab", "b", "b"]  # "b" as a query and as a text
    scores = rows(part.channel)
    assert scores.shape == (2, 4)
    assert scores[:, 0].tobytes() == scores[:, 2].tobytes()
    assert np.isneginf(scores[:, 3]).all()
    text_part(Letters(1.0), Exact(), Asked.of(tiny), tiny.items, texts, runtime)
    assert len(Letters.calls) == 4
    text_part(Letters(2.0), Exact(), Asked.of(tiny), tiny.items, texts, runtime)
    assert len(Letters.calls) == 8


def test_text_part_reports_what_was_cut_and_what_has_no_vector(runtime: Runtime) -> None:  # case E04, E06
    tiny = task(["aaaaa", "xyz", "aaaaa"], ["bbbbbb", "?", "?", "bbbbbb"])
    texts = [item.text or "" for item in tiny.items]
    part = text_part(Letters(1.0), Exact(), Asked.of(tiny), tiny.items, texts, runtime)
    assert part.counts == {"truncated_texts": 2, "truncated_queries": 2, "failed_queries": 2}
    assert part.failures == {"p1": "its vector is zero or not finite"}
    scores = rows(part.channel)
    assert np.isneginf(scores[1]).all()
    assert np.isneginf(scores[:, 1]).all()
    assert np.isfinite(scores[0, [0, 2]]).all()


def test_text_part_without_one_usable_vector_says_so(runtime: Runtime) -> None:
    tiny = task(["xyz"], ["a"])
    with pytest.raises(DataError, match="Letters gave no text a usable vector"):
        text_part(Letters(1.0), Exact(), Asked.of(tiny), tiny.items, ["xyz"], runtime)


def test_read_items_reads_equal_items_once_and_tries_failures_again(runtime: Runtime) -> None:
    items = task(["one", "bad", "one", "bad"], ["a"]).items
    sight = Sight(Middles(1, 100, 10_000), runtime)
    readings = read_items(Counting(True), items, sight, runtime)
    assert [reading.failure for reading in readings] == [None, "it is bad", None, "it is bad"]
    assert readings[1].state is TextState.garbled
    assert Counting.reads == ["p0", "p1"]
    assert read_items(Counting(True), items, sight, runtime) == readings
    assert Counting.reads == ["p0", "p1", "p1"]


@pytest.mark.parametrize(
    ("failures", "policy", "stops"),
    [
        ({}, BadMedia.error, False),
        ({"p1": "why"}, BadMedia.keep, False),
        ({"p1": "why"}, BadMedia.error, True),
    ],
)
def test_check_failures_stops_on_request(failures: dict[str, str], policy: BadMedia, stops: bool) -> None:  # case M18
    tiny = task(["one", "two"], ["a"])
    if not stops:
        check_failures(tiny, failures, policy)
        return
    with pytest.raises(DataError, match="p1: why"):
        check_failures(tiny, failures, policy)


def test_check_texts_without_any_text_names_what_failed() -> None:  # case P02
    tiny = task(["one", "two"], ["a"])
    check_texts(tiny, ["", "two"], {"p0": "garbled"})
    with pytest.raises(DataError, match="none of the 2 items has a text: 1 cannot be read") as caught:
        check_texts(tiny, ["", ""], {"p0": "garbled"})
    assert "p0: garbled" in str(caught.value)
