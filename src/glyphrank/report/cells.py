"""What became of a sweep's cells: one small file each in the sweep's folder, whatever process ran the cell."""

from __future__ import annotations

import json
import logging
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from glyphrank.errors import DataError
from glyphrank.report.environment import ENVIRONMENT
from glyphrank.report.results import CONFIG, FILES, MTEB, REPORT
from glyphrank.whole_files import replace_whole

if TYPE_CHECKING:
    from glyphrank.report.finished import Finished

CELLS = "cells"
"""The folder of the records in a sweep's folder: one folder for each launch, in which files have a cell's number."""
DIED = "its process was killed, or ran out of memory or time"
"""Why a cell has failed whose process left no word."""

_OWN = (REPORT, MTEB, CONFIG, *FILES, "probe.json", ENVIRONMENT)
"""What a run writes into its folder, the report first, without which nothing there passes for a run."""

_log = logging.getLogger(__name__)


class State(StrEnum):
    """What is known of a cell; `interrupted` is one that was asked to end.

    One whose process ended without a word stays `running` until the launching process sees it.
    """

    running = "running"
    finished = "finished"
    failed = "failed"
    interrupted = "interrupted"


@dataclass(frozen=True)
class CellRecord:
    """One cell, from its beginning on.

    Attributes:
        launch: the command that it belongs to; a folder that a person names may hold cells of several.
        began: when that command began, in seconds since 1970.
        folder: of its files, relative to the sweep's where it lies in that; secrets removed. Another cell may have
            written there since.
        overrides: secrets removed.
        result: absolute folder of its result, `results/<identity>`; empty unless it has finished.
        error: first line of why it failed or was interrupted, secrets removed; else empty.
        host, process: whose it is, as `tracking.processes` tells one from others.
    """

    launch: str
    began: float
    number: int
    folder: str
    overrides: tuple[str, ...]
    state: State
    result: str = ""
    error: str = ""
    host: str = ""
    process: str = ""

    @property
    def name(self) -> str:
        """What tables call it."""
        return f"cell {self.number}"


def launch_folder(sweep: Path, launch: str) -> Path:
    """Where a launch keeps what belongs to it alone, so that two sweeps in one folder never meet."""
    return sweep / CELLS / launch


def write_cell(sweep: Path, record: CellRecord) -> None:
    """Writes a record or replaces it. One that cannot be written costs a line of the sweep's table, not the cell."""
    path = launch_folder(sweep, record.launch) / f"{record.number}.json"
    text = json.dumps(asdict(record), ensure_ascii=False, indent=1) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_whole(path, lambda new: new.write_text(text, encoding="utf-8"), durable=False)
    except OSError as error:
        _log.warning("%s cannot be written (%s); the sweep's table may lack this cell", path, error.strerror or error)


def forget_former(folder: Path, began: float) -> None:
    """Takes from a cell's folder the files of a former run there, so that it never holds parts of two.

    Args:
        folder: may hold files of a person's own, which stay.
        began: when this launch began; the log of a cell of this one stays.
    """
    with suppress(OSError):
        for path in [*(folder / name for name in _OWN), *folder.glob("scores*.npy")]:
            path.unlink(missing_ok=True)
        for path in folder.glob("*.log"):
            if path.stat().st_mtime < began:
                os.truncate(path, 0)


def read_cells(sweep: Path, launch: str) -> list[CellRecord]:
    """The cells of a launch that began, by number; a damaged record is left out with a warning."""
    found = []
    for path in launch_folder(sweep, launch).glob("[0-9]*.json"):
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            overrides, state = tuple(stored.pop("overrides")), State(stored.pop("state"))
            found.append(CellRecord(**stored, overrides=overrides, state=state))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("%s cannot be read (%s); the sweep's table lacks this cell", path, error)
    return sorted(found, key=lambda record: record.number)


def finished_cells(
    sweep: Path, cells: Sequence[CellRecord], prefix: str = ""
) -> tuple[list[tuple[Finished, Path]], list[str]]:
    """The results of the cells that finished, each with the folder it was read from, and why others are not there.

    A cell whose folder holds the files of another cell now is read from its stored result.

    Args:
        cells: all of one launch.
        prefix: stands before the cells' names.
    """
    runs, faults = [], []
    sharing = Counter(cell.folder for cell in cells)
    for cell in cells:
        if cell.state is State.finished:
            try:
                runs.append(_read(sweep, cell, f"{prefix}{cell.name}", alone=sharing[cell.folder] == 1))
            except DataError as error:
                faults.append(f"{prefix}{cell.name}: {error}")
    return runs, faults


def runs_below(folder: Path) -> tuple[list[tuple[Finished, Path]], list[str]]:
    """The runs of a sweep's folder as `finished_cells` gives them, and what is left out, with why.

    Where sweeps left records, these are the cells of the latest; of any other folder, the runs in its own folders.
    """
    launches = [read_cells(folder, path.name) for path in (folder / CELLS).glob("*/")]
    cells = max(filter(None, launches), key=lambda cells: cells[0].began, default=[])
    if not cells:
        return _unrecorded(folder)
    prefix = f"{shown_folder(folder)}/"
    runs, left_out = finished_cells(folder, cells, prefix)
    words = {State.failed: "has failed", State.interrupted: "was interrupted"}
    words[State.running] = "has not ended, or ended without a word"
    left_out += [f"{prefix}{cell.name} {words[cell.state]}" for cell in cells if cell.state in words]
    others = sum(map(len, launches)) - len(cells)
    return runs, [*left_out, *([f"cells of earlier sweeps in {folder}: {others}"] if others else [])]


def shown_folder(folder: Path) -> str:
    """What a run in a folder is called: the folder's name, of an identity the beginning."""
    name = folder.resolve().name
    return name[:12] if re.fullmatch(r"[0-9a-f]{32,}", name) else name


def _unrecorded(folder: Path) -> tuple[list[tuple[Finished, Path]], list[str]]:
    """The runs in a folder's own folders, by number where their names are numbers."""
    from glyphrank.report.finished import read_finished

    runs, left_out = [], []
    places = [path for path in folder.iterdir() if path.is_dir()]
    for place in sorted(places, key=lambda path: (int(path.name) if path.name.isdecimal() else math.inf, path.name)):
        name = f"{shown_folder(folder)}/{shown_folder(place)}"
        if (place / REPORT).is_file():
            try:
                runs.append((read_finished(place, name), place))
            except DataError as error:
                left_out.append(f"{name!r}: {error}")
        elif (place / ".hydra").is_dir():
            left_out.append(f"{name!r} has not finished: it has no {REPORT}")
    return runs, left_out


def _read(sweep: Path, cell: CellRecord, name: str, alone: bool) -> tuple[Finished, Path]:
    """A cell's own numbers, never another's.

    Args:
        alone: whether no other cell of the launch has its folder; two at once may even have mixed their files.

    Raises:
        DataError: neither its folder nor its result has them.
    """
    from glyphrank.report.finished import read_finished

    own, result = sweep / cell.folder, Path(cell.result)
    fault = DataError(f"{own} holds the files of another cell, and its own result cannot be read: {result}")
    if alone:
        try:
            run = read_finished(own, name)
            if run.report.identity == result.name:
                return run, own
        except DataError as error:
            fault = error
    try:
        run = read_finished(result, name)
    except DataError:
        raise fault from None
    if not cell.result or run.report.identity != result.name:
        raise fault
    return run, result
