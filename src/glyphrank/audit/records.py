"""What an audit says: findings, the best that can be reached, and both together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from glyphrank.records import Direction
from glyphrank.ties import TieRule


class Level(StrEnum):
    """How grave a finding is: the dataset is at fault; numbers on it need care; good to know."""

    error = "error"
    warning = "warning"
    note = "note"


@dataclass(frozen=True)
class Finding:
    """One kind of oddity, with all that show it.

    Attributes:
        kind: a short name, such as `equal_queries`.
        message: one sentence with the counts.
        ids: as published, in the order of the dataset; none where the sentence says all.
        reasons: id -> what is wrong with just this one, where that differs.
        groups: where ids belong together, the same ids by group.
    """

    level: Level
    kind: str
    message: str
    ids: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Reachable:
    """What the best of rankers reaches (`ceilings.ideal`).

    Attributes:
        view: what it can tell items apart by: `text`, `published_ocr`, `frames`, or `items`, all of them being unlike.
        metrics: hit rate at the cut-offs and the mean rank, by their names in `metrics.evaluate`.
        is_exact: whether no ranker can do better (`ceilings.Ideal`).
    """

    view: str
    direction: Direction
    rule: TieRule
    metrics: Mapping[str, float]
    is_exact: bool


@dataclass(frozen=True)
class Audit:
    """All that an audit of a task found, gravest first.

    Attributes:
        task: its name.
        queries, items: how many it has.
    """

    task: str
    queries: int
    items: int
    findings: tuple[Finding, ...]
    reachable: tuple[Reachable, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are faults of the dataset."""
        return tuple(found for found in self.findings if found.level is Level.error)
