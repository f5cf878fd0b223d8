"""What goes to a run in MLflow, in requests of the size that it takes; mlflow's own records are made here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from glyphrank.tracking.client import Client
from glyphrank.tracking.content import Content, Files
from glyphrank.tracking.names import batches
from glyphrank.tracking.store import Store

_WEIGHT = 300_000
"""Characters of one kind in a request: MLflow takes 1 MB, and there are three kinds."""


def send_content(store: Store, run_id: str, content: Content, files: Sequence[Files], longest: float) -> None:
    """Numbers and tags, the dataset's name, then every file, and `complete` when all that is stored.

    Files come late, so that a store of files that fails costs files alone. All of it may be sent a second time and
    comes out the same.

    Args:
        longest: seconds that one request to a server may take (`client.bounded`); numbers together may take four slow
            ones, files eight.

    Raises:
        Exception: of many types; the store failed.
        FileNotFoundError: a file or folder is not there.
    """
    client = store.client

    def send_numbers() -> None:
        send_entries(client, run_id, {}, content.tags, content.metrics, content.at)
        if content.dataset:
            _send_dataset(client, run_id, content.dataset)

    def send_files() -> None:
        for name, text in content.texts.items():
            client.log_text(run_id, text, name)
        for each in files:
            send_path(client, run_id, each)

    store.in_time(4 * longest, send_numbers)
    store.in_time(8 * longest, send_files)
    if content.complete:
        store.in_time(longest, lambda: client.set_tag(run_id, "complete", content.complete))


def send_entries(
    client: Client,
    run_id: str,
    parameters: Mapping[str, str],
    tags: Mapping[str, str] | None = None,
    metrics: Mapping[str, float] | None = None,
    at: int = 0,
) -> None:
    """Stored name -> stored value of all three kinds, in as few requests as MLflow allows: mostly one.

    Args:
        at: the metrics' time, in milliseconds since 1970.
    """
    from mlflow.entities import Metric, Param, RunTag

    kinds = (
        batches(list(parameters.items()), 100, _length, _WEIGHT),
        batches(list((tags or {}).items()), 100, _length, _WEIGHT),
        batches(list((metrics or {}).items()), 800, _length, _WEIGHT),
    )
    parts: Iterator[tuple[Any, Any, Any]] = zip_longest(*kinds, fillvalue=[])
    for some, labels, values in parts:
        client.log_batch(
            run_id,
            params=[Param(name, value) for name, value in some],
            tags=[RunTag(name, value) for name, value in labels],
            metrics=[Metric(name, value, at, 0) for name, value in values],
        )


def send_path(client: Client, run_id: str, files: Files) -> None:
    """A file or a folder, to its place among the run's files.

    Raises:
        FileNotFoundError: it is not there; MLflow would send nothing of a folder, and say nothing.
    """
    if files.path.is_dir():
        client.log_artifacts(run_id, str(files.path), files.inside or None)
    elif files.path.is_file():
        client.log_artifact(run_id, str(files.path), files.inside or None)
    else:
        raise FileNotFoundError(f"{files.path}: no such file or folder")


def _send_dataset(client: Client, run_id: str, stored: Mapping[str, str]) -> None:
    from mlflow.entities import Dataset, DatasetInput, InputTag

    dataset = Dataset(
        name=stored["name"],
        digest=stored["digest"],
        source_type="glyphrank",
        source=stored["source"],
        profile=stored["profile"],
    )
    client.log_inputs(run_id, [DatasetInput(dataset, [InputTag("mlflow.data.context", "evaluation")])])


def _length(entry: tuple[str, object]) -> int:
    """Characters of an entry in a request, about."""
    return len(json.dumps(entry)) + 100
