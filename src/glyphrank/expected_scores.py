"""Expected scores: what experiments gave before, or others published, and whether runs still say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from glyphrank.errors import DataError
from glyphrank.expected_files import Expected, Row, read_expected
from glyphrank.expected_runs import Measured, Runs
from glyphrank.faults import Blocks
from glyphrank.outcome import Report

NEAR = 3
"""Tolerances within which a number is near."""

_ROUNDING = 1e-9
_HEAD = ("experiment", "row", "metric", "expected", "found", "difference", "")


class Status(StrEnum):
    """How a number stands to what is expected: within its tolerance, within three, beyond or missing; or no run."""

    ok = "ok"
    near = "near"
    off = "off"
    not_run = "not run"


@dataclass(frozen=True)
class Line:
    """One expected number.

    Attributes:
        found: None where no run matches the row, or the run has no such number.
        named: whether the person named the file or the row, and so wants it to have been run.
        source: where the expected number comes from.
    """

    experiment: str
    row: str
    metric: str
    value: float
    tolerance: float
    found: float | None
    status: Status
    named: bool
    source: str

    @property
    def distance(self) -> float:
        """How many tolerances off it is; infinite where a run lacks the number."""
        if self.found is None:
            return float("inf") if self.status is Status.off else 0.0
        return abs(self.found - self.value) / max(self.tolerance, _ROUNDING)


@dataclass(frozen=True)
class Verdict:
    """What became of all expected numbers that were looked at.

    Attributes:
        lines: in the order of the files.
        comparisons: names of rows that are looked at only when they are named.
        runs: a sentence a row: which run it was held against, or why none where that is known.
    """

    lines: tuple[Line, ...]
    comparisons: tuple[str, ...]
    runs: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """1 where anything is off, or was not run although the person named it; else 0."""
        return int(any(line.status is Status.off or _is_lacking(line) for line in self.lines))

    def as_text(self) -> str:
        """A line for each number, one for each run, and a summary whose last line tells the worst."""
        table = [_HEAD, *map(_cells, self.lines)]
        widths = [max(len(row[column]) for row in table) for column in range(len(_HEAD))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        lines += self.runs
        counts = {status: sum(line.status is status for line in self.lines) for status in Status}
        lines.append(f"{len(self.lines)} numbers: " + ", ".join(f"{n} {status}" for status, n in counts.items()))
        if self.comparisons:
            lines.append(f"for comparison only, each with --entry NAME: {', '.join(self.comparisons)}")
        worst = max(self.lines, key=lambda line: line.distance, default=None)
        if worst is not None and worst.status in (Status.near, Status.off):
            where = f"{worst.experiment}, {worst.row}: {worst.metric} is {_number(worst.found)}"
            lines.append(f"worst: {where}, wanted {_number(worst.value)} ± {worst.tolerance:g} ({worst.source})")
        return "\n".join(lines)


def expected_folder() -> Path:
    """Where the files that come with glyphrank lie: in the package when it came as a wheel, else in the checkout."""
    package = Path(__file__).parent
    installed = package / "expected"
    return installed if installed.is_dir() else package.parents[1] / "benchmarks" / "expected"


def expected_files(arguments: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Tells files of expected scores from runs among what a person named.

    A file ends in `.yaml` or `.yml`: a path, or the name of one that comes with glyphrank.

    Raises:
        DataError: a file is nowhere; all such files are named.
    """
    files: list[Path] = []
    runs: list[str] = []
    missing: list[str] = []
    for argument in arguments:
        path = Path(argument)
        if path.suffix not in (".yaml", ".yml"):
            runs.append(argument)
        elif path.is_file():
            files.append(path)
        elif path == Path(path.name) and (expected_folder() / path).is_file():
            files.append(expected_folder() / path)
        else:
            missing.append(argument)
    if missing:
        ours = ", ".join(path.name for path in _ours()) or "none"
        raise DataError(f"{', '.join(missing)}: no such file of expected scores; wanted a path, or one of {ours}")
    return files, runs


def check_expected(runs: Sequence[Measured], files: Sequence[Path] = (), entries: Sequence[str] = ()) -> Verdict:
    """Holds runs against expected scores.

    A row with a `where` is held against the last run that was made so (`expected_runs.Runs.match`); one without, which
    holds numbers of others for comparison, against the last run of its experiment, and only when it is named.

    Args:
        runs: oldest first.
        files: those that the person named; none means all that come with glyphrank.
        entries: names of the rows to look at; none means all that say what run they are of.

    Raises:
        DataError: a file is malformed (the faults of all files are named), or no row has the name of an entry.
    """
    blocks = Blocks()
    known: list[Expected] = []
    for path in files or _ours():
        with blocks.keep():
            known.append(read_expected(path))
    blocks.stop()
    names = [row.name for expected in known for row in expected.rows]
    unknown = [entry for entry in entries if entry not in names]
    if unknown:
        raise DataError(f"no row of expected scores is called {', '.join(unknown)}; wanted one of {', '.join(names)}")
    known_runs = Runs(runs)
    said: list[str] = []
    lines: list[Line] = []
    comparisons: list[str] = []
    for expected in known:
        for row in expected.rows:
            if row.name in entries or (not entries and row.where):
                match = known_runs.match(expected, row)
                lines += _lines(expected, row, match.run, named=bool(files or entries))
                said += [f"run of {expected.experiment}, {row.name}: {match.said}"] if match.said else []
            elif not row.where and not entries:
                comparisons.append(row.name)
    return Verdict(tuple(lines), tuple(comparisons), tuple(said))


def _ours() -> list[Path]:
    return sorted(expected_folder().glob("*.yaml"))


def _lines(expected: Expected, row: Row, run: Measured | None, named: bool) -> Iterator[Line]:
    numbers = {} if run is None else _numbers(run.report)
    for metric, wanted in row.expect.items():
        found = numbers.get(metric)
        status = Status.not_run if run is None else _status(found, wanted.value, wanted.tolerance)
        yield Line(
            expected.experiment, row.name, metric, wanted.value, wanted.tolerance, found, status, named, row.source
        )


def _numbers(report: Report) -> dict[str, float]:
    """All numbers of a report under the names that the dashboard gives them, those of every slice included."""
    found = dict(report.metrics)
    for channel, metrics in report.channels.items():
        found |= {f"channel/{channel}/{name}": value for name, value in metrics.items()}
    for field, values in report.slices.items():
        for value, metrics in values.items():
            found |= {f"slice/{field}/{value}/{name}": number for name, number in metrics.items()}
    return found


def _status(found: float | None, value: float, tolerance: float) -> Status:
    if found is None or not abs(found - value) <= NEAR * tolerance + _ROUNDING:
        return Status.off
    return Status.ok if abs(found - value) <= tolerance + _ROUNDING else Status.near


def _is_lacking(line: Line) -> bool:
    return line.named and line.status is Status.not_run


def _cells(line: Line) -> tuple[str, ...]:
    difference = "" if line.found is None else f"{line.found - line.value:+.4f}"
    wanted = f"{_number(line.value)} ± {line.tolerance:g}"
    return (line.experiment, line.row, line.metric, wanted, _number(line.found), difference, line.status.value)


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:.4f}" if value < 10 else f"{value:g}"
