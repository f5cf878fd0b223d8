"""How ids, queries and texts are written: Unicode forms, and texts that are empty, thin or garbled."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from glyphrank.audit.records import Finding, Level
from glyphrank.garble import judge
from glyphrank.progress import track
from glyphrank.records import Task, TextState

Named = Sequence[tuple[str, str | None]]
"""Ids with what is looked at, None where there is nothing."""


def check_writing(task: Task, layers: Sequence[str | None], thin_below: int, garbled_above: float) -> Iterator[Finding]:
    """Findings about how things are written.

    Args:
        layers: (n,) text layer of each item, None where it has none.
        thin_below, garbled_above: as for `garble.judge`.
    """
    queries: Named = [(query.id, query.text) for query in task.queries]
    texts: Named = [(item.id, layer) for item, layer in zip(task.items, layers, strict=True)]
    read: Named = [
        (item.id, item.published_ocr if isinstance(item.published_ocr, str) else None) for item in task.items
    ]
    ids: Named = [(name, name) for name, _ in (*queries, *texts)]
    yield from _not_composed(Level.note, "ids_not_nfc", ids, "ids", "they are compared in it and written as published")
    heard = "an encoder that does not compose reads other words"
    for kind, what, named in (("queries", "queries", queries), ("texts", "item texts", texts)):
        yield from _not_composed(Level.warning, f"{kind}_not_nfc", named, what, heard)
    yield from _not_composed(Level.warning, "ocr_not_nfc", read, "published OCR texts", heard)
    thresholds = (thin_below, garbled_above)
    yield from _of_little_worth("text", "item texts", texts, thresholds)
    yield from _of_little_worth("ocr", "published OCR texts", read, thresholds)


def _not_composed(level: Level, kind: str, named: Named, what: str, meaning: str) -> Iterator[Finding]:
    """Those that are not in NFC, such as Hangul in single jamo as some file systems spell it."""
    found = [name for name, text in named if text is not None and not unicodedata.is_normalized("NFC", text)]
    total = sum(text is not None for _, text in named)
    if found:
        yield Finding(level, kind, f"{len(found)} of {total} {what} are not in NFC: {meaning}", tuple(found))


def _of_little_worth(kind: str, what: str, named: Named, thresholds: tuple[int, float]) -> Iterator[Finding]:
    states: dict[str, TextState] = {}
    with track(len(named), f"judging {what}") as progress:
        for name, text in named:
            if text is not None:
                states[name] = judge(text, *thresholds)
            progress.advance()
    said = {
        TextState.blank: ("empty", "are empty: text channels cannot retrieve them"),
        TextState.thin: ("thin", f"have less than {thresholds[0]} characters"),
        TextState.garbled: ("garbled", f"are garbled: more than {thresholds[1]:.0%} of them is no readable text"),
    }
    for state, (adjective, meaning) in said.items():
        found = tuple(name for name, judged in states.items() if judged is state)
        if found:
            message = f"{len(found)} of {len(states)} {what} {meaning}"
            yield Finding(Level.warning, f"{adjective}_{kind}", message, found)
