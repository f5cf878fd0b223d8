"""Tasks for tests, written down in a line or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from glyphrank.records import Item, Query, Task


@dataclass(frozen=True)
class Seen:
    """How items look, as `sight.Pixels` says it."""

    digests: tuple[str | None, ...]
    failures: Mapping[int, str] = field(default_factory=dict)


def make_task(
    queries: Mapping[str, str],
    items: Mapping[str, str | None] | Sequence[Item],
    relevant: Mapping[str, Sequence[str] | Mapping[str, float]],
    **more: Any,
) -> Task:
    """A task of query texts, of items with published texts (or of whole items), and of what is relevant."""
    gains = {
        query: dict(found) if isinstance(found, Mapping) else dict.fromkeys(found, 1.0)
        for query, found in relevant.items()
    }
    listed = [Item(name, None, text) for name, text in items.items()] if isinstance(items, Mapping) else items
    asked = tuple(Query(name, text) for name, text in queries.items())
    return Task("tiny", asked, tuple(listed), gains, "", **more)
