"""Tables that fit a terminal: no number is ever cut; what has no room is left out by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.table import Table

_BORDER, _PADDING = 1, 2
_NAME = 16
"""Columns of a terminal that a row's name may claim; a longer word in it is broken."""


def fitted(
    titles: Sequence[str], rows: Iterable[Sequence[str]], width: int, spare: Sequence[str]
) -> tuple[Table, tuple[str, ...]]:
    """A table whose first column names the rows, and the titles of the columns that had to be left out of it.

    Cells are broken between words where they must be. Where that is not enough, columns are left out in the order of
    `spare`; where none is left to spare, numbers are broken too.

    Args:
        titles, rows: plain text, a cell for each title.
        width: columns of the terminal.
        spare: titles that may be left out, the first one first.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    columns = dict(enumerate(map(list, zip(titles, *rows, strict=True))))
    least = {number: max(map(_longest_word, cells)) for number, cells in columns.items()}
    least[0] = min(least[0], _NAME)
    left_out = []
    for title in spare:
        if _total(least.values()) <= width:
            break
        least.pop(titles.index(title))
        left_out.append(title)
    whole = {number: max(map(cell_len, columns[number])) for number in least}
    widths = _widths(least, whole, width)
    table = Table()
    for number in least:
        justify: Literal["left", "right"] = "right" if number else "left"
        title, *columns[number] = (_broken(cell, widths.get(number, width)) for cell in columns[number])
        table.add_column(Text(title), justify=justify, overflow="fold", width=widths.get(number))
    for cells in zip(*(columns[number] for number in least), strict=True):
        table.add_row(*map(Text, cells))
    return table, tuple(left_out)


def _widths(least: Mapping[int, int], whole: Mapping[int, int], width: int) -> dict[int, int]:
    """The width of each column: whole for those that lack the fewest places of it, until there is no more room.

    Empty where not even the least widths fit: then all columns are made narrower than their words.
    """
    room = width - _total(least.values())
    if room < 0:
        return {}
    widths = dict(least)
    for number in sorted(least, key=lambda column: whole[column] - least[column]):
        more = min(room, max(whole[number] - least[number], 0))
        widths[number] += more
        room -= more
    return widths


def _total(columns: Iterable[int]) -> int:
    """The width of a table with columns of such widths."""
    return _BORDER + sum(column + _PADDING + _BORDER for column in columns)


def _longest_word(cell: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, _words(cell)))


def _words(cell: str) -> list[str]:
    """What stays on one line; a number and its % do."""
    return re.split(r" (?!%)", cell)


def _broken(cell: str, width: int) -> str:
    """The words of a cell in lines of at most this width; a longer word has one of its own."""
    from rich.cells import cell_len

    first, *words = _words(cell)
    lines = [first]
    for word in words:
        if cell_len(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)
