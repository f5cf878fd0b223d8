"""What goes to a run in MLflow, in requests of the size that it takes; mlflow's own records are made here."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from glyphrank.identity import digest_text
from glyphrank.outcome import Report
from glyphrank.tracking.client import Client
from glyphrank.tracking.names import batches
from glyphrank.tracking.numbers import numbers

_DIGEST_LIMIT = 36


def send_parameters(client: Client, run_id: str, values: dict[str, str]) -> None:
    """Stored name -> stored value, at most 100 a request."""
    from mlflow.entities import Param

    for batch in batches(list(values.items()), 100, _length):
        client.log_batch(run_id, params=[Param(name, value) for name, value in batch])


def send_tags(client: Client, run_id: str, tags: dict[str, str]) -> None:
    """Tags, at most 100 a request."""
    from mlflow.entities import RunTag

    for batch in batches(list(tags.items()), 100, _length):
        client.log_batch(run_id, tags=[RunTag(name, value) for name, value in batch])


def send_numbers(client: Client, run_id: str, metrics: Mapping[str, float]) -> None:
    """Stored name -> finite value, up to 1,000 a request."""
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    for batch in batches(list(metrics.items()), 1000, _length):
        client.log_batch(run_id, metrics=[Metric(name, value, now, 0) for name, value in batch])


def send_dataset(client: Client, run_id: str, report: Report) -> None:
    """The dataset as an input of the run: name, fingerprint and counts, never its content."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    fingerprint = report.lineage.get("dataset", report.identity)
    dataset = Dataset(
        name=report.task[:500],
        digest=fingerprint if len(fingerprint) <= _DIGEST_LIMIT else digest_text(fingerprint),
        source_type="glyphrank",
        source=json.dumps({"task": report.task, "fingerprint": fingerprint}, ensure_ascii=False),
        profile=json.dumps({name: report.counts[name] for name in ("queries", "items") if name in report.counts}),
    )
    client.log_inputs(run_id, [DatasetInput(dataset, [InputTag("mlflow.data.context", "evaluation")])])


def send_files(client: Client, run_id: str, report: Report, folder: Path) -> None:
    """Every file of the folder, and `metric_names.json` where a metric's name had to be changed.

    Raises:
        FileNotFoundError: the folder is not there; MLflow would send nothing and say nothing.
    """
    renamed = numbers(report).renamed
    if renamed:
        client.log_text(run_id, json.dumps(renamed, ensure_ascii=False, indent=1), "metric_names.json")
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder")
    client.log_artifacts(run_id, str(folder))


def _length(entry: tuple[str, object]) -> int:
    """Characters of an entry in a request, about."""
    return len(json.dumps(entry)) + 100
