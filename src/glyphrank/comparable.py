"""Whether runs may be compared, and on which queries: nothing that differs between evaluations passes in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glyphrank.errors import DataError
from glyphrank.ids import nfc
from glyphrank.metrics import prefix
from glyphrank.records import Direction, Ranks
from glyphrank.report.compared import asker, counted
from glyphrank.report.finished import Finished
from glyphrank.ties import TieRule

SHOWN = 3
"""Names of runs that a message spells out."""
_NO_DIFFERENCE = ("ties", "primary")
"""Fields of the protocol that stand for themselves, or change no number."""


@dataclass(frozen=True)
class Common:
    """What the runs are compared on.

    Attributes:
        rule: the order of equal scores, for all runs.
        ids: direction -> ids in NFC of the askers (queries, or items for v2t) that have something relevant in every
            run with that direction; at least one each.
        notes: what a reader must know; what only `allow` let pass stands first.
    """

    rule: TieRule
    ids: Mapping[Direction, tuple[str, ...]]
    notes: tuple[str, ...]


def common(runs: Sequence[Finished], leading: Finished, ties: TieRule | None = None, allow: bool = False) -> Common:
    """What runs can be compared on: all their queries where they were evaluated alike.

    Alike are equal query sets, galleries, relevance, fields of the protocol, and tie rules unless one is given. Which
    metric is the primary one changes no number and does not matter.

    Args:
        runs: at least one; each run's ranks were counted in its own gallery.
        leading: the run among them whose tie rule and order of queries are taken.
        ties: order of equal scores for all; what the runs' own protocols say of it does not matter then.
        allow: whether runs that were not evaluated alike are compared on the queries that all of them have.

    Raises:
        DataError: they were not evaluated alike (the message says what differs, and in which runs), or have no query
            in common.
    """
    rule = ties or rule_of(leading)
    ids = {way: found for way in Direction if (found := _shared(runs, leading, way))}
    unlike = differences(runs, ties is not None)
    if unlike and not allow:
        raise DataError(_refusal(unlike))
    if not ids:
        asked = spread(runs, lambda run: counted(len(_judged(run, _first(run))), "query"))
        raise DataError(f"the runs have no query with a relevant item in common ({asked}); compare runs of one dataset")
    notes = [_allowed(unlike, ids, rule)] if unlike else []
    content = spread(runs, lambda run: f"dataset {run.report.lineage.get('dataset', 'of unknown content')[:8]}")
    if content:
        equal = "" if unlike else "queries, item ids and relevance are equal, but "
        notes.append(f"{equal}not all that the dataset holds is equal: {content}")
    return Common(rule, ids, tuple(notes))


def only(ranks: Ranks, ids: Sequence[str]) -> Ranks:
    """The ranks of some askers, in the order of `ids`, which are in NFC; each was ranked in its whole gallery."""
    places = {name: place for place, name in enumerate(ids)}
    new = np.array([places.get(nfc(name), -1) for name in ranks.query_ids], dtype=np.int64)
    kept = np.flatnonzero(new[ranks.query] >= 0)
    kept = kept[np.argsort(new[ranks.query[kept]], kind="stable")]
    old = np.empty(len(ids), dtype=np.int64)
    old[new[new >= 0]] = np.flatnonzero(new >= 0)
    return replace(
        ranks,
        query_ids=tuple(ranks.query_ids[position] for position in old.tolist()),
        query=new[ranks.query[kept]],
        item=ranks.item[kept],
        gain=ranks.gain[kept],
        higher=ranks.higher[kept],
        tied=ranks.tied[kept],
        before=ranks.before[kept],
        retrieved=ranks.retrieved[kept],
        top=[ranks.top[position] for position in old.tolist()] if ranks.top else (),
    )


def parts_of(
    runs: Sequence[Finished], leading: Finished, field: str, asking: tuple[Direction, Sequence[str]], allow: bool
) -> tuple[dict[str, str], list[str]]:
    """Id in NFC -> value of a field, of those askers that have one, and a note where runs disagree on the values.

    Args:
        leading: the run whose values count where they may differ, unless it lacks the field.
        asking: the direction, and the ids in NFC of all whose values matter.
        allow: whether the runs' values may differ.

    Raises:
        DataError: nobody who asks has the field, or runs have other values.
    """
    way, ids = asking
    slices = [run.queries[way].slices for run in (leading, *runs)]
    named = [{nfc(name): value for name, value in own.get(field, {}).items()} for own in slices]
    taken = next((own for own in named if any(name in own for name in ids)), None)
    if taken is None:
        there = ", ".join(dict.fromkeys(name for own in slices for name in own)) or "none"
        raise DataError(f"those who ask ({way}) have no field {field!r}; the fields that they have: {there}")
    odd = [sum(own.get(name) != taken.get(name) for name in ids) for own in named[1:]]
    values = {name: taken[name] for name in ids if name in taken}
    if not any(odd):
        return values, []
    whose = runs[odd.index(0)].name
    others = listed([run.name for run, count in zip(runs, odd, strict=True) if count])
    told = (
        f"the values of {field!r} are not those of {whose!r} in {others} (for up to {max(odd)} of {len(ids)} who ask)"
    )
    if not allow:
        raise DataError(f"{told}; compare runs of one dataset, or add --allow to take the values of one run")
    return values, [f"{told}; those of {whose!r} count"]


def result_of(run: Finished) -> tuple[object, ...]:
    """What two runs have in common that gave one result: the identity and all metrics."""
    return run.report.identity, *sorted(run.report.metrics.items())


def rule_of(run: Finished) -> TieRule:
    """The order of equal scores under which a run reports its numbers."""
    return TieRule(str(protocol_of(run)["ties"]))


def cutoffs_of(run: Finished) -> list[int]:
    """The cut-offs of a run's protocol."""
    cutoffs = protocol_of(run)["cutoffs"]
    if not isinstance(cutoffs, Sequence):
        raise DataError(f"the report of {run.name!r} names {cutoffs!r} as its cut-offs; run the experiment again")
    return [int(cutoff) for cutoff in cutoffs]


def protocol_of(run: Finished) -> Mapping[str, object]:
    """The fields of a run's protocol as plain values.

    Raises:
        DataError: the report does not hold them.
    """
    protocol = run.report.evaluation.get("protocol")
    if not isinstance(protocol, Mapping) or not {"ties", "cutoffs"} <= protocol.keys():
        raise DataError(f"the report of {run.name!r} does not say how it was evaluated; run the experiment again")
    return protocol


def spread(runs: Iterable[Finished], say: Callable[[Finished], str]) -> str:
    """What runs differ in, and which run has what; "" where all say the same.

    e.g. `600 queries in 'a', 'b'; 512 queries in 'c'`
    """
    found: dict[str, list[str]] = {}
    for run in runs:
        found.setdefault(say(run), []).append(run.name)
    if len(found) < 2:
        return ""
    return "; ".join(f"{what} in {listed(names)}" for what, names in found.items())


def listed(names: Sequence[str]) -> str:
    """Names of runs for a message: the first few, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more


def differences(runs: Sequence[Finished], one_rule: bool) -> list[str]:
    """In what the evaluations of runs differ, in words; none where they were evaluated alike (see `common`).

    Args:
        one_rule: whether tie rules do not matter, since one is given for all.
    """
    found = [
        f"query sets: {spread(runs, _saying('queries', lambda run: counted(run.report.counts['queries'], 'query')))}",
        f"galleries: {spread(runs, _saying('items', lambda run: counted(run.report.counts['items'], 'item')))}",
        f"relevance: {_relevance(runs)}",
        f"tie rules: {'' if one_rule else spread(runs, lambda run: rule_of(run).value)}",
    ]
    fields = dict.fromkeys(name for run in runs for name in protocol_of(run) if name not in _NO_DIFFERENCE)
    found += [f"{name} of the protocol: {spread(runs, _telling(name))}" for name in fields]
    return [difference for difference in found if not difference.endswith(": ")]


def _saying(part: str, say: Callable[[Finished], str]) -> Callable[[Finished], str]:
    """Says how much of a part a run has, and the digest that tells equally many others from them."""
    return lambda run: f"{say(run)} (digest {str(run.report.evaluation.get(part, 'unknown'))[:8]})"


def _relevance(runs: Sequence[Finished]) -> str:
    """In what relevance differs; "" where it differs only because the queries do."""
    if not spread(runs, lambda run: str(run.report.evaluation.get("relevance"))):
        return ""
    first = _first(runs[0])
    shared = set(_shared(runs, runs[0], first))
    pairs = {id(run): _pairs(run.ranks[first], shared) if first in run.ranks else frozenset() for run in runs}
    if shared and len(set(pairs.values())) == 1:
        return ""
    if not shared:
        return spread(runs, _saying("relevance", lambda run: "no judged query in common"))
    return spread(
        runs, _saying("relevance", lambda run: f"{counted(len(pairs[id(run)]), 'pair')} of queries and relevant items")
    )


def _pairs(ranks: Ranks, ids: set[str]) -> frozenset[tuple[str, str, float]]:
    """(asker, answer, gain) of the askers among `ids`, in NFC."""
    asking, answers = [nfc(name) for name in ranks.query_ids], ranks.item_ids
    triples = zip(ranks.query.tolist(), ranks.item.tolist(), ranks.gain.tolist(), strict=True)
    return frozenset((asking[query], nfc(answers[item]), gain) for query, item, gain in triples if asking[query] in ids)


def _shared(runs: Sequence[Finished], leading: Finished, direction: Direction) -> tuple[str, ...]:
    """Askers with something relevant in every run that has the direction, in the leading run's order."""
    having = [run for run in runs if direction in run.ranks]
    if not having:
        return ()
    first = leading if direction in leading.ranks else having[0]
    rest = [set(_judged(run, direction)) for run in having if run is not first]
    return tuple(name for name in _judged(first, direction) if all(name in others for others in rest))


def _judged(run: Finished, direction: Direction) -> list[str]:
    """Ids in NFC of the askers that have something relevant."""
    ranks = run.ranks[direction]
    return [nfc(ranks.query_ids[position]) for position in np.unique(ranks.query).tolist()]


def _first(run: Finished) -> Direction:
    return Direction.t2v if Direction.t2v in run.ranks else Direction.v2t


def _telling(name: str) -> Callable[[Finished], str]:
    """Tells a run's value of a field of the protocol."""

    def tell(run: Finished) -> str:
        value = protocol_of(run).get(name, "not given")
        return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)

    return tell


def _refusal(unlike: Sequence[str]) -> str:
    lines = ["the runs were not evaluated alike and cannot be compared as they are; they differ in", *unlike]
    advice = "compare runs of one evaluation, or add --allow to compare them on the queries that all of them have"
    if all(difference.startswith("tie rules") for difference in unlike):
        advice = "add --ties RULE to count all of them under one rule (all shows every rule but chooses none)"
    return "\n  ".join(lines) + f"\n{advice}"


def _allowed(unlike: Sequence[str], ids: Mapping[Direction, tuple[str, ...]], rule: TieRule) -> str:
    counts = ", ".join(counted(len(found), asker(prefix(way))) for way, found in ids.items())
    return (
        f"these runs were not evaluated alike; compared on the queries that all of them have ({counts}), each run "
        f"ranking in its own gallery, ties by the rule {rule.value}. They differ in {' | '.join(unlike)}"
    )
