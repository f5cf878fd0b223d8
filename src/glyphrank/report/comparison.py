"""A comparison for people and programs: on the terminal, as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glyphrank.report.compared import COMPARISON, Compared, Comparison
from glyphrank.report.comparison_columns import (
    Column,
    caption,
    field_columns,
    heading,
    mark_column,
    metric_column,
    other_metrics,
    rule_columns,
    tested_columns,
    texts,
    title,
)
from glyphrank.whole_files import replace_whole

if TYPE_CHECKING:
    from rich.table import Table

_NO_LIMIT = 10_000
"""Columns of a file or pipe."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    '"': "''",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{letter: rf"\{letter}" for letter in "&%$#_{}"},
}


class Form(StrEnum):
    """What a comparison is written as."""

    table = "table"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"
    json = "json"


def rendered(comparisons: Sequence[Comparison], form: Form) -> str:
    """One comparison, or those of all parts of the queries or all evaluations; without a line break at the end."""
    match form:
        case Form.table:
            return "\n\n".join(as_table(comparison) for comparison in comparisons)
        case Form.markdown:
            return "\n\n".join(as_markdown(comparison) for comparison in comparisons)
        case Form.latex:
            return "\n\n".join(as_latex(comparison) for comparison in comparisons)
        case Form.csv:
            return as_csv(*comparisons)
    tasks = dict.fromkeys(each.task for each in comparisons if each.task is not None)
    own = {task: _json_of_parts([each for each in comparisons if each.task == task]) for task in tasks}
    told = {"by": "task", "parts": own} if tasks else _json_of_parts(comparisons)
    return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)


def write_comparisons(folder: Path, comparisons: Sequence[Comparison]) -> None:
    """Writes the files of `COMPARISON`, each whole, with one comparison or those of all evaluations.

    Raises:
        OSError: one cannot be written.
    """
    for form, name in zip((Form.markdown, Form.csv, Form.json), COMPARISON, strict=True):
        text = rendered(comparisons, form) + "\n"
        replace_whole(folder / name, partial(Path.write_text, data=text, encoding="utf-8"))


def as_table(comparison: Comparison, width: int | None = None) -> str:
    """For the terminal: the best run first, with as many of the other metrics and intervals as there is room for.

    Args:
        width: characters of a line; None: those of the terminal, without a limit where there is none.
    """
    from rich.console import Console
    from rich.markup import escape

    if width is None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _NO_LIMIT
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, force_terminal=False)
    for note in comparison.notes:
        console.print(escape(f"note: {note}"))
    console.print(escape(heading(comparison)))
    own, others = metric_column(comparison, comparison.metric), other_metrics(comparison, both_directions=False)
    ends = [
        [own, *tested_columns(comparison, spans), *(metric_column(comparison, name, spans) for name in shown)]
        for shown, spans in ((others, True), (others, False), ([], True), ([], False))
    ]
    console.print(_fitting(comparison, ends, width))
    if comparison.runs[0].rules:
        console.print(escape(f"{title(comparison.metric)} under every rule for equal scores:"))
        console.print(_fitting(comparison, [rule_columns(comparison)], width))
    console.print(escape(caption(comparison)))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def as_markdown(comparison: Comparison) -> str:
    """A table of GitHub's Markdown, with all standard metrics and intervals."""
    columns = _all_columns(comparison)
    lines = [*(f"> {_markdown(note)}\n" for note in comparison.notes), f"**{_markdown(heading(comparison))}**\n"]
    titles, *rows = texts(columns, _markdown)
    ruler = ["---:" if column.right else ":---" for column in columns]
    lines += [f"| {' | '.join(row)} |" for row in (titles, ruler, *rows)]
    return "\n".join([*lines, "", _markdown(caption(comparison))])


def as_latex(comparison: Comparison) -> str:
    r"""A table environment for the package booktabs, with all standard metrics and intervals.

    The mark stands in braces: `\\\\` takes a star, even one on the next line, for its own starred form.
    """
    columns = _all_columns(comparison)
    titles, *rows = texts(columns, _latex)
    rows = [[f"{{{mark}}}" if mark else "", *cells] for mark, *cells in rows]
    told = " ".join([f"{heading(comparison)}.", caption(comparison), *(f"Note: {note}." for note in comparison.notes)])
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_latex(told)}}}"]
    lines += [rf"\begin{{tabular}}{{{''.join('r' if column.right else 'l' for column in columns)}}}", r"\toprule"]
    lines += [rf"{' & '.join(titles)} \\", r"\midrule", *(rf"{' & '.join(row)} \\" for row in rows)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def as_csv(*comparisons: Comparison) -> str:
    """A line for each run, with all metrics of all directions in full; of several comparisons part or task is first."""
    rows = [_flat(run, comparison) for comparison in comparisons for run in comparison.runs]
    stream = io.StringIO()
    names = _in_order([list(row) for row in rows])
    writer = csv.DictWriter(stream, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().removesuffix("\n")


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Everything, in plain values; `part` is null or names field and value of the queries, `task` an evaluation."""
    return asdict(comparison)


def _json_of_parts(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """One comparison, or those of all parts of the queries under their values."""
    first = comparisons[0]
    if first.part is None:
        return as_json(first)
    return {"by": first.part[0], "parts": {each.part[1]: as_json(each) for each in comparisons if each.part}}


def _all_columns(comparison: Comparison) -> list[Column]:
    return [
        mark_column(comparison),
        *field_columns(comparison),
        metric_column(comparison, comparison.metric),
        *tested_columns(comparison, spans=True),
        *rule_columns(comparison),
        *(metric_column(comparison, name) for name in other_metrics(comparison, both_directions=True)),
    ]


def _fitting(comparison: Comparison, ends: Sequence[Sequence[Column]], width: int) -> Table:
    """A table of the runs' fields and the first of the ends with which it fits.

    Where none does, the fields share a column, in which a line may end behind each of them.
    """
    start = [mark_column(comparison), *field_columns(comparison)]
    for end in ends:
        if _width([*start, *end]) <= width:
            return _table([*start, *end])
    shared = Column("run", tuple(_joined(run) for run in comparison.runs), right=False)
    words = Column("run", tuple(max(cell.split(" "), key=len) for cell in shared.cells), right=False)
    fitting = (end for end in ends if _width([start[0], words, *end]) <= width)
    return _table([start[0], shared, *next(fitting, ends[-1])])


def _width(columns: Sequence[Column]) -> int:
    """Characters of a table's line in which nothing is broken."""
    from rich.console import Console

    return Console(width=_NO_LIMIT).measure(_table(columns)).maximum


def _table(columns: Sequence[Column]) -> Table:
    """A table in which only the fields of a run may be broken into lines."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(escape(column.title), justify=justify, no_wrap=column.right, overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(escape, row))
    return table


def _joined(run: Compared) -> str:
    return ", ".join(f"{name}={value}" for name, value in run.fields.items())


def _flat(run: Compared, comparison: Comparison) -> dict[str, object]:
    """A run as a line of CSV: name of the column -> value."""
    part = {f"slice/{comparison.part[0]}": comparison.part[1]} if comparison.part else {}
    part |= {"task": comparison.task} if comparison.task is not None else {}
    row: dict[str, object] = {**part, "name": run.name, "identity": run.identity, **run.fields}
    for metric, value in run.values.items():
        row |= {metric: value, **_ends(metric, run.intervals.get(metric))}
    row |= {name: getattr(comparison, name) for name in ("metric", "rule", "queries", "groups", "baseline")}
    row["difference"] = run.difference
    row |= _ends("difference", run.difference_interval)
    row |= {name: getattr(run, name) for name in ("p_value", "p_adjusted", "improved", "degraded", "equal")}
    row["group"] = str(run.group).lower()
    return row | {f"ties/{rule}": value for rule, value in run.rules.items()}


def _ends(name: str, span: tuple[float, float] | None) -> dict[str, object]:
    low, high = span or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def _in_order(rows: Sequence[Sequence[str]]) -> list[str]:
    """All names, each behind what stands before it in its own row."""
    names: list[str] = []
    for row in rows:
        place = 0
        for name in row:
            if name in names:
                place = names.index(name) + 1
            else:
                names.insert(place, name)
                place += 1
    return names


def _markdown(text: str) -> str:
    return re.sub(r"([\\|*_<>`])", r"\\\1", _on_one_line(text))


def _latex(text: str) -> str:
    """Escaped, and a minus before a number as the sign that it is."""
    escaped = "".join(_LATEX.get(letter, letter) for letter in _on_one_line(text))
    return re.sub(r"(?<!\S)-(?=\.?\d)", "$-$", escaped)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
