"""Rankings made elsewhere: intervals, tails, every tie rule side by side, and what the order of ties decides."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.errors import DataError
from glyphrank.metrics import evaluate
from glyphrank.score import score
from glyphrank.significance import wilson
from glyphrank.ties import TieRule
from glyphrank.trec import write_qrels, write_run
from ranked import rank

Relevant = Mapping[str, Mapping[str, float]]


def _scored(
    folder: Path, lines: Sequence[str], relevant: Relevant, ties: TieRule = TieRule.pessimistic, **more: Any
) -> Any:
    """Scores of lines that name query, item and score."""
    columns = [line.split() for line in lines]
    text = "".join(f"{query} Q0 {item} 0 {value} t\n" for query, item, value in columns)
    (folder / "run.trec").write_text(text, encoding="utf-8")
    write_qrels(folder / "qrels.trec", relevant)
    return score(folder / "run.trec", folder / "qrels.trec", (1,), ties, **more)


def _alone(folder: Path, hits: int, misses: int, **more: Any) -> Any:
    """As many queries as that, each with an item of its own, first or second in a list of two."""
    every = range(hits + misses)
    lines = [f"q{n} i{n} {2 if n < hits else 0}" for n in every] + [f"q{n} x 1" for n in every]
    return _scored(folder, lines, {f"q{n}": {f"i{n}": 1} for n in every}, **more)


def test_a_hit_rate_of_queries_that_share_nothing_has_wilsons_interval(tmp_path: Path) -> None:
    result = _alone(tmp_path, hits=12, misses=8)
    for name in ("hit_rate_at_1", "recall_at_1", "ndcg_at_1"):
        assert result["intervals"][name] == pytest.approx(wilson(12, 20))
    assert result["intervals"].keys() == result["metrics"].keys()
    assert "groups" not in result["counts"]


def test_every_metric_lies_within_its_interval(tmp_path: Path) -> None:
    result = _alone(tmp_path, hits=12, misses=8)
    for name, value in result["metrics"].items():
        low, high = result["intervals"][name]
        assert low <= value <= high, name


def test_queries_that_share_an_item_are_taken_together_unless_told_otherwise(tmp_path: Path) -> None:
    lines = [f"q{n} i{n // 2} {2 if n < 20 else 0}" for n in range(40)] + [f"q{n} x 1" for n in range(40)]
    relevant = {f"q{n}": {f"i{n // 2}": 1.0} for n in range(40)}
    grouped, apart = (_scored(tmp_path, lines, relevant, group=group) for group in ("item", "none"))
    assert grouped["counts"]["groups"] == 20
    assert any(note.startswith("intervals take queries that share a relevant item") for note in grouped["notes"])
    assert "groups" not in apart["counts"]
    widths = [
        result["intervals"]["hit_rate_at_1"][1] - result["intervals"]["hit_rate_at_1"][0] for result in (grouped, apart)
    ]
    assert widths[0] > 1.2 * widths[1]
    assert apart["intervals"]["hit_rate_at_1"] == pytest.approx(wilson(20, 40))


def test_judgements_that_chain_all_queries_together_are_not_taken_as_one_group(tmp_path: Path) -> None:
    lines = [f"q{n} i{n} {n % 2}" for n in range(30)] + [f"q{n} x 0.5" for n in range(30)]
    relevant = {f"q{n}": {f"i{n}": 1.0, f"i{n + 1}": 1.0} for n in range(30)}
    result = _scored(tmp_path, lines, relevant)
    assert result["intervals"]["hit_rate_at_1"] == pytest.approx(wilson(15, 30))
    assert any(note.startswith("shared judgements chain 30 of 30 queries") for note in result["notes"])


def test_few_items_that_many_queries_share_are_groups_all_the_same(tmp_path: Path) -> None:
    lines = [f"q{n} i{n % 7} {n % 2}" for n in range(28)] + [f"q{n} x 0.5" for n in range(28)]
    relevant = {f"q{n}": {f"i{n % 7}": 1.0} for n in range(28)}
    result = _scored(tmp_path, lines, relevant)
    assert result["counts"]["groups"] == 7
    notes = [note for note in result["notes"] if "groups" in note]
    assert [note.partition(" (")[0] for note in notes] == [
        "intervals take queries that share a relevant item together, in 7 groups",
        "7 groups of 28 queries: too few for intervals and tests that can be trusted",
    ]


def test_ranks_of_cut_lists_have_intervals_and_tails_under_their_own_names(tmp_path: Path) -> None:  # case M17
    result = _scored(tmp_path, ["q a 1", "p x 1", "r a 1"], {"q": {"a": 1}, "p": {"b": 1}, "r": {"a": 1}})
    names = {name for name in result["metrics"] if "rank" in name}
    assert names == {"reciprocal_rank_at_10", "median_rank_truncated", "mean_rank_truncated"}
    assert {name for name in result["intervals"] if "rank" in name} == names
    assert result["tails"] == {"mean_rank_truncated": pytest.approx(2 / 4)}


def test_a_tail_is_what_the_worst_query_of_twenty_makes_of_the_mean_rank(tmp_path: Path) -> None:
    lines = [f"q{n} i{n} 100" for n in range(19)] + [f"q19 x{n} 50" for n in range(19)] + ["q19 i19 0", "q19 y -1"]
    result = _scored(tmp_path, lines, {f"q{n}": {f"i{n}": 1} for n in range(20)}, TieRule.optimistic)
    ending = "_truncated" if "mean_rank_truncated" in result["metrics"] else ""
    assert result["tails"] == {f"mean_rank{ending}": pytest.approx(20 / 39)}


def test_a_query_without_a_relevant_item_stands_in_no_interval(tmp_path: Path) -> None:  # case M05
    lines = [f"q{n} i{n} {n % 3}" for n in range(12)] + [f"q{n} x 1.5" for n in range(12)]
    relevant: dict[str, dict[str, float]] = {f"q{n}": {f"i{n}": 1.0} for n in range(12)}
    plain = _scored(tmp_path, lines, relevant)
    more = _scored(tmp_path, [*lines, "z i0 1"], {"z": {"i0": 0.0}, **relevant})
    assert more["intervals"] == plain["intervals"]
    assert more["metrics"] == plain["metrics"]
    assert more["tails"] == plain["tails"]
    assert (more["counts"]["queries"], more["counts"]["queries_without_relevant"]) == (13, 1)
    again = _scored(tmp_path, [*lines, "z i0 1"], {"z": {"i0": 0.0}, **relevant})
    assert json.dumps(again) == json.dumps(more)


def test_one_query_has_no_interval_that_would_need_resampling(tmp_path: Path) -> None:
    result = _scored(tmp_path, ["q x 2", "q a 1", "q y 0"], {"q": {"a": 1}})
    assert "ndcg_at_10" not in result["intervals"]
    assert result["intervals"]["hit_rate_at_1"] == pytest.approx(wilson(0, 1))
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("ties", list(TieRule))
def test_every_rule_stands_beside_the_one_that_was_asked_for(tmp_path: Path, ties: TieRule) -> None:
    generator = np.random.default_rng(3)
    items = [f"쪽 {number}" for number in range(25)]
    rows = {f"q{query}": (generator.integers(0, 6, 25) / 7).tolist() for query in range(30)}
    relevant = {query: {items[item]: 1.0 for item in generator.choice(25, 3, replace=False)} for query in rows}
    write_run(tmp_path / "run", rank(rows, items, relevant, depth=25), "t")
    write_qrels(tmp_path / "qrels", relevant)
    result = score(tmp_path / "run", tmp_path / "qrels", (10, 20), ties, every_rule=True)
    assert list(result["rules"]) == list(TieRule)
    assert result["rules"][ties] == result["metrics"]
    for rule in TieRule:
        assert result["rules"][rule] == score(tmp_path / "run", tmp_path / "qrels", (10, 20), rule)["metrics"]
    for name, limits in result["bounds"].items():
        shown = [metrics[name] for rule, metrics in result["rules"].items() if rule != "textvr" and name in metrics]
        assert min(limits) - 1e-12 <= min(shown) <= max(shown) <= max(limits) + 1e-12, name


def test_rules_are_told_only_where_asked_for(tmp_path: Path) -> None:
    assert "rules" not in _scored(tmp_path, ["q a 1"], {"q": {"a": 1}})


def test_an_order_of_ties_that_moves_a_metric_by_more_than_half_a_point_is_told(tmp_path: Path) -> None:
    """One of 100 queries is tied: 1 point of the hit rate, and 0.01 of the mean rank."""
    lines = [f"q{n} i{n} 2" for n in range(100)] + [f"q{n} x {2 if n == 0 else 1}" for n in range(100)]
    lines += [f"q{n} y 0" for n in range(100)]
    relevant = {f"q{n}": {f"i{n}": 1.0} for n in range(100)}
    (note,) = (note for note in _scored(tmp_path, lines, relevant)["notes"] if "order of equal scores" in note)
    assert "hit_rate_at_1" in note
    assert "mean_rank" not in note
    assert "hit_rate_at_3" not in note


def test_an_order_of_ties_that_moves_little_is_not_told(tmp_path: Path) -> None:
    lines = [f"q{n} i{n} 2" for n in range(201)] + [f"q{n} x {2 if n == 0 else 1}" for n in range(201)]
    lines += [f"q{n} y 0" for n in range(201)]
    result = _scored(tmp_path, lines, {f"q{n}": {f"i{n}": 1.0} for n in range(201)})
    assert result["bounds"]["hit_rate_at_1"] == (200 / 201, 1)
    assert not any("order of equal scores" in note for note in result["notes"])


@pytest.mark.parametrize("ties", list(TieRule))
def test_the_order_of_lines_changes_nothing(tmp_path: Path, ties: TieRule) -> None:  # case M01
    lines = ["q b 1.0", "q a 1.0", "q c 0.5", "p b 1.0", "p c 1.0", "p a 0.1"]
    relevant = {"q": {"b": 1.0}, "p": {"b": 1.0}}
    wanted = _scored(tmp_path, lines, relevant, ties, every_rule=True)
    for shuffled in itertools.islice(itertools.permutations(lines), 0, 720, 37):
        found = _scored(tmp_path, shuffled, relevant, ties, every_rule=True)
        assert json.dumps(found) == json.dumps(wanted)


def test_ids_that_differ_in_name_only_change_the_rule_of_ids_alone(tmp_path: Path) -> None:  # case M01
    relevant = {"q": {"b": 1.0}}
    first, second = (
        _scored(tmp_path, [f"q b {1.0}", f"q {other} 1.0"], relevant, every_rule=True)["rules"] for other in "ac"
    )
    assert {rule: first[rule]["hit_rate_at_1"] for rule in first} == {
        "pessimistic": 0,
        "optimistic": 1,
        "document_id": 1,
        "average": 0.5,
        "textvr": 0,
    }
    assert second == {**first, "document_id": second["document_id"]}
    assert second["document_id"]["hit_rate_at_1"] == 0


def test_a_constant_scorer_is_flattered_by_no_place_of_its_line(tmp_path: Path) -> None:  # case M01
    for first in range(10):
        names = [f"d{(first + place) % 10}" for place in range(10)]
        rules = _scored(tmp_path, [f"q {name} 1" for name in names], {"q": {"d3": 1}}, every_rule=True)["rules"]
        assert rules["pessimistic"]["hit_rate_at_1"] == 0
        assert rules["average"]["hit_rate_at_1"] == pytest.approx(0.1)
        assert rules["document_id"]["reciprocal_rank_at_10"] == pytest.approx(1 / 7)


def test_a_constant_scorer_of_graded_items_stays_within_1_under_every_rule(tmp_path: Path) -> None:  # case M01
    lines = [f"q d{place} 1" for place in range(10)]
    rules = _scored(tmp_path, lines, {"q": {"d1": 1, "d2": 3, "d5": 2}}, every_rule=True)["rules"]
    for rule, metrics in rules.items():
        fractions = [value for name, value in metrics.items() if not name.startswith(("median", "mean"))]
        assert 0 <= min(fractions) <= max(fractions) <= 1, rule


@pytest.mark.parametrize("ties", list(TieRule))
def test_repeated_items_stay_within_1_and_are_one_under_every_rule(tmp_path: Path, ties: TieRule) -> None:  # case M03
    """Their best position counts, whether the repeats are level or lower."""
    relevant = {"q": {"a": 1.0, "b": 1.0}}
    once = _scored(tmp_path, ["q a 3", "q x 2", "q y 1"], relevant, ties)
    for lines in (["q a 3", "q a 3", "q a 3", "q x 2", "q y 1"], ["q a 1", "q x 2", "q a 3", "q y 1", "q y 0"]):
        repeated = _scored(tmp_path, lines, relevant, ties)
        assert repeated["metrics"] == once["metrics"]
        assert repeated["intervals"] == once["intervals"]
        assert repeated["metrics"]["recall_at_3"] == 0.5
        assert repeated["counts"]["repeated_items"] == 2


def test_a_miss_and_an_empty_list_count_in_every_rule_and_interval(tmp_path: Path) -> None:  # case M04
    result = _scored(tmp_path, ["q a 2", "q x 1"], {"q": {"a": 1, "b": 1}, "p": {"c": 1}}, every_rule=True)
    half = 1 / (1 + 1 / np.log2(3))
    for metrics in result["rules"].values():
        assert metrics["ndcg_at_10"] == pytest.approx(half / 2)
        assert metrics["recall_at_10"] == 0.25
    low, high = result["intervals"]["ndcg_at_10"]
    assert (low, high) == pytest.approx((0, half))


def test_a_cut_off_beyond_all_items_sees_all_and_says_so(tmp_path: Path) -> None:  # case M17
    (tmp_path / "run").write_text("".join(f"q Q0 d{place} 0 {-place} t\n" for place in range(6)))
    write_qrels(tmp_path / "qrels", {"q": {"d5": 1}})
    result = score(tmp_path / "run", tmp_path / "qrels", (1000,), TieRule.pessimistic)
    assert result["metrics"]["hit_rate_at_1000"] == result["metrics"]["hit_rate_at_10"] == 1
    assert "cut-offs above 6, the length of the longest list, see no more than 6 items" in result["notes"]


def test_the_values_are_those_of_the_ranks_however_lists_are_read(tmp_path: Path) -> None:
    """Through the file, and through rows of scores."""
    rows = {"q": [3.0, 2.0, 1.0], "p": [1.0, 3.0, 2.0]}
    relevant = {"q": {"b": 2.0, "a": 1.0}, "p": {"a": 1.0}}
    ranks = rank(rows, "abc", relevant)
    lines = [f"{query} {item} {value}" for query, row in rows.items() for item, value in zip("abc", row, strict=True)]
    assert _scored(tmp_path, lines, relevant)["metrics"] == evaluate(ranks, (1,), TieRule.pessimistic)


def test_repeated_judgements_change_no_number_and_are_counted(tmp_path: Path) -> None:  # case M08
    lines = [f"q{n} i{n} {n % 3}" for n in range(12)] + [f"q{n} x 1.5" for n in range(12)]
    relevant = {f"q{n}": {f"i{n}": 1.0} for n in range(12)}
    plain = _scored(tmp_path, lines, relevant, every_rule=True)
    with (tmp_path / "qrels.trec").open("a", encoding="utf-8") as stream:
        stream.write("q3 0 i3 1\nq3 0 i3 1.0\nq4 0 i4 1\n")
    repeated = score(tmp_path / "run.trec", tmp_path / "qrels.trec", (1,), TieRule.pessimistic, every_rule=True)
    for part in ("metrics", "rules", "bounds", "intervals", "tails"):
        assert repeated[part] == plain[part], part
    assert repeated["counts"] == {**plain["counts"], "repeated_judgements": 3}
    assert "lines of the judgements that repeat an earlier one and were dropped: 3" in repeated["notes"]


def test_contradicting_judgements_are_refused_naming_both_lines(tmp_path: Path) -> None:  # case M08
    (tmp_path / "run").write_text("q Q0 a 1 1 t\n", encoding="utf-8")
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 1\nq 0 a 2\nq 0 b 0\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        score(tmp_path / "run", tmp_path / "qrels", (1,), TieRule.pessimistic)
    assert [fault.partition(": ")[2].split("; ")[0] for fault in caught.value.faults] == [
        "line 1 gives query 'q', item 'a' the gain 1 and line 3 the gain 2",
        "line 2 gives query 'q', item 'b' the gain 1 and line 4 the gain 0",
    ]
