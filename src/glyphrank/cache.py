"""Work that is done once: values of inputs, addressed by (key of the component, digest of the input).

The values lie in shards under `<root>/<stage>/<key>/<digest of the inputs>.<suffix>`. A stage first looks every input
up in its key's folder; inputs that no shard holds are cut into shards at places that depend on their content, worked
on and written, one shard after the other. Whoever is interrupted goes on where it stopped. Processes that start
together share the work: each takes the next shard that nobody holds and comes back for the others' results.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from glyphrank.digests import digest_text
from glyphrank.errors import DataError
from glyphrank.last_values import recent
from glyphrank.rates import Pieces, note_rate
from glyphrank.records import IntArray
from glyphrank.shard_folder import ShardFolder, new_manifest
from glyphrank.shard_locks import ShardLocks
from glyphrank.shards import Codec, Gatherer, Value, cut

POLL = 0.1
"""Seconds between two looks for shards that other processes work on."""

logger = logging.getLogger(__name__)

Values = TypeVar("Values")

Work = Callable[[Sequence[int]], Sequence[Value | None]]


@dataclass(frozen=True)
class Stage(Generic[Value, Values]):
    """One component's work and where it is kept.

    Attributes:
        root: folder of the whole cache.
        name: what kind of work it is: `reading`, `tokens`, `vectors`.
        recipe: what the key is made of, in plain types, for the manifest (`identity.recipe`).
        key: address of the component (`identity.key`), with everything else that can change a value.
        spacing: m: a shard ends after an input whose digest is 0 modulo m, and has at most 2 m inputs. At least 1.
        codec: format of the shards.
        device: says where the work is done, for the manifest; asked when there is work.
        is_current: whether the component still is what the key says; asked after each shard's work, since weights can
            be replaced while a run uses them. A shard made with others is not kept.
    """

    root: Path
    name: str
    recipe: Mapping[str, object]
    key: str
    spacing: int
    codec: Codec[Value, Values]
    device: Callable[[], str] | None = None
    is_current: Callable[[], bool] = lambda: True

    def __post_init__(self) -> None:
        if self.spacing < 1:
            raise ValueError(f"spacing is {self.spacing}; wanted at least 1")

    @property
    def folder(self) -> Path:
        """Where the shards of this key lie."""
        return self.root / self.name / self.key


@dataclass(frozen=True)
class Remembered(Generic[Values]):
    """The values of a stage.

    Attributes:
        digests: the distinct inputs in order of first appearance; row i of the values belongs to `digests[i]`.
        values: what the codec gathers: a list, or a mapping of names to arrays (empty when there is no value at all).
        failed: inputs without a value; they are tried again next time.
        hits: distinct inputs that this call found, or got from a process that worked beside it.
        worked: distinct inputs that this call worked on.
        damaged: shards that were found damaged.
    """

    digests: tuple[str, ...]
    values: Values
    failed: frozenset[str]
    hits: int
    worked: int
    damaged: int


def remember(
    stage: Stage[Value, Values],
    inputs: Sequence[str],
    work: Work[Value],
    advance: Callable[[int], None] | None = None,
    spent: float = 0.0,
) -> Remembered[Values]:
    """The values of all inputs: those that are known from the cache, the others from `work`.

    How long the work took is noted beside the shards, without what calls inside it took; `plan` estimates from it.

    Args:
        stage: whose work it is.
        inputs: digests in hexadecimal digits; a digest may stand there more than once.
        work: takes positions in `inputs`, at most 2 m of them and each of another digest, and returns a value for
            each; None where there is none. What it raises ends the call; shards that are finished stay.
        advance: is told how many more distinct inputs are done.
        spent: seconds of the work that were spent before this call, where `work` only hands over what is made.

    Raises:
        DataError: the folder cannot be read or written.
        ValueError: `work` returned another number of values than it was given positions.
    """
    session = _Session(stage, inputs, work, advance)
    session.folder.refresh()
    missing = session.fetch(session.digests)
    if missing:
        device = stage.device() if stage.device else None
        session.folder.prepare(new_manifest(stage.name, stage.key, stage.recipe, device))
        try:
            session.complete(cut(missing, stage.spacing))
        finally:
            session.note_rate(spent)
    session.folder.mark_used()
    found = session.outcome()
    logger.info("%s: %d inputs from the cache, %d worked on (%s)", stage.name, found.hits, found.worked, stage.key)
    return found


def lookup(stage: Stage[Any, Any]) -> Callable[[str], bool]:
    """Whether a shard holds an input, as things stand now; what others add later is not seen.

    Raises:
        DataError: the folder cannot be read.
    """
    folder, _ = _open(stage.folder, stage.codec, threading.get_ident())
    folder.refresh()
    return lambda digest: folder.holder(digest) is not None


def recall(stage: Stage[Any, Any], inputs: Sequence[str]) -> dict[str, Any]:
    """Digest -> value of those inputs that a shard of plain values holds; nothing is worked on, written or marked.

    Raises:
        DataError: the folder cannot be read.
    """
    session: _Session[Any, Any] = _Session(stage, inputs, lambda positions: [], None)
    session.folder.refresh()
    missing = set(session.fetch(session.digests))
    found = session.outcome()
    pairs = zip(found.digests, found.values, strict=True)
    return {digest: value for digest, value in pairs if digest not in missing}


@recent(4)
def _distinct(inputs: tuple[str, ...]) -> tuple[tuple[str, ...], Mapping[str, int]]:
    """The distinct inputs in order of first appearance, and the place of each among them."""
    digests = tuple(dict.fromkeys(inputs))
    return digests, dict(zip(digests, range(len(digests)), strict=True))


class _Session(Generic[Value, Values]):
    """One call of `remember`: what is gathered so far and what it took."""

    def __init__(
        self,
        stage: Stage[Value, Values],
        inputs: Sequence[str],
        work: Work[Value],
        advance: Callable[[int], None] | None,
    ) -> None:
        self.folder, self._locks = _open(stage.folder, stage.codec, threading.get_ident())
        self._inputs = inputs
        self.digests, self._rows = _distinct(tuple(inputs))
        self._gathered: Gatherer[Value, Values] = stage.codec.gather(len(self.digests))
        self._name = stage.name
        self._is_current = stage.is_current
        self._work = work
        self._advance = advance or (lambda count: None)
        self._failed: set[str] = set()
        self._worked = 0
        self._pieces: Pieces = []
        self._damaged_before = self.folder.damaged

    def fetch(self, wanted: Sequence[str]) -> list[str]:
        """Gathers what shards hold of the wanted inputs; returns the others, in order."""
        missing = tuple(wanted)
        while missing and (held := self.folder.holdings(missing)):
            rows = self._rows_of(missing)
            is_missing = np.ones(len(missing), dtype=np.bool_)
            for holding in held:
                values = self.folder.read(holding.name)
                if values is not None:
                    self._gather(rows[holding.rows], values, holding.places)
                    is_missing[holding.rows] = False
            missing = tuple(missing[row] for row in np.flatnonzero(is_missing))
        return list(missing)

    def complete(self, pending: Sequence[tuple[str, ...]]) -> None:
        """Works on shards that nobody else works on, until all are done by somebody."""
        waiting = False
        while pending:
            left = [shard for shard in pending if not self._attempt(shard)]
            if len(left) == len(pending):
                if not waiting:
                    logger.info("%s: waiting for %d shards that other processes work on", self._name, len(left))
                    waiting = True
                time.sleep(POLL)
            pending = left

    def outcome(self) -> Remembered[Values]:
        return Remembered(
            digests=self.digests,
            values=self._gathered.result(),
            failed=frozenset(self._failed),
            hits=len(self.digests) - self._worked,
            worked=self._worked,
            damaged=self.folder.damaged - self._damaged_before,
        )

    def note_rate(self, spent: float) -> None:
        """Leaves beside the shards how long this session's work took; `spent` is shared out among its pieces."""
        if self._pieces:
            each = spent / self._worked if self._worked else 0.0
            self._pieces = [(count, seconds + count * each) for count, seconds in self._pieces]
            note_rate(self.folder.path, self._pieces)
            _noted.seconds += sum(seconds for _, seconds in self._pieces)

    def _attempt(self, shard: tuple[str, ...]) -> bool:
        """Does one shard, unless somebody else is at it."""
        lock = self._locks.take(digest_text(*shard))
        if lock is None:
            return False
        with lock:
            self.folder.refresh()  # the one who held the lock before may have done it
            missing = self.fetch(shard)
            if missing:
                self._make(missing)
        return True

    def _make(self, missing: Sequence[str]) -> None:
        began, inside = time.perf_counter(), _noted.seconds
        values = self._work([self._positions[digest] for digest in missing])
        seconds = time.perf_counter() - began - (_noted.seconds - inside)
        if len(values) != len(missing):
            raise ValueError(f"{self._name}: {len(values)} values for {len(missing)} inputs; wanted one each")
        if not self._is_current():
            raise DataError(
                f"{self._name}: a file that the component runs on changed while it was used; what was made with it is "
                "not kept. Run again when nothing writes there any more"
            )
        made = {digest: value for digest, value in zip(missing, values, strict=True) if value is not None}
        if made:
            # What a cold cache returns is what a warm one will return: the values as they were written.
            written = self.folder.write(list(made), list(made.values()))
            self._gather(self._rows_of(tuple(made)), written, np.arange(len(made)))
        self._failed.update(digest for digest in missing if digest not in made)
        self._worked += len(missing)
        self._pieces.append((len(missing), seconds))
        self._advance(len(missing) - len(made))

    def _gather(self, rows: IntArray, values: Sequence[Value], places: IntArray) -> None:
        self._gathered.put_all(rows, values, places)
        self._advance(len(rows))

    def _rows_of(self, digests: tuple[str, ...]) -> IntArray:
        """(n,) where the values of inputs are gathered."""
        if digests is self.digests:
            return np.arange(len(digests))
        return np.fromiter(map(self._rows.__getitem__, digests), np.int64, len(digests))

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Where each digest stands first."""
        positions: dict[str, int] = {}
        for position, digest in enumerate(self._inputs):
            positions.setdefault(digest, position)
        return positions


class _Noted(threading.local):
    """Seconds of work that this thread has noted: a call inside another's work is not counted twice."""

    seconds: float = 0.0


_noted = _Noted()


@lru_cache(maxsize=16)
def _open(folder: Path, codec: Codec[Any, Any], thread: int) -> tuple[ShardFolder[Any], ShardLocks]:
    """A folder whose index is kept for the next call in this thread; threads share work as processes do."""
    return ShardFolder(folder, codec), ShardLocks(folder / "locks")
