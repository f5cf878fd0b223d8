"""`ranks.csv`: every relevant item with its rank and the limits of its tied group; `ranked_10.json`: lists."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from glyphrank.records import Direction, Ranks
from glyphrank.report.ranks import HEADER, write_ranked, write_ranks
from glyphrank.ties import TieRule
from ranked import MISS, rank


def _rows(folder: Path, ranks: Ranks, rule: TieRule) -> list[dict[str, str]]:
    write_ranks(folder / "ranks.csv", {Direction.t2v: ranks}, rule)
    with (folder / "ranks.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize(
    ("rule", "b", "d"),
    [
        ("pessimistic", "4", "5"),
        ("optimistic", "3", "2"),
        ("document_id", "5", "3"),
        ("average", "3.5", "3.5"),
        ("textvr", "3.5", "3.5"),
    ],
)
def test_limits_are_those_of_the_tied_group_under_every_rule(tmp_path: Path, rule: str, b: str, d: str) -> None:
    """b, c, d and e are level below a; b and d are relevant, d more so; f is not retrieved."""
    ranks = rank({"q": [9.0, 5, 5, 5, 5, MISS, 1]}, "abcdefg", {"q": {"b": 1, "d": 3, "f": 1, "g": 1, "a": 1}})
    table = {row["item_id"]: row for row in _rows(tmp_path, ranks, TieRule(rule))}
    shown = {item: (row["best_rank"], row["rank"], row["worst_rank"]) for item, row in table.items()}
    assert shown == {
        "a": ("1", "1", "1"),
        "b": ("2", b, "5"),
        "d": ("2", d, "5"),
        "f": ("7", "7", "7"),
        "g": ("6", "6", "6"),
    }
    assert {item: row["retrieved"] for item, row in table.items()} == {**dict.fromkeys("abdg", "true"), "f": "false"}


def test_columns_stand_in_the_order_of_the_header_and_ids_as_published(tmp_path: Path) -> None:
    ranks = rank({"q, 1": [1.0, 1.0]}, ["p 9", "x"], {"q, 1": {"p 9": 1}})
    write_ranks(tmp_path / "ranks.csv", {Direction.t2v: ranks, Direction.v2t: ranks}, TieRule.document_id)
    lines = (tmp_path / "ranks.csv").read_text(encoding="utf-8").splitlines()
    assert lines == [",".join(HEADER), 't2v,"q, 1",p 9,2,1,2,true', 'v2t,"q, 1",p 9,2,1,2,true']
    assert HEADER == ("direction", "query_id", "item_id", "rank", "best_rank", "worst_rank", "retrieved")


def test_ranked_lists_hold_the_first_ids_as_published_best_first(tmp_path: Path) -> None:
    items = [f"자료/보고서 (1)_{number}" for number in range(1, 13)]
    falling = [float(-number) for number in range(12)]
    rows = {"q, 1": falling, "q%2": falling[::-1], "q3": [MISS] * 12}
    path = tmp_path / "ranked_10.json"
    write_ranked(path, rank(rows, items, {"q, 1": {items[0]: 1}}, depth=100))
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "q, 1": items[:10],
        "q%2": items[:1:-1],
        "q3": [],
    }
    assert "보고서" in path.read_text(encoding="utf-8")


def test_ranked_lists_leave_out_what_was_not_retrieved_and_put_equal_scores_by_id_descending(tmp_path: Path) -> None:
    path = tmp_path / "ranked_10.json"
    write_ranked(path, rank({"q": [1.0, MISS, 1.0, 2.0]}, ["p_10", "x", "p_9", "a"], {"q": {"x": 1}}), depth=2)
    assert json.loads(path.read_text(encoding="utf-8")) == {"q": ["a", "p_9"]}
    write_ranked(path, rank({"q": [1.0, MISS, 1.0, 2.0]}, ["p_10", "x", "p_9", "a"], {"q": {"x": 1}}))
    assert json.loads(path.read_text(encoding="utf-8")) == {"q": ["a", "p_9", "p_10"]}
