"""TREC files: runs and relevance judgements (qrels), read and written so that any id survives.

Readers of these formats split on white space, so white space and `%` in ids are percent-encoded as UTF-8 when written
(`p 9` is `p%209`), in runs and qrels alike. Reading decodes exactly those escapes and nothing else: `a%2Fb` stays.
A run made elsewhere may hold `a%20b` as the id itself: where the judgements know an id as it is written and not as it
would decode, it is taken as written. Ids are text (`0001` is not `1`) and are compared in NFC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from weakref import ref

import numpy as np

from glyphrank.errors import DataError
from glyphrank.faults import Faults
from glyphrank.ids import nfc
from glyphrank.last_values import LastValue
from glyphrank.records import Ranks
from glyphrank.trec_lines import Form, all_escaped, columns_of, decoded, lines_of, number_of
from glyphrank.trec_lines import escaped as escaped

_last: LastValue[tuple[ref[Ranks], str]] = LastValue()
"""The text of the last ranking, which the cells of a sweep over what is measured share."""


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
            not finite; two lines give one pair different gains. The faults of all lines come together, each with file
            and line.
    """
    faults = Faults(path)
    qrels = gather_qrels({"": path}, faults)
    faults.stop()
    return qrels


def gather_qrels(paths: Mapping[str, Path], faults: Faults) -> Qrels:
    """The judgements of files that together are one table, as `read_qrels` has them; faulty lines are left out.

    Args:
        paths: the files, by what messages call each; one that is the only one may be called "".
        faults: gets what is wrong, that `read_qrels` would raise.
    """
    collected = Judgements()
    for name, path in paths.items():
        try:
            _take(path, name, collected, faults)
        except ValueError as error:  # of the whole file
            faults.add(f"{name}: {error}".removeprefix(": "))
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
    try:
        for number, line in lines_of(path):
            cells = columns_of(line)
            if len(cells) != 6:
                raise ValueError(f"line {number}: {len(cells)} columns; wanted 6: query, Q0, item, rank, score, tag")
            query = _known(cells[0], known_queries)
            found.setdefault(query, []).append(_known(cells[2], known_items))
            scores.setdefault(query, []).append(number_of(cells[4], f"line {number}: the score"))
            written.setdefault(query, []).append(cells[2])
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error
    return Run(found, scores, written)


def write_run(path: Path, ranks: Ranks, tag: str) -> None:
    """Writes the top of every ranking, best first, in TREC's six columns.

    Scores have as many digits as read back as the same number of their type, float32 or float64: ties stay ties, and
    no others come to be. Queries without a retrieved item have no line.
    """
    _last.keep_if(lambda last: last[0]() is ranks)
    _, text = _last.get(tag, lambda: (ref(ranks), _run_text(ranks, tag)))
    path.write_text(text, encoding="utf-8", newline="\n")


def _run_text(ranks: Ranks, tag: str) -> str:
    names, ending = _all_named(ranks.item_ids), f" {_named(tag)}\n".replace("%", "%%")
    longest = max((len(items) for items, _ in ranks.top), default=0)
    score = "%.9g" if all(scores.dtype == np.float32 for _, scores in ranks.top) else "%r"
    lines = [f"%s Q0 %s {place} {score}{ending}" for place in range(1, longest + 1)]  # of one text, for speed
    texts = []
    for query, (items, scores) in zip(ranks.query_ids, ranks.top, strict=True):
        cells = zip(repeat(_named(query)), [names[item] for item in items.tolist()], scores.tolist())
        texts.append("".join(lines[: len(items)]) % tuple(chain.from_iterable(cells)))
    return "".join(texts)


def write_qrels(path: Path, relevant: Mapping[str, Mapping[str, float]]) -> None:
    """Writes query id -> {item id: gain} in TREC's four columns (query, 0, item, gain), ids escaped as in runs.

    Whole gains have no decimal point. Fractional ones are written as they are, and `read_qrels` reads them back; the
    readers of pytrec_eval, ir_measures and ranx refuse such a file (and dicts of such gains are refused by pytrec_eval,
    cut to whole numbers by ranx). For these multiply all gains by one number first: metrics with linear gain stay as
    they are. A query without a judged item has no line, and is no query to a reader.
    """
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for query, gains in relevant.items():
            for item, gain in gains.items():
                stream.write(f"{_named(query)} 0 {_named(item)} {_shortest(gain)}\n")


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


def _take(path: Path, name: str, collected: Judgements, faults: Faults) -> None:
    """Adds the lines of a file; a ValueError says what is wrong with the whole of it."""
    form: Form | None = None
    has_rows = False
    for number, line in lines_of(path):
        place = f"{name} line {number}".lstrip()
        if form is None:
            form = Form(line, number)
            if form.has_header:
                continue
        has_rows = True
        try:
            row = form.row(line)
        except ValueError as error:
            faults.add(f"{place}: {error}")
            continue
        try:
            collected.add(place, *row)
        except ValueError as error:  # names both lines
            faults.add(str(error))
    if not has_rows:
        raise ValueError("only a header; wanted at least one row below it")


def _shortest(gain: float) -> str:
    return str(int(gain)) if float(gain).is_integer() else repr(float(gain))


def _named(name: str) -> str:
    if not name:
        raise DataError("an empty id cannot stand in a TREC file; wanted text")
    return escaped(name)


def _all_named(names: Sequence[str]) -> list[str]:
    if not all(names):
        _named("")
    return all_escaped(names)


def _known(written: str, known: Set[str]) -> str:
    """The id that a run's column means, given what the judgements know, in NFC."""
    meant = decoded(written)
    return written if meant != written and nfc(meant) not in known and nfc(written) in known else meant
