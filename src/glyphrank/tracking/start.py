"""What is known about a run before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Start:
    """What a tracker is told when a run begins.

    Attributes:
        name: the run's name, as the dashboard shows it.
        choices: what a person named, e.g. `{"dataset": "sample_pages", "encoder@lexical": "bm25_words"}`.
        config: the resolved configuration, nested, of plain types; Hydra's own node may be in it.
        overrides: what was given on the command line.
        launched_from: the folder in which the command was given.
    """

    name: str
    choices: Mapping[str, str]
    config: Mapping[str, object]
    overrides: tuple[str, ...]
    launched_from: Path
