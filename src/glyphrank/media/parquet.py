"""Pictures in parquet files, taken one after the other: a file of many GB is passed once and never held."""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glyphrank.identity import Stamp, stamp_of
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import check_file, shown_media, unreadable
from glyphrank.records import Cell, Media

_MOST_OPEN = 8
"""Files that a thread holds open: the parts of a table are read in turn, two tables at most by turns."""
_BUFFER = 1 << 18
"""Bytes read ahead in a file; without a buffer the pictures of a whole row group would be read at once."""

BYTES, PATH = "bytes", "path"
"""The two fields of a picture in a struct; one of them may be null."""


def cell_bytes(path: Path, cell: Cell) -> bytes:
    """The encoded picture in a cell: the `bytes` of a struct of `bytes` and `path`, or what a binary column holds.

    Each thread keeps its place in the file: rows that ascend cost one pass over it, of which one data page is held.
    (Arrow's writer cuts pages by number of rows: one has the pictures of a row group, at most of 1,024 rows.) Going
    back, or over to a later row group, starts at the beginning of the group. A file that was changed is opened anew.

    Raises:
        MediaError: the file is missing, damaged, encrypted or no parquet file, it has no such row or column, the column
            holds something else, or null. The message names file and row.
        MemoryError: the picture needs more memory than there is.
    """
    name = shown_media(Media(path, None, "", cell=cell))
    check_file(path, name)
    place = (os.getpid(), path, cell.column)
    try:
        value = _OPEN.cursor(place, stamp_of(path)).value(cell.row)
    except (MediaError, MemoryError) as error:
        _OPEN.forget(place)
        if isinstance(error, MediaError):
            raise MediaError(error.fault, f"{name}: {error}") from error
        raise
    except PermissionError as error:
        _OPEN.forget(place)
        raise unreadable(name, error) from error
    except Exception as error:  # pyarrow raises errors of its own, and of every kind of Python's at damaged files
        _OPEN.forget(place)
        cause = " ".join(str(error).split())[:200] or type(error).__name__
        if is_encrypted(cause):
            why = f"the parquet file is encrypted ({cause}); wanted one that is not"
            raise MediaError(MediaFault.encrypted, f"{name}: {why}") from error
        raise MediaError(MediaFault.damaged, f"{name}: the parquet file is damaged or none ({cause})") from error
    return _picture(value, name)


def is_encrypted(cause: str) -> bool:
    """Whether what Arrow says of a file is that it, or a column in it, is encrypted."""
    return "decrypt" in cause or "encrypted" in cause


def _picture(value: object, name: str) -> bytes:
    """The bytes in a value of the column."""
    if isinstance(value, dict):
        value = value.get(BYTES)
    if value is None:
        raise MediaError(MediaFault.empty, f"{name}: the picture is null")
    if not isinstance(value, bytes):
        found = f"text ({value[:60]!r})" if isinstance(value, str) else f"of type {type(value).__name__}"
        raise MediaError(MediaFault.unsupported, f"{name}: the picture is {found}; wanted bytes, or a struct with them")
    return value


class _Cursor:
    """A place in one column of a file; it moves forward row by row, and jumps to the beginning of a row group."""

    def __init__(self, path: Path, column: str, stamp: Stamp) -> None:
        from pyarrow.parquet import ParquetFile

        self.stamp = stamp
        self._file = ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
        self._column = _leaf(self._file, column)
        metadata = self._file.metadata
        self._starts = [0]
        for group in range(metadata.num_row_groups):
            self._starts.append(self._starts[-1] + metadata.row_group(group).num_rows)
        self._rows: Iterator[Any] = iter(())
        self._next = self._end = 0
        """The row that comes next, and the one after the last of its row group."""

    def value(self, row: int) -> object:
        """What a row holds, as a Python value.

        Raises:
            MediaError: there is no such row; the message does not name the file.
        """
        if not 0 <= row < self._starts[-1]:
            raise MediaError(MediaFault.no_page, f"there is no such row; the file has {self._starts[-1]}, from 0")
        if not self._next <= row < self._end:
            group = bisect_right(self._starts, row) - 1
            self._next, self._end = self._starts[group], self._starts[group + 1]
            self._rows = self._file.iter_batches(
                batch_size=1, row_groups=[group], columns=[self._column], use_threads=False
            )
        while True:
            batch = next(self._rows)
            self._next += 1
            if self._next > row:
                return batch.column(0)[0].as_py()

    def close(self) -> None:
        self._rows = iter(())
        self._file.close()


def _leaf(file: Any, column: str) -> str:
    """What is to be read of a column: the bytes of a struct alone.

    Raises:
        MediaError: there is no such column, or a struct without bytes.
    """
    import pyarrow

    schema = file.schema_arrow
    if schema.names.count(column) != 1:
        names = ", ".join(schema.names)
        raise MediaError(MediaFault.no_page, f"there is no column {column!r}; the file has {names}")
    kind = schema.field(column).type
    if not pyarrow.types.is_struct(kind):
        return column
    if kind.get_field_index(BYTES) < 0:
        raise MediaError(MediaFault.unsupported, f"column {column!r} is {kind}; wanted a struct with a field 'bytes'")
    return f"{column}.{BYTES}"


class _Open(threading.local):
    """The cursors of one thread, the last used at the end; none is taken over into a forked process."""

    def __init__(self) -> None:
        self._cursors: dict[tuple[int, Path, str], _Cursor] = {}

    def cursor(self, place: tuple[int, Path, str], stamp: Stamp) -> _Cursor:
        """The cursor at a place, opened anew where the file is another one by now."""
        cursor = self._cursors.pop(place, None)
        if cursor is not None and cursor.stamp != stamp:
            cursor.close()
            cursor = None
        if cursor is None:
            cursor = _Cursor(place[1], place[2], stamp)
        self._cursors[place] = cursor
        while len(self._cursors) > _MOST_OPEN:
            self.forget(next(iter(self._cursors)))
        return cursor

    def forget(self, place: tuple[int, Path, str]) -> None:
        """Closes a cursor, so that the next reading starts anew."""
        cursor = self._cursors.pop(place, None)
        if cursor is not None:
            cursor.close()


_OPEN = _Open()
