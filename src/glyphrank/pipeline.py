"""The order of the stages: from a dataset to a report.

A run is built by `config.py` from components; this file says what happens to it, and every step is a function of the
file that its name suggests.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from glyphrank.channels import Part, lexical_part, text_part
from glyphrank.datasets import Dataset
from glyphrank.encoders import Lexical, TextEncoder
from glyphrank.errors import DataError
from glyphrank.fusion import Fusion
from glyphrank.identity import FileDigests, digest_json, digest_sources, key
from glyphrank.indexes import Index
from glyphrank.measure import bounds_of, counts_of, counts_of_parts, failures_of, metrics_of, notes_of, slices_of
from glyphrank.metrics import Protocol
from glyphrank.ocr import OcrEngine
from glyphrank.rankings import Asked, main_name, rank_all
from glyphrank.records import Direction, Reading, Report, Runtime, Source, Task, View
from glyphrank.report import results
from glyphrank.stages import read_items
from glyphrank.tracking import Tracker
from glyphrank.transcript import Transcript

logger = logging.getLogger(__name__)

CHANNELS = {"text": View.text, "lexical": View.text}
"""Channels and the view of an item that each sees."""

MOST_SHOWN = 10
"""Bad items that an error names."""


class BadMedia(StrEnum):
    """What to do about an item that cannot be read."""

    keep = "keep"
    error = "error"


@dataclass(frozen=True)
class Paths:
    """Where things are written."""

    outputs: Path
    cache: Path


@dataclass(frozen=True)
class Run:
    """One experiment, built; its fields are the root keys of the config.

    Raises:
        ValueError: the parts do not go together: no channel, text channels without a source of text, a view that the
            protocol forbids, a fusion that lacks a channel.
    """

    dataset: Dataset
    ocr: OcrEngine | None
    transcript: Transcript
    text: TextEncoder | None
    lexical: Lexical | None
    index: Index
    fusion: Fusion
    metrics: Protocol
    tracking: Tracker | None
    paths: Paths
    runtime: Runtime
    on_bad_media: BadMedia
    rerun: bool
    plugins: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.channels:
            raise ValueError("there is no channel; choose encoder@lexical=... or encoder@text=...")
        if self.ocr is None:
            raise ValueError(f"channel {self.channels[0]!r} needs text but ocr=none; choose ocr=embedded")
        for name in self.channels:
            if CHANNELS[name] not in self.metrics.views:
                allowed = ", ".join(self.metrics.views)
                raise ValueError(
                    f"channel {name!r} sees {CHANNELS[name]}, but the metrics protocol allows {allowed} only"
                )
        if len(self.channels) > 1:
            self.fusion.fuse({name: np.zeros((1, 1), dtype=np.float32) for name in self.channels})

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels that are filled."""
        return tuple(name for name in CHANNELS if getattr(self, name) is not None)


def execute(run: Run, config: Mapping[str, object]) -> tuple[Report, bool]:
    """Runs the experiment, or takes its stored result.

    Args:
        config: the resolved configuration for the report, secrets removed.

    Returns:
        The report, whose files lie in `results/<identity>/`, and whether it was stored before.

    Raises:
        DataError: an input is missing or damaged; ConfigError: a component cannot work here.
    """
    store = run.runtime.outputs / "results"
    task = run.dataset.load(run.runtime)
    lineage = trace(run, task)
    identity = digest_json(lineage)
    stored = None if run.rerun else results.find(store, identity)
    if stored and not (stored.failures and run.on_bad_media is BadMedia.error):
        logger.info("nothing is recomputed: the result %s is stored (rerun=true measures again)", identity[:12])
        return stored, True

    readings = read(run, task)
    texts = [run.transcript.write(reading) for reading in readings]
    parts = build_parts(run, task, texts)
    channels = [part.channel for part in parts]
    store.mkdir(parents=True, exist_ok=True)
    rankings = rank_all(task, channels, run.fusion, run.metrics.directions, scratch=store)
    ranks = rankings[main_name(channels)]
    counts = {**counts_of(task, ranks), **counts_of_parts(readings, texts, parts)}
    report = Report(
        identity=identity,
        task=task.name,
        primary=run.metrics.primary,
        metrics=metrics_of(ranks, run.metrics),
        bounds=bounds_of(ranks, run.metrics),
        channels={channel.name: metrics_of(rankings[channel.name], run.metrics) for channel in channels},
        slices=slices_of(task, ranks[Direction.t2v], run.metrics),
        counts=counts,
        failures=failures_of(task, readings, parts),
        lineage=lineage,
        notes=(*task.notes, *notes_of(counts)),
        config=config,
    )
    results.keep(store, report, ranks, run.metrics.ties)
    return report, False


def trace(run: Run, task: Task) -> dict[str, str]:
    """Everything that can change the numbers: stage -> fingerprint or key. Its digest is the result's identity."""
    stages: dict[str, object] = {"ocr": run.ocr, "transcript": run.transcript, "text": run.text, "lexical": run.lexical}
    stages |= {"index": run.index if run.text else None, "fusion": run.fusion if len(run.channels) > 1 else None}
    files = FileDigests(run.runtime.cache / "files")
    lineage = {name: key(component, files) for name, component in stages.items() if component is not None}
    lineage |= {"metrics": key(run.metrics, files), "sources": digest_sources({"glyphrank", *run.plugins})}
    return {"dataset": task.fingerprint, **lineage}


def read(run: Run, task: Task) -> list[Reading]:
    """The reading of every item.

    Raises:
        DataError: no item could be read, or one could not and `on_bad_media` is `error`.
    """
    if run.ocr is None:
        return [Reading(Source.embedded)] * len(task.items)
    readings = read_items(run.ocr, task.items, run.runtime)
    failed = {item.id: found.failure for item, found in zip(task.items, readings, strict=True) if found.failure}
    if failed and (run.on_bad_media is BadMedia.error or len(failed) == len(readings)):
        shown = [f"  {item_id}: {why}" for item_id, why in list(failed.items())[:MOST_SHOWN]]
        more = [f"  and {len(failed) - len(shown)} more"] if len(failed) > len(shown) else []
        advice = "" if len(failed) == len(readings) else "; on_bad_media=keep goes on without them"
        raise DataError(
            "\n".join([f"{task.name}: {len(failed)} of {len(readings)} items cannot be read{advice}", *shown, *more])
        )
    for item_id, why in failed.items():
        logger.warning("item %r cannot be read and counts as not retrieved: %s", item_id, why)
    return readings


def build_parts(run: Run, task: Task, texts: Sequence[str]) -> list[Part]:
    """The channels, in the order of `CHANNELS`.

    Raises:
        DataError: no item has a text.
    """
    if not any(texts):
        raise DataError(
            f"{task.name}: none of the {len(texts)} items has a text that can be read from it; choose another ocr"
        )
    asked = Asked.of(task).texts
    parts = []
    if run.text:
        parts.append(text_part(run.text, run.index, asked, task.items, texts, run.runtime))
    if run.lexical:
        parts.append(lexical_part(run.lexical, asked, texts, run.runtime))
    return parts
