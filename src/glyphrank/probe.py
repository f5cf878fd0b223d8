"""`probe=true`: a sample encoded again at other batch sizes, to see whether numbers move that should not.

The vectors of a run come from its cache, made at whatever batch size and on whatever device; neither is part of a
result's identity, so neither should change a rank. Whether that holds for a model is measured here, on the side: the
run's own numbers stay as they are, and nothing that is encoded here is kept.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from glyphrank.channels import Part
from glyphrank.devices import choose_device
from glyphrank.encoders.precision import Precision
from glyphrank.errors import ConfigError, DataError
from glyphrank.indexes.exact import Exact
from glyphrank.pooling import pool
from glyphrank.probe_sample import Fresh, Gallery, Sample, draw, text_gallery, visual_gallery
from glyphrank.progress import track
from glyphrank.ranking import RankCounter
from glyphrank.records import Direction, FloatArray, Ranks, Task, Vectors
from glyphrank.run import Run
from glyphrank.runtime import Runtime
from glyphrank.scoring import Channel, distinct, place, select
from glyphrank.sight import Sight
from glyphrank.ties import Numbers, TieRule, places
from glyphrank.transcript import Written
from glyphrank.whole_files import replace_whole

PROBE = "probe.json"
"""File of a result that holds its probe."""

TOP = 10
"""Length of the lists that are compared."""

_SIZES = (1, 7, 32)

Probe = Mapping[str, Mapping[str, float]]
"""Channel -> `batch_1/ranks_changed` -> number; channels of vectors alone."""

logger = logging.getLogger(__name__)


def probe_channels(
    run: Run, task: Task, parts: Sequence[Part], written: Written, sight: Sight
) -> dict[str, dict[str, float]]:
    """What encoding a sample again changes, for each channel of vectors and each way of encoding.

    A seeded sample (`probe_sample.draw`) is encoded past the cache: at two batch sizes other than the run's
    (`batch_1`, `batch_7`), and in `run.probe_precision` (`float16`) where the encoder has that field. The new vectors
    take the place of the sampled ones in the gallery, which is searched exactly, and the ranks of the queries' relevant
    items are counted under the protocol's tie rule: forward, and each channel by itself. Items that look or read like
    a sampled one change with it.

    Returns:
        Channel -> flat names, `<way>/` before each of: `queries`, `items` (encoded again), `ranks_compared`,
        `ranks_changed`, `largest_rank_change` (places), `top_10_changed` (queries whose first ten differ),
        `largest_vector_difference` (of a cell of unit vectors), `largest_score_difference`, and `vectors_lost` (no
        usable vector any more, as when numbers overflow).

    Raises:
        ConfigError: an encoder cannot compute in the precision here.
    """
    found: dict[str, dict[str, float]] = {}
    texts = [query.text for query in task.queries]
    for part in parts:
        name = part.channel.name
        if name == "visual" and run.visual is not None:
            gallery = visual_gallery(run.visual, part, task.items, sight, run.runtime)
            sample = draw(task, texts, gallery, run.visual, run.runtime)
        elif name == "text" and run.text is not None:
            gallery = text_gallery(run.text, part, written, run.runtime)
            sample = draw(task, [run.transcript.query(text) for text in texts], gallery, run.text, run.runtime)
        else:
            continue
        found[name] = _probe(run, name, _Ranking(task, gallery, sample, run.metrics.ties))
    if not found:
        logger.info("nothing is probed: no channel has vectors")
    return found


def probe_lines(probe: Probe) -> list[str]:
    """A sentence for each channel and way of encoding."""
    lines = []
    for channel, numbers in probe.items():
        for way in dict.fromkeys(name.partition("/")[0] for name in numbers):
            got = {name.partition("/")[2]: value for name, value in numbers.items() if name.startswith(f"{way}/")}
            moved = f", by at most {got['largest_rank_change']:g}" if got["ranks_changed"] else ""
            lost = f"; {got['vectors_lost']:g} vectors are lost" if got["vectors_lost"] else ""
            lines.append(
                f"probe of channel {channel}, {way.replace('batch_', 'batch size ')}: {got['ranks_changed']:g} of "
                f"{got['ranks_compared']:g} ranks change{moved}, {got['top_10_changed']:g} of {got['queries']:g} "
                f"lists of ten; vectors differ by {got['largest_vector_difference']:.1e} at most, scores by "
                f"{got['largest_score_difference']:.1e} ({got['items']:g} items encoded again){lost}"
            )
    return lines


def write_probe(folder: Path, run: Run, probe: Probe) -> None:
    """Writes `probe.json` into a result's folder, whole or not at all, with the device that it was made on.

    Raises:
        DataError: it cannot be written.
    """
    text = json.dumps({"device": _device(run), "channels": probe}, indent=2, allow_nan=False)
    try:
        replace_whole(folder / PROBE, lambda path: path.write_text(f"{text}\n", encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"{folder / PROBE}: the probe cannot be written ({reason}); probe=false") from error


def stored_probe(folder: Path, run: Run) -> dict[str, dict[str, float]] | None:
    """What a result's probe says of the ways of encoding that a run asks for, on the device that it would take here.

    None where it lacks one of them, is of another device, or is not there; then the sample is encoded again.
    """
    found: dict[str, dict[str, float]] = {}
    try:
        stored = json.loads((folder / PROBE).read_text(encoding="utf-8"))
        if stored["device"] != _device(run):
            return None
        for channel in run.channels:
            for way in _ways(run, channel):
                numbers = stored["channels"][channel]
                of_way = {name: float(value) for name, value in numbers.items() if name.startswith(f"{way}/")}
                if not of_way:
                    return None
                found.setdefault(channel, {}).update(of_way)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ConfigError):
        return None
    return found


def _device(run: Run) -> str:
    """Where the vectors of a run are made here: `auto` is another device on another machine; "" without vectors.

    Raises:
        ConfigError: the device is not on this machine.
    """
    return choose_device(run.runtime.device) if any(_ways(run, channel) for channel in run.channels) else ""


def _ways(run: Run, channel: str) -> dict[str, tuple[Any, Runtime]]:
    """Way of encoding -> the encoder and the runtime that do so, for a channel of vectors; none for others."""
    if channel not in ("visual", "text"):
        return {}
    encoder = getattr(run, channel)
    sizes = [size for size in _SIZES if size != run.runtime.batch_size][:2]
    ways = {f"batch_{size}": (encoder, replace(run.runtime, batch_size=size)) for size in sizes}
    if run.probe_precision is not None and isinstance(getattr(encoder, "precision", None), Precision):
        ways[run.probe_precision.value] = (replace(encoder, precision=run.probe_precision), run.runtime)
    return ways


def _probe(run: Run, channel: str, ranking: _Ranking) -> dict[str, float]:
    """The numbers of all ways of encoding one channel, under their flat names."""
    found: dict[str, float] = {}
    ways = _ways(run, channel)
    with track(len(ways), f"probing channel {channel}") as progress:
        for way, (encoder, runtime) in ways.items():
            try:
                fresh = ranking.sample.encode_again(ranking.gallery, encoder, runtime)
            except RuntimeError as error:  # torch's word for an operation that a device has not in some precision
                raise ConfigError(
                    f"channel {channel} cannot be encoded again as {way} on device {run.runtime.device} ({error}); "
                    f"choose another probe_precision or runtime.device, or probe=false"
                ) from error
            found |= {f"{way}/{name}": value for name, value in ranking.compare(*fresh).items()}
            progress.advance()
    return found


class _Ranking:
    """Ranks a sample's queries with the run's own vectors and with new ones.

    Products always have the same shape, whichever vectors are equal, and equal vectors get the scores of the first of
    them: so vectors that have not changed give the same ranks to the last bit.
    """

    def __init__(self, task: Task, gallery: Gallery, sample: Sample, rule: TieRule) -> None:
        self.gallery = gallery
        self.sample = sample
        self._task = task
        self._rule = rule
        self._scores = self._score({}, {})
        self._ranks = self._rank(self._scores)

    def compare(self, queries: Fresh, items: Fresh) -> dict[str, float]:
        """What new vectors change; see `probe_channels`."""
        scores = self._score(queries, items)
        ranks = self._rank(scores)
        finite = np.isfinite(scores) & np.isfinite(self._scores)
        moves = np.abs(_places(ranks, self._rule) - _places(self._ranks, self._rule))
        lists = zip(self._ranks.top, ranks.top, strict=True)
        cells = [_largest(self.sample.queries, queries), _largest(self.gallery.vectors, items)]
        return {
            "queries": float(len(self.sample.asking)),
            "items": float(sum(any(digest in items for digest in self.gallery.inputs[n]) for n in self.sample.items)),
            "ranks_compared": float(len(moves)),
            "ranks_changed": float(np.count_nonzero(moves)),
            "largest_rank_change": float(moves.max(initial=0)),
            "top_10_changed": float(sum(not np.array_equal(old, new) for (old, _), (new, _) in lists)),
            "largest_vector_difference": max(cells),
            "largest_score_difference": float(np.abs(scores[finite] - self._scores[finite]).max(initial=0)),
            "vectors_lost": float(sum(vector is None for fresh in (queries, items) for vector in fresh.values())),
        }

    def _score(self, queries: Fresh, items: Fresh) -> FloatArray:
        """(s, n) float32 with these new vectors in the place of old ones."""
        lost = {digest for digest, vector in items.items() if vector is None}
        usable = [tuple(digest for digest in own if digest not in lost) for own in self.gallery.inputs]
        entries, rows = pool(_replaced(self.gallery.vectors, items), usable, self.gallery.pooling)
        asking = _replaced(self.sample.queries, queries)
        count = len(asking.ids)
        if not count:
            return np.empty((0, len(usable)), dtype=np.float32)
        number, first = distinct(entries.values)
        columns = select(first[number], rows)
        channel = Channel("probe", Exact().build(entries), asking.values, np.arange(count), columns)
        [block] = channel.blocks(count)
        number, first = distinct(asking.values)
        scores = block[first[number]]
        scores[[queries.get(digest, ()) is None for digest in asking.ids]] = -np.inf
        return scores

    def _rank(self, scores: FloatArray) -> Ranks:
        ids = [self._task.queries[position].id for position in self.sample.asking]
        gallery = [item.id for item in self._task.items]
        counter = RankCounter(Direction.t2v, ids, gallery, self.sample.relevant, TOP)
        counter.add(np.arange(len(ids)), scores)
        return counter.finish()


def _places(ranks: Ranks, rule: TieRule) -> Numbers:
    """(m,) place of every relevant item, its expectation under `average`; the gallery's size where not retrieved."""
    # The mean over all orders of a tied group is the mean place, whatever else in it is relevant.
    where = ranks.higher + (ranks.tied + 1) / 2 if rule is TieRule.average else places(ranks, rule)[0]
    return np.where(ranks.retrieved, where, float(len(ranks.item_ids)))


def _replaced(vectors: Vectors, fresh: Fresh) -> Vectors:
    """Vectors with new ones in the place of old ones; those that are lost stay, for whoever asks not to use."""
    good = {digest: vector for digest, vector in fresh.items() if vector is not None}
    if not good:
        return vectors
    values = vectors.values.copy()
    values[place(vectors.ids, list(good))] = np.stack(list(good.values()))
    return Vectors(vectors.ids, values)


def _largest(vectors: Vectors, fresh: Fresh) -> float:
    """The largest difference of a cell between old and new vectors."""
    good = {digest: vector for digest, vector in fresh.items() if vector is not None}
    if not good:
        return 0.0
    old = vectors.values[place(vectors.ids, list(good))]
    return float(np.abs(np.stack(list(good.values())) - old).max(initial=0))
