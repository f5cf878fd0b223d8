"""A finished run read back: its numbers come out of its files again, and files that do not fit are refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from glyphrank.errors import DataError
from glyphrank.metrics import per_query
from glyphrank.records import Direction, Ranks
from glyphrank.report.finished import read_finished
from glyphrank.report.queries import write_queries
from glyphrank.report.ranks import write_ranks
from glyphrank.ties import TieRule
from per_query import assert_same_tables, table_of
from ranked import MISS, rank
from tracked_runs import report_with

RANKS = rank({"q1": [3.0, 2, 2], "q2": [1.0, 1, MISS], "none": [1.0, 2, 3]}, "abc", {"q1": {"b": 1}, "q2": {"c": 2}})
REPORT = report_with(
    metrics={"mean_rank": 3.0},
    counts={"queries": 3, "items": 3},
    evaluation={"queries": "d", "protocol": {"ties": "pessimistic", "cutoffs": [1, 5]}},
    intervals={"mean_rank": (3.0, 3.0)},
)


def folder_of(place: Path, ranks: Ranks = RANKS) -> Path:
    place.mkdir(exist_ok=True)
    text = json.dumps(asdict(REPORT), ensure_ascii=False)
    (place / "report.json").write_text(text, encoding="utf-8")
    write_ranks(place / "ranks.csv", {Direction.t2v: ranks}, TieRule.pessimistic)
    write_queries(place / "queries.csv", {Direction.t2v: table_of(ranks)})
    return place


def test_a_finished_run_is_what_it_was(tmp_path: Path) -> None:
    found = read_finished(folder_of(tmp_path), "낱말 1")
    assert (found.name, found.report) == ("낱말 1", REPORT)
    assert_same_tables(found.queries, {Direction.t2v: table_of(RANKS)})
    own = found.ranks[Direction.t2v]
    assert own.query_ids == found.queries[Direction.t2v].query_ids == RANKS.query_ids
    for rule in TieRule:
        for name, values in per_query(RANKS, (1, 5), rule).items():
            np.testing.assert_array_equal(per_query(own, (1, 5), rule)[name], values, strict=True)


@pytest.mark.parametrize("name", ["report.json", "ranks.csv", "queries.csv"])
@pytest.mark.parametrize("damage", ["missing", "cut", "empty"])
def test_a_file_that_is_missing_or_damaged_is_named(tmp_path: Path, name: str, damage: str) -> None:  # case C02
    path = folder_of(tmp_path) / name
    text = path.read_text(encoding="utf-8")
    path.unlink()
    if damage != "missing":
        path.write_text(text[: len(text) // 2] if damage == "cut" else "", encoding="utf-8")
    with pytest.raises(DataError, match=name):
        read_finished(tmp_path, "x")


def test_a_table_cut_at_the_end_of_a_line_is_refused(tmp_path: Path) -> None:
    path = folder_of(tmp_path) / "queries.csv"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    with pytest.raises(DataError, match=r"lines by direction are t2v 2; wanted t2v 3, as report\.json says"):
        read_finished(tmp_path, "x")
    path = folder_of(tmp_path) / "ranks.csv"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    with pytest.raises(DataError, match=r"queries\.csv and ranks\.csv disagree on query 'q2'"):
        read_finished(tmp_path, "x")


@pytest.mark.parametrize("lacks", ["evaluation", "intervals"])
def test_a_report_of_an_older_version_is_told_from_a_damaged_one(tmp_path: Path, lacks: str) -> None:
    path = folder_of(tmp_path) / "report.json"
    report = json.loads(path.read_text(encoding="utf-8"))
    del report[lacks]
    path.write_text(json.dumps(report), encoding="utf-8")
    with pytest.raises(DataError, match=f"'{lacks}' is missing; an older version"):
        read_finished(tmp_path, "x")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("counts", {"queries": 3, "items": "3"}, r"counts\.items is '3'; wanted a whole number"),
        ("counts", {"queries": 3.5, "items": 3}, r"counts\.queries is 3\.5; wanted a whole number"),
        ("metrics", {"mean_rank": "3.0"}, r"metrics\.mean_rank is '3\.0'; wanted a number"),
        ("tags", ["random"], r"tags is \['random'\]; wanted names with values"),
        ("evaluation", {"protocol": None}, r"evaluation\.protocol is None"),
        ("evaluation", {"queries": "d"}, "'protocol' is missing; an older version"),
        ("evaluation", {"protocol": {"ties": "pessimistic"}}, "'cutoffs' is missing; an older version"),
        ("evaluation", {"protocol": {"ties": "typo", "cutoffs": [1]}}, "ties is 'typo'; wanted one of pessimistic, "),
        (
            "evaluation",
            {"protocol": {"ties": "average", "cutoffs": ["a"]}},
            r"cutoffs is \['a'\]; wanted whole",
        ),
        ("evaluation", {"protocol": {"ties": "average", "cutoffs": 10}}, "cutoffs is 10; wanted whole numbers"),
    ],
)
def test_what_a_comparison_reads_of_a_report_is_checked(
    tmp_path: Path, field: str, value: object, message: str
) -> None:  # case C02
    path = folder_of(tmp_path) / "report.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**stored, field: value}), encoding="utf-8")
    with pytest.raises(DataError, match=rf"report\.json: .*{message}.*run the experiment again"):
        read_finished(tmp_path, "x")


@pytest.mark.parametrize("text", ["[]", "7", "{", '{"identity": 1}'])
def test_a_report_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (folder_of(tmp_path) / "report.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"report\.json: .*run the experiment again"):
        read_finished(tmp_path, "x")
