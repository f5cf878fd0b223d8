"""The expensive stages: items are read, transcripts written, texts and frames encoded, each once in a sweep."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from glyphrank.bad_items import check_failures, check_texts
from glyphrank.channels import Part, lexical_part, text_part, visual_part
from glyphrank.last_values import LastValue
from glyphrank.measure import (
    counts_of_parts,
    counts_of_readings,
    failures_of_parts,
    failures_of_readings,
    joined,
    lists_of_readings,
)
from glyphrank.probe import probe_channels
from glyphrank.rankings import Asked
from glyphrank.reading import read_items
from glyphrank.records import Reading, Task
from glyphrank.reporting import Worked
from glyphrank.run import CHANNELS, Run
from glyphrank.sight import Sight
from glyphrank.traced import check_traced, held_to
from glyphrank.transcript import Written

Made = TypeVar("Made")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Texts:
    """The transcripts, and what of the items has none or a poor one."""

    written: Written
    failures: Mapping[str, str]
    counts: Mapping[str, int]
    listed: Mapping[str, Sequence[str]]


_readings: LastValue[list[Reading]] = LastValue()
_texts: LastValue[_Texts] = LastValue()
_parts: dict[str, LastValue[Part]] = {name: LastValue() for name in CHANNELS}


def read_and_encode(run: Run, task: Task, lineage: Mapping[str, str]) -> Worked:
    """Reads the items, writes their transcripts, and encodes texts and frames.

    What the run before in this process left is taken where all stages behind it are the same; where an item or a query
    failed nothing is left, for the failure may pass.

    Args:
        lineage: key of each stage, from `pipeline.trace`.

    Raises:
        DataError: an input cannot be read and the run wants that told, or none can; what a component runs on is not, or
            not any more, that of which the lineage was taken.
    """
    keys = _keys(run, lineage)
    for name, part in _parts.items():
        part.keep_only(keys.get(name))
    with Sight(run.frames, run.runtime) as sight:
        with held_to(run, lineage):
            make = _checked(partial(_write, run, task, sight, keys["readings"], lineage), run, lineage)
            texts = _texts.get(keys["texts"], make, lambda made: not made.failures)
            check_texts(task, texts.written.texts, texts.failures)
            parts = _build_parts(run, task, texts.written, sight, keys, lineage)
        probe = probe_channels(run, task, parts, texts.written, sight) if run.probe else {}
    failures = joined(texts.failures, failures_of_parts(parts))
    check_failures(task, failures, run.on_bad_media)
    for item_id, why in failures.items():
        logger.warning("item %r is not retrieved where it was needed: %s", item_id, why)
    counts = {**texts.counts, **counts_of_parts(parts), "failed_items": len(failures)}
    return Worked(parts, failures, counts, texts.listed, probe, texts.written)


def _keys(run: Run, lineage: Mapping[str, str]) -> dict[str, Hashable]:
    """All that decides the readings, the texts and each channel: the keys of the stages behind them."""

    def keys(*stages: str) -> Hashable:
        return (run.runtime.cache, *(lineage.get(stage) for stage in ("dataset", "sources", *stages)))

    texts = ("ocr", "frames", "transcript")
    behind = {
        "visual": ("frames", "visual", "index"),
        "text": (*texts, "text", "index"),
        "lexical": (*texts, "lexical"),
    }
    return {
        "readings": keys("ocr", "frames"),
        "texts": keys(*texts),
        **{name: keys(*behind[name]) for name in run.channels},
    }


def _checked(make: Callable[[], Made], run: Run, lineage: Mapping[str, str]) -> Callable[[], Made]:
    """The same, which fails rather than give what may have been made with other files than those of the lineage."""

    def made() -> Made:
        value = make()
        check_traced(run, lineage)
        return value

    return made


def _write(run: Run, task: Task, sight: Sight, key: Hashable, lineage: Mapping[str, str]) -> _Texts:
    """Reads the items, where a channel needs texts, and writes their transcripts."""
    readings: list[Reading] = []
    if run.ocr and run.reads:
        read = partial(read_items, run.ocr, task.items, sight, run.runtime)
        readings = _readings.get(
            key, _checked(read, run, lineage), lambda found: all(reading.failure is None for reading in found)
        )
    failures = failures_of_readings(task, readings)
    check_failures(task, failures, run.on_bad_media)
    written = Written(tuple(run.transcript.write(reading) for reading in readings), run.transcript.pooling)
    counts = counts_of_readings(readings, written.texts)
    return _Texts(written, failures, counts, lists_of_readings(task, readings))


def _build_parts(
    run: Run,
    task: Task,
    written: Written,
    sight: Sight,
    keys: Mapping[str, Hashable],
    lineage: Mapping[str, str],
) -> list[Part]:
    """The channels, in the order of `CHANNELS`; those of texts get their queries in the transcript's form."""
    asked = Asked.of(task)
    formed = replace(asked, texts=tuple(run.transcript.query(text) for text in asked.texts))
    makers: dict[str, Callable[[], Part]] = {}
    if run.visual:
        makers["visual"] = partial(visual_part, run.visual, run.index, asked, task.items, sight, run.runtime)
    if run.text:
        makers["text"] = partial(text_part, run.text, run.index, formed, task.items, written, run.runtime)
    if run.lexical:
        makers["lexical"] = partial(lexical_part, run.lexical, formed, written.texts, run.runtime)
    return [_parts[name].get(keys[name], _checked(make, run, lineage), _is_whole) for name, make in makers.items()]


def _is_whole(part: Part) -> bool:
    """Whether every text, query and item that has something to look at got its vector; failures are tried again."""
    failed = ("unusable_texts", "failed_queries", "visual_failed_queries")
    return not part.failures and not any(part.counts.get(name) for name in failed)
