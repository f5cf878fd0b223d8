"""Queries of a dataset and what was judged relevant to them, from tables of every form."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path

from glyphrank.datasets.beir_hub_names import Found
from glyphrank.datasets.beir_hub_rows import IDS, Column, NamedRows, Row, Rows, id_of, slices_of, text_of
from glyphrank.datasets.parquet_tables import Kind
from glyphrank.datasets.relevance import Known
from glyphrank.faults import Blocks, shown
from glyphrank.records import Query
from glyphrank.trec import Judgements, Qrels, gather_qrels

ID = Column(("query-id", "query_id", "_id", "id"), IDS)
TEXT = Column(("text", "query"), (Kind.text,))
QUERY, ITEM = Column(("query-id", "query_id"), IDS), Column(("corpus-id", "corpus_id"), IDS)
SCORE = Column(("score",), (Kind.whole, Kind.number))


def read_queries(folder: Path, found: Found, blocks: Blocks) -> tuple[list[Query], Known]:
    """The queries that have no fault, in order, and all ids that could be read.

    Columns of texts and numbers are slices; pictures that queries may have are not read.

    Args:
        folder: the dataset's folder.
        blocks: gets what is wrong: a file is missing or damaged, an id is missing, of another type or there twice, a
            query has no text.
    """
    rows = Rows(folder, found, blocks)
    named = NamedRows(rows, ID)
    queries: list[Query] = []
    for row, name in named.read([TEXT]):
        try:
            queries.append(_query(row, name))
        except ValueError as error:
            rows.faults.add(f"{row.place}: {error}")
    rows.stop()
    return queries, named.known


def read_judgements(folder: Path, found: Found, blocks: Blocks) -> Qrels:
    """The judgements of a table; those of faulty rows are left out.

    Scores above 0 are gains, 0 or less was judged not relevant. Rows that repeat another exactly are dropped and
    counted.

    Args:
        folder: the dataset's folder.
        blocks: gets what is wrong: a file is missing or damaged, an id or a score is missing or of another type, a
            score is not finite, two rows give one pair different scores.
    """
    rows = Rows(folder, found, blocks)
    if rows.paths[0].suffix == ".tsv":
        names = found.files if len(found.files) > 1 else ("",)
        qrels = gather_qrels(dict(zip(names, rows.paths, strict=True)), rows.faults)
        rows.stop()
        return qrels
    judgements = Judgements()
    for row in rows.read([QUERY, ITEM, SCORE]):
        try:
            query, item, gain = id_of(row, QUERY), id_of(row, ITEM), _score(row)
        except ValueError as error:
            rows.faults.add(f"{row.place}: {error}")
            continue
        try:
            judgements.add(row.place, query, item, gain)
        except ValueError as error:  # names both rows
            rows.faults.add(str(error))
    rows.stop()
    return judgements.qrels


def _query(row: Row, name: str) -> Query:
    column = next((column for column in TEXT.names if row.fields.get(column) is not None), TEXT.names[0])
    text = text_of(row, column)
    if not (text or "").strip():
        raise ValueError(f"the query {shown(name)} has no text")
    return Query(name, text or "", slices_of(row, (ID.of(row.fields), *TEXT.names)))


def _score(row: Row) -> float:
    value = row.fields.get("score")
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        raise ValueError(f"the score is {'null' if value is None else shown(value)}; wanted a finite number")
    return float(value)
