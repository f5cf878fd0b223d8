"""How long a component's work takes, noted beside its shards, so that `plan` can estimate."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from glyphrank.whole_files import replace_whole

RATE = ".rate.json"
"""The file beside the shards; hidden, since other names are taken for shards."""
_FADES = 0.5

Pieces = list[tuple[int, float]]
"""Work as it was done: inputs and seconds of each piece, in order."""


@dataclass(frozen=True)
class Rate:
    """How long a component's work took in one process.

    Attributes:
        inputs, seconds: sums over runs, of which the newest count most.
        start: seconds that the first piece of a run took longer than the others, such as for loading a model; 0 where
            no run had several pieces, and then that time is part of `seconds`.
    """

    inputs: float
    seconds: float
    start: float

    def estimate(self, inputs: int) -> float:
        """Seconds for so many inputs."""
        return self.start + inputs * self.seconds / self.inputs if inputs else 0.0


def read_rate(folder: Path) -> Rate | None:
    """The rate noted in the folder of a key, None where there is none that can be read."""
    try:
        stored = json.loads((folder / RATE).read_text(encoding="utf-8"))
        rate = Rate(*(float(stored[name]) for name in ("inputs", "seconds", "start")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return rate if rate.inputs > 0 and rate.seconds >= 0 and rate.start >= 0 else None


def note_rate(folder: Path, pieces: Pieces) -> None:
    """Adds how long a run's work took to what earlier runs left; only an estimate is lost where it cannot be."""
    first, rest = pieces[0], pieces[1:]
    inputs, seconds = (sum(column) for column in zip(*(rest or pieces), strict=True))
    start = max(0.0, first[1] - first[0] * seconds / inputs) if rest else 0.0
    before = read_rate(folder)
    if before:
        start = start if rest else before.start
        seconds = seconds if rest else max(0.0, seconds - before.start)
        inputs, seconds = inputs + _FADES * before.inputs, seconds + _FADES * before.seconds
    new = json.dumps(asdict(Rate(inputs, seconds, start)))
    with suppress(OSError):
        replace_whole(folder / RATE, lambda path: path.write_text(new, encoding="utf-8"), durable=False)
