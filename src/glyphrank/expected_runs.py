"""Which finished run a row of expected scores is about: one that was made as the row says, and in nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from glyphrank.composition import plain_here
from glyphrank.errors import ConfigError
from glyphrank.expected_files import Expected, Row, Scalar
from glyphrank.outcome import Report
from glyphrank.run import CHANGES_NO_NUMBER, CHANNELS
from glyphrank.tracking.names import parameters, stored_value

_PLACES = {"root", "folder"}
_SHOWN = {"metrics.primary", "metrics.cutoffs"}
_NOTHING = "not there"
_MOST = 3


class Measured(Protocol):
    """A finished run, of which the name and the report alone are looked at."""

    @property
    def name(self) -> str:
        """What a person calls it by."""
        ...

    @property
    def report(self) -> Report:
        """What came of it."""
        ...


@dataclass(frozen=True)
class Match:
    """The run that a row is held against, None where there is none, and a sentence about it or its lack, or ""."""

    run: Measured | None
    said: str


class Runs:
    """Finished runs, oldest first, in which those of rows are looked for."""

    def __init__(self, runs: Sequence[Measured]) -> None:
        self._runs = [(run, parameters(run.report.choices, run.report.config)) for run in runs]

    def match(self, expected: Expected, row: Row) -> Match:
        """The last run that was made as a row says.

        Its choices and fields are those of `where`; and where the experiment can be composed here, all its other
        fields that can change a number are what the experiment gives with these. So a variant of an experiment is not
        taken for it. A row without `where` is about any run of the experiment.
        """
        wanted = row.where or {"experiment": expected.experiment}
        fitting = [run for run, fields in self._runs if _has(fields, wanted)]
        if not fitting:
            return Match(None, self._misspelled(expected, wanted))
        whole = _composed(_overrides(expected, row.where)) if row.where else {}
        others = [_differences(run.report.config, whole or {}) for run in fitting]
        alike = [run for run, differing in zip(fitting, others, strict=True) if not differing]
        if not alike:
            more = f" (and {len(fitting) - 1} more)" if len(fitting) > 1 else ""
            return Match(None, f"{_named(fitting[-1])}{more} is a variant: {_listed(others[-1])}")
        which = f"{_named(alike[-1])}, the last of {len(alike)} that match" if len(alike) > 1 else _named(alike[-1])
        unknown = "; the experiment cannot be composed here, so nothing but `where` was looked at"
        return Match(alike[-1], which + (unknown if whole is None else ""))

    def _misspelled(self, expected: Expected, wanted: Mapping[str, Scalar]) -> str:
        """Which names of `where` no run of the experiment has, where there are such runs."""
        experiment = {"experiment": wanted.get("experiment", expected.experiment)}
        own = [fields for _, fields in self._runs if _has(fields, experiment)]
        unknown = [name for name in wanted if not any(name in fields for fields in own)] if own else []
        return f"no run of {experiment['experiment']} has a field {', '.join(unknown)}" if unknown else ""


def _has(fields: Mapping[str, str], wanted: Mapping[str, Scalar]) -> bool:
    return all(name in fields and _same(stored_value(value), fields[name]) for name, value in wanted.items())


def _same(first: str, second: str) -> bool:
    """Whether two stored values are one; 1 and 1.0 are."""
    numbers = [_number(first), _number(second)]
    return first == second or (None not in numbers and numbers[0] == numbers[1])


def _number(stored: str) -> float | None:
    try:
        value = json.loads(stored)
    except ValueError:
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _overrides(expected: Expected, where: Mapping[str, Scalar] | None) -> tuple[str, ...]:
    """The experiment and a row's `where` as on the command line: the experiment first, then choices, then fields."""
    words = {"experiment": expected.experiment, **(where or {})}
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in words.items()}
    choices = [f"{f'encoder@{name}' if name in CHANNELS else name}={texts[name]}" for name in words if "." not in name]
    return (*choices, *(f"{name}={json.dumps(words[name], ensure_ascii=False)}" for name in words if "." in name))


@cache
def _composed(overrides: tuple[str, ...]) -> Mapping[str, object] | None:
    """The nodes that count of the config that these overrides give; None where it cannot be composed."""
    try:
        return plain_here(overrides, CHANGES_NO_NUMBER)
    except ConfigError:
        return None


def _differences(config: Mapping[str, object], composed: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Field -> its value in a run and as composed, where these are not the same; places of files aside."""
    counting = {name: node for name, node in config.items() if name not in CHANGES_NO_NUMBER}
    own, usual = parameters({}, counting), parameters({}, composed)
    names = [
        name
        for name in ({**usual, **own} if composed else {})
        if name.rpartition(".")[2] not in _PLACES and name not in _SHOWN and usual.get(name) != "???"
    ]
    pairs = {name: (own.get(name, _NOTHING), usual.get(name, _NOTHING)) for name in names}
    return {name: pair for name, pair in pairs.items() if not _same(*pair)}


def _named(run: Measured) -> str:
    return f"{run.name} ({run.report.identity[:12]})"


def _listed(differing: Mapping[str, tuple[str, str]]) -> str:
    shown = [f"{name} is {own}, not {usual}" for name, (own, usual) in list(differing.items())[:_MOST]]
    more = len(differing) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
