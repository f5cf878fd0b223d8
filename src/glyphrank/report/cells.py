"""What became of a sweep's cells: one small file each in the sweep's folder, whatever process ran the cell."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from glyphrank.whole_files import replace_whole

CELLS = "cells"
"""The folder of the records in a sweep's folder; each is named by the cell's number."""

_log = logging.getLogger(__name__)


class State(StrEnum):
    """What is known of a cell; one whose process ended without a word stays `running`."""

    running = "running"
    finished = "finished"
    failed = "failed"


@dataclass(frozen=True)
class CellRecord:
    """One cell, from its beginning on.

    Attributes:
        launch: the command that it belongs to; a folder that a person names may hold cells of earlier ones.
        folder: of its files, relative to the sweep's where it lies in that.
        overrides: secrets removed.
    """

    launch: str
    number: int
    folder: str
    overrides: tuple[str, ...]
    state: State


def write_cell(sweep: Path, record: CellRecord) -> None:
    """Writes a record or replaces it. One that cannot be written costs a line of the sweep's table, not the cell."""
    path = sweep / CELLS / f"{record.number}.json"
    text = json.dumps(asdict(record), ensure_ascii=False, indent=1) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_whole(path, lambda new: new.write_text(text, encoding="utf-8"), durable=False)
    except OSError as error:
        _log.warning("%s cannot be written (%s); the sweep's table may lack this cell", path, error.strerror or error)


def read_cells(sweep: Path, launch: str) -> list[CellRecord]:
    """The cells of a launch that began, by number; a damaged record is left out with a warning."""
    found = []
    for path in (sweep / CELLS).glob("[0-9]*.json"):
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            overrides, state = tuple(stored.pop("overrides")), State(stored.pop("state"))
            record = CellRecord(**stored, overrides=overrides, state=state)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("%s cannot be read (%s); the sweep's table lacks this cell", path, error)
            continue
        if record.launch == launch:
            found.append(record)
    return sorted(found, key=lambda record: record.number)
