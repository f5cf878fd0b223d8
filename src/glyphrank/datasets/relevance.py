"""Who is relevant to whom: judgements laid over the ids of queries and items, whatever files they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from glyphrank.faults import Faults, shown
from glyphrank.ids import nfc
from glyphrank.records import Item
from glyphrank.trec import Qrels

_EXAMPLES = 3


@dataclass(frozen=True)
class Known:
    """The ids that a table gives.

    Attributes:
        ids: as published; those of faulty rows too, so that a fault of a row is not told twice.
        table: name of the table, for messages.
        unnamed: how many rows have no id that could be read.
        whole: whether the table was read to its end; if not, nobody can say what is missing in it.
    """

    ids: Sequence[str]
    table: str
    unnamed: int = 0
    whole: bool = True


@dataclass(frozen=True)
class Relevance:
    """Judgements under the ids of the dataset.

    Attributes:
        relevant: query id -> {item id: gain}, gains above 0; queries that have such.
        judged: the queries that were judged at all.
    """

    relevant: Mapping[str, Mapping[str, float]]
    judged: Set[str]


def relevance(qrels: Qrels, queries: Known, items: Known, faults: Faults) -> Relevance:
    """Finds the queries and items that judgements name; ids are compared in NFC.

    Args:
        faults: of the file of judgements; gets every query and item that is named and not known, or one fault for all
            of them where no id at all is known.
    """
    query_ids, item_ids = ({nfc(name): name for name in known.ids} for known in (queries, items))
    pairs = _pairs(qrels)
    for query in _unknown((query for query, _ in pairs), query_ids, queries, "queries", faults):
        faults.add(f"the query {shown(query)} is not among the {_count(queries, 'queries')}")
    unknown_items = _unknown((item for _, item in pairs), item_ids, items, "items", faults)
    for query, item in pairs:
        if item in unknown_items:
            faults.add(f"query {shown(query)} names the item {shown(item)}, not among the {_count(items, 'items')}")
    relevant = {
        query_ids[nfc(query)]: {item_ids[nfc(item)]: gain for item, gain in gains.items() if nfc(item) in item_ids}
        for query, gains in qrels.gains.items()
        if gains and nfc(query) in query_ids
    }
    return Relevance(relevant, {query_ids[nfc(query)] for query in qrels.gains if nfc(query) in query_ids})


def notes_of(qrels: Qrels, judgements: str, items: Sequence[Item], corpus: str) -> tuple[str, ...]:
    """What is odd and no fault: repeated judgements, and the titles of BEIR, whose convention is to search them.

    Args:
        judgements, corpus: names of the tables.
    """
    titled = sum(1 for item in items if item.slices.get("title"))
    found = [f"{judgements}: {qrels.repeats} repeated rows were dropped"] if qrels.repeats else []
    if titled:
        have = "1 item has" if titled == 1 else f"{titled} items have"
        found.append(f"{corpus}: {have} a title, which is kept as a slice and not searched")
    return tuple(found)


def _pairs(qrels: Qrels) -> list[tuple[str, str]]:
    """Every judged pair, those with a gain of 0 or less too."""
    return [
        (query, item)
        for query, gains in qrels.gains.items()
        for item in [*gains, *sorted(qrels.irrelevant.get(query, ()))]
    ]


def _unknown(
    named: Iterable[str], ids: Mapping[str, str], known: Known, kind: str, faults: Faults
) -> Mapping[str, None]:
    """Names that the table does not have, in order; none where that cannot be told, or was told in one fault."""
    if not known.whole or not ids:
        return {}
    distinct = dict.fromkeys(named)
    unknown = {name: None for name in distinct if nfc(name) not in ids}
    if not unknown or len(unknown) < len(distinct):
        return unknown
    faults.add(
        f"none of the {len(unknown)} {kind} that it names is among the {_count(known, kind)}: it names "
        f"{_examples(unknown)}; there are {_examples(ids.values())}; {_advice(unknown, known.ids)}"
    )
    return {}


def _count(known: Known, kind: str) -> str:
    read = f" that could be read ({known.unnamed} could not)" if known.unnamed else ""
    return f"{len(known.ids)} {kind} of {known.table}{read}"


def _examples(names: Iterable[str]) -> str:
    return ", ".join(shown(name) for name in islice(names, _EXAMPLES))


def _advice(unknown: Iterable[str], known: Iterable[str]) -> str:
    if {_as_number(name) for name in unknown} & {_as_number(name) for name in known}:
        return "they differ by leading zeros or a '.0' at the end, as where a program took ids for numbers"
    return "are both of one dataset, subset and split?"


def _as_number(name: str) -> str:
    """An id as a program leaves it that takes it for a number.

    >>> _as_number("0012.0")
    '12'
    """
    return re.sub(r"^0+(?=\d)|\.0+$", "", nfc(name))
