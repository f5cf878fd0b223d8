"""Ranks of all channels and their fusion, in blocks of any size, forward and reverse, against whole matrices."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.errors import DataError
from glyphrank.fusion import Fusion, Normalisation, ReciprocalRank, WeightedSum
from glyphrank.indexes.exact import Exact
from glyphrank.ranking import RankCounter, reverse
from glyphrank.rankings import FUSED, Asked, main_name, main_scores, rank_all, rank_once
from glyphrank.records import Direction, FloatArray, Item, Query, Ranks, Task, Vectors
from glyphrank.scoring import Channel, matrix
from ranked import MISS

BOTH = (Direction.t2v, Direction.v2t)
WEIGHTS = {"text": 2.0, "lexical": 1.0}
FUSIONS: list[Fusion] = [
    ReciprocalRank(60, WEIGHTS),
    WeightedSum(Normalisation.minmax, WEIGHTS),
    WeightedSum(Normalisation.zscore, WEIGHTS),
]
TEXTS, ITEMS = 7, 11
NUMBER = [0, 1, 0, 2, 3, 1, 4, 5, 0, 6, 6, 3, 4]
"""Which of the 7 texts each of the 13 queries asks: several share one, and they do not lie together."""


@dataclass(frozen=True)
class Table:
    """Scores that were made beforehand; a query is its row."""

    scores: FloatArray

    def rows(self, queries: Any) -> FloatArray:
        return self.scores[np.asarray(queries, dtype=np.int64)]


def _scores(seed: int) -> FloatArray:
    """(texts, items) of few different scores, a quarter of them not retrieved, one row and one column not at all."""
    generator = np.random.default_rng(seed)
    scores = (generator.integers(0, 5, (TEXTS, ITEMS)) / 4).astype(np.float32)
    scores[generator.random((TEXTS, ITEMS)) < 0.25] = MISS
    scores[seed % TEXTS] = MISS
    scores[:, seed % ITEMS] = MISS
    scores[:, -1] = scores[:, 0]  # two items that are the same to every query
    return scores


MATRICES = {"text": _scores(1), "lexical": _scores(2)}


def _task() -> Task:
    queries = tuple(Query(f"q {number}", f"text {text}") for number, text in enumerate(NUMBER))
    items = tuple(Item(f"p_{number}", None, "x") for number in range(ITEMS))
    generator = np.random.default_rng(3)
    relevant: dict[str, dict[str, float]] = {
        query.id: {f"p_{item}": float(1 + item % 2) for item in generator.choice(ITEMS, 1 + place % 3, replace=False)}
        for place, query in enumerate(queries[:-1])
    }
    return Task("t", queries, items, relevant, "f")


def _channels(names: tuple[str, ...] = ("text", "lexical")) -> list[Channel]:
    return [
        Channel(name, Table(MATRICES[name]), list(range(TEXTS)), np.arange(TEXTS), np.arange(ITEMS)) for name in names
    ]


def _wanted(task: Task, name: str, direction: Direction, fusion: Fusion) -> Ranks:
    """Ranks from the whole matrix of (q, n), transposed for the reverse and only then fused."""
    whole = {channel: np.ascontiguousarray(scores[NUMBER]) for channel, scores in MATRICES.items()}
    if direction is Direction.v2t:
        whole = {channel: np.ascontiguousarray(scores.T) for channel, scores in whole.items()}
    asking, gallery = [query.id for query in task.queries], [item.id for item in task.items]
    relevant: Any = task.relevant
    if direction is Direction.v2t:
        asking, gallery, relevant = gallery, asking, reverse(task.relevant)
    counter = RankCounter(direction, asking, gallery, relevant, 100)
    counter.add(np.arange(len(asking)), fusion.fuse(whole) if name == FUSED else whole[name])
    return counter.finish()


def _same(found: Ranks, wanted: Ranks) -> None:
    assert (found.direction, found.query_ids, found.item_ids) == (
        wanted.direction,
        wanted.query_ids,
        wanted.item_ids,
    )
    for name in ("query", "item", "gain", "higher", "tied", "before", "retrieved"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist(), name


def _same_lists(found: Ranks, wanted: Ranks) -> None:
    for (items, scores), (wanted_items, wanted_scores) in zip(found.top, wanted.top, strict=True):
        assert items.tolist() == wanted_items.tolist()
        assert scores.tolist() == wanted_scores.tolist()


@pytest.mark.parametrize("fusion", FUSIONS, ids=["reciprocal", "minmax", "zscore"])
@pytest.mark.parametrize("size", [1, 2, 64, 1000])
def test_rank_all_gives_the_ranks_of_the_whole_matrix_in_both_directions(
    tmp_path: Path, fusion: Fusion, size: int
) -> None:
    task = _task()
    found = rank_all(task, _channels(), fusion, BOTH, tmp_path, size)
    assert set(found) == {"text", "lexical", FUSED}
    for name in found:
        assert set(found[name]) == set(BOTH)
        for direction in BOTH:
            _same(found[name][direction], _wanted(task, name, direction, fusion))
    _same_lists(found[FUSED][Direction.t2v], _wanted(task, FUSED, Direction.t2v, fusion))
    assert [len(found[name][way].top) for name, way in (("text", Direction.t2v), (FUSED, Direction.v2t))] == [0, 0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 64])
def test_rank_all_with_planted_duplicates_does_not_depend_on_the_block(tmp_path: Path, size: int) -> None:
    generator = np.random.default_rng(5)
    vectors = generator.standard_normal((5000, 16)).astype(np.float32)
    vectors[generator.choice(5000, 200, replace=False)] = vectors[generator.integers(0, 5000, 200)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    entries, columns = matrix(Vectors(tuple(f"p{item}" for item in range(5000)), vectors))
    asking = vectors[::97] @ np.eye(16, dtype=np.float32)[::-1]
    twins = np.flatnonzero(np.bincount(columns, minlength=5000)[columns] > 1)
    task = Task(
        "t",
        tuple(Query(f"q{number}", str(number)) for number in range(len(asking))),
        tuple(Item(f"p{item}", None, "x") for item in range(5000)),
        {f"q{number}": {f"p{twins[number]}": 1.0, f"p{number}": 2.0} for number in range(len(asking))},
        "f",
    )
    searcher = Exact().build(entries)
    channels = [Channel(name, searcher, asking, np.arange(len(asking)), columns) for name in ("text", "lexical")]
    whole, parts = (rank_all(task, channels, FUSIONS[0], BOTH, tmp_path, block) for block in (5000, size))
    for name in whole:
        for direction in BOTH:
            _same(parts[name][direction], whole[name][direction])
    assert (whole[FUSED][Direction.t2v].tied > 1).sum() >= len(asking)


def test_the_reverse_direction_is_fused_anew_and_not_transposed() -> None:
    task = _task()
    whole = {channel: scores[NUMBER] for channel, scores in MATRICES.items()}
    for fusion in FUSIONS:
        turned = fusion.fuse({channel: np.ascontiguousarray(scores.T) for channel, scores in whole.items()})
        assert not np.array_equal(turned, fusion.fuse(whole).T)
        assert (_wanted(task, FUSED, Direction.v2t, fusion).tied > 0).any()


def test_rank_all_of_one_channel_has_no_fusion_and_needs_no_scratch_file(tmp_path: Path) -> None:
    channels = _channels(("lexical",))
    found = rank_all(_task(), channels, FUSIONS[0], (Direction.t2v,), tmp_path / "absent")
    assert {name: set(ranks) for name, ranks in found.items()} == {"lexical": {Direction.t2v}}
    _same(found["lexical"][Direction.t2v], _wanted(_task(), "lexical", Direction.t2v, FUSIONS[0]))
    assert main_name(channels) == "lexical"
    assert main_name(_channels()) == FUSED


@pytest.mark.parametrize("size", [1, 2, 64])
@pytest.mark.parametrize("names", [("lexical",), ("text", "lexical")], ids=["one", "fused"])
def test_main_scores_are_those_of_the_whole_matrix_once_for_every_query(size: int, names: tuple[str, ...]) -> None:
    for fusion in FUSIONS:
        kept = np.full((len(NUMBER), ITEMS), np.nan)
        for queries, rows in main_scores(_task(), _channels(names), fusion, size):
            assert np.isnan(kept[queries]).all()
            assert rows.dtype == (np.float64 if len(names) > 1 else np.float32)
            kept[queries] = rows
        whole = {name: MATRICES[name][NUMBER] for name in names}
        wanted = fusion.fuse(whole) if len(names) > 1 else whole[names[0]]
        assert kept.tolist() == wanted.tolist()


def test_the_rankings_before_are_taken_over_where_task_channels_fusion_and_directions_are_the_same(
    tmp_path: Path,
) -> None:
    task, channels, fusion = _task(), _channels(), FUSIONS[0]
    first = rank_once(task, channels, fusion, BOTH, tmp_path)
    assert rank_once(task, channels, ReciprocalRank(60, WEIGHTS), BOTH, tmp_path) is first
    others = {
        "a task": (_task(), channels, fusion, BOTH),
        "a channel": (task, [channels[0], *_channels(("lexical",))], fusion, BOTH),
        "fewer channels": (task, channels[:1], fusion, BOTH),
        "a fusion": (task, channels, FUSIONS[1], BOTH),
        "fewer directions": (task, channels, fusion, (Direction.t2v,)),
    }
    for what, asked in others.items():
        before = rank_once(task, channels, fusion, BOTH, tmp_path)
        found, wanted = rank_once(*asked, tmp_path), rank_all(*asked, tmp_path)
        assert found is not before, what
        assert {name: set(ranks) for name, ranks in found.items()} == {name: set(way) for name, way in wanted.items()}
        for name, ranks in found.items():
            for direction in ranks:
                _same(ranks[direction], wanted[name][direction])


def test_asked_numbers_distinct_texts_by_first_appearance() -> None:
    asked = Asked.of(_task())
    assert asked.texts == tuple(f"text {text}" for text in range(TEXTS))
    assert asked.number.tolist() == NUMBER


def test_a_scratch_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    wanted = 2 * TEXTS * ITEMS * 4
    with pytest.raises(DataError, match=rf"{tmp_path}/absent: .*a scratch file of {wanted} bytes .*No such file"):
        rank_all(_task(), _channels(), FUSIONS[0], BOTH, tmp_path / "absent")


LIMITED = """
import resource, sys
from pathlib import Path
import numpy as np
from glyphrank.errors import DataError
from glyphrank.rankings import _kept
from glyphrank.scoring import Channel

resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
nothing = np.zeros(0, dtype=np.int64)
for items in (1024, 1 << 20):
    try:
        with _kept([Channel("text", None, [], nothing, nothing)], (1, 128, items), Path(sys.argv[1])) as kept:
            for start in range(0, 128, 32):
                kept.write(start, {"text": np.ones((32, items), dtype=np.float32)})
            print("kept", len(kept.read(np.arange(4), np.arange(128))["text"]))
    except DataError as error:
        print(error)
"""


def test_a_scratch_file_that_may_not_grow_is_an_error_with_its_folder_and_size(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    kept, message = done.stdout.splitlines()
    assert kept == "kept 4"
    assert message.startswith(f"{tmp_path}: ")
    assert f"a scratch file of {128 * 4 << 20} bytes" in message
    assert "File too large" in message
    assert list(tmp_path.iterdir()) == []
