"""In which fields runs differ: the few columns by which a person tells the rows of a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from glyphrank.report.finished import Finished
from glyphrank.tracking.names import parameters

_NO_NUMBER = frozenset(
    ("experiment", "hydra", "help", "on_bad_media", "paths", "plugins", "probe", "probe_precision", "rerun", "runtime")
) | {"save_scores", "tracking"}
"""First parts of fields that change no number."""
_SLOTS = frozenset(
    ("dataset", "frames", "ocr", "transcript", "visual", "text", "lexical", "index", "fusion", "metrics")
)
_DIGEST = 12


def differing(runs: Sequence[Finished]) -> list[dict[str, str]]:
    """For every run the fields in which the runs differ, by the names that the dashboard has for them, in one order.

    Left out are fields that cannot have changed a number: where and how a run worked, and those of a component that is
    the same in all runs by its key (a dataset at another place, a fusion of one channel). A field of a component that
    is the same in all runs with one choice of that component follows from the choice, and only the choice is shown. A
    field that a run lacks has no entry. Runs that these fields do not tell apart show what of their lineage differs
    as well (`lineage.sources`: another version of the program), and else their names.
    """
    everything = [parameters(run.report.choices, run.report.config) for run in runs]
    shown = [name for name in dict.fromkeys(name for own in everything for name in own) if _differs(everything, name)]
    shown = [name for name in shown if _counts(name, runs) and not _follows(name, everything)]
    rows = [{name: own[name] for name in shown if name in own} for own in everything]
    if _alike(rows):
        lineages = [{f"lineage.{name}": key[:_DIGEST] for name, key in run.report.lineage.items()} for run in runs]
        rows = _with(rows, lineages, _telling(rows, lineages))
    if _alike(rows) or (len(runs) == 1):
        rows = [{"run": run.name, **row} for run, row in zip(runs, rows, strict=True)]
    return rows


def _differs(rows: Sequence[Mapping[str, str]], name: str) -> bool:
    return len({row.get(name) for row in rows}) > 1


def _counts(name: str, runs: Sequence[Finished]) -> bool:
    """Whether a field can have changed a number."""
    slot = _slot(name)
    if slot in _NO_NUMBER:
        return False
    return slot not in _SLOTS or len({run.report.lineage.get(slot) for run in runs}) > 1


def _follows(name: str, rows: Sequence[Mapping[str, str]]) -> bool:
    """Whether a component's field is the same for all runs with one choice of it, and that choice is shown."""
    slot = _slot(name)
    if name == slot or not _differs(rows, slot):
        return False
    return all(
        count == 1
        for count in Counter(choice for choice, _ in {(row.get(slot), row.get(name)) for row in rows}).values()
    )


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
