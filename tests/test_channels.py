from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from counting_parts import Counting, Following, Letters
from glyphrank.bad_items import BadMedia, check_failures, check_texts
from glyphrank.channels import lexical_part, text_part
from glyphrank.digests import digest_file
from glyphrank.encoders.bm25 import Bm25, Method
from glyphrank.encoders.words import Words
from glyphrank.errors import DataError
from glyphrank.identity import stamp_of
from glyphrank.indexes.exact import Exact
from glyphrank.media.sampling import Middles
from glyphrank.rankings import Asked
from glyphrank.reading import read_items
from glyphrank.records import FloatArray, Item, Line, Media, Query, Reading, Source, Task, TextState
from glyphrank.runtime import Runtime
from glyphrank.scoring import Channel
from glyphrank.sight import Sight
from glyphrank.transcript import Pooling, Written

BM25 = Bm25(Words(), Method.lucene, Method.lucene, 1.5, 0.75)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    Letters.calls.clear()
    Counting.reads.clear()
    Following.reads.clear()
    return Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def task(items: Sequence[str], queries: Sequence[str]) -> Task:
    return Task(
        "tiny",
        tuple(Query(f"q{number}", text) for number, text in enumerate(queries)),
        tuple(Item(f"p{number}", None, text) for number, text in enumerate(items)),
        {"q0": {"p0": 1.0}},
        "fingerprint",
    )


def one_each(task: Task, pooling: Pooling = Pooling.mean) -> Written:
    """Each item's own text as its only one."""
    return Written([(item.text,) if item.text else () for item in task.items], pooling)


def rows(channel: Channel) -> FloatArray:
    return np.concatenate(list(channel.blocks(7)))


def test_lexical_part_leaves_items_without_text_out(runtime: Runtime) -> None:  # case P02
    asked = Asked.of(task(["x"], ["one", "!!", "!!", "one"]))
    part = lexical_part(BM25, asked, [("one page",), (), ("two pages",)], runtime)
    assert asked.texts == ("one", "!!")
    assert np.isfinite(rows(part.channel)).tolist() == [[True, False, False], [False, False, False]]
    assert part.counts == {"queries_without_tokens": 2}


def test_lexical_part_reads_several_texts_of_an_item_as_one(runtime: Runtime) -> None:
    asked = Asked.of(task(["x"], ["no parking", "exit"]))
    windows = lexical_part(BM25, asked, [("no", "parking here"), (), ("exit",), ("no exit",)], runtime)
    joined = lexical_part(BM25, asked, [("no\nparking here",), (), ("exit",), ("no exit",)], runtime)
    assert rows(windows.channel).tobytes() == rows(joined.channel).tobytes()
    assert np.isfinite(rows(windows.channel)).tolist() == [[True, False, False, True], [False, False, True, True]]
    assert rows(windows.channel)[0].argmax() == 0
    assert windows.vector_size is None


def test_text_part_encodes_each_distinct_text_once_and_scores_equals_equal(runtime: Runtime) -> None:
    tiny = task(["ab", "b", "ab", ""], ["a", "b", "a"])
    written = one_each(tiny)
    part = text_part(Letters(1.0), Exact(), Asked.of(tiny), tiny.items, written, runtime)
    assert sorted(Letters.calls) == ["a", "ab", "b", "b"]  # "b" as a query and as a text
    scores = rows(part.channel)
    assert scores.shape == (2, 4)
    assert scores[:, 0].tobytes() == scores[:, 2].tobytes()
    assert np.isneginf(scores[:, 3]).all()
    text_part(Letters(1.0), Exact(), Asked.of(tiny), tiny.items, written, runtime)
    assert len(Letters.calls) == 4
    text_part(Letters(2.0), Exact(), Asked.of(tiny), tiny.items, written, runtime)
    assert len(Letters.calls) == 8


def test_text_part_reports_what_was_cut_and_what_has_no_vector(runtime: Runtime) -> None:  # case E04, E06
    tiny = task(["aaaaa", "xyz", "aaaaa"], ["bbbbbb", "?", "?", "bbbbbb"])
    written = one_each(tiny)
    part = text_part(Letters(1.0), Exact(), Asked.of(tiny), tiny.items, written, runtime)
    assert part.counts == {"truncated_texts": 2, "unusable_texts": 1, "truncated_queries": 2, "failed_queries": 2}
    assert part.failures == {"p1": "its vector is zero or not finite"}
    assert part.vector_size == 2
    scores = rows(part.channel)
    assert np.isneginf(scores[1]).all()
    assert np.isneginf(scores[:, 1]).all()
    assert np.isfinite(scores[0, [0, 2]]).all()


def test_text_part_without_one_usable_vector_says_so(runtime: Runtime) -> None:
    tiny = task(["xyz"], ["a"])
    with pytest.raises(DataError, match="Letters gave no text a usable vector"):
        text_part(Letters(1.0), Exact(), Asked.of(tiny), tiny.items, one_each(tiny), runtime)


def test_read_items_reads_equal_items_once_and_tries_failures_again(runtime: Runtime) -> None:
    items = task(["one", "bad", "one", "bad"], ["a"]).items
    sight = Sight(Middles(1, 100, 10_000), runtime)
    readings = read_items(Counting(True), items, sight, runtime)
    assert [reading.failure for reading in readings] == [None, "it is bad", None, "it is bad"]
    assert readings[1].state is TextState.garbled
    assert Counting.reads == ["p0", "p1"]
    assert read_items(Counting(True), items, sight, runtime) == readings
    assert Counting.reads == ["p0", "p1", "p1"]


def test_readings_come_from_the_cache_with_all_that_is_known_of_them(runtime: Runtime) -> None:
    items = [Item("a", None, "x", published_ocr="one two"), Item("b", None, "x", published_ocr="")]
    items.append(Item("c", None, "x", published_ocr="one two"))
    items.append(Item("d", None, "x"))
    sight = Sight(Middles(1, 100, 10_000), runtime)
    readings = read_items(Following(), items, sight, runtime)
    lines = (Line("one", 0.5, None, 0, 0.0, ((0, 2), (5, 9))), Line("two", 0.5, None, 1, 0.1, ((1, 3), (6, 10))))
    assert readings[0] == readings[2] == Reading(Source.published, lines, None, TextState.thin, 40, False)
    assert Following.reads == ["a", "b", "d"]  # an empty text and none are two inputs
    assert read_items(Following(), items, sight, runtime) == readings
    assert len(Following.reads) == 3


def test_a_published_file_is_read_anew_by_what_it_holds_alone(tmp_path: Path, runtime: Runtime) -> None:  # case C01
    def published(name: str) -> Item:
        path = tmp_path / name
        return Item(name, None, None, published_ocr=Media(path, None, digest_file(path), stamp_of(path)))

    (tmp_path / "first").write_text("one two")
    (tmp_path / "second").write_text("one two")
    sight = Sight(Middles(1, 100, 10_000), runtime)
    items = [published("first"), published("second")]
    assert [len(reading.lines) for reading in read_items(Following(), items, sight, runtime)] == [2, 2]
    (tmp_path / "first").write_text("three")
    assert Following.reads == ["first"]
    (tmp_path / "third").write_text("of another run")
    stale = published("third")
    (tmp_path / "third").write_text("after the run began")
    again, other = read_items(Following(), [published("first"), stale], sight, runtime)
    assert [line.text for line in again.lines] == ["three"]
    assert other.failure == "third: it was changed after the run began; run again"
    assert read_items(Following(), [published("third")], sight, runtime)[0].lines[0].text == "after"


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
    check_texts(tiny, [(), ("two",)], {"p0": "garbled"})
    with pytest.raises(DataError, match="none of the 2 items has a text: 1 cannot be read") as caught:
        check_texts(tiny, [(), ()], {"p0": "garbled"})
    assert "p0: garbled" in str(caught.value)
