"""Score matrices made elsewhere: known failures of evaluators in the form of a matrix, with intervals and all rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.records import Task
from glyphrank.score import score
from glyphrank.score_matrix import score_matrix
from glyphrank.significance import wilson
from glyphrank.ties import TieRule
from glyphrank.trec import write_qrels
from matrices import matrix_protocol, pairs_task, wide_task
from tasks import make_task


def _scored(folder: Path, scores: Any, task: Task, ties: TieRule = TieRule.pessimistic, group: str = "item") -> Any:
    np.save(folder / "s.npy", scores, allow_pickle=False)
    protocol = replace(matrix_protocol(ties), group=group)
    return score_matrix(folder / "s.npy", task, "test", protocol, every_rule=True)


def _forward(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not name.startswith("v2t/")}


@pytest.mark.parametrize("ties", list(TieRule))
def test_the_order_of_items_changes_nothing(tmp_path: Path, ties: TieRule) -> None:  # case M01
    """Forward not a bit; in v2t means sum over items, so that the last bit may differ."""
    scores = np.random.default_rng(1).integers(0, 3, (12, 8)).astype(np.float32)
    task = wide_task(12, 8)
    wanted = _scored(tmp_path, scores, task, ties)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(8).tolist()
        turned = replace(task, items=tuple(task.items[place] for place in order))
        found = _scored(tmp_path, scores[:, order], turned, ties)
        assert found["counts"] == wanted["counts"]
        assert found["metrics"] == pytest.approx(wanted["metrics"], abs=1e-12)
        for part in ("metrics", "bounds", "intervals", "tails"):
            assert _forward(found[part]) == _forward(wanted[part]), part
        for rule in TieRule:
            assert found["rules"][rule] == pytest.approx(wanted["rules"][rule], abs=1e-12)


@pytest.mark.parametrize("gold", range(10))
def test_a_constant_matrix_is_flattered_by_no_column(gold: int, tmp_path: Path) -> None:  # case M01
    task = make_task({"q": "x", "p": "y"}, {f"d{n}": None for n in range(10)}, {"q": [f"d{gold}"], "p": [f"d{gold}"]})
    rules = _scored(tmp_path, np.ones((2, 10)), task)["rules"]
    assert rules["pessimistic"]["hit_rate_at_1"] == rules["textvr"]["hit_rate_at_1"] == 0
    assert rules["average"]["hit_rate_at_1"] == pytest.approx(0.1)
    assert rules["pessimistic"]["mean_rank"] == 10


def test_a_matrix_of_several_relevant_items_stays_within_1_under_every_rule(tmp_path: Path) -> None:  # case M03, M04
    task = make_task({"q": "x"}, dict.fromkeys("abcd"), {"q": ["a", "b"]})
    rules = _scored(tmp_path, np.array([[2.0, -np.inf, 2.0, 1.0]]), task)["rules"]
    for rule, metrics in rules.items():
        fractions = [
            value for name, value in metrics.items() if not name.rpartition("/")[2].startswith(("median", "mean"))
        ]
        assert 0 <= min(fractions) <= max(fractions) <= 1, rule
        assert metrics["recall_at_10"] == 0.5, rule  # b is at -inf
    assert rules["optimistic"]["ndcg_at_10"] == pytest.approx(0.6131, abs=5e-5)


def test_a_row_that_retrieves_nothing_counts_0_in_means_and_intervals(tmp_path: Path) -> None:  # case M04
    scores = np.eye(20)
    scores[:5] = -np.inf
    result = _scored(tmp_path, scores, pairs_task(20))
    for metrics in result["rules"].values():
        assert metrics["ndcg_at_10"] == metrics["hit_rate_at_1"] == 0.75
    assert result["intervals"]["hit_rate_at_1"] == pytest.approx(wilson(15, 20))


def test_a_query_without_a_relevant_item_stands_in_no_mean_and_no_interval(tmp_path: Path) -> None:  # case M05
    plain = make_task(
        {f"q{n}": f"x{n}" for n in range(12)},
        {f"i{n}": None for n in range(12)},
        {f"q{n}": [f"i{n}"] for n in range(12)},
    )
    scores = np.random.default_rng(8).random((12, 12))
    task = replace(plain, queries=(*plain.queries, replace(plain.queries[0], id="z", text="nobody's")))
    more = np.vstack([scores, np.full(12, -1.0)])
    wanted = _scored(tmp_path, scores, plain)
    first, second = (_scored(tmp_path, more, task) for _ in range(2))
    for part in ("metrics", "intervals"):
        assert _forward(first[part]) == _forward(wanted[part])
    assert first["tails"]["mean_rank"] == wanted["tails"]["mean_rank"]
    assert first["counts"]["queries_without_relevant"] == 1
    assert json.dumps(first) == json.dumps(second)


def test_queries_of_one_item_are_taken_together_in_a_matrix_unless_told_otherwise(tmp_path: Path) -> None:
    """20 items with two queries each, which find their item both or neither."""
    scores = np.zeros((40, 20))
    scores[np.arange(40), np.arange(40) % 20] = np.where(np.arange(40) % 20 < 10, 1.0, -1.0)
    grouped, apart = (_scored(tmp_path, scores, wide_task(40, 20), group=group) for group in ("item", "none"))
    assert (grouped["counts"]["groups"], apart["counts"].get("groups")) == (20, None)
    assert "intervals and tests take queries in 20 groups (metrics.group=item)" in grouped["notes"]
    low, high = grouped["intervals"]["hit_rate_at_1"]
    assert high - low > 1.2 * (wilson(20, 40)[1] - wilson(20, 40)[0])
    assert apart["intervals"]["hit_rate_at_1"] == pytest.approx(wilson(20, 40))


def test_groups_follow_the_items_when_columns_have_another_order(tmp_path: Path) -> None:
    """Items of one field's value fail together; the order of the columns says nothing about who they are."""
    names = [f"v{number}" for number in range(24)]
    order = tuple(np.random.default_rng(0).permutation(names).tolist())
    plain = make_task(
        {f"c{n}": f"caption {n}" for n in range(24)}, dict.fromkeys(names), {f"c{n}": [names[n]] for n in range(24)}
    )
    task = replace(
        plain,
        queries=tuple(replace(query, slices={"place": str(n // 2)}) for n, query in enumerate(plain.queries)),
        orders={"rand": order},
    )
    scores = np.random.default_rng(1).random((24, 24)).astype(np.float32)
    protocol = replace(matrix_protocol(TieRule.pessimistic), group="place")
    np.save(tmp_path / "own.npy", scores)
    np.save(tmp_path / "rand.npy", scores[:, [names.index(name) for name in order]])
    own = score_matrix(tmp_path / "own.npy", task, "test", protocol)
    other = score_matrix(tmp_path / "rand.npy", task, "rand", protocol)
    assert other["metrics"] == pytest.approx(own["metrics"])
    assert other["counts"]["v2t/groups"] == own["counts"]["v2t/groups"] == 12
    for name, ends in own["intervals"].items():
        assert other["intervals"][name] == pytest.approx(ends, abs=0.1 * (1 + ends[1])), name


def test_a_cut_off_beyond_the_gallery_sees_all_of_it_and_says_so(tmp_path: Path) -> None:  # case M17
    result = _scored(tmp_path, np.eye(4, 3), make_task(dict.fromkeys("qrst", "x"), dict.fromkeys("abc"), {"q": ["c"]}))
    assert result["metrics"]["hit_rate_at_10"] == 1
    assert "cut-offs above 3, the number of items that are ranked, see all of them" in result["notes"]


def test_ranks_of_a_full_matrix_are_never_named_truncated(tmp_path: Path) -> None:  # case M17
    scores = np.full((3, 100), -np.inf)
    scores[:, :10] = np.arange(10)
    task = make_task(dict.fromkeys("qrs", "x"), {f"d{n}": None for n in range(100)}, {"q": ["d60"], "r": ["d2"]})
    result = _scored(tmp_path, scores, task)
    assert result["metrics"]["mean_rank"] == (100 + 8) / 2
    for part in ("metrics", "intervals", "tails"):
        assert not any("truncated" in name for name in result[part])


@pytest.mark.parametrize("ties", list(TieRule))
def test_a_matrix_and_its_run_file_have_the_same_forward_numbers(tmp_path: Path, ties: TieRule) -> None:
    """As long as no tie reaches the end of a list, which a file cannot tell from a cut one."""
    scores = np.random.default_rng(6).integers(0, 4, (15, 9)).astype(float)
    scores[:, 0] = -5.0
    task = make_task(
        {f"q{n}": f"x{n}" for n in range(15)},
        {f"i{n}": None for n in range(9)},
        {f"q{n}": [f"i{1 + n % 8}"] for n in range(15)},
    )
    matrix = _scored(tmp_path, scores, task, ties)
    lines = [f"q{q} Q0 i{i} 0 {scores[q, i]} t\n" for q in range(15) for i in range(9)]
    (tmp_path / "run").write_text("".join(lines))
    write_qrels(tmp_path / "qrels", task.relevant)
    run = score(tmp_path / "run", tmp_path / "qrels", (1, 5, 10), ties, every_rule=True)
    for part in ("metrics", "bounds", "intervals", "tails"):
        assert run[part] == _forward(matrix[part]), part
    for rule, metrics in run["rules"].items():
        assert metrics == _forward(matrix["rules"][rule])
