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
        "view.lexical": "text: embedded",
    }


def test_report_tags_name_what_each_channel_saw_and_what_the_gallery_is() -> None:
    views = {
        "visual": {"view": "frames", "vector_size": 512, "projection": "none"},
        "text": {"view": "text", "source": "embedded, scene", "vector_size": 384, "projection": "none"},
    }
    tags = report_tags(report_with(views=views, tags={"gallery": "2600 of 2727 videos"}), reused=False)
    assert {name: tags[name] for name in tags if name.startswith("view.")} == {
        "view.visual": "frames",
        "view.text": "text: embedded, scene",
    }
    assert tags["gallery"] == "2600 of 2727 videos"


def test_numbers_hold_the_primary_metric_of_each_slice_in_both_directions() -> None:
    street = {"queries": 2.0, "hit_rate_at_1": 0.5, "v2t/queries": 4.0, "v2t/hit_rate_at_1": 0.25, "mean_rank": 2.0}
    slices = {"scene": {"street": street, "indoor": {"queries": 0.0, "v2t/hit_rate_at_1": 1.0}}}
    for primary in ("hit_rate_at_1", "v2t/hit_rate_at_1"):
        found = numbers(report_with(primary=primary, slices=slices, channels={}, metrics={}))
        assert found.metrics == {
            "slice/scene/street/hit_rate_at_1": 0.5,
            "slice/scene/street/v2t/hit_rate_at_1": 0.25,
            "slice/scene/indoor/v2t/hit_rate_at_1": 1.0,
        }
        assert found.renamed == {}


def test_report_tags_say_incomplete_where_items_failed() -> None:
    report = report_with(counts={"items": 5, "failed_items": 2})
    assert report_tags(report, reused=False)["incomplete"] == "2 of 5 items could not be read"
    assert not is_complete(report)
    assert is_complete(report_with())


def test_numbers_hold_the_ends_of_intervals_the_tails_and_what_channels_did() -> None:
    found = numbers(
        report_with(
            metrics={},
            channels={},
            slices={},
            intervals={"recall_at_1": (0.25, 0.75), "v2t/median_rank": (1.0, 4.0)},
            slice_intervals={"type": {"표/그림": {"ndcg_at_10": (0.5, 1.0)}}},
            tails={"mean_rank": 0.25, "v2t/mean_rank": 0.5},
            contributions={"ocr/rescued_at_1": 3.0, "v2t/channel/visual/broken_at_5": 1.0, "best_channel/mean_rank": 2},
            probe={"text": {"batch_1/ranks_changed": 2.0}},
        )
    )
    assert found.metrics == {
        "recall_at_1_low": 0.25,
        "recall_at_1_high": 0.75,
        "v2t/median_rank_low": 1.0,
        "v2t/median_rank_high": 4.0,
        "slice/type/표_0x2f_그림/ndcg_at_10_low": 0.5,
        "slice/type/표_0x2f_그림/ndcg_at_10_high": 1.0,
        "mean_rank_worst_5_percent_share": 0.25,
        "v2t/mean_rank_worst_5_percent_share": 0.5,
        "ocr/rescued_at_1": 3.0,
        "v2t/channel/visual/broken_at_5": 1.0,
        "best_channel/mean_rank": 2.0,
        "probe/text/batch_1/ranks_changed": 2.0,
    }
