"""TREC files: runs and relevance judgements (qrels), read and written so that any id survives.

Readers of these formats split on white space, so white space and `%` in ids are percent-encoded as UTF-8 when written
(`p 9` is `p%209`), in runs and qrels alike. Reading decodes exactly those escapes and nothing else: `a%2Fb` stays.
A run made elsewhere may hold `a%20b` as the id itself: where the judgements know an id as it is written and not as it
would decode, it is taken as written. Ids are text (`0001` is not `1`) and are compared in NFC.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from glyphrank.errors import DataError
from glyphrank.ids import nfc
from glyphrank.records import Ranks

_SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_ESCAPES = {character: "".join(f"%{byte:02X}" for byte in character.encode()) for character in f"%{_SPACES}"}
_ENCODE = str.maketrans(_ESCAPES)
_DECODE = {escape: character for character, escape in _ESCAPES.items()}
_ESCAPED = re.compile("|".join(_DECODE))
_COLUMNS = (("query-id", "query_id"), ("corpus-id", "corpus_id"), ("score",))


@dataclass(frozen=True)
class Qrels:
    """Relevance judgements of a file, ids as published.

    Attributes:
        gains: query id -> {item id: gain}, gains above 0. Every query of the file has an entry; it is empty where
            nothing was judged relevant.
        irrelevant: query id -> items that were judged with 0 or less, for queries that have such.
        repeats: rows that repeated an earlier one exactly and were dropped.
    """

    gains: Mapping[str, Mapping[str, float]]
    irrelevant: Mapping[str, frozenset[str]]
    repeats: int


@dataclass(frozen=True)
class Run:
    """Rankings of a file, in the order of the lines.

    Attributes:
        items, scores: query id -> its items, and their scores.
        written: query id -> its items as the file holds them, escapes and all; trec_eval orders equal scores by these.
    """

    items: Mapping[str, Sequence[str]]
    scores: Mapping[str, Sequence[float]]
    written: Mapping[str, Sequence[str]]


def read_qrels(path: Path) -> Qrels:
    """Judgements from TREC's four columns (query, iteration, item, gain) or BEIR's tab-separated columns.

    BEIR's form has a header that names `query-id`, `corpus-id` and `score` in any order (more columns are ignored);
    there ids may hold spaces and are taken as they are. Three tab-separated columns whose third is a number need no
    header. Gains are whole numbers or decimals; one of 0 or less means judged and not relevant.

    Raises:
        DataError: the file is missing, empty or not UTF-8; a line has other columns, an empty id or a gain that is
            not finite; two lines give one pair different gains. The message names file and line.
    """
    collected = Judgements()
    for number, query, item, gain in _judgements(path):
        if not query or not item:
            raise _fault(path, number, f"an empty {'item' if query else 'query'} id; wanted text")
        try:
            collected.add(f"line {number}", query, item, gain)
        except ValueError as error:
            raise DataError(f"{path}: {error}") from error
    return collected.qrels


def read_run(path: Path, queries: Iterable[str] = (), items: Iterable[str] = ()) -> Run:
    """Rankings from TREC's six columns (query, Q0, item, rank, score, tag); the rank column is not used.

    Args:
        queries, items: ids that the judgements name. One of them that only the written form of an id equals is that id.

    Raises:
        DataError: the file is missing, empty or not UTF-8; a line has other columns or a score that is not finite.
    """
    known_queries, known_items = ({nfc(name) for name in names} for names in (queries, items))
    found: dict[str, list[str]] = {}
    scores: dict[str, list[float]] = {}
    written: dict[str, list[str]] = {}
    for number, line in _lines(path):
        cells = _split(line)
        if len(cells) != 6:
            raise _fault(path, number, f"{len(cells)} columns; wanted 6: query, Q0, item, rank, score, tag")
        query = _known(cells[0], known_queries)
        found.setdefault(query, []).append(_known(cells[2], known_items))
        scores.setdefault(query, []).append(_number(cells[4], "score", path, number))
        written.setdefault(query, []).append(cells[2])
    return Run(found, scores, written)


def write_run(path: Path, ranks: Ranks, tag: str) -> None:
    """Writes the top of every ranking, best first, in TREC's six columns.

    Scores have the shortest form that reads back as the same number of their type, float32 or float64: ties stay ties,
    and no others come to be. Queries without a retrieved item have no line.
    """
    names = [_named(item) for item in ranks.item_ids]
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for query, (items, scores) in zip(ranks.query_ids, ranks.top, strict=True):
            name = _named(query)
            for place, (item, score) in enumerate(zip(items, scores, strict=True), start=1):
                stream.write(f"{name} Q0 {names[item]} {place} {score!s} {_named(tag)}\n")


def write_qrels(path: Path, relevant: Mapping[str, Mapping[str, float]]) -> None:
    """Writes query id -> {item id: gain} in TREC's four columns; whole gains without a decimal point."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for query, gains in relevant.items():
            for item, gain in gains.items():
                stream.write(f"{_named(query)} 0 {_named(item)} {_shortest(gain)}\n")


def escaped(name: str) -> str:
    """An id as it stands in a TREC file: white space and `%` percent-encoded, all else as published."""
    return name.translate(_ENCODE)


class Judgements:
    """Gathers judged pairs row by row, and finds those that repeat or contradict an earlier one."""

    def __init__(self) -> None:
        self._published: dict[str, str] = {}
        self._seen: dict[tuple[str, str], tuple[str, float]] = {}
        self._gains: dict[str, dict[str, float]] = {}
        self._irrelevant: dict[str, set[str]] = {}
        self._repeats = 0

    def add(self, place: str, query: str, item: str, gain: float) -> None:
        """Takes the judgement of a row; `place` names the row.

        Raises:
            ValueError: an earlier row gives the pair another gain; both are named.
        """
        published = self._published.setdefault(nfc(query), query)
        first, earlier = self._seen.setdefault((nfc(query), nfc(item)), (place, gain))
        if first == place:
            gains = self._gains.setdefault(published, {})
            if gain > 0:
                gains[item] = gain
            else:
                self._irrelevant.setdefault(published, set()).add(item)
        elif earlier == gain:
            self._repeats += 1
        else:
            raise ValueError(
                f"{first} gives query {query!r}, item {item!r} the gain {earlier:g} and {place} the gain {gain:g}; "
                "wanted one gain for a pair; remove the wrong one"
            )

    @property
    def qrels(self) -> Qrels:
        """What was taken so far."""
        irrelevant = {query: frozenset(items) for query, items in self._irrelevant.items()}
        return Qrels(self._gains, irrelevant, self._repeats)


def _judgements(path: Path) -> Iterator[tuple[int, str, str, float]]:
    """Line number, query, item and gain of every row, whichever form the file has."""
    lines = _lines(path)
    number, first = next(lines)
    cells = first.split("\t")
    order = _header(cells)
    if order is None and len(cells) == 3:
        if not _is_number(cells[2]):
            raise _fault(path, number, f"the header {cells}; wanted query-id, corpus-id and score, tab-separated")
        order = (0, 1, 2)
        yield number, cells[0], cells[1], _number(cells[2], "score", path, number)
    elif order is None:
        yield number, *_trec_row(first, first, path, number)
    header = number
    exact = _header(cells) is None
    for number, line in lines:
        yield (
            number,
            *(_trec_row(line, first, path, number) if order is None else _tab_row(line, order, exact, path, number)),
        )
    if number == header and _header(cells):
        raise DataError(f"{path}: only a header; wanted at least one row below it")


def _header(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Places of query, item and gain by the header's names; None where this is no header."""
    names = [cell.strip().lower() for cell in cells]
    places = [next((place for place, name in enumerate(names) if name in wanted), -1) for wanted in _COLUMNS]
    return None if min(places) < 0 else (places[0], places[1], places[2])


def _tab_row(line: str, order: tuple[int, int, int], exact: bool, path: Path, number: int) -> tuple[str, str, float]:
    cells = line.split("\t")
    if len(cells) <= max(order) or (exact and len(cells) > 3):
        hint = _mixed(line, "\t") if len(_split(line)) > len(cells) else ""
        raise _fault(path, number, f"{len(cells)} tab-separated columns; wanted query, item and score{hint}")
    query, item, gain = (cells[place] for place in order)
    return query, item, _number(gain, "score", path, number)


def _mixed(line: str, first: str) -> str:
    """The end of a message where tabs separate columns of the line, or of the file's first line, but not of both."""
    mixed = ("\t" in line) != ("\t" in first) or ("\t" in line and " " in line)
    return "; the file mixes spaces and tabs between its columns: use one of them in all lines" if mixed else ""


def _trec_row(line: str, first: str, path: Path, number: int) -> tuple[str, str, float]:
    cells = _split(line)
    if len(cells) != 4:
        raise _fault(
            path,
            number,
            f"{len(cells)} columns; wanted 4 (query, 0, item, gain; white space in ids as %20) "
            "or a tab-separated file with the header query-id, corpus-id, score"
            + ("; a header needs tabs between its columns" if _header(cells) else _mixed(line, first)),
        )
    return _decode(cells[0]), _decode(cells[2]), _number(cells[3], "gain", path, number)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of every line that is not blank; a DataError when there is none."""
    empty = True
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                data = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if data.strip():
                    empty = False
                    yield number, data.rstrip(b"\r\n").decode("utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise _fault(path, number, f"bytes that are not UTF-8 ({error.reason})") from error
    if empty:
        raise DataError(f"{path}: the file is empty; wanted at least one line")


def _split(line: str) -> list[str]:
    """Columns between ASCII white space, as trec_eval splits; a no-break space is part of an id."""
    return [cell for cell in re.split(r"[ \t\n\v\f\r]+", line) if cell]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _number(cell: str, kind: str, path: Path, number: int) -> float:
    if not _is_number(cell) or not math.isfinite(float(cell)):
        raise _fault(path, number, f"the {kind} {cell!r}; wanted a finite number")
    return float(cell)


def _shortest(gain: float) -> str:
    return str(int(gain)) if float(gain).is_integer() else repr(float(gain))


def _named(name: str) -> str:
    if not name:
        raise DataError("an empty id cannot stand in a TREC file; wanted text")
    return escaped(name)


def _known(written: str, known: Set[str]) -> str:
    """The id that a run's column means, given what the judgements know, in NFC."""
    decoded = _decode(written)
    return written if decoded != written and nfc(decoded) not in known and nfc(written) in known else decoded


def _decode(name: str) -> str:
    return _ESCAPED.sub(lambda escape: _DECODE[escape.group()], name) if "%" in name else name


def _fault(path: Path, number: int, found: str) -> DataError:
    return DataError(f"{path}, line {number}: {found}")
