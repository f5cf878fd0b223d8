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

from glyphrank.comparable import listed
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
    comparisons = _compared(runs, notes)
    lacking = [f"{run.name}: {incomplete(run.report)}" for run in runs if incomplete(run.report)]
    metrics: dict[str, float] = {}
    tags = {"complete": str(bool(cells) and len(runs) == len(cells) and not lacking).lower()}
    files: tuple[Path, ...] = ()
    if lacking:
        tags["incomplete"] = "; ".join(lacking)
    if comparisons:
        tags["best_cell"] = "\n".join(_best(comparison, cells) for comparison in comparisons)
        files = _show(sweep, launch, comparisons, notes)
        figures = _draw(launch_folder(sweep, launch) / FIGURES, runs, comparisons)
        files += (figures,) if figures else ()
    if len(comparisons) == 1:  # values of several evaluations say nothing beside one another
        (only,) = comparisons
        best = next(run for run in runs if run.name == only.best)
        metrics[only.metric] = best.report.metrics[only.metric]
    for note in notes:
        logger.warning("%s", note)
    notes += dict.fromkeys(note for each in comparisons for note in each.notes)  # which the tables have shown
    if notes:
        tags["notes"] = "\n".join(notes)
    return Summary(metrics, tags, files)


def _compared(runs: Sequence[Finished], notes: list[str]) -> list[Comparison]:
    """One for each evaluation of several cells; none where there is nothing to compare, and a note says why."""
    from glyphrank.compare import compare
    from glyphrank.evaluations import compare_each, evaluations

    if not runs:
        return []
    try:
        parts = evaluations(runs)
        alone = [run.name for part in parts if len(part) == 1 < len(parts) for run in part]
        if len(alone) == len(runs):
            return [compare(runs)]  # which says in what they differ
        found = compare_each([run for run in runs if run.name not in alone])
    except (ConfigError, DataError) as error:
        notes.append(f"the sweep's cells are not compared: {error}")
        return []
    if alone:
        notes.append(f"alone in their evaluation, so in no table: {listed(alone)}")
    return found


def _best(comparison: Comparison, cells: Sequence[CellRecord]) -> str:
    """Number and overrides of the best cell, behind the name of its evaluation where there are several."""
    cell = next(cell for cell in cells if cell.name == comparison.best)
    task = [f"{comparison.task}:"] if comparison.task else []
    return " ".join([*task, f"#{cell.number}", *cell.overrides])


def _show(sweep: Path, launch: str, comparisons: Sequence[Comparison], notes: list[str]) -> tuple[Path, ...]:
    """On the terminal and as files, in the launch's folder and at the top of the sweep's; returns the launch's own.

    At the top stays what an earlier launch compared where it had more cells: this one was interrupted, or some failed.
    Files that cannot be written cost a note.
    """
    from glyphrank.report.comparison import Form, rendered, write_comparisons

    own = launch_folder(sweep, launch)
    sys.stdout.write(f"{rendered(comparisons, Form.table)}\n")
    try:
        write_comparisons(own, comparisons)
        for name in COMPARISON if sum(len(each.runs) for each in comparisons) >= _compared_before(sweep) else ():
            replace_whole(sweep / name, partial(shutil.copyfile, own / name))
        sys.stdout.write(f"comparison: {sweep / COMPARISON[0]}\n")
    except OSError as error:
        place = error.filename2 or error.filename or own
        notes.append(f"the comparison cannot be written: {place} ({error.strerror or error})")
    return tuple(path for name in COMPARISON if (path := own / name).is_file())


def _compared_before(sweep: Path) -> int:
    """How many runs the comparison at the top of a sweep's folder has; 0 where there is none that can be read."""
    try:
        stored = json.loads((sweep / COMPARISON[2]).read_text(encoding="utf-8"))
        return sum(len(part["runs"]) for part in (stored["parts"].values() if "parts" in stored else [stored]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return 0


def _draw(folder: Path, runs: Sequence[Finished], comparisons: Sequence[Comparison]) -> Path | None:
    """Draws the figures, each evaluation's in a folder of its own where there are several.

    Returns:
        their folder; None where they cannot be drawn, which ends nothing.
    """
    from glyphrank.report.figures import write_figures

    try:
        for number, comparison in enumerate(comparisons, start=1):
            own = folder / str(number) if len(comparisons) > 1 else folder
            write_figures(own, runs, comparison)
    except Exception as error:  # of a library that draws, on whatever numbers there are
        logger.warning("the sweep's figures could not be drawn: %s: %s", type(error).__name__, error)
        return None
    sys.stdout.write(f"figures: {folder}\n")
    return folder
