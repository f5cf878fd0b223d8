"""What comes of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Report:
    """A run's outcome, as `report.json` holds it.

    Attributes:
        metrics: flat names of DESIGN section 6 (`recall_at_1`, `v2t/median_rank`), fractions in [0, 1] or ranks.
        bounds: for each metric that the tie rule changes, its [worst, best] value over the orders of ties.
        channels: each channel's own metrics, under the same names.
        slices: field -> value -> metrics of the queries with that value, `queries` among them.
        counts: queries, items, failed_items, tied_queries, truncated_texts, ...
        failures: item id -> why it could not be read or encoded.
        losses: what an approximate index loses: name of a forward metric -> its value under exact search minus its own.
        views: channel -> what it saw: `view`, `source` of its text, `vector_size`, `projection` (always none).
        listed: state of a poor text (`thin`, `blank`, `image_only`, `garbled`) -> ids of the items that have it.
        tags: what stands on the run for filtering, e.g. `random_weights`.
        lineage: stage -> key or fingerprint behind the numbers.
        notes, config: what was odd, in sentences; the resolved configuration, secrets removed.
        choices: what a person named, slot -> choice, e.g. `{"encoder@lexical": "bm25_words"}`.
        changed: names, as the dashboard has them, of the fields whose value is not that of the choice's own file.
        evaluation: what two runs must share to be compared: `queries`, `items` and `relevance` as digests, and the
            fields of the protocol under `protocol`.
        intervals: name of a metric in `metrics` -> its 95 % interval, [low, high].
        slice_intervals: field -> value -> primary metric (of each direction) -> its 95 % interval.
        tails: `mean_rank`, `v2t/mean_rank` -> the share of it that the worst 5 % of queries cause.
        contributions: what the channels did for each other (`contributions.contributions`); empty with one channel.
        probe: channel -> what encoding a sample again changed; empty where nobody asked.
    """

    identity: str
    task: str
    primary: str
    metrics: Mapping[str, float]
    bounds: Mapping[str, tuple[float, float]]
    channels: Mapping[str, Mapping[str, float]]
    slices: Mapping[str, Mapping[str, Mapping[str, float]]]
    counts: Mapping[str, int]
    failures: Mapping[str, str]
    losses: Mapping[str, float]
    views: Mapping[str, Mapping[str, str | int]]
    listed: Mapping[str, Sequence[str]]
    tags: Mapping[str, str]
    lineage: Mapping[str, str]
    notes: tuple[str, ...]
    config: Mapping[str, object]
    choices: Mapping[str, str] = field(default_factory=dict)
    changed: Sequence[str] = ()
    evaluation: Mapping[str, object] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    slice_intervals: Mapping[str, Mapping[str, Mapping[str, tuple[float, float]]]] = field(default_factory=dict)
    tails: Mapping[str, float] = field(default_factory=dict)
    contributions: Mapping[str, float] = field(default_factory=dict)
    probe: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
