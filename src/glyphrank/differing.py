"""In which fields runs differ: the few columns by which a person tells the rows of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from glyphrank.comparable import listed, result_of, spread
from glyphrank.report.finished import Finished
from glyphrank.run import CHANGES_NO_NUMBER
from glyphrank.tracking.names import parameters

_NO_NUMBER = CHANGES_NO_NUMBER | {"experiment", "hydra", "help"}
"""First parts of fields that change no number."""
_CLASS = "_target_"
_SLOTS = frozenset(
    ("dataset", "frames", "ocr", "transcript", "visual", "text", "lexical", "index", "fusion", "metrics")
)
_DIGEST, _SHOWN = 12, 8


def differing(runs: Sequence[Finished]) -> list[dict[str, str]]:
    """For every run the fields in which the runs differ, by the names that the dashboard has for them, in one order.

    Left out are fields that cannot have changed a number: where and how a run worked, and those of a component that is
    the same in all runs by its key (a dataset at another place, a fusion of one channel). Beside the differing choices
    of a component those of its fields are left out that follow from the choice: each choice has one value, and it is
    the class, or the field is none of the other choices', or has the same value there. One that a person changed in any
    run is shown in any case. A field that a run lacks has no entry. Runs that these fields do not tell apart show what
    of their lineage differs as well (`lineage.sources`: another version of the program), and else their names.
    """
    everything = [parameters(run.report.choices, run.report.config) for run in runs]
    shown = [name for name in dict.fromkeys(name for own in everything for name in own) if _differs(everything, name)]
    changed = {name for run in runs for name in run.report.changed}
    shown = [name for name in shown if _counts(name, runs) and (name in changed or not _follows(name, everything))]
    rows = [{name: own[name] for name in shown if name in own} for own in everything]
    if _alike(rows):
        lineages = [{f"lineage.{name}": key[:_DIGEST] for name, key in run.report.lineage.items()} for run in runs]
        rows = _with(rows, lineages, _telling(rows, lineages))
    if _alike(rows) or (len(runs) == 1):
        rows = [{"run": run.name, **row} for run, row in zip(runs, rows, strict=True)]
    return rows


def distinct(given: Sequence[Finished]) -> tuple[list[Finished], list[str]]:
    """The last run of each result, and notes; those of one name are told apart by identity, or else by number."""
    last = {result_of(run): number for number, run in enumerate(given)}
    runs = [given[number] for number in sorted(last.values())]
    names = Counter(run.name for run in runs)
    runs = [
        replace(run, name=f"{run.name} ({run.report.identity[:8]})") if names[run.name] > 1 else run for run in runs
    ]
    names, seen = Counter(run.name for run in runs), Counter[str]()
    for number, run in enumerate(runs):
        seen[run.name] += 1
        if names[run.name] > 1:
            runs[number] = replace(run, name=f"{run.name} {seen[run.name]} of {names[run.name]}")
    notes, identities = [], Counter(run.report.identity for run in runs)
    if len(given) > len(runs):
        notes.append(f"runs that gave the very result of a later one, and stand here with it: {len(given) - len(runs)}")
    unlike = [run.name for run in runs if identities[run.report.identity] > 1]
    if unlike:
        notes.append(f"of one identity but with other numbers, as another device may give: {listed(unlike)}")
    return runs, notes


def unexplained(runs: Sequence[Finished], rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Says which parts of the lineage differ among runs that are alike in all fields shown of them.

    Another version of the program or of a package, other weights behind one name: a difference of numbers may come from
    these as well. Dataset and protocol are left out, for `comparable.common` speaks of them.

    Args:
        rows: what `differing` gives for the runs.
    """
    keys = dict.fromkeys(key for run in runs for key in run.report.lineage if key not in ("dataset", "metrics"))
    told = []
    for key in keys:
        alike: dict[tuple[tuple[str, str], ...], set[str]] = {}
        for run, row in zip(runs, rows, strict=True):
            if key in run.report.lineage:  # one that has no vectors has no index, say, and its choices show that
                own = tuple((name, value) for name, value in row.items() if _slot(name) == key)
                alike.setdefault(own, set()).add(run.report.lineage[key])
        if all(len(found) == 1 for found in alike.values()) or any(f"lineage.{key}" in row for row in rows):
            continue
        told.append(f"{key} ({spread(runs, partial(_key_of, key))})")
    if not told:
        return []
    return [
        f"differences may come from what no field shows, another version of code, packages or files: {', '.join(told)}"
    ]


def marked(runs: Sequence[Finished]) -> list[str]:
    """What reports bear as marks: random weights, a reduced gallery, items that failed; and on which runs."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for name, value in run.report.tags.items():
            found.setdefault(f"{name} {value}", []).append(run.name)
    notes = [f"marked {mark}: {listed(names)}" for mark, names in found.items()]
    incomplete = [run.name for run in runs if run.report.counts.get("failed_items", 0)]
    if incomplete:
        notes.append(f"incomplete, with items that could not be read and are never retrieved: {listed(incomplete)}")
    return notes


def _key_of(key: str, run: Finished) -> str:
    return run.report.lineage.get(key, "none")[:_SHOWN]


def _differs(rows: Sequence[Mapping[str, str]], name: str) -> bool:
    return len({row.get(name) for row in rows}) > 1


def _counts(name: str, runs: Sequence[Finished]) -> bool:
    """Whether a field can have changed a number."""
    slot = _slot(name)
    if slot in _NO_NUMBER:
        return False
    return slot not in _SLOTS or len({run.report.lineage.get(slot) for run in runs}) > 1


def _follows(name: str, rows: Sequence[Mapping[str, str]]) -> bool:
    """Whether a component's field is the same for all runs with one choice of it, and other choices say no other."""
    slot = _slot(name)
    if name == slot or not _differs(rows, slot):
        return False
    pairs = {(row.get(slot), row.get(name)) for row in rows}
    if len({choice for choice, _ in pairs}) < len(pairs):
        return False
    return name.endswith(f".{_CLASS}") or len({value for _, value in pairs if value is not None}) < 2


def _slot(name: str) -> str:
    """The root key that a field lies under."""
    return name.removeprefix("config.").partition(".")[0]


def _alike(rows: Sequence[Mapping[str, str]]) -> bool:
    return len({tuple(sorted(row.items())) for row in rows}) < len(rows)


def _telling(rows: Sequence[Mapping[str, str]], lineages: Sequence[Mapping[str, str]]) -> list[str]:
    """Keys of the lineage that differ among runs whose rows are alike."""
    groups: dict[tuple[tuple[str, str], ...], list[Mapping[str, str]]] = {}
    for row, lineage in zip(rows, lineages, strict=True):
        groups.setdefault(tuple(sorted(row.items())), []).append(lineage)
    names = dict.fromkeys(name for lineage in lineages for name in lineage)
    return [name for name in names if any(_differs(group, name) for group in groups.values())]


def _with(
    rows: Sequence[Mapping[str, str]], lineages: Sequence[Mapping[str, str]], names: Iterable[str]
) -> list[dict[str, str]]:
    wanted = list(names)
    return [
        {**row, **{name: lineage[name] for name in wanted if name in lineage}}
        for row, lineage in zip(rows, lineages, strict=True)
    ]
