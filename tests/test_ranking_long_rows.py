"""The best of a long row, which is sought among few of its scores, are those that sorting all of them gives."""

from __future__ import annotations

import numpy as np
import pytest

from glyphrank.ranking import best
from glyphrank.records import FloatArray


def row_of(kind: str, length: int) -> FloatArray:
    """A long row of scores, float32."""
    generator = np.random.default_rng(length)
    scores = generator.standard_normal(length).astype(np.float32)
    match kind:
        case "many ties":
            return np.round(scores)
        case "few retrieved":
            return np.where(generator.random(length) < 0.001, scores, np.float32(-np.inf))
        case "ascending":
            return np.sort(scores)
        case "one strip":  # the best stand in one strip, or in one column of all strips
            scores[:300] += 100
        case "one column":
            scores[:: length // 32] += 100
    return scores


@pytest.mark.parametrize(
    "kind", ["all different", "many ties", "few retrieved", "ascending", "one strip", "one column"]
)
@pytest.mark.parametrize("length", [6400, 6431, 40_781])
@pytest.mark.parametrize("depth", [1, 100])
def test_the_best_are_those_of_a_whole_sort(kind: str, length: int, depth: int) -> None:
    row = row_of(kind, length)
    order = np.random.default_rng(1).permutation(length)
    wanted = [item for item in np.lexsort((order, -row)).tolist() if row[item] > -np.inf][:depth]
    items, scores = best(row, depth, order)
    assert items.tolist() == wanted
    assert scores.tolist() == row[wanted].tolist()
