"""An audit as text for a terminal, and as a structure for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from glyphrank.audit.records import Audit, Finding, Level, Reachable
from glyphrank.records import Direction
from glyphrank.ties import TieRule

FIRST = 5
"""Ids, or groups of ids, of a finding that the text shows."""

_COLUMNS = {"hit_rate_at_1": "hit@1", "hit_rate_at_5": "hit@5", "hit_rate_at_10": "hit@10", "mean_rank": "MnR"}
_VIEWS = {
    "text": "by item texts",
    "published_ocr": "by published OCR",
    "frames": "by looks",
    "items": "no two items alike",
}


def as_text(audit: Audit) -> str:
    """The findings, each with its first ids, then the best that can be reached; plain lines."""
    lines = [f"{audit.task}: {audit.queries} queries, {audit.items} items"]
    for found in audit.findings:
        lines += [f"{found.level}: {_plain(found.message)}", *_shown(found)]
    counts = {level: sum(found.level is level for found in audit.findings) for level in Level}
    lines += [", ".join(f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items())]
    lines += ["", *_best(audit.reachable)]
    return "\n".join(lines)


def as_json(audit: Audit) -> dict[str, Any]:
    """The same with all ids, of types that the module `json` writes."""
    return {
        "task": audit.task,
        "queries": audit.queries,
        "items": audit.items,
        "findings": [_finding(found) for found in audit.findings],
        "ceilings": [
            {
                "view": best.view,
                "direction": str(best.direction),
                "ties": str(best.rule),
                "exact": best.is_exact,
                "metrics": dict(best.metrics),
            }
            for best in audit.reachable
        ],
    }


def _finding(found: Finding) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "level": str(found.level),
        "kind": found.kind,
        "message": found.message,
        "ids": list(found.ids),
    }
    if found.reasons:
        whole["reasons"] = dict(found.reasons)
    if found.groups:
        whole["groups"] = [list(group) for group in found.groups]
    return whole


def _shown(found: Finding) -> list[str]:
    """The first ids of a finding: a line each where they have reasons or stand in groups, else one line."""
    if found.groups:
        return _first([_joined(group) for group in found.groups], "groups")
    if found.reasons:
        return _first([f"{_plain(name)}: {_plain(why)}" for name, why in found.reasons.items()])
    return [f"  {_joined(found.ids)}"] if found.ids else []


def _joined(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - FIRST} more" if len(ids) > FIRST else ""
    return ", ".join(map(_plain, ids[:FIRST])) + more


def _first(lines: Sequence[str], of: str = "") -> list[str]:
    more = [f"  and {' '.join(filter(None, (str(len(lines) - FIRST), 'more', of)))}"] if len(lines) > FIRST else []
    return [*(f"  {line}" for line in lines[:FIRST]), *more]


def _plain(text: str) -> str:
    """Text on one line, without what a terminal would obey."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _best(reachable: Iterable[Reachable]) -> list[str]:
    """A line for each view, direction and set of tie rules that give the same numbers."""
    rows: dict[tuple[str, Direction, tuple[str, ...], bool], list[TieRule]] = {}
    for best in reachable:
        numbers = tuple(_number(name, best.metrics[name]) for name in _COLUMNS)
        rows.setdefault((best.view, best.direction, numbers, best.is_exact), []).append(best.rule)
    lines = [
        [_VIEWS[view], str(direction), _rules(rules), *numbers, "" if is_exact else "about"]
        for (view, direction, numbers, is_exact), rules in rows.items()
    ]
    head = ["best that can be reached", "", "ties", *_COLUMNS.values(), ""]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    text = [
        "  ".join(
            cell.ljust(width) if n < 3 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in [head, *lines]
    ]
    about = "about: a ranker that orders for one metric alone may reach more in it"
    return [*(line.rstrip() for line in text), *([about] if any(line[-1] for line in lines) else [])]


def _rules(rules: Sequence[TieRule]) -> str:
    return "any" if len(rules) == len(TieRule) else ", ".join(rules)


def _number(name: str, value: float) -> str:
    return f"{value:.3f}" if name.endswith("rank") else f"{value:.4f}"
