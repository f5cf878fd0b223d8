"""Runs that are probed, and what their probes tell of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from composing import built
from glyphrank.run import Run

STILL = ("ranks_changed", "largest_rank_change", "top_10_changed", "vectors_lost")


def run_of(folder: Path, *overrides: str, **parts: Any) -> Run:
    """A run with one channel of vectors, `text` unless `parts` say otherwise."""
    run, _ = built(folder, "encoder@text=minilm", "encoder@lexical=none", "probe=true", "tracking=none", *overrides)
    return replace(run, **parts)
