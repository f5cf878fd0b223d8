"""How a run that was reproduced agrees with the first one: records, and what people and programs are told of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from glyphrank.report.compared import counted


class Verdict(StrEnum):
    """How a number, or a run, came out the second time."""

    equal = "equal"
    within = "within tolerance"
    different = "different"


@dataclass(frozen=True)
class Number:
    """One number of both runs; None where a run does not have it."""

    name: str
    then: float | None
    now: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Agreement:
    """How two runs of one experiment agree.

    Attributes:
        numbers: every metric of the run, and under `channel/<name>/` of each channel.
        asked: queries (and items, where they ask) that both runs have.
        moved: how many of these have a relevant item at another rank, or in another tied group.
        unshared: those that only one of the runs has.
    """

    numbers: tuple[Number, ...]
    tolerance: float
    asked: int
    moved: int
    unshared: int

    @property
    def verdict(self) -> Verdict:
        """Equal is bit for bit, with the ranks behind the numbers."""
        found = {number.verdict for number in self.numbers}
        if Verdict.different in found or self.unshared:
            return Verdict.different
        return Verdict.within if Verdict.within in found or self.moved else Verdict.equal


def as_text(found: Agreement, primary: str) -> str:
    """Every metric with both values, what became of it, and the sum of it; channels' own only where they differ."""
    shown = [number for number in found.numbers if not _is_channels(number) or number.verdict is not Verdict.equal]
    width = max((len(number.name) for number in shown), default=0)
    lines = [
        f"{number.name:<{width}}  {_value(number.then):>14}  {_value(number.now):>14}  {number.verdict}"
        + (" (primary)" if number.name == primary else "")
        for number in shown
    ]
    title = f"{'metric':<{width}}  {'then':>14}  {'now':>14}"
    return "\n".join([title, *lines, _ranks_in_words(found), _in_words(found)])


def as_json(found: Agreement, differences: Collection[str]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "verdict": found.verdict.value,
        "tolerance": found.tolerance,
        "asked": found.asked,
        "moved": found.moved,
        "unshared": found.unshared,
        "differences": list(differences),
        "numbers": {number.name: [number.then, number.now] for number in found.numbers},
    }


def _is_channels(number: Number) -> bool:
    return number.name.startswith("channel/")


def _value(value: float | None) -> str:
    return "none" if value is None else f"{value:.10g}"


def _ranks_in_words(found: Agreement) -> str:
    unshared = f"; {counted(found.unshared, 'other')} in only one of the runs" if found.unshared else ""
    return f"ranks: {found.moved} of {found.asked} that ask have a relevant item at another place{unshared}"


def _in_words(found: Agreement) -> str:
    off = sum(number.verdict is Verdict.different for number in found.numbers)
    count = len(found.numbers)
    match found.verdict:
        case Verdict.equal:
            return f"equal: all {count} numbers come out the same, bit for bit"
        case Verdict.within:
            exact = sum(number.verdict is Verdict.equal for number in found.numbers)
            return (
                f"within tolerance: {exact} of {count} numbers are the same bit for bit, all within {found.tolerance:g}"
            )
    return f"different: {off} of {count} numbers are off by more than {found.tolerance:g}"
