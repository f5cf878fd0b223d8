"""Score matrices for tests: tasks that fit them, and what comes of a matrix that was saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.errors import DataError
from glyphrank.metrics import Protocol
from glyphrank.records import Direction, Source, Task, View
from glyphrank.score_matrix import score_matrix
from glyphrank.ties import TieRule
from tasks import make_task

BOTH = (Direction.t2v, Direction.v2t)


def matrix_protocol(ties: TieRule = TieRule.textvr, directions: tuple[Direction, ...] = BOTH) -> Protocol:
    return Protocol((1, 5, 10), directions, ties, tuple(View), tuple(Source), None, "hit_rate_at_1", "item")


def score_saved(
    folder: Path, matrix: Any, task: Task, order: str = "test", ties: TieRule = TieRule.textvr
) -> dict[str, Any]:
    np.save(folder / "s.npy", matrix, allow_pickle=False)
    return score_matrix(folder / "s.npy", task, order, matrix_protocol(ties))


def fault_of(folder: Path, matrix: Any, task: Task, order: str = "test") -> str:
    with pytest.raises(DataError) as caught:
        score_saved(folder, matrix, task, order)
    return str(caught.value)


def pairs_task(count: int, texts: Sequence[str] = ()) -> Task:
    """As many queries as items, one for each; `rand` has the items backwards."""
    items = {f"v{number}": None for number in range(count)}
    queries = {f"c{number}": texts[number] if texts else f"caption {number}" for number in range(count)}
    relevant = {f"c{number}": [f"v{number}"] for number in range(count)}
    return make_task(queries, items, relevant, orders={"rand": tuple(reversed(items))})


def wide_task(queries: int, items: int) -> Task:
    """Query k wants item k, counted round where items are fewer; the last of more items nobody wants."""
    names = {f"v{number}": None for number in range(items)}
    asked = {f"c{number}": f"caption {number}" for number in range(queries)}
    return make_task(asked, names, {f"c{number}": [f"v{number % items}"] for number in range(queries)})


def perfect_scores(task: Task) -> np.ndarray[Any, Any]:
    """A retriever that is perfect up to equal captions, with videos in the order `rand`, none tied with another."""
    captions = {video: query.text for query in task.queries for video in task.relevant[query.id]}
    numbers = {text: number for number, text in enumerate(dict.fromkeys(captions.values()))}
    rows = np.array([numbers[query.text] for query in task.queries])
    columns = np.array([numbers[captions[video]] for video in task.orders["rand"]])
    scores: np.ndarray[Any, Any] = np.equal.outer(rows, columns).astype(np.float32)
    scores -= np.arange(len(columns), dtype=np.float32) / 1e5
    return scores
