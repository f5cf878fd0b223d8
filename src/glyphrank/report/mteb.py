"""A run's result in the form of MTEB's results, so that its tools and leaderboards can read it beside their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glyphrank.outcome import Report

_NAMES = ("ndcg_at_", "recall_at_", "hit_rate_at_")
_RENAMED = {"reciprocal_rank_at_10": "mrr_at_10"}
_LANGUAGES = {"kopub_task1": "kor-Hang", "kopub_task2": "kor-Hang", "textvr": "eng-Latn"}
_UNKNOWN = "und-Zyyy"
"""ISO 639-3 and ISO 15924 for what was not determined. Without any language MTEB's own mean over languages is NaN."""
_SPLIT, _SUBSET, _MAIN = "test", "default", "ndcg_at_10"


def mteb_result(report: Report) -> dict[str, Any]:
    """The forward direction as MTEB's `TaskResult` (mteb 1.11 and later), which loads it as it is.

    Metrics have MTEB's names: nDCG, recall (the share of relevant items found) and hit rate (any found) at the cut-offs
    of the protocol, and the mean reciprocal rank. The `main_score` is the run's primary metric, nDCG@10 where that is
    a rank; of a primary metric of v2t it is the forward one. What nobody measured is null: the time, the emissions,
    and the version of mteb, which had no part in it. The revision is the configured one, else the fingerprint of what
    was read. The task keeps our name: MTEB's task on the same data may still be another evaluation. Languages are those
    of the benchmark whose name the numbers bear, else undetermined.
    """
    dataset = _mapping(report.config.get("dataset"))
    benchmark = _mapping(report.config.get("metrics")).get("benchmark")
    main = report.primary.rpartition("/")[2]
    scores = {_RENAMED.get(name, name): value for name, value in report.metrics.items() if _is_shown(name)}
    return {
        "dataset_revision": str(dataset.get("revision") or report.lineage["dataset"]),
        "task_name": report.task,
        "mteb_version": None,
        "scores": {
            str(dataset.get("split") or _SPLIT): [
                {
                    **scores,
                    "main_score": report.metrics[main if _is_shown(main) else _MAIN],
                    "hf_subset": str(dataset.get("subset") or _SUBSET),
                    "languages": [_LANGUAGES.get(str(benchmark), _UNKNOWN)],
                }
            ]
        },
        "evaluation_time": None,
        "kg_co2_emissions": None,
    }


def write_mteb(path: Path, report: Report) -> None:
    """Writes `mteb_result` as JSON."""
    text = json.dumps(mteb_result(report), ensure_ascii=False, indent=2, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _is_shown(name: str) -> bool:
    return name in _RENAMED or name.startswith(_NAMES)


def _mapping(node: object) -> Mapping[str, object]:
    """A part of the configuration, empty where it is none."""
    return node if isinstance(node, Mapping) else {}
