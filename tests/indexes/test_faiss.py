"""Approximate indexes: they find what exact search finds where they look, and score nothing else."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glyphrank.indexes import Index
from glyphrank.indexes.exact import Exact
from glyphrank.indexes.faiss_hnsw import FaissHnsw
from glyphrank.indexes.faiss_ivf import FaissIvf
from glyphrank.indexes.faiss_search import FaissSearcher, installed_faiss, one_thread
from glyphrank.records import FloatArray, Vectors
from glyphrank.scoring import unit_rows
from glyphrank.versions import installed_version

MakeIndex = Callable[..., Index]


def hnsw(depth: int = 10, ef_search: int = 64) -> FaissHnsw:
    return FaissHnsw(m=8, ef_construction=40, ef_search=ef_search, depth=depth)


def ivf(depth: int = 10, lists: int = 8, probes: int = 8) -> FaissIvf:
    return FaissIvf(lists=lists, probes=probes, depth=depth)


def drawn(count: int, seed: int, width: int = 16) -> FloatArray:
    return unit_rows(np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32))[0]


def vectors(values: FloatArray) -> Vectors:
    return Vectors(tuple(str(row) for row in range(len(values))), values)


@pytest.mark.parametrize("make", [hnsw, ivf])
def test_rows_hold_the_scores_of_exact_search_and_nothing_else(make: MakeIndex) -> None:
    entries, queries = vectors(drawn(400, 0)), drawn(20, 1)
    exact = Exact().build(entries).rows(queries)
    rows = make().build(entries).rows(queries)
    assert rows.shape == (20, 400)
    assert rows.dtype == np.float32
    found = np.isfinite(rows)
    assert found.sum(axis=1).tolist() == [10] * 20
    assert np.isneginf(rows[~found]).all()
    assert rows[found] == pytest.approx(exact[found], abs=1e-6)
    best = np.argsort(-exact, axis=1)[:, :10]
    assert np.take_along_axis(found, best, axis=1).mean() >= 0.95


@pytest.mark.parametrize("make", [hnsw, ivf])
def test_rows_when_there_are_fewer_entries_than_are_asked_for(make: MakeIndex) -> None:  # case I01
    rows = make(depth=5).build(vectors(np.eye(3, dtype=np.float32))).rows(np.eye(3, dtype=np.float32))
    assert np.array_equal(rows, np.eye(3))


@pytest.mark.parametrize("make", [hnsw, ivf])
def test_rows_are_the_same_in_every_block_and_every_build(make: MakeIndex) -> None:
    entries, queries = vectors(drawn(500, 2)), drawn(40, 3)
    searcher = make(depth=20).build(entries)
    together = searcher.rows(queries)
    assert np.array_equal(np.concatenate([searcher.rows(query[None]) for query in queries]), together)
    assert np.array_equal(make(depth=20).build(entries).rows(queries), together)


@pytest.mark.parametrize("make", [hnsw, ivf])
def test_rows_give_equal_entries_equal_scores(make: MakeIndex) -> None:  # case I05
    values = drawn(60, 4)
    values[[7, 23, 41]] = values[5]
    rows = make(depth=60).build(vectors(values)).rows(drawn(9, 5))
    found = rows[:, [5, 7, 23, 41]]
    assert np.isfinite(found).all()
    assert (found == found[:, :1]).all()


class Padding:
    """An index of faiss that finds one entry and pads with -1, as faiss does."""

    def search(self, queries: FloatArray, depth: int) -> tuple[FloatArray, Any]:
        found = np.full((len(queries), depth), -1)
        found[:, 0] = 1
        return np.zeros((len(queries), depth), dtype=np.float32), found


def test_rows_never_reward_the_last_entry_for_padding() -> None:  # case I01
    rows = FaissSearcher(Padding(), np.eye(4, dtype=np.float32), 3).rows(np.eye(4, dtype=np.float32)[:2])
    assert np.isfinite(rows).tolist() == [[False, True, False, False]] * 2


def test_one_probe_finds_less_than_all_of_them() -> None:
    entries, queries = vectors(drawn(800, 6)), drawn(50, 7)
    best = Exact().build(entries).rows(queries).argmax(axis=1)

    def hits(probes: int) -> int:
        rows = ivf(lists=16, probes=probes).build(entries).rows(queries)
        return int(np.isfinite(rows[np.arange(50), best]).sum())

    assert hits(1) < hits(16) == 50


def test_lists_when_there_are_too_few_entries_for_them(caplog: pytest.LogCaptureFixture) -> None:  # case I08
    with caplog.at_level(logging.INFO):
        rows = ivf(lists=16, probes=1).build(vectors(np.eye(3, dtype=np.float32))).rows(np.eye(3, dtype=np.float32))
    assert rows.argmax(axis=1).tolist() == [0, 1, 2]
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "faiss_ivf: 3 entries are too few for 16 lists of at least 39 each; there are 1"
    )


@pytest.mark.parametrize("count", [3, 8 * 39])
def test_building_lists_prints_nothing(count: int, capfd: pytest.CaptureFixture[str]) -> None:  # case I08
    ivf(lists=8).build(vectors(drawn(count, 8)))
    assert capfd.readouterr() == ("", "")


def test_building_leaves_the_number_of_threads_alone() -> None:
    import faiss

    before = faiss.omp_get_max_threads()
    with one_thread():
        assert faiss.omp_get_max_threads() == 1
    assert faiss.omp_get_max_threads() == before


@pytest.mark.parametrize("make", [hnsw, ivf])
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ([[2.0, 0.0]], r"query number 0 .* squared length 4\.0"),
        ([[1.0, 0.0], [float("nan"), 0.0]], "query number 1 .* squared length nan"),
        ([[1.0, 0.0, 0.0]], r"shape \(1, 3\); wanted \(b, 2\)"),
    ],
)
def test_rows_when_a_query_is_no_unit_row_of_that_width(
    query: list[list[float]], said: str, make: MakeIndex
) -> None:  # case I03
    searcher = make().build(vectors(np.eye(2, dtype=np.float32)))
    with pytest.raises(ValueError, match=said):
        searcher.rows(np.array(query, dtype=np.float32))


@pytest.mark.parametrize("make", [hnsw, ivf])
def test_rows_of_no_query_are_empty(make: MakeIndex) -> None:
    assert make().build(vectors(np.eye(2, dtype=np.float32))).rows(np.empty((0, 2), dtype=np.float32)).shape == (0, 2)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"m": 1}, "m is 1; wanted at least 2"),
        ({"depth": 0}, "depth is 0; wanted at least 1"),
        ({"ef_search": 0}, "ef_search is 0; wanted at least 1"),
    ],
)
def test_graph_when_a_field_is_out_of_range(fields: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FaissHnsw(**{"m": 8, "ef_construction": 40, "ef_search": 64, "depth": 10, **fields})


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"lists": 0}, "lists is 0; wanted at least 1"), ({"probes": 9}, "probes is 9 and lists 8; wanted at most")],
)
def test_cells_when_a_field_is_out_of_range(fields: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FaissIvf(**{"lists": 8, "probes": 1, "depth": 10, **fields})


def test_installed_faiss_is_a_distribution_that_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    assert installed_version(installed_faiss()[0])
    installed = {"faiss-gpu-cu12": "1.8"}
    monkeypatch.setattr("glyphrank.indexes.faiss_search.installed_version", installed.get)
    assert installed_faiss() == ("faiss-gpu-cu12",)
