"""The lines of a folder's files: records, and ids of which none may stand twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from glyphrank.faults import Faults, shown
from glyphrank.ids import nfc


class Ids:
    """The ids of a file in the order in which they come, of which no two may be equal in NFC."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._seen: dict[str, tuple[str, str]] = {}

    def add(self, name: str, place: str) -> None:
        """Takes an id; a fault says where it stood before."""
        first, published = self._seen.setdefault(nfc(name), (place, name))
        if first != place:
            form = "" if published == name else f" (there as {shown(published)}, equal in NFC)"
            self._faults.add(f"{place}: the id {shown(name)} stands on {first} already{form}; ids must be unique")

    @property
    def names(self) -> tuple[str, ...]:
        """Every distinct id, as it stood first."""
        return tuple(published for _, published in self._seen.values())


@dataclass(frozen=True)
class Record:
    """One line of `corpus.jsonl` or `queries.jsonl`; `line` is its number from 1."""

    line: int
    id: str
    text: str | None
    media: str | None
    page: int | None
    slices: Mapping[str, str]
