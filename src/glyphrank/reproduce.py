"""A run to be reproduced: found with what it left behind, whole; and whether it came out the same."""

from __future__ import annotations

import json
import logging
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from glyphrank.compare import counted_anew
from glyphrank.digests import digest_file
from glyphrank.errors import ConfigError, DataError
from glyphrank.ids import SHORTEST, is_beginning, nfc
from glyphrank.outcome import Report
from glyphrank.records import Ranks
from glyphrank.report.agreement import Agreement, Number, Verdict
from glyphrank.report.cells import CELLS, shown_folder
from glyphrank.report.changes import Environment
from glyphrank.report.environment import ENVIRONMENT, read_environment
from glyphrank.report.finished import Finished, read_finished
from glyphrank.report.results import CHECKSUMS, FILES, MTEB, REPORT
from glyphrank.ties import is_rank

TOLERANCE = 0.001
"""One unit of the last place that tables show.

Another device, batch size or number of threads changes the last bits of vectors, and with them the order of items whose
scores are nearly equal. That moves few queries by one place each; what moves more has another cause.
"""
_MOST_NAMED = 10
_SCRATCH = ".reproduce-"
_OWNER = "process.json"
_ABANDONED = 7 * 86_400.0
"""Seconds after which a scratch folder is nobody's, of whose process nothing can be told."""

logger = logging.getLogger("glyphrank")


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


@contextmanager
def scratch_folder(outputs: Path) -> Iterator[Path]:
    """A folder below `outputs` for the block; what reproductions left there whose processes were killed is removed.

    Raises:
        OSError: it cannot be made.
    """
    from glyphrank.tracking.processes import own_process

    for folder in outputs.glob(f"{_SCRATCH}*"):
        if _is_left(folder):
            shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=outputs, prefix=_SCRATCH) as name:
        owner = {"host": socket.gethostname(), "process": own_process()}
        (Path(name) / _OWNER).write_text(json.dumps(owner), encoding="utf-8")
        yield Path(name)


def _is_left(folder: Path) -> bool:
    """Whether the process that made a scratch folder is dead, or, where that cannot be told, long past."""
    from glyphrank.tracking.processes import Life, life_of

    life = Life.unknown
    with suppress(OSError, ValueError, TypeError, KeyError):
        owner = json.loads((folder / _OWNER).read_text(encoding="utf-8"))
        life = life_of(str(owner["host"]), str(owner["process"]))
    if life is not Life.unknown:
        return life is Life.dead
    with suppress(OSError):
        return time.time() - folder.stat().st_mtime > _ABANDONED
    return False


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
        if not (folder / REPORT).is_file():
            _refuse_folder_of_runs(folder)
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


def _refuse_folder_of_runs(folder: Path) -> None:
    for inside in ("runs/*/*", "*", "*/*", "*/*/*", "sweeps/*/*/*"):
        found = sorted((str(path.parent) for path in folder.glob(f"{inside}/{REPORT}")), reverse=True)
        if found:
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            raise ConfigError(
                f"{folder} is no run; name one of the {len(found)} that lie in it: "
                f"{', '.join(found[:_MOST_NAMED])}{more}"
            )


def _from_store(run_id: str, store: str, results: Path) -> Original:
    """A run of MLflow; where its files cannot be had of the store, from its stored result, if that is here."""
    from glyphrank.tracking.reading import fetch

    with tempfile.TemporaryDirectory(prefix="glyphrank-") as scratch:
        runs = fetch(store, Path(scratch), None, [run_id], (ENVIRONMENT,))
        if len(runs) > 1:
            cells = ", ".join(f"{run.run_id} ({run.name})" for run in runs)
            raise ConfigError(f"{run_id!r} is a sweep of {len(runs)} cells; name one of them: {cells}")
        (run,) = runs
        lacks = run.lacks
        if run.folder is not None:
            try:
                return _original(run.folder, run.name, run.run_id)
            except DataError as error:
                told = str(error).replace(f"{run.folder}{os.sep}", "").replace(f"{run.folder}: ", "")
                lacks = f"its files in the store: {told}"
    kept = results / run.tags.get("identity", "unknown")
    if not (kept / REPORT).is_file():
        raise DataError(f"run {run.run_id} ({run.name}) cannot be reproduced: {lacks}")
    try:
        original = _original(kept, run.name, run.run_id)
    except DataError as error:
        raise DataError(f"run {run.run_id} ({run.name}) cannot be reproduced: {lacks}; {error}") from error
    logger.warning("run %s: %s; taken from %s", run.run_id, lacks, kept)
    return original


def _original(folder: Path, name: str, run_id: str | None) -> Original:
    """The run of a folder.

    Raises:
        DataError: its files are not as they were written, or do not go together.
    """
    damaged = _damaged(folder)
    if damaged:
        raise DataError(
            f"the stored run {name!r} is damaged: {', '.join(damaged)} in {folder}; run the experiment again with "
            "rerun=true"
        )
    finished = read_finished(folder, name)
    try:
        counted_anew(finished)
    except DataError as error:
        raise DataError(f"the stored {str(error).removeprefix('the ')}") from error
    return Original(finished, read_environment(folder) or {}, run_id or finished.report.identity)


def _damaged(folder: Path) -> list[str]:
    """Names of a stored result's files that are gone, or not what they were; none for a run's own folder."""
    if not (folder / CHECKSUMS).is_file():
        return []
    try:
        sums = json.loads((folder / CHECKSUMS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        sums = None
    if not isinstance(sums, dict) or REPORT not in sums:
        return [CHECKSUMS]
    names = [name for name in (REPORT, MTEB, *FILES) if name in sums]
    return [name for name in names if not (folder / name).is_file() or digest_file(folder / name) != sums[name]]
