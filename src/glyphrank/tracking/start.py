"""What is known about a run before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
        parent: `TrackedRun.reference` of the run under which this one stands, where both go to the same store and
            experiment; empty when it stands alone.
        sweep: whether this is the parent run of a sweep, which measures nothing itself.
        changed: names of parameters whose value is not that of the choice's own file.
        named: dotted keys that overrides gave a value, of choices and fields, e.g. `("lexical.k1",)`.
        launch: tells the command that started this run, alone or as one cell of several, from all others.
        off_host: whether the run may take place on another machine than the one where it was launched.
        tags: further tags.
    """

    name: str
    choices: Mapping[str, str]
    config: Mapping[str, object]
    overrides: tuple[str, ...]
    launched_from: Path
    parent: Mapping[str, str] = field(default_factory=dict)
    sweep: bool = False
    changed: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    launch: str = ""
    off_host: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
