"""The pictures of a corpus: in its own table, in files beside it, or in a table of pictures that it names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from glyphrank.datasets.beir_hub_names import Found
from glyphrank.datasets.beir_hub_rows import IDS, Column, Row, Rows, id_of
from glyphrank.datasets.media_names import MediaNames, content_of
from glyphrank.datasets.parquet_footer import Footers, Group, damaged
from glyphrank.datasets.parquet_tables import Kind, Table, pictures
from glyphrank.digests import digest_text
from glyphrank.faults import Blocks, shown
from glyphrank.identity import FileDigest
from glyphrank.ids import nfc
from glyphrank.media.parquet import BYTES, PATH
from glyphrank.records import Cell, Media

PICTURE = "image"
"""The column of pictures, or of their paths."""

NAME = Column(("image_id",), IDS)
"""The column by which a corpus names the rows of a table of pictures."""

_NAMED = Column(("file_name", "image_id", "id"), IDS)
"""The column of a table of pictures that bears these names."""
_FEW = 16
_NULL = Media(Path("null"), None, "")
"""Stands for a picture that is null, while a row without a picture has none."""


class Pictures:
    """Finds the picture of each row of a corpus, reading none.

    Args:
        folder: the dataset's folder, below which paths are looked for, and then below the table's.
        table: of pictures, for a corpus whose own table has none.
        file_digest: content digest of a file.
        blocks: gets the faults of whole files.

    Attributes:
        nulls: the places of the rows that name a picture which is null, as far as they were asked for.
    """

    def __init__(self, folder: Path, table: Found | None, file_digest: FileDigest, blocks: Blocks) -> None:
        self._folder = folder
        self._table = table
        self._file_digest = file_digest
        self._blocks = blocks
        self.nulls: set[str] = set()
        self._footers = Footers()
        self._cells = cache(self._cells_of)
        self._names = cache(lambda folder: MediaNames(folder, PICTURE))
        self._others = cache(self._others_of)

    def media(self, row: Row) -> Media | None:
        """The picture of a row, None where the row names none or one that is null.

        Raises:
            ValueError: it names none that there is, or in a way that is not read.
        """
        found = self._own(row)
        if found is None and self._table is not None and row.fields.get(NAME.names[0]) is not None:
            found = self._other(id_of(row, NAME), self._table)
        if found is _NULL:
            self.nulls.add(row.place)
        return None if found is _NULL else found

    def _own(self, row: Row) -> Media | None:
        """The picture in the row's own table, or beside it; None where there is neither a column nor a field of it."""
        if row.path.suffix == ".parquet":
            cells = self._cells(row.path)
            return cells[row.number] if cells else None
        return self._beside(row) if PICTURE in row.fields else None

    def _cells_of(self, path: Path) -> list[Media] | None:
        """The pictures in the own table; None where it has none."""
        table = Table(path)
        if table.columns.get(PICTURE) not in (Kind.picture, Kind.text):
            return None
        with self._blocks.keep():
            found = pictures(path, PICTURE, self._folder, self._file_digest, self._footers)
            blanks = _blanks(table, self._footers)
            return [_NULL if media.cell and row in blanks else media for row, media in enumerate(found)]
        return [Media(path, None, "", cell=Cell(PICTURE, row)) for row in range(table.rows)]

    def _beside(self, row: Row) -> Media:
        """The picture file that a row of JSON lines names."""
        value = row.fields[PICTURE]
        if isinstance(value, dict) and value.get(BYTES) is None:
            value = value.get(PATH)
        if value is None or value == "":
            return _NULL
        if not isinstance(value, str):
            raise ValueError(f"{PICTURE} is {shown(value)}; wanted the path of a picture")
        paths = [self._names(folder).find(value) for folder in dict.fromkeys((self._folder, row.path.parent))]
        path = next((path for path in paths if _exists(path)), paths[0])
        stamp, content = content_of(path, value, self._file_digest)
        return Media(path, None, digest_text(content, ""), stamp)

    def _other(self, name: str, table: Found) -> Media:
        """The picture of a name in the table of pictures."""
        others, whole = self._others(table)
        media = others.get(nfc(name))
        if media is None and whole:
            raise ValueError(f"the picture {shown(name)} is not among the {len(others)} of {table.pattern}")
        return media or Media(self._folder, None, "")

    def _others_of(self, table: Found) -> tuple[dict[str, Media], bool]:
        """The table of pictures by the names in it, and whether all of it could be read."""
        found: dict[str, Media] = {}
        rows = Rows(self._folder, table, self._blocks)
        for row in rows.read([_NAMED, Column((PICTURE,), (Kind.picture, Kind.text))]):
            try:
                media = self._own(row)
                if media is not None:
                    found[nfc(id_of(row, _NAMED))] = media
            except ValueError as error:
                rows.faults.add(f"{row.place}: {error}")
        rows.stop()
        return found, rows.whole


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name too long, a folder without permission
        return False


def _blanks(table: Table, footers: Footers) -> set[int]:
    """Rows without bytes, which may have a path. Pictures are passed only in row groups that hold both."""
    if table.columns[PICTURE] is Kind.text:
        return {row for row, (name,) in enumerate(table.read([PICTURE])) if not name}
    found: set[int] = set()
    start = 0
    groups = footers.groups(table.path)
    try:
        for number, group in enumerate(groups):
            found |= {start + row for row in _blanks_in_group(table.file, number, group)}
            start += group.rows
    except Exception as error:  # pyarrow raises errors of its own, and of every kind at damaged files
        raise damaged(table.path, f"the column {PICTURE!r} cannot be read from row {start} on", error) from error
    return found


def _blanks_in_group(file: Any, number: int, group: Group) -> Iterable[int]:
    """Rows, counted in the group, that have no bytes."""
    from pyarrow import types

    is_struct = types.is_struct(file.schema_arrow.field(PICTURE).type)
    leaf = f"{PICTURE}.{BYTES}" if is_struct else PICTURE
    nulls = group.nulls.get(leaf)
    if nulls in (0, group.rows):
        return range(nulls or 0)
    batches = file.iter_batches(batch_size=_FEW, row_groups=[number], columns=[leaf], use_threads=False)
    values = (batch.column(0).field(0) if is_struct else batch.column(0) for batch in batches)
    lacking = [lacks for value in values for lacks in value.is_null().to_pylist()]
    return [row for row, lacks in enumerate(lacking) if lacks]
