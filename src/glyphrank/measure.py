"""From ranks to a report: metrics under their names, bounds of ties, slices, counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from glyphrank.channels import Part
from glyphrank.metrics import ALWAYS, Protocol, bounds, evaluate, prefix, sliced
from glyphrank.outcome import Report
from glyphrank.probe import Probe, probe_lines
from glyphrank.rankings import FUSED, Rankings
from glyphrank.records import Direction, Item, Query, Ranks, Reading, Task, TextState, View
from glyphrank.run import CHANNELS, Run
from glyphrank.ties import swayed, tied_queries
from glyphrank.uncertainty import groupings_of, notes_of_groups

MOST_VALUES = 50
"""A field of more values than this is no slice but a text of its own, such as a reference answer."""

LONGEST_VALUE = 200
"""A field with a value of more characters than this is none either."""

POOR = (TextState.thin, TextState.image_only, TextState.blank, TextState.garbled)
"""States of a text that a reader of the numbers is told of."""

Metrics = Mapping[str, float]


def metrics_of(ranks: Mapping[Direction, Ranks], protocol: Protocol) -> dict[str, float]:
    """All metrics of all directions, flat."""
    return {
        prefix(direction) + name: value
        for direction, found in ranks.items()
        for name, value in evaluate(found, protocol.cutoffs, protocol.ties).items()
    }


def bounds_of(ranks: Mapping[Direction, Ranks], protocol: Protocol) -> dict[str, tuple[float, float]]:
    """Worst and best value of every metric that the order of ties changes, the reported one among them, flat."""
    return {
        prefix(direction) + name: value
        for direction, found in ranks.items()
        for name, value in bounds(found, protocol.cutoffs, protocol.ties).items()
    }


Fields = Mapping[str, Mapping[str, str]]
"""Field -> id of a query (or item) -> its value."""


def slice_fields(task: Task, directions: Iterable[Direction]) -> dict[Direction, Fields]:
    """By what the askers of each direction are broken down.

    Those are fields of the queries; items that ask are broken down by those of them that they have too. Fields of items
    alone are no slices, nor is a field of more than `MOST_VALUES` values or of longer ones than `LONGEST_VALUE`.
    """
    forward = {field: values for field, values in _fields(task.queries) if _is_slice(values)}
    return {direction: forward if direction is Direction.t2v else _of_items(task, forward) for direction in directions}


def _of_items(task: Task, forward: Fields) -> Fields:
    return {field: values for field, values in _fields(task.items) if field in forward}


def slices_of(
    ranks: Mapping[Direction, Ranks], fields: Mapping[Direction, Fields], protocol: Protocol
) -> dict[str, dict[str, dict[str, float]]]:
    """Metrics of the queries that share a value: field -> value -> metrics, `queries` among them.

    Where items ask too and have the field as well, the metrics of the items that share the value stand beside, as
    `v2t/...`, with their number as `v2t/queries`.

    Args:
        fields: from `slice_fields`.
    """
    found: dict[str, dict[str, dict[str, float]]] = {field: {} for field in fields[Direction.t2v]}
    for direction, own in ranks.items():
        start = prefix(direction)
        for field, values in fields[direction].items():
            for value, metrics in sliced(own, protocol.cutoffs, protocol.ties, values).items():
                numbers = found[field].setdefault(value, {} if direction is Direction.t2v else {"queries": 0.0})
                numbers.update({start + name: number for name, number in metrics.items()})
    return found


def counts_of(task: Task, ranks: Mapping[Direction, Ranks]) -> dict[str, int]:
    """What the numbers are means over, and what of the gallery took no part."""
    forward = ranks[Direction.t2v]
    counts = {
        "queries": len(task.queries),
        "items": len(task.items),
        "queries_without_relevant": len(task.queries) - len(np.unique(forward.query)),
        "relevant_not_retrieved": int((~forward.retrieved).sum()),
        "fields_left_out": sum(not _is_slice(values) for _, values in _fields(task.queries)),
    }
    for direction, found in ranks.items():
        counts[f"{prefix(direction)}tied_queries"] = tied_queries(found)
    return counts


def counts_of_readings(readings: Sequence[Reading], texts: Sequence[Sequence[str]]) -> dict[str, int]:
    """What had no text or a poor one, and why; nothing where nothing was read."""
    if not readings:
        return {}
    states = Counter(reading.state for reading in readings)
    counts = {f"{state}_items": states[state] for state in POOR}
    guessed = sum(bool(reading.lines) and not reading.length_known for reading in readings)
    windows = {"windows_by_text": guessed} if any(len(found) > 1 for found in texts) else {}
    return {"items_without_text": sum(not text for text in texts), **counts, **windows}


def lists_of_readings(task: Task, readings: Sequence[Reading]) -> dict[str, tuple[str, ...]]:
    """State of a poor text -> the items that have it; states without an item are left out."""
    lists: dict[TextState, list[str]] = {state: [] for state in POOR}
    for item, reading in zip(task.items, readings, strict=True) if readings else ():
        if reading.state in lists:
            lists[reading.state].append(item.id)
    return {state.value: tuple(ids) for state, ids in lists.items() if ids}


def views_of(run: Run, parts: Sequence[Part]) -> dict[str, dict[str, str | int]]:
    """What each channel saw and compared: its view, where its text comes from, the size of its vectors.

    The size is the encoder's own; no vector is projected or cut, as the SDS KoPub card asks.
    """
    sources = ", ".join(run.ocr.sources) if run.ocr else ""
    views: dict[str, dict[str, str | int]] = {}
    for part in parts:
        view = CHANNELS[part.channel.name]
        views[part.channel.name] = {"view": view.value, **({"source": sources} if view is View.text else {})}
        if part.vector_size is not None:
            views[part.channel.name] |= {"vector_size": part.vector_size, "projection": "none"}
    return views


def counts_of_parts(parts: Sequence[Part]) -> dict[str, int]:
    """What was cut or left out in the channels."""
    return {name: count for part in parts for name, count in part.counts.items()}


def counts_of_misses(rankings: Rankings) -> dict[str, int]:
    """Relevant items that each channel did not retrieve, which with an approximate index may be most."""
    return {
        f"channel/{name}/relevant_not_retrieved": int((~ranks[Direction.t2v].retrieved).sum())
        for name, ranks in rankings.items()
        if name != FUSED
    }


def failures_of_readings(task: Task, readings: Sequence[Reading]) -> dict[str, str]:
    """Item id -> why it could not be read; nothing where nothing was read."""
    found = zip(task.items, readings, strict=True) if readings else ()
    return {item.id: reading.failure for item, reading in found if reading.failure}


def failures_of_parts(parts: Sequence[Part]) -> dict[str, str]:
    """Item id -> why it has no part in channels although it has what they look at."""
    named = ({item: f"channel {part.channel.name}: {why}" for item, why in part.failures.items()} for part in parts)
    return joined(*named)


def joined(*failures: Mapping[str, str]) -> dict[str, str]:
    """Item id -> all reasons why it failed, in order."""
    reasons: dict[str, list[str]] = {}
    for some in failures:
        for item_id, why in some.items():
            reasons.setdefault(item_id, []).append(why)
    return {item_id: "; ".join(found) for item_id, found in reasons.items()}


def losses_of(found: Rankings, exact: Rankings, protocol: Protocol) -> dict[str, float]:
    """Forward metrics under exact search minus those found: the main ranking's, and `channel/<name>/...`."""
    losses: dict[str, float] = {}
    for name, ranks in exact.items():
        forward = Direction.t2v
        own = evaluate(found[name][forward], protocol.cutoffs, protocol.ties)
        best = evaluate(ranks[forward], protocol.cutoffs, protocol.ties)
        start = "" if name == FUSED or len(exact) == 1 else f"channel/{name}/"
        losses |= {start + metric: best[metric] - own[metric] for metric in best if metric in own}
    return losses


def of_this_run(report: Report, run: Run, task: Task, probe: Probe) -> Report:
    """A report with what is said of this very run: equal numbers may come of other files, with other oddities.

    The name of the task, tags (a gallery that is not the published one, random weights), notes, what is listed, and
    what a probe found, where this run asked for one.
    """
    random = {"random_weights": ", ".join(run.random_weights)} if run.random_weights else {}
    states = {name: ids for name, ids in report.listed.items() if name in set(POOR)}
    notes = (
        *task.notes,
        *notes_of_run(run),
        *notes_of(report.counts, run.metrics.cutoffs),
        *notes_of_groups(groupings_of(task, run.metrics, directions_of(report)), report.counts, run.metrics.group),
        *notes_of_bounds(report.bounds),
        *probe_lines(probe),
    )
    tags = {**task.tags, **random}
    return replace(report, task=task.name, tags=tags, listed={**task.listed, **states}, notes=notes, probe=probe)


def directions_of(report: Report) -> tuple[Direction, ...]:
    """The directions in which the run was measured."""
    return tuple(direction for direction in Direction if f"{prefix(direction)}mean_rank" in report.metrics)


def notes_of_bounds(bounds: Mapping[str, tuple[float, float]]) -> list[str]:
    """A sentence that names the metrics of which the order of equal scores decides more than half a point or rank.

    Args:
        bounds: from `bounds_of`.
    """
    wide = swayed(bounds)
    if not wide:
        return []
    return [f"the order of equal scores decides more than 0.5 points (half a rank) of {', '.join(wide)}"]


def notes_of_run(run: Run) -> list[str]:
    """What the parts of a run mean for its numbers, in sentences."""
    notes = [f"channel {name} has random weights, which nobody trained" for name in run.random_weights]
    if run.metrics.benchmark is not None:
        notes.append(f"numbers of {run.metrics.benchmark}; equal scores are ordered by the rule {run.metrics.ties}")
    if run.is_approximate:
        notes.append("an approximate index ranks forward only (no v2t); its loss against exact search is in the report")
    if run.save_scores and len(run.channels) > 1 and Direction.v2t in run.metrics.directions:
        notes.append("scores.npy holds the forward fusion; v2t is fused anew, with items as queries, and may differ")
    return notes


def notes_of(counts: Mapping[str, int], cutoffs: Sequence[int] = ()) -> list[str]:
    """What a reader of the numbers should know, in sentences.

    Args:
        counts: from `counts_of` and `counts_of_parts`.
        cutoffs: of the protocol; 1, 3, 5 and 10 are looked at always.
    """
    sentences = {
        "queries_without_relevant": "queries without a relevant item, which stand in no mean",
        "items_without_text": "items without text, which text channels never retrieve",
        "items_without_media": "items without media, which channel visual never retrieves",
        "thin_items": "items with little text (ocr.thin_below)",
        "image_only_items": "items with images but no text, which an OCR engine would read",
        "garbled_items": "items whose text is not readable",
        "windows_by_text": "clips of unknown length, whose windows end with their last text",
        "unusable_texts": "texts without a usable vector",
        "truncated_texts": "texts longer than the encoder reads, of which it read the beginning",
        "truncated_queries": "queries longer than the encoder of channel text reads",
        "queries_without_tokens": "queries without a token, which retrieve nothing in channel lexical",
        "failed_queries": "queries without a usable vector, which retrieve nothing in channel text",
        "visual_truncated_queries": "queries longer than the encoder of channel visual reads",
        "visual_failed_queries": "queries without a usable vector, which retrieve nothing in channel visual",
        "fields_left_out": f"fields of queries with more than {MOST_VALUES} values, or with one of more than "
        f"{LONGEST_VALUE} characters, which are no slices",
    }
    notes = [f"{sentence}: {counts[name]}" for name, sentence in sentences.items() if counts.get(name)]
    return notes + _beyond(counts, max(*cutoffs, *ALWAYS))


def _beyond(counts: Mapping[str, int], cutoff: int) -> list[str]:
    """A sentence for each direction whose gallery is smaller than the largest cut-off."""
    galleries = {"items": Direction.t2v, "queries": Direction.v2t}
    return [
        f"{prefix(direction)}cut-offs above {counts[name]}, the number of {name} that are ranked, see all of them"
        for name, direction in galleries.items()
        if f"{prefix(direction)}tied_queries" in counts and cutoff > counts[name]
    ]


def _fields(queries: Sequence[Query] | Sequence[Item]) -> Iterator[tuple[str, dict[str, str]]]:
    """Every field of the queries, or items, with each one's value."""
    for field in sorted({name for query in queries for name in query.slices}):
        yield field, {query.id: query.slices[field] for query in queries if field in query.slices}


def _is_slice(values: Mapping[str, str]) -> bool:
    return len(set(values.values())) <= MOST_VALUES and max(map(len, values.values())) <= LONGEST_VALUE
