"""From channels to ranks: every channel alone and their fusion, forward and, where the protocol asks, reverse.

Scores are computed once, in blocks. The reverse direction reads them back from a scratch file and multiplies nothing
again; its blocks are normalised and fused anew, with items as queries.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from weakref import ref

import numpy as np

from glyphrank.errors import DataError
from glyphrank.fusion import Fusion
from glyphrank.last_values import LastValue
from glyphrank.ranking import RankCounter, reverse
from glyphrank.records import Direction, FloatArray, IntArray, Ranks, Scores, Task
from glyphrank.scoring import TILE, Channel
from glyphrank.whole_files import allocate

FUSED = "fused"
TOP = 100
"""Length of the lists that are kept of the run's own forward ranking, for the run file."""

Rankings = Mapping[str, Mapping[Direction, Ranks]]
"""Name of a channel, or `fused` where there are several -> direction -> ranks."""

_last: LastValue[tuple[tuple[ref[object], ...], Rankings]] = LastValue()


@dataclass(frozen=True)
class Asked:
    """The distinct texts among a task's queries: each is encoded and scored once.

    Attributes:
        texts: u distinct texts in order of first appearance.
        number: (q,) index of each query's text.
    """

    texts: tuple[str, ...]
    number: IntArray

    @classmethod
    def of(cls, task: Task) -> Asked:
        """The texts of a task's queries."""
        numbers: dict[str, int] = {}
        number = [numbers.setdefault(query.text, len(numbers)) for query in task.queries]
        return cls(tuple(numbers), np.array(number, dtype=np.int64))


def rank_all(
    task: Task,
    channels: Sequence[Channel],
    fusion: Fusion,
    directions: Sequence[Direction],
    scratch: Path,
    size: int = TILE,
) -> Rankings:
    """Ranks of every channel and of their fusion.

    Args:
        channels: at least one, each scoring `Asked.of(task).texts` against `task.items`.
        directions: which to rank; forward always is, and the reverse needs q x n x 4 bytes of disk a channel.
        scratch: existing folder for that; nothing is left in it.
        size: query texts (forward) or items (reverse) in a block; it changes memory, not numbers.

    Raises:
        DataError: the scratch folder has no room for the reverse direction.
    """
    asked = Asked.of(task)
    shape = (len(channels), len(asked.texts), len(task.items)) if Direction.v2t in directions else None
    with _kept(channels, shape, scratch) as scores:
        forward = _Counters(Direction.t2v, task, channels)
        for start, rows, queries in _asked_blocks(channels, asked, size):
            if scores:
                scores.write(start, rows)
            forward.add(queries, _fused(rows, fusion), asked.number[queries] - start)
        found = {Direction.t2v: forward.finish()}
        if scores:
            backward = _Counters(Direction.v2t, task, channels)
            for start in range(0, len(task.items), size):
                items = np.arange(start, min(start + size, len(task.items)))
                backward.add(items, _fused(scores.read(items, asked.number), fusion), None)
            found[Direction.v2t] = backward.finish()
    return {name: {direction: ranks[name] for direction, ranks in found.items()} for name in found[Direction.t2v]}


def rank_once(
    task: Task, channels: Sequence[Channel], fusion: Fusion, directions: Sequence[Direction], scratch: Path
) -> Rankings:
    """As `rank_all`, or the very same rankings again, as in a sweep over what is measured.

    They are taken over where task and channels are the objects of the call before and all else is equal.
    """
    asked = (task, *channels)
    _last.keep_if(lambda kept: all(was() is now for was, now in zip(kept[0], asked, strict=False)))

    def make() -> tuple[tuple[ref[object], ...], Rankings]:
        return tuple(map(ref, asked)), rank_all(task, channels, fusion, directions, scratch)

    return _last.get((len(channels), fusion if len(channels) > 1 else None, tuple(directions)), make)[1]


def main_scores(
    task: Task, channels: Sequence[Channel], fusion: Fusion, size: int = TILE
) -> Iterator[tuple[IntArray, Scores]]:
    """The scores behind the run's own ranking, computed once more and bitwise alike, block by block.

    Yields:
        (b,) index of the queries, every query once, and (b, n) their scores.
    """
    asked = Asked.of(task)
    for start, rows, queries in _asked_blocks(channels, asked, size):
        yield queries, _fused(rows, fusion)[main_name(channels)][asked.number[queries] - start]


def main_name(channels: Sequence[Channel]) -> str:
    """Whose ranks are the run's: the fusion's, or the only channel's."""
    return FUSED if len(channels) > 1 else channels[0].name


def _blocks(channels: Sequence[Channel], size: int) -> Iterator[tuple[int, dict[str, FloatArray]]]:
    """All channels' rows of the same query texts, block by block, with the number of the first text."""
    start = 0
    for blocks in zip(*(channel.blocks(size) for channel in channels), strict=True):
        yield start, {channel.name: block for channel, block in zip(channels, blocks, strict=True)}
        start += len(blocks[0])


def _asked_blocks(
    channels: Sequence[Channel], asked: Asked, size: int
) -> Iterator[tuple[int, dict[str, FloatArray], IntArray]]:
    """The blocks with the queries that ask their texts."""
    order = np.argsort(asked.number, kind="stable")
    texts = asked.number[order]
    for start, rows in _blocks(channels, size):
        stop = start + len(next(iter(rows.values())))
        yield start, rows, order[np.searchsorted(texts, start) : np.searchsorted(texts, stop)]


def _fused(rows: Mapping[str, FloatArray], fusion: Fusion) -> Mapping[str, Scores]:
    return rows if len(rows) == 1 else {**rows, FUSED: fusion.fuse(rows)}


class _Counters:
    """One rank counter for each channel and the fusion."""

    def __init__(self, direction: Direction, task: Task, channels: Sequence[Channel]) -> None:
        asking = [query.id for query in task.queries]
        gallery = [item.id for item in task.items]
        relevant = task.relevant
        if direction is Direction.v2t:
            asking, gallery, relevant = gallery, asking, reverse(relevant)
        names = [channel.name for channel in channels] + ([FUSED] if len(channels) > 1 else [])
        listed = main_name(channels) if direction is Direction.t2v else None  # the run file holds these lists alone
        self._counters = {
            name: RankCounter(direction, asking, gallery, relevant, TOP if name == listed else 0) for name in names
        }

    def add(self, queries: IntArray, rows: Mapping[str, Scores], row_of_query: IntArray | None) -> None:
        same = row_of_query is None or np.array_equal(row_of_query, np.arange(len(next(iter(rows.values())))))
        for name, counter in self._counters.items():
            counter.add(queries, rows[name] if same else rows[name][row_of_query])

    def finish(self) -> dict[str, Ranks]:
        return {name: counter.finish() for name, counter in self._counters.items()}


class _Kept:
    """The raw scores of all channels, (channels, texts, items) float32."""

    def __init__(self, channels: Sequence[Channel], scores: FloatArray) -> None:
        self._names = [channel.name for channel in channels]
        self._file = scores

    def write(self, start: int, rows: Mapping[str, FloatArray]) -> None:
        for position, name in enumerate(self._names):
            self._file[position, start : start + len(rows[name])] = rows[name]

    def read(self, items: IntArray, number: IntArray) -> dict[str, FloatArray]:
        """Rows with items as queries: (len(items), q) float32 for each channel."""
        columns = slice(int(items[0]), int(items[-1]) + 1)
        return {
            name: np.ascontiguousarray(self._file[position, :, columns].T)[:, number]
            for position, name in enumerate(self._names)
        }


@contextmanager
def _kept(channels: Sequence[Channel], shape: tuple[int, int, int] | None, scratch: Path) -> Iterator[_Kept | None]:
    """Room for scores of that shape, in a scratch file that vanishes with the process; None without a shape."""
    if shape is None:
        yield None
        return
    wanted = math.prod(shape) * np.dtype(np.float32).itemsize
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.TemporaryFile(dir=scratch))
            allocate(file, wanted)
            scores: FloatArray = np.memmap(file, dtype=np.float32, mode="r+", shape=shape)
        except OSError as error:
            raise DataError(
                f"{scratch}: the scores of the reverse direction need a scratch file of {wanted} bytes here, which "
                f"failed ({error.strerror or error}); free that much, choose another paths.outputs, or rank t2v only"
            ) from error
        yield _Kept(channels, scores)
