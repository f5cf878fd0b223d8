"""Lines of TREC files and of BEIR's judgements: their columns, their numbers, and ids behind escapes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

_SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_ESCAPES = {character: "".join(f"%{byte:02X}" for byte in character.encode()) for character in f"%{_SPACES}"}
_ENCODE = str.maketrans(_ESCAPES)
_DECODE = {escape: character for character, escape in _ESCAPES.items()}
_ESCAPED = re.compile("|".join(_DECODE))
_COLUMNS = (("query-id", "query_id"), ("corpus-id", "corpus_id"), ("score",))


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of every line that is not blank; a ValueError where a line cannot be read, or there is none."""
    empty = True
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                data = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if data.strip():
                    empty = False
                    yield number, data.rstrip(b"\r\n").decode("utf-8")
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"line {number}: bytes that are not UTF-8 ({error.reason})") from error
    if empty:
        raise ValueError("the file is empty; wanted at least one line")


def columns_of(line: str) -> list[str]:
    """Columns between ASCII white space, as trec_eval splits; a no-break space is part of an id."""
    return [cell for cell in re.split(r"[ \t\n\v\f\r]+", line) if cell]


def escaped(name: str) -> str:
    """An id as it stands in a TREC file: white space and `%` percent-encoded, all else as published."""
    return name.translate(_ENCODE)


def all_escaped(names: Sequence[str]) -> list[str]:
    """`escaped` of every id, all in one: a gallery has tens of thousands."""
    text = "\0".join(names)
    for character, escape in _ESCAPES.items():  # `%` first; many times faster than `translate` where there is any
        text = text.replace(character, escape)
    found = text.split("\0")
    return found if len(found) == len(names) else [escaped(name) for name in names]


def decoded(name: str) -> str:
    """The id that such a form means: exactly those escapes are undone."""
    return _ESCAPED.sub(lambda escape: _DECODE[escape.group()], name) if "%" in name else name


def number_of(cell: str, what: str) -> float:
    """The number in a column; a ValueError that begins with `what` where it is none, or not finite."""
    if not _is_number(cell) or not math.isfinite(float(cell)):
        raise ValueError(f"{what} {cell!r}; wanted a finite number")
    return float(cell)


class Form:
    """How a file of judgements divides its lines, as its first one tells; a ValueError where that cannot be told."""

    def __init__(self, first: str, number: int) -> None:
        cells = first.split("\t")
        self._first = first
        self._order = _header(cells)
        self.has_header = self._order is not None
        if self._order is None and len(cells) == 3:
            if not _is_number(cells[2]):
                wanted = "wanted query-id, corpus-id and score, tab-separated"
                raise ValueError(f"line {number}: the header {cells}; {wanted}")
            self._order = (0, 1, 2)
        if self._order is None and _header(columns_of(first)):
            raise ValueError(f"line {number}: {_found(first)}; a header needs tabs between its columns")

    def row(self, line: str) -> tuple[str, str, float]:
        """Query, item and gain of a line; a ValueError where it has another form."""
        if self._order is None:
            query, item, gain = _trec_row(line, self._first)
        else:
            query, item, gain = _tab_row(line, self._order, exact=not self.has_header)
        if not query or not item:
            raise ValueError(f"an empty {'item' if query else 'query'} id; wanted text")
        return query, item, gain


def _header(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Places of query, item and gain by the header's names; None where this is no header."""
    names = [cell.strip().lower() for cell in cells]
    places = [next((place for place, name in enumerate(names) if name in wanted), -1) for wanted in _COLUMNS]
    return None if min(places) < 0 else (places[0], places[1], places[2])


def _tab_row(line: str, order: tuple[int, int, int], exact: bool) -> tuple[str, str, float]:
    cells = line.split("\t")
    if len(cells) <= max(order) or (exact and len(cells) > 3):
        hint = _mixed(line, "\t") if len(columns_of(line)) > len(cells) else ""
        raise ValueError(f"{len(cells)} tab-separated columns; wanted query, item and score{hint}")
    query, item, gain = (cells[place] for place in order)
    return query, item, number_of(gain, "the score")


def _mixed(line: str, first: str) -> str:
    """The end of a message where tabs separate columns of the line, or of the file's first line, but not of both."""
    mixed = ("\t" in line) != ("\t" in first) or ("\t" in line and " " in line)
    return "; the file mixes spaces and tabs between its columns: use one of them in all lines" if mixed else ""


def _trec_row(line: str, first: str) -> tuple[str, str, float]:
    cells = columns_of(line)
    if len(cells) != 4:
        raise ValueError(f"{_found(line)}{_mixed(line, first)}")
    return decoded(cells[0]), decoded(cells[2]), number_of(cells[3], "the gain")


def _found(line: str) -> str:
    return (
        f"{len(columns_of(line))} columns; wanted 4 (query, 0, item, gain; white space in ids as %20) "
        "or a tab-separated file with the header query-id, corpus-id, score"
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
