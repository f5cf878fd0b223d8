"""What stands in a dataset more than once: texts, queries, pictures; and queries that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from glyphrank.audit.records import Finding, Level
from glyphrank.ids import nfc
from glyphrank.records import Task

Groups = list[list[int]]
"""Positions of what is equal, two at least in each."""


def check_repeats(task: Task, layers: Sequence[str | None], digests: Sequence[str | None] | None) -> Iterator[Finding]:
    """Findings about exact repeats; empty texts are none.

    Args:
        layers: (n,) text layer of each item, None where it has none.
        digests: (n,) digest of how each item looks, None where it cannot be seen, or as a whole where nobody looked.
    """
    queries = [query.id for query in task.queries]
    items = [item.id for item in task.items]
    asked = [query.text for query in task.queries]
    read = [item.published_ocr if isinstance(item.published_ocr, str) else None for item in task.items]
    yield from _repeated("equal_queries", "query texts", asked, queries)
    yield from _contradicting(task, _groups(asked))
    yield from _repeated("equal_texts", "item texts", layers, items)
    yield from _repeated("equal_ocr", "published OCR texts", read, items)
    yield from _repeated("equal_looks", "items that were looked at", digests or [], items)


def _repeated(kind: str, what: str, values: Sequence[str | None], ids: Sequence[str]) -> Iterator[Finding]:
    present = [value for value in values if value and value.strip()]
    groups = _groups(values)
    if not groups:
        return
    message = (
        f"{len(present)} {what}, {len(set(present))} of them distinct: {len(groups)} "
        f"{'group' if len(groups) == 1 else 'groups'} of equal ones hold {sum(map(len, groups))}, the largest "
        f"{max(map(len, groups))}"
    )
    yield _grouped(Level.note, kind, message, groups, ids)


def _contradicting(task: Task, groups: Groups) -> Iterator[Finding]:
    """Equal queries that want different items: what serves one of them cannot serve the other."""
    wanted = {nfc(query): {nfc(item) for item in gains} for query, gains in task.relevant.items()}
    answers = [wanted.get(nfc(query.id), set()) for query in task.queries]
    differing = [group for group in groups if any(answers[n] != answers[group[0]] for n in group)]
    if differing:
        message = (
            f"{sum(map(len, differing))} of {len(task.queries)} queries are equal to others that want other items "
            f"({len(differing)} {'group' if len(differing) == 1 else 'groups'}): one ranking serves them all, so the "
            "ceiling falls"
        )
        ids = [query.id for query in task.queries]
        yield _grouped(Level.warning, "equal_queries_want_other_items", message, differing, ids)


def _grouped(level: Level, kind: str, message: str, groups: Groups, ids: Sequence[str]) -> Finding:
    named = tuple(tuple(ids[position] for position in group) for group in groups)
    return Finding(level, kind, message, tuple(name for group in named for name in group), groups=named)


def _groups(values: Sequence[str | None]) -> Groups:
    """Positions of equal values, in order of first appearance; what is missing or blank equals nothing."""
    found: dict[str, list[int]] = {}
    for position, value in enumerate(values):
        if value and value.strip():
            found.setdefault(value, []).append(position)
    return [positions for positions in found.values() if len(positions) > 1]
