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
        assert not np.isnan(whole).any()
        assert np.array_equal(np.isneginf(whole), np.isneginf(block) & np.isneginf(channels["lexical"]))


def test_fusion_without_a_weight_for_a_channel_names_it() -> None:
    with pytest.raises(ValueError, match="'lexical' has no weight"):
        ReciprocalRank(60, {"text": 1.0}).fuse({"text": rows([1.0]), "lexical": rows([1.0])})


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_fusion_with_an_impossible_weight_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="weight of 'text'"):
        WeightedSum(Normalisation.minmax, {"text": weight})


def test_reciprocal_rank_with_k_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        ReciprocalRank(0, EQUAL)
