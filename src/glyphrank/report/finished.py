"""A finished run, read back from its folder or from its result: what a comparison needs, with nothing computed anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glyphrank.errors import DataError
from glyphrank.metrics import prefix
from glyphrank.outcome import Report
from glyphrank.records import Direction, Ranks
from glyphrank.report.queries import PerQuery, read_queries
from glyphrank.report.ranks import read_ranks
from glyphrank.report.results import QUERIES, RANKS, REPORT, read_report
from glyphrank.ties import TieRule


@dataclass(frozen=True)
class Finished:
    """A run with its numbers.

    Attributes:
        name: what a person calls it by.
        ranks: rebuilt by `read_ranks`: every metric as before, without the lists; items that are relevant to nothing
            have no name.
        queries: the same queries in the same order as in `ranks`.
    """

    name: str
    report: Report
    ranks: Mapping[Direction, Ranks]
    queries: Mapping[Direction, PerQuery]


def read_finished(folder: Path, name: str) -> Finished:
    """Reads `report.json`, `queries.csv` and `ranks.csv` of a folder.

    Raises:
        DataError: one of them is missing, damaged, of an older version, or does not belong to the others.
    """
    report = _report(folder / REPORT)
    queries = read_queries(folder / QUERIES)
    sizes = {Direction.t2v: report.counts["queries"], Direction.v2t: report.counts["items"]}
    wanted = {direction: size for direction, size in sizes.items() if f"{prefix(direction)}mean_rank" in report.metrics}
    lines = {direction: len(found.query_ids) for direction, found in queries.items()}
    if lines != wanted:
        raise DataError(
            f"{folder / QUERIES}: lines by direction are {_shown(lines)}; wanted {_shown(wanted)}, as {REPORT} says; "
            "one of them is damaged, run the experiment again"
        )
    galleries = {Direction.t2v: report.counts["items"], Direction.v2t: report.counts["queries"]}
    asking = {direction: found.query_ids for direction, found in queries.items()}
    ranks = read_ranks(folder / RANKS, asking, galleries)
    for direction, found in queries.items():
        _check_pairs(folder, ranks[direction], found)
    return Finished(name, report, ranks, queries)


def _report(path: Path) -> Report:
    try:
        report = read_report(path)
        if not report.evaluation:
            raise KeyError("evaluation")
        _check_report(report)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except KeyError as error:
        raise DataError(
            f"{path}: {error} is missing; an older version of glyphrank wrote it, run the experiment again"
        ) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: {error}; the file is damaged, run the experiment again") from error
    return report


def _check_report(report: Report) -> None:
    """Raises ValueError or KeyError where what a comparison reads of a report is not what it should be."""
    for name in ("queries", "items"):
        if not _whole(report.counts[name]):
            raise ValueError(f"counts.{name} is {report.counts[name]!r}; wanted a whole number")
    for name in ("metrics", "tags", "lineage", "choices", "config"):
        if not isinstance(getattr(report, name), Mapping):
            raise ValueError(f"{name} is {getattr(report, name)!r}; wanted names with values")
    odd = [name for name, value in report.metrics.items() if isinstance(value, bool | str) or not np.isreal(value)]
    if odd:
        raise ValueError(f"metrics.{odd[0]} is {report.metrics[odd[0]]!r}; wanted a number")
    protocol = report.evaluation["protocol"]
    if not isinstance(protocol, Mapping):
        raise ValueError(f"evaluation.protocol is {protocol!r}; wanted the fields of the protocol")
    if protocol["ties"] not in list(TieRule):
        raise ValueError(f"evaluation.protocol.ties is {protocol['ties']!r}; wanted one of {', '.join(TieRule)}")
    cutoffs = protocol["cutoffs"]
    if not isinstance(cutoffs, list) or not all(_whole(cutoff) and cutoff > 0 for cutoff in cutoffs):
        raise ValueError(f"evaluation.protocol.cutoffs is {cutoffs!r}; wanted whole numbers of at least 1")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(lines: Mapping[Direction, int]) -> str:
    return ", ".join(f"{direction} {count}" for direction, count in lines.items()) or "none"


def _check_pairs(folder: Path, ranks: Ranks, queries: PerQuery) -> None:
    """Whether the queries that have numbers are those that have a relevant item."""
    judged = np.zeros(len(queries.query_ids), dtype=np.bool_)
    judged[ranks.query] = True
    for name, values in queries.values.items():
        odd = np.flatnonzero(np.isnan(values) == judged)
        if len(odd):
            raise DataError(
                f"{folder}: {QUERIES} and {RANKS} disagree on query {queries.query_ids[odd[0]]!r} ({name}); one of "
                "them is damaged, run the experiment again"
            )
