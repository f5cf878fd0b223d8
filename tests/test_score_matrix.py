"""Score matrices made elsewhere: right numbers in both directions, and orders of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.records import Direction
from glyphrank.score_matrix import score_matrix
from glyphrank.ties import TieRule
from matrices import fault_of, matrix_protocol, pairs_task, perfect_scores, score_saved, wide_task
from tasks import make_task
from textvr_captions import read_captions


def _mean_rank(scores: np.ndarray[Any, Any], wanted: Mapping[int, Sequence[int]]) -> float:
    """By sorting whole rows: mean places of ties, best of the relevant."""
    ranks = []
    for row, columns in wanted.items():
        value = scores[row]
        ranks.append(min(np.sum(value > value[c]) + (np.sum(value == value[c]) + 1) / 2 for c in columns))
    return float(np.mean(ranks))


@pytest.mark.parametrize(("queries", "items"), [(20, 20), (20, 31), (31, 20), (300, 7), (7, 300)])
@pytest.mark.parametrize("levels", [3, 10_000])
def test_both_directions_agree_with_counting_by_hand(queries: int, items: int, levels: int, tmp_path: Path) -> None:
    scores = np.random.default_rng(queries).integers(0, levels, (queries, items)).astype(np.float32)
    task = wide_task(queries, items)
    metrics = score_saved(tmp_path, scores, task)["metrics"]
    forward = {query: [query % items] for query in range(queries)}
    backward: dict[int, list[int]] = {}
    for query, (item,) in forward.items():
        backward.setdefault(item, []).append(query)
    assert metrics["mean_rank"] == pytest.approx(_mean_rank(scores, forward))
    assert metrics["v2t/mean_rank"] == pytest.approx(_mean_rank(scores.T, backward))


def test_a_video_of_several_captions_takes_the_best_of_them(tmp_path: Path) -> None:  # case M10
    relevant = {"1": ["u"], "2": ["v"], "3": ["v"], "4": ["w"], "5": ["w"], "6": ["w"]}
    task = make_task({name: name for name in relevant}, dict.fromkeys("uvw"), relevant)
    scores = [[5, 1, 0], [0, 2, 9], [1, 0, 3], [0, 4, 1], [0, 3, 2], [0, 5, 8]]
    metrics = score_saved(tmp_path, np.array(scores, dtype=np.float64), task)["metrics"]
    assert metrics["hit_rate_at_1"] == pytest.approx(2 / 6)  # captions 1 and 6
    assert metrics["mean_rank"] == pytest.approx((1 + 2 + 3 + 2 + 2 + 1) / 6)
    assert metrics["v2t/hit_rate_at_1"] == pytest.approx(1 / 3)  # u; w has 9 for caption 2 above its own 8
    assert metrics["v2t/mean_rank"] == pytest.approx((1 + 4 + 2) / 3)
    assert metrics["v2t/recall_at_5"] == pytest.approx((1 + 1 / 2 + 1) / 3)


def test_ties_follow_the_rule_of_thematrix_protocol(tmp_path: Path) -> None:
    task = pairs_task(3)
    found = {rule: score_saved(tmp_path, np.zeros((3, 3)), task, ties=rule) for rule in TieRule}
    means = {rule: result["metrics"]["mean_rank"] for rule, result in found.items()}
    assert means == {"pessimistic": 3, "optimistic": 1, "document_id": 2, "average": 2, "textvr": 2}
    assert found[TieRule.pessimistic]["bounds"]["v2t/mean_rank"] == (3, 1)
    assert found[TieRule.average]["counts"]["tied_queries"] == 3


def test_only_the_directions_of_the_protocol_are_reported(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.eye(3))
    result = score_matrix(tmp_path / "s.npy", pairs_task(3), "test", matrix_protocol(directions=(Direction.t2v,)))
    assert not any(name.startswith("v2t/") for part in result.values() for name in part)
    assert set(result) == {"metrics", "bounds", "intervals", "tails", "counts", "notes"}


def test_columns_may_be_in_another_order(tmp_path: Path) -> None:
    scores = np.eye(12)[:, ::-1]
    result = score_saved(tmp_path, scores, pairs_task(12), "rand")
    assert result["metrics"]["hit_rate_at_1"] == result["metrics"]["v2t/hit_rate_at_1"] == 1
    assert result["notes"] == []
    wrong = score_saved(tmp_path, scores, pairs_task(12), "test")
    assert wrong["metrics"]["hit_rate_at_1"] == 0
    assert wrong["notes"][0].startswith("the matrix finds far more when read with the columns in the order 'rand'")
    assert wrong["notes"][0].endswith("is it in that order (--columns rand)?")


def test_a_matrix_in_the_tasks_order_is_recognised_under_another(tmp_path: Path) -> None:
    note = score_saved(tmp_path, np.eye(12), pairs_task(12), "rand")["notes"][0]
    assert "read with the columns in the order 'test': mean rank 1.0 and not" in note


@pytest.mark.parametrize("order", ["rand", "test"])
def test_a_transposed_matrix_is_recognised_by_what_it_finds(order: str, tmp_path: Path) -> None:
    names = [f"v{number}" for number in range(12)]
    turned = tuple(names[4:] + names[:4])  # a permutation that is not its own inverse
    task = make_task(
        {f"c{n}": f"caption {n}" for n in range(12)},
        dict.fromkeys(names),
        {f"c{n}": [names[n]] for n in range(12)},
        orders={"rand": turned},
    )
    scores = np.array([[float(turned[column] == names[row]) for column in range(12)] for row in range(12)])
    note = score_saved(tmp_path, scores.T, task, order)["notes"][0]
    assert "read transposed, with the items in the order 'rand': mean rank 1.0" in note
    assert note.endswith("does it hold S[item, query]? save S.T")


def test_a_poor_matrix_is_not_accused(tmp_path: Path) -> None:
    for seed in range(20):
        scores = np.random.default_rng(seed).random((40, 40))
        for order in ("test", "rand"):
            assert score_saved(tmp_path, scores, pairs_task(40), order)["notes"] == []


def test_an_item_at_minus_infinity_is_never_found(tmp_path: Path) -> None:
    scores = np.eye(3, dtype=np.float16)
    scores[0] = -np.inf
    result = score_saved(tmp_path, scores, pairs_task(3, ["a", "a", "b"]), ties=TieRule.optimistic)
    assert result["metrics"]["hit_rate_at_1"] == pytest.approx(2 / 3)
    assert result["metrics"]["mean_rank"] == pytest.approx((3 + 1 + 1) / 3)
    assert result["counts"]["relevant_not_retrieved"] == 1
    assert "relevant items at -inf, which are never hits and rank last: 1" in result["notes"]


def test_an_unknown_order_is_refused_and_the_known_ones_are_named(tmp_path: Path) -> None:
    wanted = "tiny has no order of columns called 'random'; wanted one of rand, test"
    assert fault_of(tmp_path, np.eye(3), pairs_task(3), "random") == wanted


def test_an_order_of_other_items_is_refused(tmp_path: Path) -> None:
    task = make_task({"c": "x"}, {"v": None}, {"c": ["v"]}, orders={"rand": ("v", "w")})
    assert "the order 'rand' names 2 items, which are not the 1 of the task" in fault_of(
        tmp_path, np.zeros((1, 1)), task, "rand"
    )


def test_a_changed_gallery_is_said_first(tmp_path: Path) -> None:
    task = make_task({"c": "x"}, {"v": None}, {"c": ["v"]}, tags={"gallery": "1 of 2 videos"})
    assert score_saved(tmp_path, np.zeros((1, 1)), task)["notes"][0] == "gallery: 1 of 2 videos"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("ties", "first", "five", "mean"),
    [
        (TieRule.optimistic, 1, 1, 1),
        (TieRule.textvr, 0.8181, 1, 1.128),
        (TieRule.pessimistic, 0.8181, 0.9952, 1.257),
    ],
)
def test_a_perfect_matrix_of_textvr_gives_the_table_of_its_repeats(
    ties: TieRule, first: float, five: float, mean: float, tmp_path: Path, shared_data: Path
) -> None:
    task = read_captions(shared_data / "textvr")
    metrics = score_saved(tmp_path, perfect_scores(task), task, "rand", ties)["metrics"]
    names = ("hit_rate_at_1", "hit_rate_at_5", "mean_rank")
    assert [metrics[name] for name in names] == pytest.approx([0.8999, 0.9989, 1.128], abs=5e-4)
    assert [metrics[f"v2t/{name}"] for name in names] == pytest.approx([first, five, mean], abs=5e-4)


@pytest.mark.shared
def test_the_real_files_show_a_wrong_order_and_a_transposed_matrix(tmp_path: Path, shared_data: Path) -> None:
    task = read_captions(shared_data / "textvr")
    scores = perfect_scores(task)
    result = score_saved(tmp_path, scores, task, "test")
    assert result["metrics"]["hit_rate_at_1"] < 0.01
    assert "(--columns rand)" in result["notes"][0]
    assert "of 200 pairs of equal queries 200 have equal columns" in fault_of(tmp_path, scores.T, task, "rand")
    assert "looks transposed" in fault_of(tmp_path, scores.T, task, "test")
