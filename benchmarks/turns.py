"""Measures two sides by turns, every time in a process of its own, and tells medians, peaks and their ratio."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence

Measured = Mapping[str, Sequence[Mapping[str, float]]]
"""Side -> what each repeat printed: `seconds`, `megabytes` and whatever else."""

HEADER = f"{'median s':>10}{'least s':>10}{'peak MB':>10}"


def in_a_process(script: str, *arguments: str) -> str:
    """What `script ARGUMENTS` prints; the process begins with a peak of its own, not with this one's."""
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=True).stdout


def by_turns(script: str, sides: Sequence[str], repeats: int, *arguments: str) -> Measured:
    """Runs `script --measure SIDE ARGUMENTS`, which prints a JSON object, for all sides in turn."""
    measured: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for _ in range(repeats):
        for side, results in measured.items():
            results.append(json.loads(in_a_process(script, "--measure", side, *arguments)))
    return measured


def table(measured: Measured, start: str = "") -> str:
    """A line for each side: `start`, median and least seconds, and the largest peak."""
    lines = []
    for side, results in measured.items():
        seconds = [result["seconds"] for result in results]
        peak = max(result["megabytes"] for result in results)
        lines.append(f"{start}{side:8}{statistics.median(seconds):10.3f}{min(seconds):10.3f}{peak:10.0f}")
    return "\n".join(lines)


def ratio(measured: Measured, ours: str, other: str) -> float:
    """The median of the ratios of neighbours' seconds."""
    pairs = zip(measured[ours], measured[other], strict=True)
    return statistics.median(mine["seconds"] / theirs["seconds"] for mine, theirs in pairs)
