"""Finished runs of which nothing but the report and the name are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from glyphrank.outcome import Report


@dataclass(frozen=True)
class Made:
    """A finished run."""

    name: str
    report: Report


def made(name: str, choices: Mapping[str, str], config: Mapping[str, Any], **more: Any) -> Made:
    """A run of these choices and this config, with an otherwise empty report."""
    empty: dict[str, Any] = {field.name: {} for field in fields(Report)}
    text: dict[str, Any] = {"identity": "1", "task": "t", "primary": "ndcg_at_10", "notes": ()}
    return Made(name, Report(**{**empty, **text, "choices": choices, "config": config, **more}))
