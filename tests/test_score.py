"""Rankings made elsewhere: what run files and judgements hold, and what is odd between them."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval

from glyphrank.errors import DataError
from glyphrank.metrics import bounds, evaluate
from glyphrank.score import score
from glyphrank.ties import TieRule
from glyphrank.trec import write_qrels, write_run
from ranked import rank


def _score(
    folder: Path,
    run: Mapping[str, Sequence[str]],
    relevant: Mapping[str, Mapping[str, float]],
    ties: TieRule = TieRule.pessimistic,
) -> Any:
    """Scores of lists given best first, with falling scores."""
    lines = [f"{query} Q0 {item} 0 {-place} t\n" for query, items in run.items() for place, item in enumerate(items)]
    (folder / "run.trec").write_text("".join(lines), encoding="utf-8")
    write_qrels(folder / "qrels.trec", relevant)
    return score(folder / "run.trec", folder / "qrels.trec", (10,), ties)


def test_score_orders_by_score_and_not_by_the_rank_column(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 0.1 t\nq Q0 b 2 0.9 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    assert score(tmp_path / "run", tmp_path / "qrels", (1,), TieRule.pessimistic)["metrics"]["mean_rank"] == 2


def test_an_item_listed_three_times_keeps_its_best_position(tmp_path: Path) -> None:  # case M03
    result = _score(tmp_path, {"q": ["a", "a", "a"]}, {"q": {"a": 1, "b": 1}})
    assert result["metrics"]["recall_at_3"] == 0.5
    assert result["metrics"]["ndcg_at_3"] == pytest.approx(0.6131, abs=5e-5)
    assert result["counts"]["repeated_items"] == 2
    assert "lines of the run that repeat an item of their list, whose best position counts: 2" in result["notes"]


def test_the_best_position_of_a_repeated_item_counts_wherever_it_stands(tmp_path: Path) -> None:  # case M03
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    for scores in ((0.9, 0.1), (0.1, 0.9)):
        (tmp_path / "run").write_text(f"q Q0 a 1 {scores[0]} t\nq Q0 x 2 0.5 t\nq Q0 a 3 {scores[1]} t\n")
        assert score(tmp_path / "run", tmp_path / "qrels", (1,), TieRule.pessimistic)["metrics"]["mean_rank"] == 1


def test_a_repeated_item_does_not_push_others_down(tmp_path: Path) -> None:  # case M03
    result = _score(tmp_path, {"q": ["x", "x", "x_2", "a"]}, {"q": {"a": 1, "a_x_2": 1}})
    assert result["metrics"]["reciprocal_rank_at_10"] == pytest.approx(1 / 3)
    assert result["metrics"]["recall_at_10"] == 0.5


def test_a_missing_relevant_item_lowers_ndcg_and_an_empty_list_counts_0(tmp_path: Path) -> None:  # case M04
    result = _score(tmp_path, {"q1": ["a", "x"]}, {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}})
    assert result["metrics"]["ndcg_at_10"] == pytest.approx(0.6131 / 2, abs=5e-5)
    assert result["counts"]["queries_without_list"] == 1
    assert "queries of the judgements that are missing from the run and count 0: 1" in result["notes"]


def test_a_query_without_relevant_items_is_left_out_and_counted(tmp_path: Path) -> None:  # case M05
    run = {"q1": ["a", "c"], "q2": ["a", "c"], "q3": ["a", "c"]}
    first, second = (_score(tmp_path, run, {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"c": 1}}) for _ in range(2))
    assert first["metrics"]["reciprocal_rank_at_10"] == 0.75
    assert (first["counts"]["queries"], first["counts"]["queries_without_relevant"]) == (3, 1)
    assert json.dumps(first) == json.dumps(second)


def test_judgements_without_any_relevant_item_are_refused(tmp_path: Path) -> None:  # case M04
    with pytest.raises(DataError, match=r"qrels\.trec: none of its 1 queries"):
        _score(tmp_path, {"q": ["a"]}, {"q": {"a": 0}})


def test_ranks_beyond_the_lists_are_named_truncated(tmp_path: Path) -> None:  # case M17
    result = _score(tmp_path, {"q": [f"d{item}" for item in range(10)]}, {"q": {"d60": 1}})
    metrics = result["metrics"]
    assert (metrics["median_rank_truncated"], metrics["mean_rank_truncated"]) == (11, 11)
    assert "mean_rank" not in metrics
    assert metrics["hit_rate_at_10"] == 0
    wanted = "rank 11, one more than the longest list; their true ranks lie anywhere beyond the end of their own list"
    assert any(wanted in note for note in result["notes"])


def test_an_empty_list_is_not_flattered_by_its_own_length(tmp_path: Path) -> None:  # case M17
    result = _score(tmp_path, {"q1": ["a", "b", "c", "d"]}, {"q1": {"b": 1}, "q2": {"b": 1}})
    assert result["metrics"]["mean_rank_truncated"] == (2 + 5) / 2


def test_ranks_are_exact_where_every_query_finds_something(tmp_path: Path) -> None:
    result = _score(tmp_path, {"q": ["x", "a", "y"]}, {"q": {"a": 1, "b": 1}})
    assert result["metrics"]["mean_rank"] == 2
    assert result["counts"]["queries_tied_at_the_end"] == 0
    assert result["counts"]["relevant_not_retrieved"] == 1


def test_a_short_list_makes_no_hit_of_a_miss(tmp_path: Path) -> None:
    result = _score(tmp_path, {"q": list("vwxyz"), "p": ["a"]}, {"q": {"a": 1}, "p": {"a": 1}})
    assert result["metrics"]["hit_rate_at_10"] == 0.5  # len(list) + 1 = 6 would be a hit at 10
    assert "cut-offs above 5, the length of the longest list, see no more than 5 items" in result["notes"]


@pytest.mark.parametrize(
    ("listed", "judged"),
    [
        (["1", "12"], "0001"),
        (["12.0", "7.0"], "12"),
        (["page_12"], "doc_12"),
        (["A1", "A2"], "a1"),
        (["p1.png", "p2.png"], "p1"),
        (["x"], "a"),
    ],
)
def test_no_item_in_common_is_an_error(tmp_path: Path, listed: list[str], judged: str) -> None:  # case M12
    with pytest.raises(DataError, match=rf"no items in common: the run names \['{listed[0]}'.*\['{judged}'\]"):
        _score(tmp_path, {"q": listed}, {"q": {judged: 1}})


def test_no_query_in_common_is_an_error(tmp_path: Path) -> None:  # case M12
    with pytest.raises(DataError, match=r"no queries in common: the run names \['7'\], the judgements \['007'\]"):
        _score(tmp_path, {"7": ["a"]}, {"007": {"a": 1}})


def test_partly_common_ids_are_counted(tmp_path: Path) -> None:  # case M12
    result = _score(tmp_path, {"q1": ["a"], "q9": ["a"]}, {"q1": {"a": 1, "zz": 1}, "q2": {"a": 1}})
    counts = result["counts"]
    assert (counts["queries_without_list"], counts["lists_without_judgements"]) == (1, 1)
    assert counts["relevant_not_retrieved"] == 2
    assert "lists of the run whose query has no judgements, not counted: 1" in result["notes"]
    assert "relevant items that stand in no list of their query: 2" in result["notes"]


def test_ids_are_compared_in_nfc(tmp_path: Path) -> None:  # case P04
    name = "한글_1"
    result = _score(
        tmp_path, {name: [unicodedata.normalize("NFD", name)]}, {unicodedata.normalize("NFD", name): {name: 1}}
    )
    assert result["metrics"]["hit_rate_at_1"] == 1


def test_scores_are_compared_in_double_precision(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 1.000000000001 t\nq Q0 b 2 1.0 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    result = score(tmp_path / "run", tmp_path / "qrels", (1,), TieRule.document_id)
    assert (result["metrics"]["hit_rate_at_1"], result["counts"]["tied_queries"]) == (1, 0)


@pytest.mark.parametrize("rule", list(TieRule))
def test_a_written_run_scores_as_the_ranks_it_came_from(tmp_path: Path, rule: TieRule) -> None:
    generator = np.random.default_rng(4)
    items = [f"문서 {item}%" for item in range(30)]
    rows = {f"q {query}": (generator.integers(0, 9, 30) / 7).tolist() for query in range(50)}
    relevant = {
        query: {items[item]: 1.0 + item % 2 for item in generator.choice(30, 4, replace=False)} for query in rows
    }
    ranks = rank(rows, items, relevant, depth=30)
    write_run(tmp_path / "run", ranks, "t")
    write_qrels(tmp_path / "qrels", relevant)
    result = score(tmp_path / "run", tmp_path / "qrels", (10, 20), rule)
    # The lists are whole here, but the file does not say so: a tie at their end might go on.
    cut = replace(ranks, truncated=True)
    assert result["counts"]["queries_tied_at_the_end"] > 0
    assert result["metrics"] == evaluate(cut, (10, 20), rule)
    assert result["bounds"] == bounds(cut, (10, 20), rule)


@pytest.mark.parametrize("rule", list(TieRule))
@pytest.mark.parametrize("depth", range(1, 11))
def test_a_tie_that_runs_across_the_end_of_a_list_is_named_truncated(tmp_path: Path, rule: TieRule, depth: int) -> None:
    """Lists of ten items: c b a level, x, y, f e d level, v, w; b and f are relevant."""
    rows = {"q": [9.0, 9, 9, 8, 7, 6, 6, 6, 1, 0], "p": [0.0] * 9 + [1.0]}
    relevant = {"q": {"b": 1.0, "f": 1.0}, "p": {"w": 1.0}}
    whole, cut = (rank(rows, [*"abcxydefvw"], relevant, length) for length in (10, depth))
    write_run(tmp_path / "run", cut, "t")
    write_qrels(tmp_path / "qrels", relevant)
    result = score(tmp_path / "run", tmp_path / "qrels", (1,), rule)
    assert result["counts"]["queries_tied_at_the_end"] == int(depth in (1, 2, 3, 6, 7, 8))
    noted = any(note.startswith("queries with a relevant item level with the end") for note in result["notes"])
    assert noted == (depth in (1, 2, 3, 6, 7, 8))
    assert ("mean_rank_truncated" in result["metrics"]) == noted
    if not noted:
        assert result["metrics"]["mean_rank"] == evaluate(whole, (1,), rule)["mean_rank"]
    if depth > 8:
        assert result["metrics"] == evaluate(whole, (1,), rule)
        assert result["bounds"] == bounds(whole, (1,), rule)


def test_a_constant_scorer_cut_at_a_depth_has_no_exact_ranks(tmp_path: Path) -> None:
    items = [f"i{item}" for item in range(30)]
    relevant = {f"q{query}": {("i9", "i29", "i3")[query % 3]: 1.0} for query in range(6)}
    ranks = rank(dict.fromkeys(relevant, [0.5] * 30), items, relevant, depth=10)
    for scored in (ranks, replace(ranks, top=[(chosen[:1], values[:1]) for chosen, values in ranks.top])):
        write_run(tmp_path / "run", scored, "t")
        write_qrels(tmp_path / "qrels", relevant)
        result = score(tmp_path / "run", tmp_path / "qrels", (10,), TieRule.pessimistic)
        assert "mean_rank_truncated" in result["metrics"]
        assert result["counts"]["queries_tied_at_the_end"] > 0


def test_an_item_that_ends_a_complete_list_alone_has_its_exact_rank(tmp_path: Path) -> None:
    result = _score(tmp_path, {"q": ["x", "y", "a"]}, {"q": {"a": 1}})
    assert result["metrics"]["mean_rank"] == 3


def test_an_id_that_holds_an_escape_literally_matches_where_the_judgements_know_it(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q%201 Q0 x 1 0.9 t\nq%201 Q0 a%20b 2 0.5 t\nq%201 Q0 z 3 0.4 t\n")
    for query in ("q%201", "q 1"):
        for item in ("a%20b", "a b"):
            (tmp_path / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{query}\t{item}\t1\n")
            result = score(tmp_path / "run", tmp_path / "qrels.tsv", (1,), TieRule.pessimistic)
            assert result["metrics"]["mean_rank"] == 2


def test_trec_eval_orders_ties_of_our_files_as_we_do(tmp_path: Path) -> None:
    nfd = unicodedata.normalize("NFD", "각")
    items = ["a b", "a!b", "a+b", "a%b", "a&b", "a\u3000b", "a0", nfd, "각", "갂", "가"]
    items = [name for name in items if name != "각"]
    rows = {f"q {item}": [0.25] * len(items) for item in items}
    relevant = {f"q {item}": {item: 1.0} for item in items}
    ranks = rank(rows, items, relevant, depth=20)
    write_run(tmp_path / "run", ranks, "t")
    write_qrels(tmp_path / "qrels", relevant)
    with (tmp_path / "run").open(encoding="utf-8") as run, (tmp_path / "qrels").open(encoding="utf-8") as qrels:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {"recip_rank"})
        theirs = [found["recip_rank"] for found in evaluator.evaluate(pytrec_eval.parse_run(run)).values()]
    own = [1 / (ranks.before[pair] + 1) for pair in range(len(items))]
    assert sorted(own) == pytest.approx(sorted(theirs))
    assert own == pytest.approx(theirs)
    scored = score(tmp_path / "run", tmp_path / "qrels", (1,), TieRule.document_id)["metrics"]
    assert scored["mean_rank_truncated"] == evaluate(ranks, (1,), TieRule.document_id)["mean_rank"]
    assert scored["reciprocal_rank_at_10"] == pytest.approx(np.mean(theirs))


def test_ties_between_ids_of_a_foreign_file_are_ordered_as_it_writes_them(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a%20b 1 1 t\nq Q0 a!b 2 1 t\n")  # decoded, "a b" would stand below "a!b"
    (tmp_path / "qrels").write_text("q 0 a%20b 1\n")
    metrics = score(tmp_path / "run", tmp_path / "qrels", (1,), TieRule.document_id)["metrics"]
    assert metrics["hit_rate_at_1"] == 1


def test_scores_beyond_float32_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 x 1 1e300 t\nq Q0 a 2 2e300 t\nq Q0 y 3 -1e300 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    assert score(tmp_path / "run", tmp_path / "qrels", (1,), TieRule.pessimistic)["metrics"]["mean_rank"] == 1


def test_the_value_of_the_rule_lies_within_its_bounds(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 1 t\nq Q0 b 2 1 t\nq Q0 z 3 0 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 1\n")
    result = score(tmp_path / "run", tmp_path / "qrels", (1,), TieRule.textvr)
    assert (result["metrics"]["mean_rank"], result["bounds"]["mean_rank"]) == (1.5, (1.5, 1))
    assert (result["metrics"]["hit_rate_at_1"], result["bounds"]["hit_rate_at_1"]) == (0, (0, 1))
