"""A run to be reproduced: found with what it left behind; what is otherwise now; whether it came out the same."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glyphrank.errors import ConfigError, DataError
from glyphrank.ids import SHORTEST, is_beginning, nfc
from glyphrank.outcome import Report
from glyphrank.records import Ranks
from glyphrank.report.agreement import Agreement, Number, Verdict
from glyphrank.report.cells import CELLS, shown_folder
from glyphrank.report.environment import ENVIRONMENT, read_environment
from glyphrank.report.finished import Finished, read_finished
from glyphrank.report.results import CHECKSUMS, REPORT
from glyphrank.ties import is_rank

TOLERANCE = 0.001
"""One unit of the last place that tables show.

Another device, batch size or number of threads changes the last bits of vectors, and with them the order of items whose
scores are nearly equal. That moves few queries by one place each; what moves more has another cause.
"""
_DIGEST = 12
_MOST_SHOWN = 8
_NOT_OF_COMPONENTS = ("dataset", "sources")
_WAYS = ("device", "batch_size")
_HARDWARE = ("python", "platform", "cpu", "device", "gpus", "cuda", "torch_threads", "threads", "blas")

logger = logging.getLogger("glyphrank")

Environment = Mapping[str, Any]


@dataclass(frozen=True)
class Original:
    """The run that is reproduced.

    Attributes:
        environment: what it ran on; empty where nobody knows.
        reference: its id in MLflow, or the identity of its result.
    """

    finished: Finished
    environment: Environment
    reference: str


def find_original(name: str, outputs: Path | None = None, store: str | None = None) -> Original:
    """A finished run: by its folder, by the beginning of its result's identity, or else in MLflow by that of its id.

    Args:
        outputs: folder of outputs; None: as the surroundings have it.
        store: MLflow's; None: that of `outputs` where it is given, else as the surroundings have it.

    Raises:
        ConfigError: there is none, or several; DataError: it has not finished, or its files are damaged or gone.
    """
    place = outputs or Path(os.environ.get("GLYPHRANK_OUTPUTS") or "outputs")
    folder = _folder(name, place)
    if folder is not None:
        return _original(folder, shown_folder(folder), None)
    from glyphrank.tracking.existing import local_store

    surroundings = None if outputs else os.environ.get("MLFLOW_TRACKING_URI")  # what is typed wins
    return _from_store(name, store or surroundings or local_store(place), place / "results")


def agreement(then: Finished, now: Finished, tolerance: float = TOLERANCE) -> Agreement:
    """Holds the second run's numbers and ranks against the first's.

    Args:
        tolerance: by how much a fraction may differ; a rank, which has no upper end, by this share of itself.
    """
    old, new = dict(_numbers(then.report)), dict(_numbers(now.report))
    names = dict.fromkeys([*old, *new])
    found = [_number(name, old.get(name), new.get(name), tolerance) for name in names]
    asked = moved = unshared = 0
    for way in dict.fromkeys([*then.ranks, *now.ranks]):
        before = _places(then.ranks[way]) if way in then.ranks else {}
        after = _places(now.ranks[way]) if way in now.ranks else {}
        both = before.keys() & after.keys()
        asked += len(both)
        moved += sum(before[query] != after[query] for query in both)
        unshared += len(before.keys() ^ after.keys())
    return Agreement(tuple(found), tolerance, asked, moved, unshared)


def differing_content(
    then: Report,
    lineage: Mapping[str, str],
    packages: Mapping[str, Collection[str]],
    old: Environment,
    new: Environment,
) -> list[str]:
    """What goes into the numbers and is otherwise now: code, data, components with their weights, packages.

    Args:
        lineage: stage -> fingerprint or key, now.
        packages: stage -> packages that are part of its key.
        old, new: environments of then (empty where the run left none) and now.
    """
    told = []
    if then.lineage.get("sources") != lineage.get("sources"):
        told.append(f"code: {_code(old, new)}")
    if then.lineage.get("dataset") != lineage.get("dataset"):
        told.append(f"data: {_changed(then.lineage.get('dataset'), lineage.get('dataset'))}")
    changed = _changed_packages(old, new)
    explained: set[str] = set()
    for stage in dict.fromkeys([*then.lineage, *lineage]):
        if stage not in _NOT_OF_COMPONENTS and then.lineage.get(stage) != lineage.get(stage):
            own = sorted(set(packages.get(stage, ())) & changed.keys())
            explained |= set(own)
            why = ", ".join(f"{name} {changed[name]}" for name in own) or _unexplained(old)
            told.append(f"{stage}: {_changed(then.lineage.get(stage), lineage.get(stage))}; {why}")
    rest = [f"{name} {how}" for name, how in changed.items() if name not in explained]
    if rest:
        more = [f"{len(rest) - _MOST_SHOWN} more"] if len(rest) > _MOST_SHOWN else []
        told.append(f"packages: {', '.join([*rest[:_MOST_SHOWN], *more])}")
    if not old:
        told.append("packages and hardware of then are not known: the run left no record of its environment")
    return told


def differing_hardware(old: Environment, new: Environment) -> list[str]:
    """On what it ran and runs; what only one of the environments knows is left out."""
    return [
        f"{name.replace('_', ' ')}: {_shown(old[name])} then, {_shown(new[name])} now"
        for name in _HARDWARE
        if old.get(name) is not None and new.get(name) is not None and old[name] != new[name]
    ]


def differing_ways(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """How the configurations have the models work, where that may change last bits."""
    was, now = (config.get("runtime") or {} for config in (old, new))
    return [
        f"runtime.{name}: {was.get(name)} then, {now.get(name)} now" for name in _WAYS if was.get(name) != now.get(name)
    ]


def _numbers(report: Report) -> Iterator[tuple[str, float]]:
    yield from report.metrics.items()
    for channel, metrics in report.channels.items():
        yield from ((f"channel/{channel}/{name}", value) for name, value in metrics.items())


def _number(name: str, then: float | None, now: float | None, tolerance: float) -> Number:
    if then is None or now is None:
        return Number(name, then, now, Verdict.different)
    if then == now:
        return Number(name, then, now, Verdict.equal)
    most = tolerance * max(abs(then), abs(now)) if is_rank(name) else tolerance
    return Number(name, then, now, Verdict.within if abs(then - now) <= most else Verdict.different)


def _places(ranks: Ranks) -> dict[str, list[tuple[str, int, int, int, bool]]]:
    """Asker -> where each of its relevant items stands; ids in NFC."""
    found: dict[str, list[tuple[str, int, int, int, bool]]] = {nfc(query): [] for query in ranks.query_ids}
    columns = (ranks.query, ranks.item, ranks.higher, ranks.tied, ranks.before, ranks.retrieved)
    for query, item, *spot, retrieved in zip(*(column.tolist() for column in columns), strict=True):
        higher, tied, before = spot
        place = (nfc(ranks.item_ids[item]), higher, tied, before, retrieved)
        found[nfc(ranks.query_ids[query])].append(place)
    return {query: sorted(places) for query, places in found.items()}


def _code(old: Environment, new: Environment) -> str:
    was, now = old.get("glyphrank") or {}, new.get("glyphrank") or {}
    if was.get("sources") == now.get("sources") and was:
        return "the sources of a plug-in have changed; glyphrank's own have not"
    commits = _changed(was.get("commit"), now.get("commit"))
    return f"the sources have changed (commit {commits})" if was.get("commit") else "the sources have changed"


def _changed(then: object, now: object) -> str:
    old, new = (str(value)[:_DIGEST] if value else "none" for value in (then, now))
    return f"{old} then, {new} now"


def _changed_packages(old: Environment, new: Environment) -> dict[str, str]:
    """Package -> how its version has changed, where both environments or one of them have it."""
    was, now = old.get("packages") or {}, new.get("packages") or {}
    if not was:
        return {}
    differ = [name for name in sorted({*was, *now}) if was.get(name) != now.get(name)]
    return {name: f"{was.get(name, 'absent')} then, {now.get(name, 'absent')} now" for name in differ}


def _unexplained(old: Environment) -> str:
    if not old:
        return "a package of it, its files (weights) or its code"
    return "none of its packages has changed, so its files (weights) or its code have"


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {entry}" for name, entry in value.items()) or "none"
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


def _folder(name: str, outputs: Path) -> Path | None:
    """The folder of a run or of a stored result; None for what may be an id of MLflow."""
    results = outputs / "results"
    if Path(name).is_dir():
        folder = Path(name)
        if (folder / CELLS).is_dir() and not (folder / REPORT).is_file():
            cells = ", ".join(sorted(str(path.parent) for path in folder.glob(f"*/{REPORT}")))
            raise ConfigError(
                f"{folder} is the folder of a sweep; name one of its cells: {cells or 'none has finished'}"
            )
        return folder
    if not is_beginning(name):
        raise ConfigError(
            f"there is no folder {name!r}; wanted a run's folder, or at least {SHORTEST} characters of an id of MLflow "
            f"or of an identity in {results}"
        )
    stored = sorted(path.parent for path in results.glob(f"{name}*/{CHECKSUMS}"))
    if len(stored) > 1:
        raise ConfigError(f"{name!r} begins {len(stored)} identities: {', '.join(path.name for path in stored[:5])}")
    return stored[0] if stored else None


def _from_store(run_id: str, store: str, results: Path) -> Original:
    """A run of MLflow; where its files cannot be had of the store, from its stored result, if that is here."""
    from glyphrank.tracking.reading import fetch

    with tempfile.TemporaryDirectory(prefix="glyphrank-") as scratch:
        runs = fetch(store, Path(scratch), None, [run_id], (ENVIRONMENT,))
        if len(runs) > 1:
            cells = ", ".join(f"{run.run_id} ({run.name})" for run in runs)
            raise ConfigError(f"{run_id!r} is a sweep of {len(runs)} cells; name one of them: {cells}")
        (run,) = runs
        if run.folder is not None:
            return _original(run.folder, run.name, run.run_id)
    kept = results / run.tags.get("identity", "unknown")
    if not (kept / REPORT).is_file():
        raise DataError(f"run {run.run_id} ({run.name}) cannot be reproduced: {run.lacks}")
    logger.warning("run %s: %s; taken from %s", run.run_id, run.lacks, kept)
    return _original(kept, run.name, run.run_id)


def _original(folder: Path, name: str, run_id: str | None) -> Original:
    finished = read_finished(folder, name)
    return Original(finished, read_environment(folder) or {}, run_id or finished.report.identity)
