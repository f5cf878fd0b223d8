from __future__ import annotations

import math

import numpy as np
import pytest

from glyphrank.tracking.numbers import is_complete, numbers, report_tags
from tracked_runs import report_with


def test_numbers_hold_the_metrics_of_run_channels_and_slices() -> None:
    found = numbers(report_with())
    assert found.metrics == {
        "ndcg_at_10": 0.75,
        "recall_at_1": 0.5,
        "v2t/median_rank": 2.0,
        "channel/lexical/ndcg_at_10": 0.25,
        "slice/type/표/ndcg_at_10": 1.0,
    }
    assert found.renamed == {}
    assert found.not_finite == ()


def test_numbers_keep_the_original_of_a_name_that_mlflow_refuses() -> None:  # case L01
    found = numbers(report_with(metrics={"Recall@1": 0.5, "recall_1": 0.25}, channels={}, slices={}))
    assert found.metrics == {"Recall_0x40_1": 0.5, "recall_1": 0.25}
    assert found.renamed == {"Recall_0x40_1": "Recall@1"}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, np.float32("inf")])
def test_numbers_count_what_is_not_finite_instead_of_sending_it(value: float) -> None:  # case L09
    report = report_with(
        metrics={"good": np.float32(0.5), "bad": value}, channels={"text": {"worse": value}}, slices={}
    )
    found = numbers(report)
    assert found.metrics == {"good": 0.5, "not_finite_metrics": 2.0}
    assert type(found.metrics["good"]) is float
    assert report_tags(report, reused=False)["not_finite_metrics"] == "bad, channel/text/worse"


def test_numbers_leave_out_a_slice_without_the_primary_metric() -> None:
    assert numbers(report_with(slices={"type": {"x": {"queries": 0.0}}}, channels={}, metrics={})).metrics == {}


def test_report_tags_name_identity_lineage_and_reuse() -> None:
    assert report_tags(report_with(), reused=True) == {
        "identity": "1d" * 16,
        "reused": "true",
        "lineage.dataset": "f1" * 16,
        "lineage.lexical": "a1" * 16,
    }


def test_report_tags_say_incomplete_where_items_failed() -> None:
    report = report_with(counts={"items": 5, "failed_items": 2})
    assert report_tags(report, reused=False)["incomplete"] == "2 of 5 items could not be read"
    assert not is_complete(report)
    assert is_complete(report_with())
