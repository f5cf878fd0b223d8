"""Tables in parquet files: columns of texts and numbers row by row, and pictures as media that are read later."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from glyphrank.datasets.media_names import MediaNames, content_of
from glyphrank.datasets.parquet_footer import Footers, Group, damaged
from glyphrank.digests import digest_text
from glyphrank.errors import DataError
from glyphrank.faults import Faults
from glyphrank.identity import FileDigest
from glyphrank.media.faults import MediaError
from glyphrank.media.files import head_of, shown_name
from glyphrank.media.parquet import BYTES, PATH
from glyphrank.records import Cell, Media

_BATCH = 1024
_FEW = 16
_BUFFER = 1 << 18
"""Bytes read ahead; without a buffer a column would be read a whole row group at a time."""
_HEAD = 512
_TEXTS = ("string", "large_string", "string_view")
_BYTES = ("binary", "large_binary", "binary_view")


class Kind(StrEnum):
    """What a column holds: texts, whole numbers, other numbers, lists of whole numbers, pictures, or something else.

    Pictures are bytes, or a struct with a field `bytes`. A column of texts may hold pictures too: paths of files.
    """

    text = "text"
    whole = "whole numbers"
    number = "numbers"
    whole_list = "lists of whole numbers"
    picture = "pictures"
    other = "something else"


class Table:
    """One parquet file, opened.

    Attributes:
        rows: how many rows it has, over all row groups.
        columns: what each column holds, in the order of the file.

    Raises:
        DataError: the file is missing, cannot be read, is encrypted, or is no whole parquet file; what it is instead is
            said.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _opened(path)
        try:
            self.rows: int = self._file.metadata.num_rows
            self.columns: Mapping[str, Kind] = {field.name: _kind(field.type) for field in self._file.schema_arrow}
        except Exception as error:  # see `Table.batches`
            raise damaged(path, "the parquet file's schema cannot be read", error) from error

    def check(self, wanted: Mapping[str, Sequence[Kind]]) -> None:
        """Compares the columns with those that are wanted, each with the kinds that it may have.

        Raises:
            DataError: columns are missing, stand twice or hold something else; all of them are named.
        """
        schema = self._file.schema_arrow
        faults = []
        for name, kinds in wanted.items():
            times = schema.names.count(name)
            accepted = " or ".join(kinds)
            if times == 0:
                faults.append(f"no column {name!r} (wanted: {accepted})")
            elif times > 1:
                faults.append(f"the column {name!r} stands {times} times")
            elif self.columns[name] not in kinds:
                faults.append(f"the column {name!r} is {schema.field(name).type}; wanted {accepted}")
        if faults:
            there = ", ".join(schema.names)
            raise DataError(f"{self.path}: {'; '.join(faults)}. Its columns are {there}")

    def batches(self, names: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of some columns, in order: in each batch a tuple for each row, with the values in order of `names`.

        Columns of pictures must not be among them: their bytes would be read.

        Raises:
            DataError: the file is damaged or encrypted; the row is named from which on it cannot be read.
        """
        row = 0
        batches = self._file.iter_batches(batch_size=_BATCH, columns=list(names), use_threads=False)
        while True:
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                values = [batch.column(name).to_pylist() for name in names]
            except Exception as error:  # pyarrow raises errors of its own, and of every kind at damaged files
                raise damaged(self.path, f"from row {row} on it cannot be read", error) from error
            yield list(zip(*values, strict=True))
            row += batch.num_rows

    def read(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        """All rows of some columns, see `batches`."""
        return [row for batch in self.batches(names) for row in batch]

    @property
    def file(self) -> Any:
        """The `pyarrow.parquet.ParquetFile`."""
        return self._file


def pictures(
    path: Path, column: str, root: Path, file_digest: FileDigest, footers: Footers | None = None
) -> list[Media]:
    """The media of every row: its cell, or the file beside the table that its path names where it has no bytes.

    No picture is read where the file says how many rows of a group have no bytes; otherwise those of the groups that
    have paths are passed. A row without bytes and path stays a cell: it fails, by name, when it is looked at.

    Args:
        column: of bytes, of structs of `bytes` and `path`, or of texts, which are paths.
        root: the dataset's folder. A path is looked for below it and then below the table's; a file that is in neither
            fails when it is looked at.
        file_digest: content digest of a file.
        footers: of the files of the table, where there are several.

    Raises:
        DataError: the file cannot be read or has no such column, its footer is damaged or encrypted, or paths lead out
            of the folder or fit several files.
    """
    table = Table(path)
    table.check({column: (Kind.picture, Kind.text)})
    path = path.absolute()
    stamp, content = content_of(path, path.name, file_digest)
    found = [
        Media(path, None, digest_text(content, column, str(row)), stamp, Cell(column, row)) for row in range(table.rows)
    ]
    faults = Faults(path, shown=50)
    places = [MediaNames(folder, column) for folder in dict.fromkeys((root.absolute(), path.parent))]
    for row, name in _paths(table, column, footers or Footers()).items():
        try:
            beside = _beside(name, places)
        except ValueError as error:
            faults.add(f"row {row}: {error}")
            continue
        stamp, content = content_of(beside, name, file_digest)
        found[row] = Media(beside, None, digest_text(content, ""), stamp)
    faults.stop()
    return found


def _beside(name: str, places: Sequence[MediaNames]) -> Path:
    """The first of the files that a name may mean; the place where it was looked for first where there is none."""
    paths = [names.find(name) for names in places]
    for path in paths:
        with suppress(OSError):  # a name too long, a folder without permission
            if path.exists():
                return path
    return paths[0]


def _paths(table: Table, column: str, footers: Footers) -> dict[int, str]:
    """The path of each row that has no bytes but a path."""
    from pyarrow import types

    if table.columns[column] is Kind.text:
        return {row: name for row, (name,) in enumerate(table.read([column])) if name}
    column_type = table.file.schema_arrow.field(column).type
    if not types.is_struct(column_type) or column_type.get_field_index(PATH) < 0:
        return {}
    found: dict[int, str] = {}
    start = 0
    groups = footers.groups(table.path)
    try:
        for number, group in enumerate(groups):
            found |= {start + row: name for row, name in _paths_in_group(table.file, column, number, group)}
            start += group.rows
    except Exception as error:  # see `Table.batches`
        raise damaged(table.path, f"the column {column!r} cannot be read from row {start} on", error) from error
    return found


def _paths_in_group(file: Any, column: str, number: int, group: Group) -> Iterator[tuple[int, str]]:
    """Row, counted in the group, and path of those that have no bytes but a path."""
    nulls = group.nulls.get(f"{column}.{BYTES}")
    if nulls == 0:
        return
    names = [name for batch in _field(file, column, PATH, number) for name in batch.to_pylist()]
    if not any(names):
        return
    if nulls == group.rows:
        lacking = [True] * group.rows
    else:
        lacking = [lacks for batch in _field(file, column, BYTES, number) for lacks in batch.is_null().to_pylist()]
    yield from ((row, name) for row, (name, lacks) in enumerate(zip(names, lacking, strict=True)) if name and lacks)


def _field(file: Any, column: str, field: str, group: int) -> Iterator[Any]:
    """One field of a column of structs in a row group, a few rows at a time, since it may hold pictures."""
    for batch in file.iter_batches(
        batch_size=_FEW, row_groups=[group], columns=[f"{column}.{field}"], use_threads=False
    ):
        yield batch.column(0).field(0)


def _opened(path: Path) -> Any:
    from pyarrow.parquet import ParquetFile

    try:
        head = head_of(path, _HEAD)
    except MediaError as error:
        why = str(error).removeprefix(f"{shown_name(path)}: ")
        raise DataError(f"{path}: {why}; wanted a parquet file") from error
    if head.startswith(b"PARE"):
        raise DataError(f"{path}: the parquet file is encrypted; wanted one that is not")
    if not head.startswith(b"PAR1"):
        raise DataError(f"{path}: {_instead(head)}, not a parquet file")
    try:
        return ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
    except Exception as error:  # see `Table.batches`
        raise damaged(path, "the parquet file cannot be opened", error) from error


def _instead(head: bytes) -> str:
    """What a file is that is no parquet file, by how it begins."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"version https://git-lfs.github.com/spec"):
        return "a Git LFS pointer, which stands for a file that was not fetched (`git lfs pull`, or download it anew)"
    if start[:1] == b"<":
        return "a page in HTML or XML, perhaps what a server said instead of sending the file"
    if start[:1] in (b"{", b"["):
        return "JSON"
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)  # it waits for the rest of the last sign
    except UnicodeDecodeError:
        text = "\0"
    return f"a file that begins with {head[:8]!r}" if "\0" in text else f"a text that begins with {text[:40]!r}"


def _kind(column: Any) -> Kind:
    from pyarrow import types

    if types.is_dictionary(column):
        column = column.value_type
    if str(column) in _TEXTS:
        return Kind.text
    if types.is_integer(column):
        return Kind.whole
    if types.is_floating(column) or types.is_decimal(column):
        return Kind.number
    if types.is_list(column) or types.is_large_list(column) or types.is_fixed_size_list(column):
        return Kind.whole_list if types.is_integer(column.value_type) else Kind.other
    if types.is_struct(column) and column.get_field_index(BYTES) >= 0:
        return Kind.picture
    return Kind.picture if str(column) in _BYTES or types.is_fixed_size_binary(column) else Kind.other
