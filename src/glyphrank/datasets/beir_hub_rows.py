"""Rows of the tables of a dataset, from parquet and JSON lines alike; every fault is named by file and row."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from glyphrank.datasets.beir_hub_names import Found
from glyphrank.datasets.folder_files import Ids
from glyphrank.datasets.folder_records import NoObjectError, NoObjects, fields_of, id_text, lines_of, plain_fields
from glyphrank.datasets.parquet_tables import Kind, Table
from glyphrank.datasets.relevance import Known
from glyphrank.errors import DataError
from glyphrank.faults import Blocks, Faults, shown

IDS = (Kind.text, Kind.whole)
SCALARS = (Kind.text, Kind.whole, Kind.number)


@dataclass(frozen=True)
class Column:
    """A column of a table, under the first of several names that is there."""

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]

    def of(self, there: Mapping[str, object] | Sequence[str]) -> str | None:
        """The name that the column has, None where there is none."""
        return next((name for name in self.names if name in there), None)


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        place: what it is called in messages, unlike every other row of its table.
        number: from 0 over all row groups of a parquet file; of a file of JSON lines, the line from 1.
        fields: texts and numbers by column; of JSON lines everything. A null is None.
    """

    place: str
    path: Path
    number: int
    fields: Mapping[str, object]


class Rows:
    """The rows of a table, in the order of its files.

    Args:
        folder: the dataset's folder.
        blocks: gets the faults.

    Attributes:
        name: of the table, for messages.
        faults: of single rows; `stop` hands them on.
        unread: how many lines had no fields.
        whole: whether all that was read was read to its end.
    """

    def __init__(self, folder: Path, found: Found, blocks: Blocks) -> None:
        self._folder = folder
        self.paths = [folder / name for name in found.files]
        self.name = found.name
        self.faults = Faults(folder / found.name)
        self.unread = 0
        self.whole = True
        self._no_objects = NoObjects()
        self._blocks = blocks

    def read(self, wanted: Sequence[Column], optional: Sequence[Column] = (), further: bool = False) -> Iterator[Row]:
        """Every row that can be read.

        Args:
            wanted: columns that must be there; a file of JSON lines is not asked, its lines are.
            optional: columns that may lack or hold nothing.
            further: whether all other columns of texts and numbers are read too.
        """
        for path in self.paths:
            whole = False
            with self._blocks.keep():
                if path.suffix == ".parquet":
                    yield from self._parquet(path, wanted, optional, further)
                else:
                    yield from self._lines(path)
                whole = True
            self.whole = self.whole and whole

    def stop(self) -> None:
        """Hands the faults of rows on."""
        self._no_objects.report(self.faults)
        with self._blocks.keep():
            self.faults.stop()

    def _parquet(
        self, path: Path, wanted: Sequence[Column], optional: Sequence[Column], further: bool
    ) -> Iterator[Row]:
        table = Table(path)
        chosen = _checked(table, wanted, optional)
        # Pictures are no scalars, so that none is read.
        names = [name for name, kind in table.columns.items() if kind in SCALARS and (further or name in chosen)]
        number = 0
        for batch in table.batches(names):
            for values in batch:
                yield Row(self._place("row", number, path), path, number, dict(zip(names, values, strict=True)))
                number += 1
        if number == 0:
            raise DataError(f"{path}: the file has no rows; wanted at least one")

    def _lines(self, path: Path) -> Iterator[Row]:
        empty = True
        for number, line in lines_of(path):
            empty = False
            place = self._place("line", number, path)
            try:
                fields = fields_of(line)
            except NoObjectError as error:
                self._no_objects.add(number, error)
                self.unread += 1
                continue
            except ValueError as error:
                self.faults.add(f"{place}: {error}")
                fields = plain_fields(line)  # judgements may name its id all the same
                if not fields:
                    self.unread += 1
                    continue
            yield Row(place, path, number, fields)
        if empty:
            raise DataError(f"{path}: the file is empty; wanted one JSON object a line")

    def _place(self, kind: str, number: int, path: Path) -> str:
        own = "" if len(self.paths) == 1 else f"{path.relative_to(self._folder).as_posix()} "
        return f"{own}{kind} {number}"


def id_of(row: Row, column: Column) -> str:
    """The id of a row, as text as it is written.

    Raises:
        ValueError: there is none, or it is no text and no whole number.
    """
    name = column.of(row.fields)
    if name is None:
        raise ValueError(f"no id; wanted a field {' or '.join(map(repr, column.names))}")
    try:
        return id_text(row.fields[name])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def text_of(row: Row, name: str) -> str | None:
    """A text of a row, None where it is null or absent.

    Raises:
        ValueError: it is something else.
    """
    value = row.fields.get(name)
    if value is None or isinstance(value, str):
        return value
    raise ValueError(f"{name} is {shown(value)}; wanted text")


def slices_of(row: Row, taken: Sequence[str | None]) -> dict[str, str]:
    """The fields of a row that are texts or numbers, as texts, but for those that were taken for something."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in row.fields.items()
        if name not in taken and _is_scalar(value)
    }


def _is_scalar(value: object) -> bool:
    """Whether a value is a text or a number; some programs write a missing one as NaN."""
    is_scalar = isinstance(value, str | int | float) and not isinstance(value, bool)
    return is_scalar and not (isinstance(value, float) and math.isnan(value))


def _checked(table: Table, wanted: Sequence[Column], optional: Sequence[Column]) -> list[str]:
    """The names of the columns that are wanted; a DataError names what is missing or of another kind."""
    from pyarrow import types

    faults = []
    chosen = {}
    for column in wanted:
        name = column.of(list(table.columns))
        if name is None:
            faults.append(f"no column {' or '.join(map(repr, column.names))}")
        elif column.kinds == IDS and table.columns[name] is Kind.number:
            faults.append(
                f"the ids in {name!r} are numbers such as 12.0; wanted text or whole numbers (some programs turn whole "
                "numbers into such ones where one is missing)"
            )
        else:
            chosen[name] = column.kinds
    for column in optional:
        for name in column.names:
            if table.columns.get(name, column.kinds[0]) in column.kinds:
                continue
            found = table.file.schema_arrow.field(name).type
            if not types.is_null(found):
                faults.append(f"the column {name!r} is {found}; wanted {' or '.join(column.kinds)}")
    if faults:
        raise DataError(f"{table.path}: {'; '.join(faults)}. Its columns are {', '.join(table.columns)}")
    table.check(chosen)
    return list(chosen)


class NamedRows:
    """The rows of a table that names queries or items, none of them twice.

    Args:
        rows: of the table; they get what is wrong with single rows.
        column: which holds the ids.
    """

    def __init__(self, rows: Rows, column: Column) -> None:
        self._rows = rows
        self._column = column
        self._ids = Ids(rows.faults)
        self._unnamed = 0

    def read(self, wanted: Sequence[Column], optional: Sequence[Column] = ()) -> Iterator[tuple[Row, str]]:
        """Every row that has an id, with it, and all columns of texts and numbers; arguments as for `Rows.read`."""
        for row in self._rows.read([self._column, *wanted], optional, further=True):
            try:
                name = id_of(row, self._column)
            except ValueError as error:
                self._rows.faults.add(f"{row.place}: {error}")
                self._unnamed += 1
                continue
            self._ids.add(name, row.place)
            yield row, name

    @property
    def known(self) -> Known:
        """The ids that were read, and how much of the table was."""
        return Known(self._ids.names, self._rows.name, self._unnamed + self._rows.unread, self._rows.whole)
