"""Runs of several evaluations, as an experiment holds them: each evaluation is compared by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from glyphrank.comparable import differences, listed, result_of
from glyphrank.compare import PLAIN, How, compare, compare_by, value_of
from glyphrank.errors import DataError
from glyphrank.report.compared import Comparison
from glyphrank.report.finished import Finished


def compared(
    runs: Sequence[Finished], metric: str | None = None, how: How = PLAIN, by: str | None = None
) -> list[Comparison]:
    """One comparison, or one for each value of a field of the queries where one is named; raises as `compare`."""
    return [compare(runs, metric, how)] if by is None else compare_by(runs, by, metric, how)


def compare_each(
    runs: Sequence[Finished], metric: str | None = None, how: How = PLAIN, by: str | None = None
) -> list[Comparison]:
    """The same for each evaluation, under the name of its dataset where there are several.

    A baseline or a metric that only some of them have limits the comparison to these; a note names what is left out.

    Raises:
        DataError: as for `compare`.
    """
    one_rule = how.ties is not None
    parts = evaluations(runs, one_rule)
    chosen = [part for part in parts if _has_baseline(part, how.baseline) and _has_metric(part, metric)]
    if len(parts) == 1 or not chosen:  # then the message of `compare` says what is missing
        return compared(runs, metric, how, by)
    left_out = dict.fromkeys(run.name for part in parts if part not in chosen for run in part)
    notes = [f"left out, of other evaluations: {listed(list(left_out))}"] if left_out else []
    found, faults = [], []
    for number, name in enumerate(_names(chosen)):
        try:
            own_parts = compared(chosen[number], metric, how, by)
        except DataError as error:
            faults.append(error)
            notes.append(f"not compared: {name}: {error}")
        else:
            task, apart = name if len(chosen) > 1 else None, _apart(chosen, number, one_rule)
            found += [replace(each, task=task, notes=(*apart, *each.notes)) for each in own_parts]
    if not found:
        raise faults[0]
    return [replace(each, notes=(*notes, *each.notes)) for each in found]


def evaluations(runs: Sequence[Finished], one_rule: bool = False) -> list[list[Finished]]:
    """The runs in groups of one dataset's name that were evaluated alike, in the order of their first runs.

    Args:
        one_rule: whether tie rules do not matter, since one is given for all.
    """
    parts: list[list[Finished]] = []
    for run in runs:
        same = (part for part in parts if part[0].report.task == run.report.task)
        alike = next((part for part in same if not differences([*part, run], one_rule)), None)
        if alike is None:
            parts.append([run])
        else:
            alike.append(run)
    return parts


def _has_baseline(part: Sequence[Finished], baseline: str | Finished | None) -> bool:
    if isinstance(baseline, Finished):
        return any(result_of(run) == result_of(baseline) for run in part)
    return baseline is None or any(run.name == baseline or run.report.identity.startswith(baseline) for run in part)


def _has_metric(part: Sequence[Finished], metric: str | None) -> bool:
    return metric is None or any(value_of(run.report.metrics, metric) is not None for run in part)


def _names(parts: Sequence[Sequence[Finished]]) -> list[str]:
    """The name of each part's dataset, with a number where it is not the only one of that name; all differ."""
    tasks = [part[0].report.task for part in parts]
    counts, seen, names = Counter(tasks), Counter[str](), list[str]()
    for task in tasks:
        seen[task] += 1
        name = f"{task} ({seen[task]} of {counts[task]})" if counts[task] > 1 else task
        names.append(name if name not in names else f"{name} ({len(names) + 1})")
    return names


def _apart(parts: Sequence[Sequence[Finished]], number: int, one_rule: bool) -> list[str]:
    """Says why runs on a dataset do not stand with earlier ones on one of that name."""
    own = parts[number][0]
    earlier = next((part[0] for part in parts[:number] if part[0].report.task == own.report.task), None)
    if earlier is None:
        return []
    return [f"apart from {earlier.name!r}, for they differ in {' | '.join(differences([earlier, own], one_rule))}"]
