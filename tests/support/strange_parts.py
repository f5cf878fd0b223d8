"""Components from outside glyphrank, with every kind of field, for the builder's tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from glyphrank.identity import Location


class Cutter(Protocol):
    def tokens(self, texts: Sequence[str]) -> list[list[str]]: ...


class Colour(StrEnum):
    red = "red"
    dark_blue = "dark_blue"


@dataclass(frozen=True)
class Words:
    lower: bool

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        return [text.split() for text in texts]


@dataclass(frozen=True)
class Score:
    cutter: Cutter
    k1: float
    n: int
    lower: bool
    name: str
    colour: Colour
    cutoffs: tuple[int, ...]
    pair: tuple[float, str]
    weights: dict[str, float]
    root: Location
    extra: Cutter | None
    limit: int | None

    def __post_init__(self) -> None:
        if self.k1 < 0:
            raise ValueError(f"k1 is {self.k1}; wanted at least 0")


Alias = Words
not_a_class = len
