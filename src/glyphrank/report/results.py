"""The store of results: `results/<identity>/`, one folder for everything that gives the same numbers.

A result is complete when its `checksums.json` is there and fits: it is written last, and every file is replaced whole.
Writing one twice is waste, not damage; a damaged one is made again.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path

import yaml

from glyphrank.digests import digest_file
from glyphrank.errors import DataError
from glyphrank.last_values import LastValue
from glyphrank.outcome import Report
from glyphrank.records import Direction, IntArray, Ranks
from glyphrank.report.mteb import write_mteb
from glyphrank.report.queries import PerQuery, write_queries
from glyphrank.report.ranks import write_ranked, write_ranks
from glyphrank.report.scores import copy_scores
from glyphrank.ties import TieRule
from glyphrank.trec import write_qrels, write_run
from glyphrank.whole_files import replace_whole

REPORT, MTEB, CONFIG = "report.json", "mteb.json", "config.yaml"
RANKS, QUERIES, RUN, QRELS, RANKED = "ranks.csv", "queries.csv", "run.trec", "qrels.trec", "ranked_10.json"
FILES = (RANKS, QUERIES, RUN, QRELS, RANKED)
"""What a result holds beside what is written of the report."""
COMPARED = (REPORT, QUERIES, RANKS)
"""What a comparison reads (`finished`), and so what is fetched of a run that lies elsewhere."""
CHECKSUMS, LOGGED = "checksums.json", "runs.jsonl"

logger = logging.getLogger(__name__)

_last_config: LastValue[tuple[Mapping[str, object], str]] = LastValue()
_last_report: LastValue[tuple[Report, str]] = LastValue()
"""The texts of what was written last, which goes to several places."""


@dataclass(frozen=True)
class Result:
    """What of a run is kept.

    Attributes:
        ranks: of the run's own ranking, in every direction.
        queries: the same, query by query.
        relevant: query id -> {item id: gain}.
        ties: the rule of the shown ranks.
    """

    report: Report
    ranks: Mapping[Direction, Ranks]
    queries: Mapping[Direction, PerQuery]
    relevant: Mapping[str, Mapping[str, float]]
    ties: TieRule


def folder(place: Path) -> Path:
    """A folder of the store, made if it is not there; a DataError where it cannot be."""
    with _writing(place):
        place.mkdir(parents=True, exist_ok=True)
    return place


def any_stored(results: Path) -> bool:
    """Whether there is any result that a run might take instead of measuring."""
    return next(results.glob(f"*/{CHECKSUMS}"), None) is not None


def find(results: Path, identity: str, wanted: Iterable[str] = ()) -> Report | None:
    """The stored report, None when there is none or a file of the result is damaged (it is then made again).

    A result of an older version, which lacks files or fields of today's, is made again without a word.

    Args:
        wanted: names of further files that the result must have.
    """
    place = results / identity
    try:
        checksums = json.loads((place / CHECKSUMS).read_text(encoding="utf-8"))
        if not checksums.keys() >= {REPORT, MTEB, *FILES, *wanted}:
            return None
        names = (REPORT, MTEB, *FILES, *wanted)
        damaged = [name for name in names if digest_file(place / name) != checksums[name]]
        report = None if damaged else read_report(place / REPORT)
    except (FileNotFoundError, KeyError):
        return None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        logger.warning("%s: the stored result is damaged (%s); it is made again", place, error)
        return None
    if report is None or report.identity != identity:
        logger.warning("%s: the stored result is damaged (%s); it is made again", place, ", ".join(damaged) or REPORT)
        return None
    return report


def read_report(path: Path) -> Report:
    """The report of a `report.json`.

    Raises:
        OSError: it cannot be read; KeyError: it lacks a field, as one of an older version does; ValueError, TypeError,
            AttributeError: it is no report.
    """
    stored = json.loads(path.read_text(encoding="utf-8"))
    report = Report(**{field.name: stored[field.name] for field in fields(Report)})
    return replace(
        report,
        notes=tuple(report.notes),
        changed=tuple(report.changed),
        bounds=_limits(report.bounds),
        intervals=_limits(report.intervals),
        slice_intervals={
            field: {value: _limits(found) for value, found in values.items()}
            for field, values in report.slice_intervals.items()
        },
    )


def keep(results: Path, result: Result, further: Iterable[str] = ()) -> Path:
    """Writes a result and returns its folder.

    Args:
        further: names of files that lie in the folder already and belong to the result. Others of a former one stay
            its own where all its usual files come out the same and they lie there as they were.

    Raises:
        DataError: the folder cannot be written; nothing half-written is left under a final name.
    """
    place, forward = results / result.report.identity, result.ranks[Direction.t2v]
    with _writing(place):
        place.mkdir(parents=True, exist_ok=True)
        _replace(place / RANKS, lambda path: write_ranks(path, result.ranks, result.ties))
        _replace(place / QUERIES, lambda path: write_queries(path, result.queries))
        _replace(place / RUN, lambda path: write_run(path, forward, "glyphrank"))
        _replace(place / QRELS, lambda path: write_qrels(path, result.relevant))
        _replace(place / RANKED, lambda path: write_ranked(path, forward))
        _write_report(place, result.report)
        checksums = {name: digest_file(place / name) for name in (REPORT, MTEB, *FILES, *sorted(further))}
        checksums |= _still_there(place, checksums)
        _replace(place / CHECKSUMS, lambda path: path.write_text(json.dumps(checksums, indent=2) + "\n"))
    return place


def config_text(config: Mapping[str, object]) -> str:
    """A resolved configuration as `config.yaml` holds it. The very same mapping is taken to be unchanged."""
    _last_config.keep_if(lambda last: last[0] is config)
    _, text = _last_config.get("config", lambda: (config, _yaml_text(config)))
    return text


def deliver(results: Path, report: Report, folder: Path, orders: Mapping[str, IntArray] | None = None) -> None:
    """Puts a stored result's files into a run's own folder; those that are written of the report are of this very run.

    Args:
        orders: asks for the scores too, and for those with their columns in other orders: name of the file -> (n,)
            columns (`scores.orders_of`).

    Raises:
        DataError: the folder cannot be written.
    """
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            _replace(folder / name, partial(shutil.copyfile, results / report.identity / name))
        if orders is not None:
            copy_scores(results / report.identity, folder, orders)
        _write_report(folder, report)


def remember_run(results: Path, identity: str, entry: Mapping[str, str]) -> None:
    """Appends to `runs.jsonl` where a run with this result was logged: store, experiment, run id.

    A line that cannot be written costs a line, not the run.
    """
    try:
        with (results / identity / LOGGED).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(dict(entry), ensure_ascii=False) + "\n")
    except OSError as error:
        logger.warning("%s: cannot be written (%s)", results / identity / LOGGED, error.strerror or error)


def _still_there(place: Path, checksums: Mapping[str, str]) -> dict[str, str]:
    """Further files of the former result with their checksums, where that had the same numbers."""
    try:
        former = json.loads((place / CHECKSUMS).read_text(encoding="utf-8"))
        if any(former[name] != checksums[name] for name in FILES):
            return {}
        more = {name: digest for name, digest in former.items() if name not in checksums and (place / name).is_file()}
        return {name: digest for name, digest in more.items() if digest_file(place / name) == digest}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _limits(stored: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """Pairs of numbers, which JSON holds as lists."""
    return {name: (first, second) for name, (first, second) in stored.items()}


def _write_report(place: Path, report: Report) -> None:
    _last_report.keep_if(lambda last: last[0] is report)
    _, text = _last_report.get("report", lambda: (report, _report_text(report)))
    _replace(place / CONFIG, lambda path: path.write_text(config_text(report.config), encoding="utf-8"))
    _replace(place / MTEB, lambda path: write_mteb(path, report))
    _replace(place / REPORT, lambda path: path.write_text(text, encoding="utf-8"))


def _yaml_text(config: Mapping[str, object]) -> str:
    return str(yaml.safe_dump(dict(config), allow_unicode=True, sort_keys=False))


def _report_text(report: Report) -> str:
    return json.dumps(asdict(report), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


_replace = partial(replace_whole, durable=False)
"""Nothing here waits for the disk, which takes longer than all else: what a power cut tears has no right checksum."""


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"{place}: the result cannot be written ({error.strerror or error})") from error
