"""A result in MTEB's form: what its `TaskResult` demands, and what its numbers are called."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from glyphrank.outcome import Report
from glyphrank.report.mteb import mteb_result, write_mteb
from tracked_runs import report_with

METRICS = {
    "hit_rate_at_1": 0.5,
    "recall_at_1": 0.25,
    "ndcg_at_1": 0.5,
    "ndcg_at_10": 0.625,
    "reciprocal_rank_at_10": 0.75,
    "median_rank": 2.0,
    "median_rank_mean": 1.5,
    "mean_rank": 3.0,
    "v2t/hit_rate_at_1": 0.125,
    "v2t/mean_rank": 9.0,
}
NAMES = {"hit_rate_at_1", "recall_at_1", "ndcg_at_1", "ndcg_at_10", "mrr_at_10"}


def _report(primary: str = "ndcg_at_10", config: Mapping[str, object] | None = None) -> Report:
    return report_with(
        task="공공 문서/test", primary=primary, metrics=METRICS, lineage={"dataset": "f1"}, config=config or {}
    )


def _scores(report: Report, split: str = "test") -> Any:
    (scores,) = mteb_result(report)["scores"][split]
    return scores


def test_a_result_has_the_fields_of_mtebs_task_result_and_null_for_what_nobody_measured() -> None:
    result = mteb_result(_report())
    assert result.keys() == {
        "dataset_revision",
        "task_name",
        "mteb_version",
        "scores",
        "evaluation_time",
        "kg_co2_emissions",
    }
    assert (result["dataset_revision"], result["task_name"]) == ("f1", "공공 문서/test")
    assert (result["mteb_version"], result["evaluation_time"], result["kg_co2_emissions"]) == (None, None, None)
    assert list(result["scores"]) == ["test"]


def test_the_forward_metrics_have_mtebs_names() -> None:
    scores = _scores(_report())
    assert scores.keys() == {*NAMES, "main_score", "hf_subset", "languages"}
    assert (scores["mrr_at_10"], scores["hit_rate_at_1"], scores["hf_subset"]) == (0.75, 0.5, "default")


@pytest.mark.parametrize(
    ("primary", "wanted"),
    [
        ("recall_at_1", 0.25),
        ("reciprocal_rank_at_10", 0.75),
        ("v2t/hit_rate_at_1", 0.5),
        ("median_rank", 0.625),
        ("v2t/mean_rank", 0.625),
    ],
)
def test_the_main_score_is_the_forward_primary_metric_and_never_a_rank(primary: str, wanted: float) -> None:
    assert _scores(_report(primary))["main_score"] == wanted


def test_revision_split_and_subset_are_the_configured_ones() -> None:
    report = _report(config={"dataset": {"revision": "759fcae", "split": "dev", "subset": "ko"}})
    assert mteb_result(report)["dataset_revision"] == "759fcae"
    assert _scores(report, "dev")["hf_subset"] == "ko"
    unset = _report(config={"dataset": {"revision": None, "split": None, "subset": None}})
    assert mteb_result(unset)["dataset_revision"] == "f1"
    assert _scores(unset)["hf_subset"] == "default"


def test_languages_are_those_of_the_benchmark_and_else_undetermined() -> None:
    """An empty list would do for MTEB's reader, but make its mean over languages NaN."""
    assert _scores(_report())["languages"] == ["und-Zyyy"]
    for benchmark, language in (("kopub_task1", "kor-Hang"), ("kopub_task2", "kor-Hang"), ("textvr", "eng-Latn")):
        report = _report(config={"metrics": {"benchmark": benchmark}})
        assert _scores(report)["languages"] == [language]


def test_the_file_is_json_with_ids_as_they_are(tmp_path: Path) -> None:
    write_mteb(tmp_path / "mteb.json", _report())
    text = (tmp_path / "mteb.json").read_text(encoding="utf-8")
    assert json.loads(text) == mteb_result(_report())
    assert "공공 문서/test" in text
