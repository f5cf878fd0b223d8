"""pytrec_eval, ir_measures and ranx read the files that we write and come to our numbers, query by query.

Where one of them counts otherwise, a test shows its number beside ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from exchanged import KINDS, exchanged
from glyphrank.score import score
from glyphrank.ties import TieRule
from glyphrank.trec import escaped, read_qrels, read_run, write_qrels
from peers import RECIPROCAL, Files, Values, by_ir_measures, by_pytrec_eval, by_ranx, by_us, written
from ranked import MISS, rank

# ranx hands numbers of 64 bits to functions that it compiled for fewer; numba warns of what might be lost.
pytestmark = pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaTypeSafetyWarning")

Gains = Mapping[str, Mapping[str, float]]


def _agree(theirs: Values, ours: Values, metrics: Callable[[str], bool] = bool) -> None:
    """Every metric of every query that we evaluate."""
    for name in filter(metrics, ours):
        assert theirs[name].keys() == ours[name].keys(), name
        assert theirs[name] == pytest.approx(ours[name], abs=1e-9), name


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "missing"])
def test_pytrec_eval_agrees_with_us(kind: str, tmp_path: Path) -> None:
    given = exchanged(kind)
    _agree(by_pytrec_eval(written(tmp_path, given.ranks, given.relevant)), by_us(given.ranks, TieRule.document_id))


@pytest.mark.parametrize("kind", KINDS)
def test_ir_measures_agrees_with_us(kind: str, tmp_path: Path) -> None:
    given = exchanged(kind)
    theirs = by_ir_measures(written(tmp_path, given.ranks, given.relevant))
    _agree(theirs, by_us(given.ranks, TieRule.document_id), lambda name: name != RECIPROCAL or kind != "tied")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tied"])
def test_ranx_agrees_with_us(kind: str, tmp_path: Path) -> None:
    given = exchanged(kind)
    theirs = by_ranx(written(tmp_path, given.ranks, given.relevant), is_complete=kind != "missing")
    _agree(theirs, by_us(given.ranks, TieRule.document_id))


@pytest.mark.parametrize("kind", KINDS)
def test_what_we_read_back_is_what_was_written(kind: str, tmp_path: Path) -> None:
    given = exchanged(kind)
    files = written(tmp_path, given.ranks, given.relevant)
    assert read_qrels(files.qrels).gains == given.relevant
    run = read_run(files.run)
    ids = given.ranks.item_ids
    lists = {
        query: ([ids[item] for item in items], scores.tolist())
        for query, (items, scores) in zip(given.ranks.query_ids, given.ranks.top, strict=True)
        if len(items)
    }
    assert {query: (list(run.items[query]), list(run.scores[query])) for query in run.items} == lists


@pytest.mark.parametrize("kind", KINDS)
def test_our_own_score_agrees_with_the_means_of_ir_measures(kind: str, tmp_path: Path) -> None:
    given = exchanged(kind, seed=1)
    files = written(tmp_path, given.ranks, given.relevant)
    ours = score(files.run, files.qrels, (10,), TieRule.document_id)["metrics"]
    for name, values in by_ir_measures(files).items():
        if name != RECIPROCAL or kind != "tied":
            assert ours[name] == pytest.approx(np.mean(list(values.values())), abs=1e-9), name


def _small(folder: Path, rows: Mapping[str, list[float]], relevant: Gains) -> tuple[Files, Values]:
    """Items a, b, c ...; our numbers under trec_eval's order of ties."""
    items = "abcdefghijklmnopqrstuvwxyz"[: len(next(iter(rows.values())))]
    known = {query: {item: gain for item, gain in gains.items() if gain > 0} for query, gains in relevant.items()}
    ranks = rank(rows, items, known, depth=len(items))
    return written(folder, ranks, relevant), by_us(ranks, TieRule.document_id)


def test_pytrec_eval_drops_a_query_that_is_missing_from_the_run_and_we_count_it_0(tmp_path: Path) -> None:
    files, ours = _small(tmp_path, {"q": [2, 1], "p": [MISS, MISS]}, {"q": {"b": 1}, "p": {"a": 1}})
    assert by_pytrec_eval(files)["recall_at_3"] == {"q": 1}
    assert ours["recall_at_3"] == {"q": 1, "p": 0}
    assert by_ir_measures(files)["recall_at_3"] == {"q": 1, "p": 0}


def test_ranx_refuses_a_run_that_misses_a_query_unless_told_to_count_it_0(tmp_path: Path) -> None:
    files, ours = _small(tmp_path, {"q": [2, 1], "p": [MISS, MISS]}, {"q": {"b": 1}, "p": {"a": 1}})
    with pytest.raises(AssertionError, match="query ids do not match"):
        by_ranx(files)
    assert by_ranx(files, is_complete=False)["recall_at_3"] == ours["recall_at_3"]


def test_all_peers_count_a_query_without_a_relevant_item_0_and_we_leave_it_out(tmp_path: Path) -> None:  # case M05
    files, ours = _small(tmp_path, {"q": [2, 1], "p": [2, 1]}, {"q": {"b": 1}, "p": {"a": 0}})
    for peer in (by_pytrec_eval, by_ir_measures, by_ranx):
        assert peer(files)["recall_at_3"] == {"q": 1, "p": 0}
    assert ours["recall_at_3"] == {"q": 1}
    assert score(files.run, files.qrels, (3,), TieRule.document_id)["metrics"]["recall_at_3"] == 1


def test_ranx_orders_ties_by_its_own_sorting_and_we_by_a_rule(tmp_path: Path) -> None:  # case M01
    """A constant scorer: ranx keeps short lists in the order of their lines and shuffles longer ones."""
    rows, relevant = {"q": [1.0, 1.0, 1.0]}, {"q": {"a": 1.0}}
    files, ours = _small(tmp_path, rows, relevant)
    assert by_ranx(files)[RECIPROCAL] == pytest.approx({"q": 1 / 3}) == ours[RECIPROCAL]  # our lines: c b a
    lines = files.run.read_text(encoding="utf-8").splitlines()
    files.run.write_text("\n".join(reversed(lines)) + "\n", encoding="utf-8")
    assert by_ranx(files)[RECIPROCAL] == {"q": 1}
    for rule, wanted in ((TieRule.document_id, 1 / 3), (TieRule.pessimistic, 1 / 3), (TieRule.average, 11 / 18)):
        assert score(files.run, files.qrels, (1,), rule)["metrics"][RECIPROCAL] == pytest.approx(wanted)
    tied = exchanged("tied")
    files = written(tmp_path, tied.ranks, tied.relevant)
    theirs, own = by_ranx(files)["ndcg_at_10"], by_us(tied.ranks, TieRule.document_id)["ndcg_at_10"]
    apart = [abs(theirs[query] - own[query]) for query in own]
    assert max(apart) > 0.1


def test_ir_measures_orders_ties_of_rr_at_10_by_ascending_id_and_of_all_else_by_descending(tmp_path: Path) -> None:
    """RR@10 comes of another provider than its other measures."""
    files, ours = _small(tmp_path, {"q": [1.0, 1.0, 1.0]}, {"q": {"a": 1}})
    theirs = by_ir_measures(files)
    assert (theirs[RECIPROCAL]["q"], theirs["hit_rate_at_1"]["q"], theirs["ndcg_at_3"]["q"]) == (1, 0, 0.5)
    assert (ours[RECIPROCAL]["q"], ours["hit_rate_at_1"]["q"], ours["ndcg_at_3"]["q"]) == (1 / 3, 0, 0.5)


def test_trec_eval_sees_ties_in_float32_where_we_see_two_numbers(tmp_path: Path) -> None:
    files, _ = _small(tmp_path, {"q": [2, 1]}, {"q": {"a": 1}})
    files.run.write_text("q Q0 a 1 1.000000000001 t\nq Q0 b 2 1.0 t\n", encoding="utf-8")
    assert by_pytrec_eval(files)["hit_rate_at_1"] == by_ir_measures(files)["hit_rate_at_1"] == {"q": 0}
    assert by_ranx(files)["hit_rate_at_1"] == {"q": 1}
    assert score(files.run, files.qrels, (1,), TieRule.document_id)["metrics"]["hit_rate_at_1"] == 1


def test_gains_that_are_fractions_are_read_by_us_alone_and_their_multiples_by_all(tmp_path: Path) -> None:
    rows, relevant = {"q": [2.0, 1.0]}, {"q": {"a": 0.5, "b": 1.0}}
    files, ours = _small(tmp_path, rows, relevant)
    wanted = (0.5 + 1 / np.log2(3)) / (1 + 0.5 / np.log2(3))
    assert ours["ndcg_at_3"]["q"] == pytest.approx(wanted)
    assert score(files.run, files.qrels, (3,), TieRule.document_id)["metrics"]["ndcg_at_3"] == pytest.approx(wanted)
    for peer in (by_pytrec_eval, by_ir_measures, by_ranx):
        with pytest.raises(ValueError, match=r"invalid literal for int\(\) with base 10: '0.5'"):
            peer(files)
    write_qrels(files.qrels, {"q": {item: 2 * gain for item, gain in relevant["q"].items()}})
    assert files.qrels.read_text(encoding="utf-8") == "q 0 a 1\nq 0 b 2\n"
    for peer in (by_pytrec_eval, by_ir_measures, by_ranx):
        assert peer(files)["ndcg_at_3"]["q"] == pytest.approx(wanted)


def test_ranx_cuts_gains_in_memory_to_whole_numbers_and_pytrec_eval_refuses_them() -> None:
    import pytrec_eval
    import ranx

    gains, run = {"q": {"a": 0.5, "b": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}
    theirs = ranx.evaluate(ranx.Qrels(gains), ranx.Run(run), "ndcg@3")
    assert theirs == pytest.approx(1 / np.log2(3))  # as if a had no gain; ours is 0.8597
    with pytest.raises(TypeError, match="Expected relevance to be integer"):
        pytrec_eval.RelevanceEvaluator(gains, {"ndcg"})


def test_recall_divides_by_all_relevant_items_everywhere_even_beyond_the_cut_off(tmp_path: Path) -> None:
    """The same in all; what some papers call recall is `hit_rate`, 1 here."""
    files, ours = _small(tmp_path, {"q": [float(-item) for item in range(8)]}, {"q": dict.fromkeys("abcdefg", 1.0)})
    for values in (ours, by_pytrec_eval(files), by_ir_measures(files), by_ranx(files)):
        assert values["recall_at_3"]["q"] == pytest.approx(3 / 7)
        assert (values["hit_rate_at_3"]["q"], values["ndcg_at_3"]["q"]) == (1, 1)


def test_a_reciprocal_rank_beyond_10_is_0_but_pytrec_eval_cuts_none(tmp_path: Path) -> None:
    import pytrec_eval

    files, ours = _small(tmp_path, {"q": [float(-item) for item in range(12)]}, {"q": {"l": 1}})
    assert ours[RECIPROCAL] == by_ir_measures(files)[RECIPROCAL] == by_ranx(files)[RECIPROCAL] == {"q": 0}
    with files.run.open(encoding="utf-8") as run, files.qrels.open(encoding="utf-8") as qrels:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {"recip_rank"})
        assert evaluator.evaluate(pytrec_eval.parse_run(run))["q"]["recip_rank"] == pytest.approx(1 / 12)


def test_a_list_without_judgements_counts_nowhere_but_stops_ranx(tmp_path: Path) -> None:
    files, ours = _small(tmp_path, {"q": [2, 1], "x": [1, 2]}, {"q": {"b": 1}})
    assert by_pytrec_eval(files)["recall_at_3"] == by_ir_measures(files)["recall_at_3"] == ours["recall_at_3"]
    with pytest.raises(AssertionError, match="query ids do not match"):
        by_ranx(files)
    assert by_ranx(files, is_complete=False)["recall_at_3"] == ours["recall_at_3"]


def test_an_empty_list_has_no_line_so_that_only_the_judgements_know_its_query(tmp_path: Path) -> None:
    given = exchanged("missing")
    files = written(tmp_path, given.ranks, given.relevant)
    theirs = by_pytrec_eval(files)["recall_at_10"]
    empty = {
        escaped(name) for name, (items, _) in zip(given.ranks.query_ids, given.ranks.top, strict=True) if not len(items)
    }
    own = by_us(given.ranks, TieRule.document_id)["recall_at_10"]
    assert len(empty) == 14
    assert theirs.keys() == own.keys() - empty
    assert theirs == pytest.approx({query: own[query] for query in theirs}, abs=1e-9)
    assert {own[query] for query in empty} == {0}
    scored = score(files.run, files.qrels, (10,), TieRule.document_id)["counts"]
    assert scored["queries_without_list"] == 14


def test_a_list_that_was_cut_is_read_alike_by_all(tmp_path: Path) -> None:
    given = exchanged("graded", seed=3)
    cut = [(items[:7], scores[:7]) for items, scores in given.ranks.top]
    files = written(tmp_path, replace(given.ranks, top=cut), given.relevant)
    ours = score(files.run, files.qrels, (10,), TieRule.document_id)["metrics"]
    for peer in (by_pytrec_eval, by_ir_measures, by_ranx):
        for name, values in peer(files).items():
            assert ours[name] == pytest.approx(np.mean(list(values.values())), abs=1e-9), name
