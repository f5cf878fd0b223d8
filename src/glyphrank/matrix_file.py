"""A matrix of scores in a NumPy file: opened without reading it whole, and checked for what cannot be ranked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glyphrank.errors import DataError
from glyphrank.records import IntArray, Scores, Task

BLOCK = 256
"""Rows, or columns, that are in memory at once."""
_ARCHIVE = b"PK\x03\x04"
_KINDS = {"b": "truth values", "c": "complex numbers", "U": "texts", "S": "bytes", "V": "records", "M": "dates"}


@dataclass(frozen=True)
class ScoreMatrix:
    """S[query, item], a view of a file that stays on the disk.

    Attributes:
        path: the file, for messages.
        values: (q, n) of a type of real numbers.
    """

    path: Path
    values: NDArray[Any]

    @property
    def turned(self) -> ScoreMatrix:
        """The same with rows and columns exchanged."""
        return ScoreMatrix(self.path, self.values.T)

    @property
    def precision(self) -> float:
        """Relative distance of neighbouring numbers of their type, but float32's at least: products yield no finer."""
        half = self.values.dtype == np.float16
        return float(np.finfo(np.float16 if half else np.float32).eps)

    def rows(self, positions: IntArray | slice | Sequence[int]) -> Scores:
        """Some rows, as float32 where the file has floats of 32 bits or fewer, else as float64."""
        kind = self.values.dtype
        if kind.kind == "f" and kind.itemsize <= 4:
            return np.ascontiguousarray(self.values[positions], dtype=np.float32)
        return np.ascontiguousarray(self.values[positions], dtype=np.float64)

    def blocks(self) -> Iterator[tuple[IntArray, Scores]]:
        """All rows in order, some at a time with their positions."""
        for start in range(0, len(self.values), BLOCK):
            block = self.rows(slice(start, start + BLOCK))
            yield np.arange(start, start + len(block)), block


def open_matrix(path: Path, task: Task) -> ScoreMatrix:
    """The matrix of a task's queries against its items, in whatever order its columns are.

    Raises:
        DataError: the file is missing, holds no array of real numbers, or one of another shape.
    """
    values = _loaded(path)
    if values.dtype.kind not in "fiu":
        kind = _KINDS.get(values.dtype.kind, f"the type {values.dtype}")
        raise DataError(f"{path}: holds {kind}; wanted real numbers, such as float32")
    wanted = (len(task.queries), len(task.items))
    if values.shape != wanted:
        looks = "; it looks transposed: save S.T" if values.shape == wanted[::-1] else ""
        sides = [found - asked for found, asked in zip(values.shape, wanted, strict=False)]
        if values.ndim == 2 and (max(sides) < 0 or min(sides) > 0):
            looks = "; was it made on another part of the dataset? give the same fields here, such as dataset.missing"
        raise DataError(
            f"{path}: holds an array of shape {values.shape}; wanted {wanted}, a row for each query of {task.name} and "
            f"a column for each item{looks}"
        )
    return ScoreMatrix(path, values)


def check_scores(matrix: ScoreMatrix, queries: Sequence[str], items: Sequence[str]) -> None:
    """Refuses scores that cannot be compared.

    Args:
        queries, items: ids of the rows and of the columns.

    Raises:
        DataError: there is NaN or +inf; how often, and where first.
    """
    counts = {"NaN": 0, "+inf": 0}
    first: dict[str, str] = {}
    for positions, block in matrix.blocks():
        for name, bad in (("NaN", np.isnan(block)), ("+inf", np.isposinf(block))):
            if bad.any():
                row, column = (int(place[0]) for place in np.nonzero(bad))
                counts[name] += int(bad.sum())
                where = f"query {queries[positions[row]]!r} and item {items[column]!r}"
                first.setdefault(name, f"{where} (row {positions[row]}, column {column})")
    if first:
        found = "; ".join(f"{name} stands {counts[name]} times, first for {where}" for name, where in first.items())
        raise DataError(f"{matrix.path}: {found}; wanted numbers, and -inf for what was not retrieved")


def _loaded(path: Path) -> NDArray[Any]:
    """The array of a file. Only arrays are read: other files that `np.load` takes may run what they hold."""
    try:
        if not path.is_file():
            raise DataError(f"{path}: is no file; wanted an array that np.save wrote")
        with path.open("rb") as stream:
            is_archive = stream.read(len(_ARCHIVE)) == _ARCHIVE
        if not is_archive:
            return np.lib.format.open_memmap(path, mode="r")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise DataError(
            f"{path}: is no array of numbers as np.save writes it, or damaged or cut off ({error})"
        ) from error
    raise DataError(f"{path}: is an archive of arrays (.npz); wanted one array, as np.save writes it (.npy)")
