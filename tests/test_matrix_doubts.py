"""What the rows of equal captions tell: a matrix that is transposed, scores that were computed apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from matrices import fault_of, pairs_task, score_saved


def test_equal_captions_show_a_transposed_matrix(tmp_path: Path) -> None:
    texts = [f"caption {number // 2}" for number in range(20)]
    task = pairs_task(20, texts)
    chance = np.random.default_rng(1)
    scores = chance.random((10, 20))[np.arange(20) // 2]  # a row for each caption, twice
    for order in ("test", "rand"):
        assert score_saved(tmp_path, scores, task, order)["counts"]["equal_queries_apart"] == 0
        assert fault_of(tmp_path, scores.T, task, order) == (
            f"{tmp_path / 's.npy'}: looks transposed: of 10 pairs of equal queries 10 have equal columns and 0 equal "
            "rows; wanted a row for each query and a column for each item: save S.T"
        )
        noisy = scores + chance.normal(0, 1e-6, scores.shape)
        assert "looks transposed" in fault_of(tmp_path, noisy.T.astype(np.float32), task, order)


def test_a_constant_or_symmetric_matrix_is_not_taken_for_transposed(tmp_path: Path) -> None:
    task = pairs_task(6, ["a", "a", "b", "b", "c", "d"])
    for scores in (np.zeros((6, 6)), np.equal.outer(list("aabbcd"), list("aabbcd")).astype(float)):
        assert score_saved(tmp_path, scores, task)["counts"]["equal_queries_apart"] == 0
    assert score_saved(tmp_path, np.zeros((3, 3)), pairs_task(3, ["a"] * 3))["metrics"]["mean_rank"] == 2


def test_rows_of_equal_captions_that_differ_in_the_last_bits_are_counted(tmp_path: Path) -> None:
    task = pairs_task(4, ["a", "a", "b", "b"])
    scores = np.random.default_rng(0).random((2, 4), dtype=np.float32)[[0, 0, 1, 1]]
    scores[1, 2] = np.nextafter(scores[1, 2], np.float32(2))
    result = score_saved(tmp_path, scores, task)
    assert result["counts"]["equal_queries_apart_in_last_bits"] == 1
    assert result["counts"]["equal_queries_apart"] == 0
    assert any("in the last bits only" in note and note.endswith(": 1") for note in result["notes"])
    scores[3] = scores[3, ::-1].copy()
    counts = score_saved(tmp_path, scores, task)["counts"]
    assert (counts["equal_queries_apart_in_last_bits"], counts["equal_queries_apart"]) == (1, 1)


def test_scores_near_the_largest_number_and_lists_that_were_cut_are_compared_without_a_warning(tmp_path: Path) -> None:
    task = pairs_task(4, ["a", "a", "b", "b"])
    scores = np.array([[1e308, 0, -1e308, 1], [-1e308, 0, 1e308, 1], [1, 2, 3, 4], [1, 2, 3, 4]])
    assert score_saved(tmp_path, scores, task)["counts"]["equal_queries_apart"] == 1
    cut = np.array([[0.9, 0.1, -np.inf, -np.inf], [-np.inf, -np.inf, 0.2, 0.8]])[[0, 0, 1, 1]]
    assert score_saved(tmp_path, cut, task)["counts"]["equal_queries_apart"] == 0
    assert "looks transposed" in fault_of(tmp_path, cut.T, task)
    cut[1, 0] = -np.inf
    assert score_saved(tmp_path, cut, task)["counts"]["equal_queries_apart"] == 1
