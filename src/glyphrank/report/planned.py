"""What a plan tells: cells, the distinct stages behind them, and what is still to be done; frozen records."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlannedCell:
    """One cell of a sweep.

    Attributes:
        number: counted from 0 in the order of the sweep.
        overrides: all of the cell's, secrets removed.
        identity: of its result; empty where it is not known, for the data or a file is not here.
        stored: whether its result is stored, so that nothing is worked on for it.
        faults: why it cannot be run as things stand.
    """

    number: int
    overrides: tuple[str, ...]
    identity: str
    stored: bool
    faults: tuple[str, ...]


@dataclass(frozen=True)
class PlannedDataset:
    """A dataset, loaded once for all cells that have equal settings of it.

    Attributes:
        name: of the task; of the component where it cannot be loaded.
        items, queries: how many; 0 where it cannot be loaded.
        cells: numbers of the cells that use it.
        fault: why it cannot be loaded, as a run would say it; empty where it can.
    """

    name: str
    items: int
    queries: int
    cells: tuple[int, ...]
    fault: str


@dataclass(frozen=True)
class Other:
    """A field of a recipe that another key has otherwise: its dotted name, its value here and there as JSON."""

    field: str
    here: str
    there: str


@dataclass(frozen=True)
class Neighbour:
    """The key of the same stage and class whose recipe has the fewest other fields."""

    key: str
    others: tuple[Other, ...]


@dataclass(frozen=True)
class PlannedStage:
    """One component's work in one stage, for all cells that share it.

    Attributes:
        name: what is made, such as `vectors of texts`.
        component: name of its class.
        stage, key: where its shards lie, `cache/<stage>/<key>/`.
        cells: numbers of the cells that use it.
        inputs: distinct inputs that are known; of these are
        cached: held by a shard, by what its first bytes say, and
        todo: to be worked on, for cells whose result is not stored.
        unknown: items whose inputs are known only when another stage has worked on them.
        until: what must happen to these first: `read` or `looked at`; empty where all is known.
        seconds: estimate for what is to be done, each unknown item taken for one input; None where no rate is known.
        has_folder: whether the key is known to the cache.
        neighbour: the nearest other key, where somebody asked why and something is to be done.
    """

    name: str
    component: str
    stage: str
    key: str
    cells: tuple[int, ...]
    inputs: int
    cached: int
    todo: int
    unknown: int
    until: str
    seconds: float | None
    has_folder: bool
    neighbour: Neighbour | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do, as far as can be known."""
        return not self.todo and not self.unknown


@dataclass(frozen=True)
class Lack:
    """Files that a component runs on and that are not here.

    Attributes:
        component: name of its class.
        message: what is missing, and what to do.
        cells: numbers of the cells that need it.
        ends: whether a run ends for it; it does not where the files may be fetched, or are not needed by every item.
    """

    component: str
    message: str
    cells: tuple[int, ...]
    ends: bool


@dataclass(frozen=True)
class Plan:
    """What a run or sweep would do.

    Attributes:
        stages: in the order in which they are first needed.
        notes: what a reader must know, in sentences.
        why: whether neighbours of stages with work were looked for.
    """

    cells: tuple[PlannedCell, ...]
    datasets: tuple[PlannedDataset, ...]
    stages: tuple[PlannedStage, ...]
    lacks: tuple[Lack, ...]
    notes: tuple[str, ...] = ()
    why: bool = False

    @property
    def seconds(self) -> float:
        """Estimate for all stages whose rate is known, one after the other in one process."""
        return sum(stage.seconds or 0.0 for stage in self.stages)

    @property
    def unrated(self) -> tuple[PlannedStage, ...]:
        """Stages with work for which no rate is known."""
        return tuple(stage for stage in self.stages if not stage.is_done and stage.seconds is None)

    @property
    def is_done(self) -> bool:
        """Whether all results are stored."""
        return all(cell.stored for cell in self.cells)

    @property
    def is_faulty(self) -> bool:
        """Whether a cell cannot be run as things stand."""
        return any(cell.faults for cell in self.cells)
