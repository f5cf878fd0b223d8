from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.fusion import Fusion, Normalisation, ReciprocalRank, WeightedSum, competition_ranks, normalise

GONE = -np.inf
EQUAL = {"text": 1.0, "lexical": 1.0}


def rows(*values: list[float]) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_reciprocal_rank_of_two_channels_is_the_sum_of_inverse_ranks() -> None:
    fused = ReciprocalRank(60, EQUAL).fuse({"text": rows([0.9, 0.5, 0.1]), "lexical": rows([1.0, 3.0, 2.0])})
    wanted = [1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62]
    np.testing.assert_allclose(fused, [wanted], rtol=1e-6)


def test_reciprocal_rank_of_equal_scores_is_equal() -> None:
    assert competition_ranks(rows([0.5, 0.9, 0.5, GONE])).tolist() == [[2, 1, 2, 4]]
    fused = ReciprocalRank(60, EQUAL).fuse({"text": rows([0.5, 0.9, 0.5]), "lexical": rows([2.0, 1.0, 2.0])})
    assert fused[0, 0] == fused[0, 2]


def test_reciprocal_rank_where_one_channel_missed_counts_the_other_alone() -> None:
    fused = ReciprocalRank(60, EQUAL).fuse({"text": rows([0.9, GONE, GONE]), "lexical": rows([GONE, 3.0, GONE])})
    np.testing.assert_allclose(fused, [[1 / 61, 1 / 61, GONE]], rtol=1e-6)


def test_weighted_sum_with_minmax_spans_zero_to_one_and_missing_is_the_minimum() -> None:
    fused = WeightedSum(Normalisation.minmax, {"text": 2.0, "lexical": 1.0}).fuse(
        {"text": rows([10.0, 20.0, GONE, GONE]), "lexical": rows([5.0, GONE, 1.0, GONE])}
    )
    np.testing.assert_allclose(fused, [[0 + 1, 2 + 0, 0, GONE]])


def test_minmax_of_a_single_retrieved_item_sets_it_above_the_missing_ones() -> None:
    assert normalise(rows([GONE, 7.0, GONE]), Normalisation.minmax).tolist() == [[0, 1, 0]]


def test_zscore_has_mean_zero_and_deviation_one_over_finite_cells() -> None:
    scaled = normalise(rows([1.0, 2.0, 3.0, GONE]), Normalisation.zscore)
    assert scaled[0, :3].mean() == pytest.approx(0)
    assert scaled[0, :3].std() == pytest.approx(1)
    assert scaled[0, 3] == scaled[0, 0]


@pytest.mark.parametrize("how", list(Normalisation))
@pytest.mark.parametrize("row", [[4.0, 4.0, 4.0], [GONE, GONE, GONE], [0.0]])
def test_normalise_degenerate_rows_stay_finite(how: Normalisation, row: list[float]) -> None:
    assert np.isfinite(normalise(rows(row), how)).all()


@given(
    st.lists(
        st.lists(st.sampled_from([GONE, 0.0, 0.25, 0.5, 1.0, 3.5]), min_size=6, max_size=6), min_size=2, max_size=5
    )
)
def test_fusion_treats_every_row_by_itself(values: list[list[float]]) -> None:
    block = rows(*values)
    channels = {"text": block, "lexical": block[:, ::-1].copy()}
    fusions: list[Fusion] = [ReciprocalRank(60, EQUAL), *(WeightedSum(how, EQUAL) for how in Normalisation)]
    for fusion in fusions:
        whole = fusion.fuse(channels)
        for i in range(len(block)):
            alone = fusion.fuse({name: rows_[i : i + 1] for name, rows_ in channels.items()})
            assert np.array_equal(whole[i : i + 1], alone)
        columns = fusion.fuse({name: np.asfortranarray(rows_) for name, rows_ in channels.items()})
        assert np.array_equal(whole, columns)
        assert not np.isnan(whole).any()
        assert np.array_equal(np.isneginf(whole), np.isneginf(block) & np.isneginf(channels["lexical"]))


@pytest.mark.parametrize("how", list(Normalisation))
def test_normalise_gives_the_same_bits_whatever_the_layout(how: Normalisation) -> None:
    block = np.random.default_rng(1).random((20, 300)).astype(np.float32)
    assert np.array_equal(normalise(block, how), normalise(np.asfortranarray(block), how))


def test_fusion_without_a_weight_for_a_channel_names_it() -> None:
    with pytest.raises(ValueError, match="'lexical' has no weight"):
        ReciprocalRank(60, {"text": 1.0}).fuse({"text": rows([1.0]), "lexical": rows([1.0])})


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_fusion_with_an_impossible_weight_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="weight of 'text'"):
        WeightedSum(Normalisation.minmax, {"text": weight})


@pytest.mark.parametrize("k", [0, -1.0, float("nan"), float("inf")])
def test_reciprocal_rank_with_an_impossible_k_is_refused(k: float) -> None:
    with pytest.raises(ValueError, match=f"k is {k}; wanted a finite number above 0"):
        ReciprocalRank(k, EQUAL)


def _both(weights: dict[str, float]) -> list[Fusion]:
    return [ReciprocalRank(60, weights), *(WeightedSum(how, weights) for how in Normalisation)]


@pytest.mark.parametrize("weights", [{}, {"text": 0.0}, {"text": 0.0, "lexical": 0}])
def test_weights_that_are_all_zero_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="all weights are 0"):
        _both(weights)
    with pytest.raises(ValueError, match="all weights are 0"):
        WeightedSum(Normalisation.minmax, weights)


def test_channels_whose_weights_are_all_zero_are_refused() -> None:
    for fusion in _both({"text": 0.0, "lexical": 0.0, "visual": 1.0}):
        with pytest.raises(ValueError, match=r"\['lexical', 'text'\] all have weight 0"):
            fusion.fuse({"text": rows([1.0]), "lexical": rows([1.0])})


def test_fused_scores_that_float32_would_tie_stay_apart() -> None:
    flat, lexical = rows([0.0] * 4), rows([0.0, 0.25, 0.5, 1.0])
    for weights in ({"text": 1e12, "lexical": 1.0}, {"text": 1.0, "lexical": 1e-12}):
        for fusion in _both(weights):
            fused = fusion.fuse({"text": flat, "lexical": lexical})
            assert fused.dtype == np.float64
            assert (np.diff(fused[0]) > 0).all()


@pytest.mark.parametrize("weight", [1.7e308, 5e-324])
def test_fused_scores_of_extreme_weights_are_finite_and_in_order(weight: float) -> None:
    largest = float(np.finfo(np.float32).max)
    block = rows([largest, 1.0, -1.0, -largest, GONE])
    for fusion in _both({"text": weight, "lexical": weight}):
        fused = fusion.fuse({"text": block, "lexical": block})
        assert np.isfinite(fused[0, :4]).all()
        assert (np.diff(fused[0, :4]) <= 0).all()
        assert fused[0, 0] > fused[0, 3]
        assert fused[0, 4] == GONE
