"""The best that any ranker can reach on a task, by what it can tell items apart by."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from glyphrank.audit.records import Reachable
from glyphrank.ceilings import Side, ideal
from glyphrank.metrics import evaluate
from glyphrank.records import Direction, Task
from glyphrank.ties import TieRule

CUTOFFS = (1, 5, 10)
NAMES = (*(f"hit_rate_at_{k}" for k in CUTOFFS), "mean_rank")


def reachable(task: Task, layers: Sequence[str | None], digests: Sequence[str | None] | None) -> tuple[Reachable, ...]:
    """The ceilings of every view that something is known of, by direction and tie rule.

    Equal query texts get one ranking. By `text` and `published_ocr` an item with an empty text is never found, and one
    of which no text is known is taken to be unlike all others; by `frames` one that cannot be read is never found. By
    `items`, which is given where not all of them were seen, no two items are alike.

    Args:
        layers: (n,) text layer of each item, None where it has none.
        digests: (n,) digest of how each item looks, None where it cannot be seen, or as a whole where nobody looked.
    """
    queries = Side(tuple(query.id for query in task.queries), tuple(query.text for query in task.queries))
    ids = tuple(item.id for item in task.items)
    found = []
    for view, labels in _views(task, layers, digests).items():
        for direction in Direction:
            best = ideal(queries, Side(ids, labels), task.relevant, direction)
            for rule in TieRule:
                metrics = evaluate(best.ranks, CUTOFFS, rule)
                shown = {name: metrics[name] for name in NAMES}
                found.append(Reachable(view, direction, rule, shown, best.is_exact))
    return tuple(found)


def _views(
    task: Task, layers: Sequence[str | None], digests: Sequence[str | None] | None
) -> dict[str, tuple[Hashable | None, ...]]:
    """View -> (n,) labels of the items, as `ceilings.Side` wants them."""
    views: dict[str, tuple[Hashable | None, ...]] = {}
    read = [item.published_ocr if isinstance(item.published_ocr, str) else None for item in task.items]
    for view, texts in (("text", layers), ("published_ocr", read)):
        if any(text is not None for text in texts):
            views[view] = tuple(_label(text, position) for position, text in enumerate(texts))
    if digests and any(digests):
        views["frames"] = tuple(digests)
    if not digests or not all(digests):
        views["items"] = tuple(range(len(task.items)))
    return views


def _label(text: str | None, position: int) -> Hashable | None:
    if text is None:
        return position
    return text if text.strip() else None
