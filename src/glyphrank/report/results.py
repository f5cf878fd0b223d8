"""The store of results: `results/<identity>/`, one folder for everything that gives the same numbers.

A result is complete when its `checksums.json` is there and fits: it is written last, and every file is replaced whole.
Writing one twice is waste, not damage; a damaged one is made again.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path

import yaml

from glyphrank.errors import DataError
from glyphrank.identity import digest_file
from glyphrank.outcome import Report
from glyphrank.records import Direction, IntArray, Ranks
from glyphrank.report.ranks import write_ranked, write_ranks
from glyphrank.report.scores import copy_scores
from glyphrank.ties import TieRule
from glyphrank.trec import write_run
from glyphrank.whole_files import replace_whole

REPORT, RANKS, RUN, RANKED, CONFIG = "report.json", "ranks.csv", "run.trec", "ranked_10.json", "config.yaml"
FILES = (RANKS, RUN, RANKED)
"""What a result holds beside its report."""
CHECKSUMS, LOGGED = "checksums.json", "runs.jsonl"

logger = logging.getLogger(__name__)


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

    Args:
        wanted: names of further files that the result must have.
    """
    place = results / identity
    try:
        checksums = json.loads((place / CHECKSUMS).read_text(encoding="utf-8"))
        if not checksums.keys() >= set(wanted):
            return None
        damaged = [name for name in (REPORT, *FILES, *wanted) if digest_file(place / name) != checksums[name]]
        stored = json.loads((place / REPORT).read_text(encoding="utf-8"))
        report = Report(**{field.name: stored[field.name] for field in fields(Report)})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.warning("%s: the stored result is damaged (%s); it is made again", place, error)
        return None
    if damaged or report.identity != identity:
        logger.warning("%s: the stored result is damaged (%s); it is made again", place, ", ".join(damaged) or REPORT)
        return None
    return replace(report, notes=tuple(report.notes))


def keep(
    results: Path, report: Report, ranks: Mapping[Direction, Ranks], rule: TieRule, further: Iterable[str] = ()
) -> Path:
    """Writes a result and returns its folder.

    Args:
        further: names of files that lie in the folder already and belong to the result.

    Raises:
        DataError: the folder cannot be written; nothing half-written is left under a final name.
    """
    place = results / report.identity
    with _writing(place):
        place.mkdir(parents=True, exist_ok=True)
        replace_whole(place / RANKS, lambda path: write_ranks(path, ranks, rule))
        replace_whole(place / RUN, lambda path: write_run(path, ranks[Direction.t2v], "glyphrank"))
        replace_whole(place / RANKED, lambda path: write_ranked(path, ranks[Direction.t2v]))
        _write_report(place, report)
        checksums = {name: digest_file(place / name) for name in (REPORT, *FILES, *sorted(further))}
        replace_whole(place / CHECKSUMS, lambda path: path.write_text(json.dumps(checksums, indent=2) + "\n"))
    return place


def deliver(results: Path, report: Report, folder: Path, orders: Mapping[str, IntArray] | None = None) -> None:
    """Puts a stored result's files into a run's own folder, with this run's config.

    Args:
        orders: asks for the scores too, and for those with their columns in other orders: name of the file -> (n,)
            columns (`scores.orders_of`).

    Raises:
        DataError: the folder cannot be written.
    """
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            replace_whole(folder / name, partial(shutil.copyfile, results / report.identity / name))
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


def _write_report(place: Path, report: Report) -> None:
    config = yaml.safe_dump(dict(report.config), allow_unicode=True, sort_keys=False)
    replace_whole(place / CONFIG, lambda path: path.write_text(config, encoding="utf-8"))
    text = json.dumps(asdict(report), ensure_ascii=False, indent=2, allow_nan=False)
    replace_whole(place / REPORT, lambda path: path.write_text(text + "\n", encoding="utf-8"))


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"{place}: the result cannot be written ({error.strerror or error})") from error
