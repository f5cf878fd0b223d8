"""The audit of a task: every check, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from glyphrank.audit.page_base import check_page_base
from glyphrank.audit.published import check_published
from glyphrank.audit.reachable import reachable
from glyphrank.audit.records import Audit, Finding, Level
from glyphrank.audit.repeats import check_repeats
from glyphrank.audit.text_layers import TextLayers, text_layers
from glyphrank.audit.writing import check_writing
from glyphrank.ids import nfc
from glyphrank.records import Reading, Task


class Looks(Protocol):
    """How n items look (`sight.Pixels` is one)."""

    @property
    def digests(self) -> tuple[str | None, ...]:
        """(n,) digest of each item's decoded frames, None where it has none."""
        ...

    @property
    def failures(self) -> Mapping[int, str]:
        """Position of an item without frames -> why."""
        ...


def audit(
    task: Task, looks: Looks | None, thin_below: int, garbled_above: float, published: Sequence[Reading] = ()
) -> Audit:
    """What is odd about a task. Text layers of PDF pages are read where an item has no published text.

    Args:
        looks: how its items look, None where nobody has looked.
        thin_below, garbled_above: as for `garble.judge`.
        published: (n,) what the published OCR of each item holds; empty where no item names a file of it.
    """
    layers = text_layers(task.items)
    found = [
        *_of_loading(task),
        *_of_media(task, looks, layers),
        *(check_published(task, published) if published else ()),
        *_of_relevance(task),
        *check_writing(task, layers.texts, thin_below, garbled_above),
        *check_repeats(task, layers.texts, looks.digests if looks else None),
        *check_page_base(task, layers.texts, thin_below, garbled_above),
    ]
    order = list(Level)
    return Audit(
        task=task.name,
        queries=len(task.queries),
        items=len(task.items),
        findings=tuple(sorted(found, key=lambda finding: order.index(finding.level))),
        reachable=reachable(task, layers.texts, looks.digests if looks else None),
    )


def _of_loading(task: Task) -> Iterator[Finding]:
    """What the dataset itself said when it was loaded."""
    for name, value in task.tags.items():
        yield Finding(Level.warning, "tag", f"{name}: {value}")
    for note in task.notes:
        yield Finding(Level.note, "loading", note)
    for name, ids in task.listed.items():
        if ids:
            yield Finding(Level.note, name, f"{name.replace('_', ' ')}: {len(ids)} of {len(task.items)} items", ids)


def _of_media(task: Task, looks: Looks | None, layers: TextLayers) -> Iterator[Finding]:
    """Items that cannot be read, and those of which there is nothing to read."""
    why = {**layers.failures, **(looks.failures if looks else {})}
    bad = {item.id: why[n] for n, item in enumerate(task.items) if n in why and item.media is not None}
    if bad:
        message = f"{len(bad)} of {len(task.items)} items cannot be read"
        yield Finding(Level.error, "unreadable_media", message, tuple(bad), bad)
    bare = [
        item.id
        for item in task.items
        if item.media is None and not (item.text or "").strip() and not item.published_ocr
    ]
    if bare:
        message = f"{len(bare)} of {len(task.items)} items have neither media nor text; nothing can retrieve them"
        yield Finding(Level.warning, "nothing_to_see", message, tuple(bare))


def _of_relevance(task: Task) -> Iterator[Finding]:
    """Queries that nothing answers, and items that nobody asks for."""
    answered = {nfc(query): {nfc(item) for item in gains} for query, gains in task.relevant.items() if gains}
    unanswered = tuple(query.id for query in task.queries if nfc(query.id) not in answered)
    if unanswered:
        message = f"{len(unanswered)} of {len(task.queries)} queries have no relevant item and stand in no mean"
        yield Finding(Level.warning, "queries_without_relevant", message, unanswered)
    unasked = len(task.items) - len({item for items in answered.values() for item in items})
    if unasked:
        message = f"{unasked} of {len(task.items)} items are relevant to no query"
        yield Finding(Level.note, "items_not_asked_for", message)
