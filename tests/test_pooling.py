"""From vectors of texts to vectors of items: the mean over what is there, or the best, whatever the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting_parts import Letters
from glyphrank.channels import Part, text_part
from glyphrank.errors import DataError
from glyphrank.fusion import ReciprocalRank
from glyphrank.indexes import Index
from glyphrank.indexes.exact import Exact
from glyphrank.indexes.faiss_hnsw import FaissHnsw
from glyphrank.pooling import pool
from glyphrank.rankings import Asked, rank_all
from glyphrank.records import Direction, Encoded, FloatArray, Item, Query, Task, Vectors
from glyphrank.runtime import Runtime
from glyphrank.scoring import Channel, matrix, select, unit_rows
from glyphrank.transcript import Pooling, Written

NAMES = "abcdef"
BOTH = (Direction.t2v, Direction.v2t)


def named(values: FloatArray) -> Vectors:
    """Vectors of texts called a, b, c, ..."""
    return Vectors(tuple(NAMES[: len(values)]), values)


def drawn(count: int, width: int = 8, seed: int = 3) -> FloatArray:
    return unit_rows(np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32))[0]


UNIT = drawn(6)
VECTORS = named(UNIT)


def test_the_mean_is_that_of_the_texts_that_are_there_made_a_unit_row() -> None:  # case V14
    vectors, rows = pool(VECTORS, [("a", "b"), (), ("c",), ("d", "e", "f")], Pooling.mean)
    assert rows.tolist() == [0, -1, 1, 2]
    for row, texts in enumerate(([0, 1], [2], [3, 4, 5])):
        mean = UNIT[texts].mean(axis=0)
        cosine = float(vectors.values[row] @ mean / np.linalg.norm(mean))
        assert cosine == pytest.approx(1, abs=1e-6)
    assert np.linalg.norm(vectors.values, axis=1) == pytest.approx(1, abs=1e-6)
    assert vectors.values.dtype == np.float32


def test_the_best_leaves_an_item_all_its_texts() -> None:
    vectors, rows = pool(VECTORS, [("a", "b"), (), ("c",), ("d", "e", "f")], Pooling.best)
    assert vectors is VECTORS
    assert rows.tolist() == [[0, 1, -1], [-1, -1, -1], [2, -1, -1], [3, 4, 5]]


@pytest.mark.parametrize("pooling", list(Pooling))
def test_items_of_one_text_at_most_are_left_alone(pooling: Pooling) -> None:
    vectors, rows = pool(VECTORS, [("b",), (), ("a",), ("b",)], pooling)
    assert vectors is VECTORS
    assert rows.tolist() == [1, -1, 0, 1]
    assert pool(VECTORS, [(), ()], pooling)[1].tolist() == [-1, -1]
    assert pool(VECTORS, [], pooling)[1].tolist() == []


def test_a_text_counts_as_often_as_it_stands_in_an_item() -> None:
    vectors, rows = pool(VECTORS, [("a", "a", "b"), ("a", "b"), ("a", "a")], Pooling.mean)
    mean = (2 * UNIT[0] + UNIT[1]) / 3
    assert vectors.values[rows[0]] @ mean / np.linalg.norm(mean) == pytest.approx(1, abs=1e-6)
    assert vectors.values[rows[1]] @ mean / np.linalg.norm(mean) < 0.9999
    assert vectors.values[rows[2]] == pytest.approx(UNIT[0], abs=1e-7)


def test_items_of_equal_texts_share_a_row() -> None:
    vectors, rows = pool(VECTORS, [("a", "b"), ("c",), ("a", "b"), ("c",)], Pooling.mean)
    assert rows.tolist() == [0, 1, 0, 1]
    assert len(vectors.ids) == len(set(vectors.ids)) == 2


@given(st.permutations(NAMES), st.integers(0, 100))
def test_the_order_of_texts_changes_no_bit(order: Sequence[str], seed: int) -> None:
    vectors, rows = pool(named(drawn(6, seed=seed)), [tuple(NAMES), tuple(order)], Pooling.mean)
    first, second = vectors.values[rows]
    assert first.tobytes() == second.tobytes()
    entries, number = matrix(vectors)
    assert len(set(select(number, rows).tolist())) == 1  # scored once, so that the two tie exactly
    assert len(entries.ids) <= 2


@pytest.mark.parametrize("pairs", [1, 2, 3])
def test_a_mean_of_opposite_vectors_is_no_vector(pairs: int) -> None:  # case E06
    """Of several pairs the sum is not 0 but rounding, whose direction means nothing."""
    half = drawn(pairs, 64)
    vectors = named(np.concatenate([half, -half]))
    pooled, rows = pool(vectors, [tuple(NAMES[: 2 * pairs]), ("a",)], Pooling.mean)
    assert rows.tolist() == [-1, 0]
    assert len(pooled.ids) == 1
    assert pool(vectors, [tuple(NAMES[: 2 * pairs])], Pooling.best)[1].tolist() == [list(range(2 * pairs))]


def test_short_means_that_have_a_direction_are_kept() -> None:
    opposite = np.array([[1, 0], [-1, 1e-3]], dtype=np.float32)
    vectors, rows = pool(named(unit_rows(opposite)[0]), [("a", "b")], Pooling.mean)
    assert vectors.values[rows[0]] == pytest.approx([0, 1], abs=1e-2)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    Letters.calls.clear()
    return Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def asking(queries: Sequence[str], items: int) -> Task:
    return Task(
        "tiny",
        tuple(Query(f"q{number}", text) for number, text in enumerate(queries)),
        tuple(Item(f"p{number}", None, None) for number in range(items)),
        {"q0": {"p0": 1.0}},
        "fingerprint",
    )


def part_of(texts: Sequence[Sequence[str]], pooling: Pooling, runtime: Runtime, queries: Sequence[str]) -> Part:
    task = asking(queries, len(texts))
    return text_part(Letters(1.0), Exact(), Asked.of(task), task.items, Written(texts, pooling), runtime)


def scores(part: Part) -> FloatArray:
    return np.concatenate([block.copy() for block in part.channel.blocks(7)])


TEXTS = [("a", "b"), (), ("ab",), ("b", "b", "a"), ("b",)]


def test_an_item_scores_as_the_mean_of_its_texts(runtime: Runtime) -> None:
    found = scores(part_of(TEXTS, Pooling.mean, runtime, ["a"]))
    missing = -np.inf
    assert found[0] == pytest.approx([np.sqrt(0.5), missing, np.sqrt(0.5), np.sqrt(0.2), 0], abs=1e-6)
    assert Letters.calls == ["a", "b", "ab", "a"]  # each distinct text once, and the query


def test_an_item_scores_as_its_best_text(runtime: Runtime) -> None:
    found = scores(part_of(TEXTS, Pooling.best, runtime, ["a", "b"]))
    assert found[0] == pytest.approx([1, -np.inf, np.sqrt(0.5), 1, 0], abs=1e-6)
    assert found[1] == pytest.approx([1, -np.inf, np.sqrt(0.5), 1, 1], abs=1e-6)
    assert found[0, 0].tobytes() == found[0, 3].tobytes()


@pytest.mark.parametrize("pooling", list(Pooling))
def test_an_item_takes_part_with_its_usable_texts(runtime: Runtime, pooling: Pooling) -> None:  # case E06
    part = part_of([("xyz", "a"), ("xyz", "?"), ("b",), ("aaaaa", "xyz")], pooling, runtime, ["a"])
    assert scores(part)[0] == pytest.approx([1, -np.inf, 0, 1], abs=1e-6)
    assert part.failures == {"p1": "its vector is zero or not finite"}
    assert part.counts["unusable_texts"] == 4
    assert part.counts["truncated_texts"] == 1
    assert part.vector_size == 2


@dataclass(frozen=True)
class Signs:
    """A text of - letters points against one of + letters; any other letter points elsewhere."""

    VERSION: ClassVar[int] = 1

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return self.encode_texts(texts, runtime)

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        values = [[text.count("+") - text.count("-"), len(text.strip("+-"))] for text in texts]
        return Encoded(np.array(values, dtype=np.float32), np.zeros(len(texts), dtype=np.bool_))


@pytest.mark.parametrize("index", [Exact(), FaissHnsw(16, 100, 256, 1000)], ids=["exact", "approximate"])
def test_an_item_whose_mean_vanishes_is_named(index: Index, runtime: Runtime) -> None:  # case E06
    task = asking(["+"], 3)
    written = Written([("+", "-"), ("x",), ()], Pooling.mean)
    part = text_part(Signs(), index, Asked.of(task), task.items, written, runtime)
    assert part.failures == {"p0": "its vector is zero or not finite"}
    assert scores(part)[0].tolist() == [-np.inf, 0, -np.inf]


def test_a_corpus_of_vanishing_means_says_that_nothing_can_be_searched(runtime: Runtime) -> None:
    task = asking(["+"], 2)
    with pytest.raises(DataError, match="Signs gave no text a usable vector"):
        text_part(Signs(), Exact(), Asked.of(task), task.items, Written([("+", "-"), ()], Pooling.mean), runtime)


@pytest.mark.parametrize("pooling", list(Pooling))
def test_an_approximate_index_scores_an_item_by_what_it_finds_of_it(runtime: Runtime, pooling: Pooling) -> None:
    """With a depth that reaches all entries it is exact; with one of 1 only the items of the nearest text are found."""
    task = asking(["a", "b"], len(TEXTS))
    written, asked = Written(TEXTS, pooling), Asked.of(task)
    whole = text_part(Letters(1.0), FaissHnsw(16, 100, 256, 1000), asked, task.items, written, runtime)
    exact = part_of(TEXTS, pooling, runtime, ["a", "b"])
    assert scores(whole) == pytest.approx(scores(exact), abs=1e-6)
    assert whole.exact is not None
    assert np.concatenate(list(whole.exact.blocks(7))).tolist() == scores(exact).tolist()
    one = text_part(Letters(1.0), FaissHnsw(16, 100, 256, 1), asked, task.items, written, runtime)
    nearest = {Pooling.mean: [[True, False, True, False, False], [False] * 4 + [True]]}
    nearest[Pooling.best] = [[True, False, False, True, False], [True, False, False, True, True]]
    assert np.isfinite(scores(one)).tolist() == nearest[pooling]


def windowed(generator: np.random.Generator) -> tuple[Channel, Task]:
    """300 items of up to five of 400 texts, many of which are equal, and 150 queries of which 20 repeat another."""
    values = unit_rows(generator.standard_normal((400, 16)).astype(np.float32))[0]
    values[300:] = values[generator.integers(0, 300, 100)]
    entries, number = matrix(Vectors(tuple(f"t{text}" for text in range(400)), values))
    columns = generator.integers(0, 400, (300, 5))
    columns[np.arange(5) >= generator.integers(0, 6, 300)[:, None]] = -1
    columns[290:] = columns[:10]  # items of the same texts
    queries = unit_rows(generator.standard_normal((150, 16)).astype(np.float32))[0]
    asking_rows = np.arange(150)
    asking_rows[130:] = np.arange(20)
    task = Task(
        "t",
        tuple(Query(f"q{query}", str(query)) for query in range(150)),
        tuple(Item(f"p{item}", None, None) for item in range(300)),
        {f"q{query}": {f"p{290 + query % 10}": 1.0, f"p{query}": 2.0} for query in range(150)},
        "f",
    )
    return Channel("text", Exact().build(entries), queries, asking_rows, select(number, columns)), task


def test_several_entries_an_item_give_the_best_score_of_each() -> None:
    channel, _ = windowed(np.random.default_rng(5))
    plain = replace(channel, columns=np.arange(channel.columns.max() + 1))
    every = np.concatenate([block.copy() for block in plain.blocks(64)])
    wanted = np.where(channel.columns >= 0, every[:, np.maximum(channel.columns, 0)], -np.inf).max(axis=2)
    found = np.concatenate([block.copy() for block in channel.blocks(64)])
    assert found.tobytes() == wanted.astype(np.float32).tobytes()
    assert np.isneginf(found).any()
    assert found[:, :10].tobytes() == found[:, 290:].tobytes()


@pytest.mark.parametrize("size", [1, 7, 128])
def test_ranks_of_several_entries_an_item_do_not_depend_on_the_block(tmp_path: Path, size: int) -> None:
    channel, task = windowed(np.random.default_rng(5))
    fusion = ReciprocalRank(60, {"text": 1.0})
    whole, parts = (rank_all(task, [channel], fusion, BOTH, tmp_path, block)["text"] for block in (1000, size))
    for direction in BOTH:
        for name in ("query", "item", "higher", "tied", "before", "retrieved"):
            assert getattr(whole[direction], name).tolist() == getattr(parts[direction], name).tolist()
    assert (whole[Direction.t2v].tied > 1).sum() > 100
    for (items, values), (others, their) in zip(whole[Direction.t2v].top, parts[Direction.t2v].top, strict=True):
        assert items.tolist() == others.tolist()
        assert values.tobytes() == their.tobytes()
