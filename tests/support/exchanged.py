"""Rankings to exchange with other evaluators, under ids that a careless writer or reader would break."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from glyphrank.records import Ranks
from ranked import MISS, rank

COUNT = 60
KINDS = ("random", "tied", "graded", "many relevant", "missing")


@dataclass(frozen=True)
class Exchanged:
    ranks: Ranks
    relevant: Mapping[str, Mapping[str, float]]


def item_id(number: int) -> str:
    """Korean with spaces and `%`, every third decomposed, every fourth with a space of two bytes or more."""
    name = f"공고/제 {number}호 100%\u3000ｆ%20" if number % 4 == 0 else f"각 쪽_{number}"
    return unicodedata.normalize("NFD", name) if number % 3 == 0 else name


def exchanged(kind: str, seed: int = 0) -> Exchanged:
    """40 queries and 60 items.

    `tied`: 6 levels of scores. `graded`: gains of 1 to 3. `many relevant`: up to 40 a query, else at most 3. `missing`:
    every third query retrieves nothing.
    """
    generator = np.random.default_rng(seed)
    items = [item_id(number) for number in range(COUNT)]
    rows: dict[str, list[float]] = {}
    relevant: dict[str, dict[str, float]] = {}
    for query in range(40):
        name = f"무엇이 {query}%인가?\u00a0" if query % 2 else unicodedata.normalize("NFD", f"어느 것 {query}")
        scores = generator.integers(0, 6, COUNT) / 8 if kind == "tied" else generator.permutation(COUNT) / 64
        rows[name] = [MISS] * COUNT if kind == "missing" and query % 3 == 0 else scores.tolist()
        most = 40 if kind == "many relevant" else 3
        chosen = generator.choice(COUNT, generator.integers(1, most + 1), replace=False)
        gains = generator.integers(1, 4, len(chosen)) if kind == "graded" else np.ones(len(chosen))
        relevant[name] = {items[item]: float(gain) for item, gain in zip(chosen, gains, strict=True)}
    return Exchanged(rank(rows, items, relevant, depth=COUNT), relevant)
