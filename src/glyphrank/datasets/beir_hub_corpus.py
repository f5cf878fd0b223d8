"""The items of a corpus: ids, texts, and pictures that lie in the table, beside it, or in a table of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from glyphrank.datasets.beir_hub_choice import Tables
from glyphrank.datasets.beir_hub_pictures import NAME, PICTURE, Pictures
from glyphrank.datasets.beir_hub_rows import IDS, Column, NamedRows, Row, Rows, slices_of, text_of
from glyphrank.datasets.parquet_tables import Kind
from glyphrank.datasets.relevance import Known
from glyphrank.faults import Blocks, shown
from glyphrank.identity import FileDigest
from glyphrank.records import Item, Media

ID = Column(("corpus-id", "corpus_id", "_id", "id"), IDS)
TEXTS = ("text", "markdown")
"""Columns that may hold the text of items; the first counts that holds any."""
_EXAMPLES = 5
_OPTIONAL = (Column(TEXTS, (Kind.text,)), Column((PICTURE,), (Kind.picture, Kind.text)))


@dataclass(frozen=True)
class Corpus:
    """The items of a corpus that have no fault, all ids that could be read, and what is odd and no fault."""

    items: tuple[Item, ...]
    known: Known
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Entry:
    """A row of a corpus; `texts` are what the columns of `TEXTS` hold."""

    place: str
    id: str
    texts: tuple[str | None, ...]
    media: Media | None
    slices: Mapping[str, str]


def read_corpus(folder: Path, tables: Tables, file_digest: FileDigest, blocks: Blocks) -> Corpus:
    """The items of a corpus, in its order; no picture is read.

    An item's text is what `text` holds, or `markdown` where no row has a `text`. Where no row has any, none was
    published; else a null is an empty one. Other columns of texts and numbers are slices. An item with a text whose
    picture is null has no media, and is noted.

    Args:
        folder: the dataset's folder.
        file_digest: content digest of a file.
        blocks: gets what is wrong: a file is missing or damaged, an id is missing, of another type or there twice, an
            item has neither text nor picture, or names a picture that is not there.
    """
    rows = Rows(folder, tables.corpus, blocks)
    pictures_of = Pictures(folder, tables.images, file_digest, blocks)
    named = NamedRows(rows, ID)
    entries: list[_Entry] = []
    for row, name in named.read([], _OPTIONAL):
        try:
            entries.append(_entry(row, name, pictures_of))
        except ValueError as error:
            rows.faults.add(f"{row.place}: {shown(name)}: {error}")
    items = tuple(_items(entries, rows))
    rows.stop()
    return Corpus(items, named.known, _notes(entries, pictures_of.nulls, rows.name))


def _entry(row: Row, name: str, pictures_of: Pictures) -> _Entry:
    texts = tuple(text_of(row, column) for column in TEXTS)
    slices = slices_of(row, (ID.of(row.fields), *TEXTS, PICTURE, *NAME.names))
    return _Entry(row.place, name, texts, pictures_of.media(row), slices)


def _items(entries: Sequence[_Entry], rows: Rows) -> Iterator[Item]:
    """The entries as items, after the whole table was read and it is known whether texts were published."""
    column = next((number for number in range(len(TEXTS)) if any(entry.texts[number] for entry in entries)), None)
    for entry in entries:
        text = None if column is None else entry.texts[column]
        if text is None and entry.media is None:
            rows.faults.add(f"{entry.place}: the item {shown(entry.id)} has neither text nor picture")
        yield Item(entry.id, entry.media, text if column is None else text or "", entry.slices)


def _notes(entries: Sequence[_Entry], nulls: Set[str], table: str) -> tuple[str, ...]:
    """How many pictures are null, and of which items.

    Args:
        nulls: places of the rows whose picture is null.
        table: name of the corpus.
    """
    ids = [entry.id for entry in entries if entry.place in nulls]
    if not ids:
        return ()
    verb = "is" if len(ids) == 1 else "are"
    more = f" and {len(ids) - _EXAMPLES} more" if len(ids) > _EXAMPLES else ""
    examples = ", ".join(shown(name) for name in ids[:_EXAMPLES])
    return (
        f"{table}: {len(ids)} of {len(entries)} pictures {verb} null, so that these have no media: {examples}{more}",
    )
