"""What the page of misses shows: plain records, gathered by `page_parts` and drawn by `report.page`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from glyphrank.outcome import Report


@dataclass(frozen=True)
class Spot:
    """Where an item stands in one ranking.

    Attributes:
        score: None where it was not retrieved; then both places are 0.
        first, last: the places that its group of equal scores takes, from 1; the same where nothing is tied with it.
    """

    score: float | None
    first: int = 0
    last: int = 0


@dataclass(frozen=True)
class Placed:
    """An item below a query.

    Attributes:
        gain: above 0 where it is relevant, else None.
        spots: ranking (a channel, `fused`) -> where the item stands in it; the run's own ranking is the last.
    """

    item_id: str
    gain: float | None
    spots: Mapping[str, Spot]


@dataclass(frozen=True)
class Pictures:
    """Thumbnails of an item: `data:` URIs in the order of time, or why there is none ("" where it has no media)."""

    images: tuple[str, ...] = ()
    why_none: str = ""


@dataclass(frozen=True)
class ShownItem:
    """An item of the page.

    Attributes:
        texts: what was read, as the text channels got it; several where the transcript has windows.
        cut: characters of the texts that are left out.
        why_none: why there is no text; "" where there is one, or where the run reads nothing.
    """

    id: str
    texts: tuple[str, ...] = ()
    cut: int = 0
    why_none: str = ""
    pictures: Pictures = field(default_factory=Pictures)


@dataclass(frozen=True)
class ShownQuery:
    """A query of the page.

    Attributes:
        number: its place among the queries of the dataset, from 0.
        cut: characters of its text that are left out.
        best_ranks: ranking -> rank of the best relevant item; empty where nothing is relevant.
        kinds: keys of the filters that it passes.
        top: the first places of the run's own ranking, best first.
        relevant: relevant items that are not among them, best first.
        relevant_left_out: how many more of these there are.
    """

    id: str
    number: int
    text: str
    cut: int
    slices: Mapping[str, str]
    best_ranks: Mapping[str, float]
    kinds: tuple[str, ...]
    top: tuple[Placed, ...]
    relevant: tuple[Placed, ...]
    relevant_left_out: int = 0


@dataclass(frozen=True)
class Kind:
    """A filter of queries: its key, what a person reads, and how many queries of the whole run pass it."""

    key: str
    label: str
    total: int


@dataclass(frozen=True)
class Page:
    """All that stands on the page.

    Attributes:
        name: the run's.
        report: its settings, numbers and notes.
        rankings: names of the rankings; the run's own is the last.
        best_ranks: rank of the best relevant item of every query of the run that has one.
        queries: those that are shown, the worst first.
        items: id -> item, for all that the queries name.
        kinds: filters, those that no query passes left out.
        fields: field -> its values, by which shown queries can be chosen.
        notes: what a reader of the gallery must know.
    """

    name: str
    report: Report
    rankings: tuple[str, ...]
    best_ranks: tuple[float, ...]
    queries: tuple[ShownQuery, ...]
    items: Mapping[str, ShownItem]
    kinds: tuple[Kind, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
