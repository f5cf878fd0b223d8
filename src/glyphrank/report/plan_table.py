"""A plan as text for a terminal, and as files of a sweep."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from glyphrank.errors import DataError
from glyphrank.report.compared import counted
from glyphrank.report.planned import Lack, Plan, PlannedCell, PlannedStage
from glyphrank.whole_files import replace_whole

PLAN = ("plan.md", "plan.json")
"""The files of a plan."""

_STAGES = ("stage", "component", "key", "cells", "inputs", "cached", "to do", "unknown", "time")
_MOST_OTHERS = 8
_LONGEST = 60


def as_text(plan: Plan) -> str:
    """The plan in plain lines: cells, datasets, distinct stages, what is missing, and what is left to do."""
    cells = [(str(cell.number), _state(cell), _own(plan, cell)) for cell in plan.cells]
    lines = [counted(len(plan.cells), "cell"), *_columns([("cell", "state", "overrides"), *cells])]
    lines += [f"each cell also has {' '.join(_shared(plan))}"] if _shared(plan) and len(plan.cells) > 1 else []
    lines += ["", *_datasets(plan)]
    if plan.stages:
        lines += ["", *_columns([_STAGES, *map(_row, plan.stages)])]
    lines += [_why(stage) for stage in plan.stages if plan.why and not stage.is_done]
    return "\n".join([*lines, "", *_missing(plan), *map(_sentence, plan.notes), *_conclusion(plan)])


def as_json(plan: Plan) -> dict[str, Any]:
    """The same with everything that is known, of types that the module `json` writes."""
    whole = {**asdict(plan), "seconds": plan.seconds, "done": plan.is_done}
    return {**whole, "without_rate": [stage.key for stage in plan.unrated]}


def write_plan(folder: Path, plan: Plan) -> tuple[Path, ...]:
    """Writes the files of a plan into a folder, which must be there, and returns their paths.

    Raises:
        DataError: they cannot be written.
    """
    texts = (
        f"# Plan\n\n```text\n{as_text(plan)}\n```\n",
        json.dumps(as_json(plan), ensure_ascii=False, indent=2) + "\n",
    )
    paths = tuple(folder / name for name in PLAN)
    try:
        for path, text in zip(paths, texts, strict=True):
            replace_whole(path, partial(_write, text))
    except OSError as error:
        raise DataError(f"{folder}: the plan cannot be written ({error.strerror or error})") from error
    return paths


def _write(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")


def _state(cell: PlannedCell) -> str:
    if cell.faults:
        return "cannot run"
    return "stored" if cell.stored else "to do"


def _shared(plan: Plan) -> list[str]:
    """Overrides that all cells have."""
    others = [set(cell.overrides) for cell in plan.cells]
    return (
        [override for override in plan.cells[0].overrides if all(override in other for other in others)]
        if others
        else []
    )


def _own(plan: Plan, cell: PlannedCell) -> str:
    shared = set(_shared(plan)) if len(plan.cells) > 1 else set()
    return " ".join(_plain(override) for override in cell.overrides if override not in shared)


def _datasets(plan: Plan) -> Iterator[str]:
    for dataset in plan.datasets:
        size = (
            f"{counted(dataset.queries, 'query')}, {counted(dataset.items, 'item')}" if dataset.items else "not loaded"
        )
        used = "" if len(plan.cells) == 1 else f"; in {counted(len(dataset.cells), 'cell')}"
        yield f"dataset {_plain(dataset.name)}: {size}{used}"
        if dataset.fault:
            yield from (f"  {_plain(line)}" for line in dataset.fault.splitlines())


def _row(stage: PlannedStage) -> tuple[str, ...]:
    unknown = f"{stage.unknown} until {stage.until}" if stage.unknown else ""
    counts = map(str, (len(stage.cells), stage.inputs, stage.cached, stage.todo))
    return stage.name, stage.component, stage.key[:8], *counts, unknown, _time(stage)


def _time(stage: PlannedStage) -> str:
    if stage.is_done:
        return ""
    return "?" if stage.seconds is None else ("at most " if stage.unknown else "") + duration(stage.seconds)


def duration(seconds: float) -> str:
    """Seconds as a person says them.

    >>> duration(0.2), duration(75), duration(4000), duration(200_000)
    ('1 s', '75 s', '67 min', '56 h')
    """
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{round(seconds / 3600)} h"


def _why(stage: PlannedStage) -> str:
    """Why a stage has work."""
    name, near = f"{stage.name} ({stage.component}, {stage.key[:8]})", stage.neighbour
    if stage.has_folder:
        return f"{name}: the key is in the cache, {_new(stage)}"
    if near is None:
        return f"{name}: a new key, and the cache has no other of this class"
    others = [f"{other.field} {_short(other.here)} (there {_short(other.there)})" for other in near.others]
    more = f" and {len(others) - _MOST_OTHERS} more" if len(others) > _MOST_OTHERS else ""
    told = "; ".join(others[:_MOST_OTHERS]) + more or "nothing that its manifest tells"
    return f"{name}: a new key; other than in {near.key[:8]}: {told}"


def _new(stage: PlannedStage) -> str:
    if not stage.todo:
        return f"what else it will be asked is unknown until it is {stage.until}"
    return f"{counted(stage.todo, 'input')} of {stage.inputs} {'is' if stage.todo == 1 else 'are'} not"


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 3]}..."


def _missing(plan: Plan) -> Iterator[str]:
    """Faults of cells, each once with the cells that have it, and files that are not here."""
    lacks = {lack.message for lack in plan.lacks}
    told = {dataset.fault for dataset in plan.datasets} | lacks
    cells: dict[str, list[int]] = {}
    for cell in plan.cells:
        for fault in cell.faults:
            cells.setdefault(fault, []).append(cell.number)
    for fault, numbers in cells.items():
        if fault not in told:
            yield f"{_named(numbers)} cannot be run: {_indented(fault)}"
    for lack in plan.lacks:
        yield f"{lack.component} ({_named(lack.cells)}) {_lacking(lack)}: {_indented(lack.message)}"


def _lacking(lack: Lack) -> str:
    return (
        "lacks files" if lack.ends else "lacks files, which end no run as long as they are not needed or can be fetched"
    )


def _named(numbers: Sequence[int]) -> str:
    return f"{'cell' if len(numbers) == 1 else 'cells'} {', '.join(map(str, numbers))}"


def _indented(text: str) -> str:
    return "\n  ".join(_plain(line) for line in text.splitlines())


def _sentence(note: str) -> str:
    return f"note: {_plain(note)}"


def _conclusion(plan: Plan) -> Iterator[str]:
    stored = sum(cell.stored for cell in plan.cells)
    if not plan.cells:
        yield "nothing is to be done: there is no cell"
    elif plan.is_done:
        which = "the cell's result is" if len(plan.cells) == 1 else f"the results of all {len(plan.cells)} cells are"
        yield f"nothing is to be done: {which} stored"
    else:
        yield f"results: {stored} of {len(plan.cells)} stored"
        unplanned = _unplanned(plan)
        rest = f"; nothing is known of {_named(unplanned)}, which could not be planned" if unplanned else ""
        if len(unplanned) + stored < len(plan.cells):
            yield f"time: {_total(plan)}{rest}"


def _unplanned(plan: Plan) -> list[int]:
    """Numbers of the cells whose stages nobody knows."""
    known = {number for stage in plan.stages for number in stage.cells}
    cells = [cell for cell in plan.cells if not cell.stored and (cell.faults or not cell.identity)]
    return [cell.number for cell in cells if cell.number not in known]


def _total(plan: Plan) -> str:
    """What is known of the time that the stages take; what each cell takes besides is not estimated."""
    work = [stage for stage in plan.stages if not stage.is_done]
    if not work:
        return "all stages are cached; what is left is the measuring of each cell"
    known = [stage for stage in work if stage.seconds is not None]
    about = f"about {duration(plan.seconds)} for the stages in one process, by earlier rates" if known else "unknown"
    missing = f"; no earlier rate of {', '.join(dict.fromkeys(stage.name for stage in plan.unrated))}"
    bound = "; each unknown input is taken for one" if any(stage.unknown for stage in known) else ""
    return f"{about}{missing if plan.unrated else ''}{bound}; without the measuring of each cell"


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines with their cells below each other; numbers stand to the right."""
    from rich.cells import cell_len

    columns = list(zip(*rows, strict=True))
    widths = [max(map(cell_len, column)) for column in columns]
    right = [all(cell.isdigit() for cell in column[1:]) for column in columns]
    for row in rows:
        spaces = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = zip(row, spaces, right, strict=True)
        yield "  ".join(space + cell if number else cell + space for cell, space, number in cells).rstrip()


def _plain(text: str) -> str:
    """Without signs that a terminal would obey."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
