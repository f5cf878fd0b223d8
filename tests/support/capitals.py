"""A cached piece of work for tests: texts into capitals, with a note of what was worked on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glyphrank.cache import Remembered, Stage, remember
from glyphrank.shards import LinesCodec

TEXTS = [f"text {number}" for number in range(200)]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def stage(root: Path, key: str = "key", spacing: int = 4) -> Stage[Any, list[Any]]:
    return Stage(root, "reading", {"class": "Reader", "fields": {"size": 3}}, key, spacing, LinesCodec())


class Upper:
    """Turns texts into capitals and notes which it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, wanted: Stage[Any, list[Any]], texts: Sequence[str]) -> Remembered[list[Any]]:
        def work(positions: Sequence[int]) -> list[str | None]:
            given = [texts[position] for position in positions]
            self.seen += given
            return [None if text.startswith("bad") else text.upper() for text in given]

        return remember(wanted, [digest(text) for text in texts], work)


def shard_files(wanted: Stage[Any, Any]) -> set[str]:
    return {path.name for path in wanted.folder.iterdir() if path.name.endswith(wanted.codec.suffix)}
