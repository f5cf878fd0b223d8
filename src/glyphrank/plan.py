"""What a run or sweep would do: its cells, the distinct stages behind them, what is cached and what is left to do.

Nothing is worked on, no model is loaded and nothing is fetched. Datasets are loaded, which draws a sample that is not
there yet, and digests of files are taken and remembered, as a run would. What a probe encodes anew is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from glyphrank.cache import Stage, lookup
from glyphrank.errors import ConfigError, DataError
from glyphrank.loading import load
from glyphrank.ocr import Pair
from glyphrank.pipeline import find_stored, trace
from glyphrank.plan_stages import Ask, Survey
from glyphrank.plan_why import Neighbours
from glyphrank.records import Direction, Task
from glyphrank.redaction import redact_text
from glyphrank.report.planned import Lack, Plan, PlannedCell, PlannedDataset, PlannedStage
from glyphrank.reporting import Origin
from glyphrank.run import Run
from glyphrank.runtime import NeedsFiles, Runtime
from glyphrank.uncertainty import groupings_of


@dataclass(frozen=True)
class BuiltCell:
    """A cell before it is planned.

    Attributes:
        overrides: secrets removed.
        run: None where it cannot be built, for the reason in
        fault: empty where it is built.
    """

    number: int
    overrides: tuple[str, ...]
    run: Run | None
    fault: str = ""


def plan_cells(cells: Sequence[BuiltCell], notes: Sequence[str] = (), why: bool = False) -> Plan:
    """The plan of a run or sweep; what is wrong with a cell stands in it, and the others are planned.

    Args:
        notes: what is known of the cells beforehand.
        why: whether the nearest neighbours of stages with work are looked for.

    Raises:
        DataError: the cache cannot be read.
    """
    planner = _Planner()
    planned = tuple(map(planner.take, cells))
    return Plan(planned, planner.datasets(), planner.stages(why), planner.lacks(), tuple(notes), why)


@dataclass
class _Dataset:
    """A dataset with the settings by which it is loaded once."""

    settings: tuple[object, Path, Path]
    task: Task | None
    fault: str
    cells: list[int] = field(default_factory=list)


@dataclass
class _Work:
    """A stage, and what all cells together want of it; `needed` and `unknown` only for results that are not stored."""

    ask: Ask
    holds: Callable[[str], bool]
    cells: list[int] = field(default_factory=list)
    inputs: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    until: str = ""


@dataclass
class _Planner:
    """What was found so far, over all cells."""

    _survey: Survey = field(default_factory=Survey)
    _loaded: list[_Dataset] = field(default_factory=list)
    _work: dict[tuple[Path, str, str], _Work] = field(default_factory=dict)
    _lacks: dict[tuple[str, str, bool], list[int]] = field(default_factory=dict)

    def take(self, cell: BuiltCell) -> PlannedCell:
        """Plans one more cell."""
        if cell.run is None:
            return PlannedCell(cell.number, cell.overrides, "", False, (cell.fault,))
        dataset = self._load(cell.run)
        dataset.cells.append(cell.number)
        if dataset.task is None:
            faults = [] if cell.run.runtime.download else [dataset.fault]  # else the run may fetch it
            faults += self._find_files(cell.run, cell.number)
            return PlannedCell(cell.number, cell.overrides, "", False, tuple(faults))
        identity, stored, faults = _result(cell.run, dataset.task)
        asks, further = self._survey.asks(cell.run, dataset.task)
        for ask in asks:
            self._want(ask, cell.number, dataset.task.fingerprint, needed=not stored)
        if not stored:
            faults += [*further, *self._find_files(cell.run, cell.number)]
        told = tuple(dict.fromkeys(map(redact_text, faults)))
        return PlannedCell(cell.number, cell.overrides, identity, stored, told)

    def datasets(self) -> tuple[PlannedDataset, ...]:
        """The datasets in order of first use."""
        return tuple(
            PlannedDataset(
                found.task.name if found.task else type(found.settings[0]).__name__,
                len(found.task.items) if found.task else 0,
                len(found.task.queries) if found.task else 0,
                tuple(found.cells),
                found.fault,
            )
            for found in self._loaded
        )

    def stages(self, why: bool) -> tuple[PlannedStage, ...]:
        """The distinct stages in order of first use."""
        neighbours = Neighbours()
        return tuple(_stage(work, neighbours, why) for work in self._work.values())

    def lacks(self) -> tuple[Lack, ...]:
        """The files that are missing, each once."""
        return tuple(
            Lack(component, message, tuple(cells), ends) for (component, message, ends), cells in self._lacks.items()
        )

    def _load(self, run: Run) -> _Dataset:
        settings = (run.dataset, run.runtime.outputs, run.runtime.cache)
        for known in self._loaded:
            if known.settings == settings:
                return known
        try:
            found = _Dataset(settings, load(run.dataset, _offline(run)), "")
        except (ConfigError, DataError) as error:
            found = _Dataset(settings, None, redact_text(str(error)))
        self._loaded.append(found)
        return found

    def _want(self, ask: Ask, cell: int, fingerprint: str, needed: bool) -> None:
        stage = ask.stage
        name = (stage.root, stage.name, stage.key)
        if name not in self._work:
            self._work[name] = _Work(ask, lookup(stage))
        work = self._work[name]
        if cell not in work.cells:
            work.cells.append(cell)
        work.inputs.update(ask.inputs)
        if needed:
            work.needed.update(ask.inputs)
            work.unknown.update(f"{fingerprint}/{item_id}" for item_id in ask.unknown)
            work.until = work.until or ask.until

    def _find_files(self, run: Run, cell: int) -> list[str]:
        """Notes what a run's components lack, and returns that for which it ends."""
        ending = []
        for component, ends in _components(run):
            if isinstance(component, NeedsFiles):
                try:
                    component.find(_offline(run))
                except (ConfigError, DataError) as error:
                    message, fatal = redact_text(str(error)), ends and not run.runtime.download
                    cells = self._lacks.setdefault((type(component).__name__, message, fatal), [])
                    cells += [cell] if cell not in cells else []
                    ending += [message] if fatal else []
        return ending


def _offline(run: Run) -> Runtime:
    return replace(run.runtime, download=False)


def _result(run: Run, task: Task) -> tuple[str, bool, list[str]]:
    """Identity of a run's result, whether it is stored, and why it cannot be told or measured."""
    try:
        groupings_of(task, run.metrics, (Direction.t2v,))
        identity = Origin(trace(run, task), {}, {}).identity
        return identity, not run.rerun and find_stored(run, task, identity) is not None, []
    except (ConfigError, DataError) as error:
        return "", False, [str(error)]


def _components(run: Run) -> Iterator[tuple[object, bool]]:
    """What may need files, and whether a run ends at once where they are missing."""
    engine: Any = run.ocr if run.reads else None
    if isinstance(engine, Pair):
        yield from ((engine.first, True), (engine.second, False))
    elif engine is not None:
        yield engine, True
    yield from ((getattr(run, name), True) for name in run.channels)


def _stage(work: _Work, neighbours: Neighbours, why: bool) -> PlannedStage:
    stage: Stage[Any, Any] = work.ask.stage
    cached = {digest for digest in work.inputs if work.holds(digest)}
    todo, unknown = len(work.needed - cached), len(work.unknown)
    return PlannedStage(
        name=work.ask.name,
        component=work.ask.component,
        stage=stage.name,
        key=stage.key,
        cells=tuple(work.cells),
        inputs=len(work.inputs),
        cached=len(cached),
        todo=todo,
        unknown=unknown,
        until=work.until if unknown else "",
        seconds=neighbours.seconds(stage, todo + unknown) if todo + unknown else 0.0,
        has_folder=stage.folder.is_dir(),
        neighbour=neighbours.nearest(stage) if why and todo + unknown else None,
    )
