"""What a sweep came to: its cells' results compared, on the terminal, as files and for the parent run."""

from __future__ import annotations

import json
import logging
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from glyphrank.errors import ConfigError, DataError
from glyphrank.report.cells import CellRecord, finished_cells, launch_folder
from glyphrank.report.compared import COMPARISON
from glyphrank.report.figures import FIGURES
from glyphrank.whole_files import replace_whole

if TYPE_CHECKING:
    from glyphrank.report.compared import Comparison
    from glyphrank.report.finished import Finished

logger = logging.getLogger("glyphrank")


@dataclass(frozen=True)
class Summary:
    """What a parent run is told, as `TrackedRun.summarise` takes it.

    Attributes:
        files: those of this launch, and the folder of its figures.
    """

    metrics: dict[str, float]
    tags: dict[str, str]
    files: tuple[Path, ...]


def summarise(sweep: Path, launch: str, cells: Sequence[CellRecord], notes: Sequence[str] = ()) -> Summary:
    """Compares the cells that finished, prints and writes the comparison, and logs the notes.

    `complete` is true where every cell finished and could read every item.

    Args:
        cells: all cells of the launch that left a record.
        notes: what is known already; what is found out here comes after it.
    """
    from glyphrank.tracking.numbers import incomplete

    read, faults = finished_cells(sweep, cells)
    runs, notes = [run for run, _ in read], [*notes, *(f"not compared: {fault}" for fault in faults)]
    comparison = _compared(runs, notes)
    lacking = [f"{run.name}: {incomplete(run.report)}" for run in runs if incomplete(run.report)]
    metrics: dict[str, float] = {}
    tags = {"complete": str(bool(cells) and len(runs) == len(cells) and not lacking).lower()}
    files: tuple[Path, ...] = ()
    if lacking:
        tags["incomplete"] = "; ".join(lacking)
    if comparison is not None:
        best = next(run for run in runs if run.name == comparison.best)
        cell = next(cell for cell in cells if cell.name == comparison.best)
        metrics[comparison.metric] = best.report.metrics[comparison.metric]
        tags["best_cell"] = " ".join([f"#{cell.number}", *cell.overrides])
        files = _show(sweep, launch, comparison, notes)
        figures = _draw(launch_folder(sweep, launch) / FIGURES, runs, comparison)
        files += (figures,) if figures else ()
    for note in notes:
        logger.warning("%s", note)
    notes += comparison.notes if comparison is not None else ()  # which the table has shown
    if notes:
        tags["notes"] = "\n".join(notes)
    return Summary(metrics, tags, files)


def _compared(runs: Sequence[Finished], notes: list[str]) -> Comparison | None:
    """None where there is nothing, or where the cells cannot be compared; a note says why."""
    from glyphrank.compare import compare

    if not runs:
        return None
    try:
        return compare(runs)
    except (ConfigError, DataError) as error:
        notes.append(f"the sweep's cells are not compared: {error}")
        return None


def _show(sweep: Path, launch: str, comparison: Comparison, notes: list[str]) -> tuple[Path, ...]:
    """On the terminal and as files, in the launch's folder and at the top of the sweep's; returns the launch's own.

    At the top stays what an earlier launch compared where it had more cells: this one was interrupted, or some failed.
    Files that cannot be written cost a note.
    """
    from glyphrank.report.comparison import as_table, write_comparison

    own = launch_folder(sweep, launch)
    sys.stdout.write(f"{as_table(comparison)}\n")
    try:
        write_comparison(own, comparison)
        for name in COMPARISON if len(comparison.runs) >= _compared_before(sweep) else ():
            replace_whole(sweep / name, partial(shutil.copyfile, own / name))
        sys.stdout.write(f"comparison: {sweep / COMPARISON[0]}\n")
    except OSError as error:
        place = error.filename2 or error.filename or own
        notes.append(f"the comparison cannot be written: {place} ({error.strerror or error})")
    return tuple(path for name in COMPARISON if (path := own / name).is_file())


def _compared_before(sweep: Path) -> int:
    """How many runs the comparison at the top of a sweep's folder has; 0 where there is none that can be read."""
    try:
        return len(json.loads((sweep / COMPARISON[2]).read_text(encoding="utf-8"))["runs"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _draw(folder: Path, runs: Sequence[Finished], comparison: Comparison) -> Path | None:
    """Draws the figures and returns their folder; None where they cannot be drawn, which ends nothing."""
    from glyphrank.report.figures import write_figures

    try:
        write_figures(folder, runs, comparison)
    except Exception as error:  # of a library that draws, on whatever numbers there are
        logger.warning("the sweep's figures could not be drawn: %s: %s", type(error).__name__, error)
        return None
    sys.stdout.write(f"figures: {folder}\n")
    return folder
