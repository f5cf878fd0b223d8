"""`ranks.csv`: every relevant item with its rank and the limits of its tied group; `ranked_10.json`: lists."""

from __future__ import annotations

import csv
import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from glyphrank.errors import DataError
from glyphrank.metrics import bounds, evaluate, per_query
from glyphrank.records import Direction, Ranks
from glyphrank.report.ranks import HEADER, read_ranks, write_ranked, write_ranks
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
    assert lines == [",".join(HEADER), 't2v,"q, 1",p 9,2,1,2,true,1.0,2', 'v2t,"q, 1",p 9,2,1,2,true,1.0,2']
    assert HEADER[:7] == ("direction", "query_id", "item_id", "rank", "best_rank", "worst_rank", "retrieved")
    assert HEADER[7:] == ("gain", "rank_by_id")


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


def random_ranks(seed: int, queries: int = 40, items: int = 30) -> Ranks:
    """Graded, many relevant, with many ties, items that are not retrieved and queries without a relevant item."""
    random = np.random.default_rng(seed)
    scores = random.integers(0, 4, (queries, items)).astype(np.float64)
    scores[random.random(scores.shape) < 0.2] = MISS
    relevant = {
        f"질의 {query}, x": {f"p_{item}": float(random.choice([1, 2, 1 / 3, 0.1])) for item in random.choice(items, 3)}
        for query in range(0, queries, 2)
    }
    rows = {f"질의 {query}, x": list(scores[query]) for query in range(queries)}
    return rank(rows, [f"p_{item}" for item in range(items)], relevant)


def reread(path: Path, ranks: Ranks, rule: TieRule = TieRule.pessimistic) -> Ranks:
    write_ranks(path, {Direction.t2v: ranks}, rule)
    sizes = {Direction.t2v: len(ranks.item_ids)}
    return read_ranks(path, {Direction.t2v: ranks.query_ids}, sizes)[Direction.t2v]


@pytest.mark.parametrize("written", list(TieRule))
@pytest.mark.parametrize("seed", range(3))
def test_ranks_read_back_give_the_same_numbers_under_every_rule(
    tmp_path: Path, written: TieRule, seed: int
) -> None:  # case M01
    ranks = random_ranks(seed)
    found = reread(tmp_path / "ranks.csv", ranks, written)
    assert found.query_ids == ranks.query_ids
    assert len(found.item_ids) == len(ranks.item_ids)
    for name in ("query", "gain", "higher", "tied", "before", "retrieved"):
        np.testing.assert_array_equal(getattr(found, name), getattr(ranks, name), strict=True)
    assert [found.item_ids[item] for item in found.item] == [ranks.item_ids[item] for item in ranks.item]
    for rule in TieRule:
        own, wanted = per_query(found, (1, 2, 7, 50), rule), per_query(ranks, (1, 2, 7, 50), rule)
        assert list(own) == list(wanted)
        for name, values in wanted.items():
            np.testing.assert_array_equal(own[name], values, strict=True)
        assert evaluate(found, (1, 7), rule) == evaluate(ranks, (1, 7), rule)
        assert bounds(found, (1, 7), rule) == bounds(ranks, (1, 7), rule)


def test_ranks_of_odd_ids_read_back(tmp_path: Path) -> None:  # case M12
    odd = ["q, 1", 'say "yes"', "two\nlines", "cr\r", unicodedata.normalize("NFD", "한국어"), "0001", ""]
    ranks = rank({name: [1.0] * len(odd) for name in odd}, odd, {name: {name: 0.1} for name in odd})
    found = reread(tmp_path / "ranks.csv", ranks)
    assert found.query_ids == tuple(odd)
    assert [found.item_ids[item] for item in found.item] == odd
    assert found.gain.tolist() == [0.1] * len(odd)


def test_both_directions_are_rebuilt_and_a_gallery_has_its_size(tmp_path: Path) -> None:
    forward, backward = random_ranks(4), random_ranks(5, 20, 50)
    both = {Direction.t2v: forward, Direction.v2t: backward}
    write_ranks(tmp_path / "ranks.csv", both, TieRule.average)
    queries = {direction: ranks.query_ids for direction, ranks in both.items()}
    found = read_ranks(tmp_path / "ranks.csv", queries, {Direction.t2v: 30, Direction.v2t: 50})
    for direction, ranks in both.items():
        assert found[direction].direction is direction
        assert len(found[direction].item_ids) == len(ranks.item_ids)
        assert found[direction].item_ids[-1] == ""  # relevant to nothing
        assert not found[direction].truncated


LINE = "t2v,q,a,1,1,1,true,1.0,1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the header is []"),
        ("direction,query_id,item_id,rank,best_rank,worst_rank,retrieved\n", "the header is"),
        (f"{','.join(HEADER)}\nt2v,q,a,1\n", "row 2, ['t2v', 'q', 'a', '1']: not enough values"),
        (f"{','.join(HEADER)}\n{LINE.replace('true', 'yes')}\n", "row 2"),
        (f"{','.join(HEADER)}\n{LINE.replace('1.0', '0')}\n", "gain or places are impossible"),
        (f"{','.join(HEADER)}\n{LINE.replace('true,1.0,1', 'true,1.0,2')}\n", "gain or places are impossible"),
        (f"{','.join(HEADER)}\n{LINE.replace('q', 'other')}\n", "it names the query 'other', which is not among"),
        (f"{','.join(HEADER)}\nt2v,q,a,9,9,9,true,1.0,9\n", "the place 9 among 2 items"),
        (f"{','.join(HEADER)}\n{LINE.replace('t2v', 'v2t')}\n", "it holds the directions v2t; wanted t2v"),
        (f"{','.join(HEADER)}\n{LINE.replace('q', 'r')}\n{LINE}\n", "in another order"),
        (
            f"{','.join(HEADER)}\n{LINE}\n{LINE}\n",
            "'1.0', '1']: query and item stand in an earlier row",
        ),
        (f"{','.join(HEADER)}\n{LINE}\n{LINE.replace('a', 'b')}\n{LINE.replace('a', 'c')}\n", "it names 3 relevant"),
    ],
)
def test_ranks_that_are_damaged_or_of_an_older_version_are_refused(
    tmp_path: Path, text: str, message: str
) -> None:  # case C02
    (tmp_path / "ranks.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"ranks\.csv: .*run the experiment again") as caught:
        read_ranks(tmp_path / "ranks.csv", {Direction.t2v: ("q", "r")}, {Direction.t2v: 2})
    assert message in str(caught.value)


def test_ranks_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"ranks\.csv: cannot be read \(No such file"):
        read_ranks(tmp_path / "ranks.csv", {}, {})
