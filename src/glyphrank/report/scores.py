"""The scores of all queries and items in one matrix, S[query, item], as competitions and other tools take it."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from glyphrank.errors import DataError
from glyphrank.ids import nfc
from glyphrank.records import IntArray, Scores, Task
from glyphrank.whole_files import allocate, replace_whole, whole_file

SCORES = "scores.npy"
_ROWS = 256
"""Rows that are put into another order at once."""


def orders_of(task: Task) -> dict[str, IntArray]:
    """Names of the files beside `scores.npy`, with the column of the task's items that stands at each place.

    `scores.npy` has the order of the task's items; each other published order has a file of its own: `scores_rand.npy`
    is what the TextVR card calls `textvr.npy`.
    """
    places = {nfc(item.id): place for place, item in enumerate(task.items)}
    return {
        f"scores_{name}.npy": np.array([places[nfc(item)] for item in order]) for name, order in task.orders.items()
    }


def write_scores(folder: Path, task: Task, blocks: Iterable[tuple[IntArray, Scores]]) -> None:
    """Writes `scores.npy`, whole or not at all, in the type of the first block's scores.

    Args:
        folder: that of the result.
        task: whose queries are the rows and whose items the columns, in order.
        blocks: (b,) index of the queries and (b, n) scores, every query once.

    Raises:
        DataError: it cannot be written, for want of room above all.
    """
    shape = (len(task.queries), len(task.items))
    matrix = None
    with _writing(folder / SCORES), whole_file(folder / SCORES) as path:
        for queries, rows in blocks:
            matrix = _opened(path, shape, rows.dtype) if matrix is None else matrix
            matrix[queries] = rows
        if matrix is not None:
            matrix.flush()


def copy_scores(source: Path, folder: Path, orders: Mapping[str, IntArray]) -> None:
    """Puts the scores of a result into another folder: as they are, and with their columns in other orders.

    Raises:
        DataError: they cannot be written.
    """
    with _writing(folder / SCORES):
        replace_whole(folder / SCORES, lambda path: shutil.copyfile(source / SCORES, path))
        matrix = np.load(source / SCORES, mmap_mode="r")
        for name, columns in orders.items():
            with whole_file(folder / name) as path:
                permuted = _opened(path, matrix.shape, matrix.dtype)
                for start in range(0, len(matrix), _ROWS):
                    permuted[start : start + _ROWS] = matrix[start : start + _ROWS][:, columns]
                permuted.flush()


def _opened(path: Path, shape: tuple[int, int], dtype: np.dtype[Any]) -> np.memmap[Any, Any]:
    """A new `.npy` file of that shape, mapped into memory, with all its blocks on the disk."""
    with path.open("w+b") as file:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.flush()
        allocate(file, file.tell() + math.prod(shape) * dtype.itemsize)
    return np.lib.format.open_memmap(path, mode="r+")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"{path}: the scores cannot be written ({reason}); save_scores=false") from error
