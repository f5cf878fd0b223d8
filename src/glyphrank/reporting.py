"""Writing a run up: everything that its report and the table of its queries say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from weakref import ref

import numpy as np

from glyphrank.channels import Part
from glyphrank.contributions import contributions
from glyphrank.digests import digest_json, digest_text
from glyphrank.ids import nfc
from glyphrank.last_values import LastValue
from glyphrank.measure import (
    bounds_of,
    counts_of,
    counts_of_misses,
    metrics_of,
    slice_fields,
    slices_of,
    views_of,
)
from glyphrank.metrics import Protocol, per_query
from glyphrank.outcome import Report
from glyphrank.probe import Probe
from glyphrank.rankings import FUSED, Rankings
from glyphrank.records import Direction, Ranks, Task, View
from glyphrank.report.queries import PerQuery
from glyphrank.run import CHANNELS, Run
from glyphrank.ties import Numbers
from glyphrank.transcript import Written
from glyphrank.uncertainty import groupings_of, uncertainty

_content: LastValue[tuple[ref[Task], dict[str, str]]] = LastValue()
"""The digests of the last task: they take a while, and the cells of a sweep share it."""


@dataclass(frozen=True)
class Worked:
    """What the expensive stages gave: channels and texts, what of the items took no part, and what a probe found."""

    parts: Sequence[Part]
    failures: Mapping[str, str]
    counts: Mapping[str, int]
    listed: Mapping[str, Sequence[str]]
    probe: Probe
    written: Written


@dataclass(frozen=True)
class Material:
    """What a run measured: that of which its page is made; `rankings` are forward at least."""

    task: Task
    worked: Worked
    rankings: Rankings


@dataclass(frozen=True)
class Origin:
    """Where a run's numbers come from.

    Attributes:
        lineage: stage -> fingerprint or key; its digest is the result's identity.
        config, choices: what was configured, secrets removed, and what of it a person named.
        changed: names of fields that are not as their choice has them.
    """

    lineage: Mapping[str, str]
    config: Mapping[str, object]
    choices: Mapping[str, str]
    changed: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """The name under which the result is kept."""
        return digest_json(dict(self.lineage))


def report_of(
    run: Run, task: Task, worked: Worked, rankings: Rankings, losses: Mapping[str, float], origin: Origin
) -> Report:
    """What is true of the numbers wherever they are shown; `measure.of_this_run` adds what is said of one run.

    Args:
        losses: from `measure.losses_of`, empty where the index is exact.
    """
    ranks, protocol = own_ranks(rankings), run.metrics
    fields = slice_fields(task, ranks)
    trust = uncertainty(ranks, groupings_of(task, protocol, ranks), fields, protocol)
    alone = {name: own for name, own in rankings.items() if name != FUSED}
    misses = counts_of_misses(rankings) if run.is_approximate else {}
    return Report(
        identity=origin.identity,
        task=task.name,
        primary=protocol.primary,
        metrics=metrics_of(ranks, protocol),
        bounds=bounds_of(ranks, protocol),
        channels={name: metrics_of(own, protocol) for name, own in alone.items()},
        slices=slices_of(ranks, fields, protocol),
        counts={**counts_of(task, ranks), **trust.counts, **worked.counts, **misses},
        failures=worked.failures,
        losses=losses,
        views=views_of(run, worked.parts),
        listed=worked.listed,
        tags={},
        lineage=origin.lineage,
        notes=(),
        config=origin.config,
        choices=origin.choices,
        changed=origin.changed,
        evaluation=evaluation_of(task, protocol),
        intervals=trust.intervals,
        slice_intervals=trust.slice_intervals,
        tails=trust.tails,
        contributions=contributions(alone, ranks, _frames_beside_text(run), protocol),
    )


def queries_of(task: Task, rankings: Rankings, protocol: Protocol) -> dict[Direction, PerQuery]:
    """What every query got, in every direction, from the run's own ranking and from each channel alone."""
    ranks = own_ranks(rankings)
    groupings, fields = groupings_of(task, protocol, ranks), slice_fields(task, ranks)
    alone = {name: own for name, own in rankings.items() if name != FUSED}
    return {
        direction: PerQuery(
            found.query_ids,
            groupings[direction].numbers,
            fields[direction],
            per_query(found, protocol.cutoffs, protocol.ties),
            {name: _best_rank(own[direction], protocol) for name, own in alone.items()},
        )
        for direction, found in ranks.items()
    }


def evaluation_of(task: Task, protocol: Protocol) -> dict[str, object]:
    """What two runs must share to be compared: digests of `queries`, `items` and `relevance`, and the `protocol`.

    They name content and not place or order: ids count in NFC, whatever the order of the files. The protocol's fields
    are of plain types, as JSON holds them.
    """
    _content.keep_if(lambda found: found[0]() is task)
    _, content = _content.get("content", lambda: (ref(task), _content_of(task)))
    return {**content, "protocol": json.loads(json.dumps(asdict(protocol)))}


def _content_of(task: Task) -> dict[str, str]:
    judged = sorted(
        (nfc(query), nfc(item), repr(float(gain)))
        for query, gains in task.relevant.items()
        for item, gain in gains.items()
    )
    return {
        "queries": _digest(sorted((nfc(query.id), query.text) for query in task.queries)),
        "items": _digest(sorted((nfc(item.id),) for item in task.items)),
        "relevance": _digest(judged),
    }


def own_ranks(rankings: Rankings) -> Mapping[Direction, Ranks]:
    """The run's own ranking: the fusion's, or the only channel's."""
    return rankings[FUSED] if FUSED in rankings else next(iter(rankings.values()))


def _frames_beside_text(run: Run) -> str | None:
    """The channel that sees frames, where others see text."""
    seeing = [name for name in run.channels if CHANNELS[name] is View.frames]
    return seeing[0] if seeing and len(seeing) < len(run.channels) else None


def _best_rank(ranks: Ranks, protocol: Protocol) -> Numbers:
    return np.asarray(per_query(ranks, protocol.cutoffs, protocol.ties)["best_rank"], dtype=np.float64)


def _digest(rows: Sequence[Sequence[str]]) -> str:
    return digest_text(*(text for row in rows for text in row))
