"""`queries.csv`: what every query got from the run's own ranking, one line a query and direction.

Columns are `direction`, `query_id`, `group`; `slice/<field>`; every metric of `metrics.per_query` by its name; and
`channel/<name>/best_rank`. Ids and slices stand as published, numbers in full. A query without a relevant item has its
line too, with empty cells for its numbers.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from glyphrank.errors import DataError
from glyphrank.records import Direction, IntArray
from glyphrank.report.long_cells import long_cells
from glyphrank.ties import Numbers

FIXED = ("direction", "query_id", "group")
_SLICE = "slice/"
_CHANNEL, _BEST_RANK = "channel/", "/best_rank"


@dataclass(frozen=True)
class PerQuery:
    """What the q queries of one direction got; in the reverse direction the "queries" are items.

    Attributes:
        query_ids: all of them, as published.
        groups: (q,) numbers of the groups that are resampled and tested together (`grouping.groups_of`).
        slices: field -> query id -> value; without the fields that no query of this direction has.
        values: metric -> (q,) values as `metrics.per_query` gives them, NaN where nothing is relevant.
        channels: channel -> (q,) rank of the best relevant item under this channel alone, NaN where nothing is.
    """

    query_ids: tuple[str, ...]
    groups: IntArray
    slices: Mapping[str, Mapping[str, str]]
    values: Mapping[str, Numbers]
    channels: Mapping[str, Numbers]


def write_queries(path: Path, queries: Mapping[Direction, PerQuery]) -> None:
    """Writes all directions under one header; what a direction lacks is empty in its lines.

    A missing slice is an empty cell. One that is the empty text, or begins with a quotation mark, is written as JSON.
    """
    fields = _names(found.slices for found in queries.values())
    metrics = _names(found.values for found in queries.values())
    channels = _names(found.channels for found in queries.values())
    shown = [*(_SLICE + name for name in fields), *metrics, *(_CHANNEL + name + _BEST_RANK for name in channels)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*FIXED, *shown])
        for direction, found in queries.items():
            columns = [
                *([_slice_cell(found.slices.get(name, {}).get(query)) for query in found.query_ids] for name in fields),
                *(_number_cells(found.values.get(name), len(found.query_ids)) for name in metrics),
                *(_number_cells(found.channels.get(name), len(found.query_ids)) for name in channels),
            ]
            for query, group, *cells in zip(found.query_ids, found.groups.tolist(), *columns, strict=True):
                writer.writerow([direction.value, query, group, *cells])


def read_queries(path: Path) -> dict[Direction, PerQuery]:
    """What `write_queries` wrote.

    Raises:
        DataError: the file is missing, or no such table; the line is named.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream, long_cells():
            return _read(csv.reader(stream))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, csv.Error) as error:
        raise DataError(f"{path}: {error}; the file is damaged or of another version, run the experiment again") from (
            error
        )


@dataclass
class _Gathered:
    """The lines of one direction."""

    query_ids: list[str] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)


def _read(rows: Iterator[list[str]]) -> dict[Direction, PerQuery]:
    header = next(rows, [])
    if tuple(header[: len(FIXED)]) != FIXED or len(set(header)) < len(header):
        raise ValueError(f"the header begins {header[: len(FIXED)]}; wanted {list(FIXED)} and other names, each once")
    gathered: dict[Direction, _Gathered] = {}
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells; wanted {len(header)}")
        try:
            own = gathered.setdefault(Direction(row[0]), _Gathered())
            own.groups.append(int(row[2]))
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from error
        own.query_ids.append(row[1])
        own.cells.append(row[len(FIXED) :])
    if not gathered:
        raise ValueError("there is no line below the header; wanted one a query")
    return {direction: _per_query(found, header[len(FIXED) :]) for direction, found in gathered.items()}


def _per_query(gathered: _Gathered, header: Sequence[str]) -> PerQuery:
    if len(set(gathered.query_ids)) < len(gathered.query_ids):
        raise ValueError("a query stands twice; wanted one line each")
    slices: dict[str, dict[str, str]] = {}
    values: dict[str, Numbers] = {}
    channels: dict[str, Numbers] = {}
    for name, cells in zip(header, zip(*gathered.cells, strict=True), strict=True):
        if name.startswith(_SLICE):
            own = {query: _slice_of(cell) for query, cell in zip(gathered.query_ids, cells, strict=True) if cell}
            if own:
                slices[name.removeprefix(_SLICE)] = own
        elif name.startswith(_CHANNEL) and name.endswith(_BEST_RANK):
            channels[name.removeprefix(_CHANNEL).removesuffix(_BEST_RANK)] = _numbers_of(name, cells)
        else:
            values[name] = _numbers_of(name, cells)
    return PerQuery(
        tuple(gathered.query_ids), np.array(gathered.groups, dtype=np.int64), slices, _kept(values), _kept(channels)
    )


def _kept(columns: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The columns that hold a number; a direction without some metric has none in its column."""
    return {name: numbers for name, numbers in columns.items() if not np.isnan(numbers).all()}


def _names(mappings: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))


def _slice_cell(value: str | None) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if not value or value.startswith('"') else value


def _slice_of(cell: str) -> str:
    if not cell.startswith('"'):
        return cell
    value = json.loads(cell)
    if not isinstance(value, str):
        raise ValueError(f"the slice {cell} is no text")
    return value


def _number_cells(numbers: Numbers | None, count: int) -> list[str]:
    if numbers is None:
        return [""] * count
    return ["" if math.isnan(number) else repr(number) for number in numbers.tolist()]


def _numbers_of(name: str, cells: Sequence[str]) -> Numbers:
    try:
        return np.array([float(cell) if cell else math.nan for cell in cells], dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"column {name!r}: {error}") from error
