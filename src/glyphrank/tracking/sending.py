"""What goes to a run in MLflow, in requests of the size that it takes; mlflow's own records are made here."""

from __future__ import annotations

import json
import time

from glyphrank.identity import digest_text
from glyphrank.records import Report
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


def send_numbers(client: Client, run_id: str, report: Report) -> None:
    """All metrics in one request (up to 1,000 of them), and `metric_names.json` where a name had to be changed."""
    from mlflow.entities import Metric

    found = numbers(report)
    now = int(time.time() * 1000)
    for batch in batches(list(found.metrics.items()), 1000, _length):
        client.log_batch(run_id, metrics=[Metric(name, value, now, 0) for name, value in batch])
    if found.renamed:
        client.log_text(run_id, json.dumps(found.renamed, ensure_ascii=False, indent=1), "metric_names.json")


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


def _length(entry: tuple[str, object]) -> int:
    """Characters of an entry in a request, about."""
    return len(json.dumps(entry)) + 100
