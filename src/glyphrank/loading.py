"""From a dataset to its task, which the next cell of a sweep takes over where no file behind it has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from glyphrank.datasets import Dataset
from glyphrank.identity import Stamp, stamp_of
from glyphrank.last_values import LastValue
from glyphrank.records import Item, Media, Task
from glyphrank.runtime import Runtime


@runtime_checkable
class ReadsFiles(Protocol):
    """A dataset that tells what it reads, so that a sweep need not load it anew for every cell."""

    def files(self, runtime: Runtime) -> tuple[Path, ...]:
        """Every file that `load` reads, or would read if it were there, but for media, whose stamps tell of change."""
        ...

    def load(self, runtime: Runtime) -> Task:
        """As `Dataset.load`."""
        ...


@dataclass(frozen=True)
class _Loaded:
    """A task with the stamps of the files of its items, and whether no other file changed while it was loaded."""

    task: Task
    media: Mapping[Path, Stamp | None]
    steady: bool


_last: LastValue[_Loaded] = LastValue()


def load(dataset: Dataset, runtime: Runtime) -> Task:
    """The task of a dataset; the very same object again where dataset, runtime and all its files are as they were.

    Only a dataset that tells which files it reads is remembered, and only where each of its media has a stamp.

    Raises:
        DataError: as `Dataset.load`.
    """
    if not isinstance(dataset, ReadsFiles):
        return dataset.load(runtime)
    files = dataset.files(runtime)
    stamps = tuple(map(_stamp, files))

    def make() -> _Loaded:
        task = dataset.load(runtime)
        media = {media.path: media.stamp for item in task.items for media in _media(item)}
        return _Loaded(task, media, stamps == tuple(map(_stamp, files)))

    _last.keep_if(_is_current)
    return _last.get((dataset, runtime, files, stamps), make, _is_current).task


def _stamp(path: Path) -> Stamp | None:
    """None for a file that is not there."""
    try:
        return stamp_of(path)
    except OSError:
        return None


def _is_current(loaded: _Loaded) -> bool:
    """Whether every file of the items is the one whose content was fingerprinted; False where that is not known."""
    return loaded.steady and all(stamp is not None and _stamp(path) == stamp for path, stamp in loaded.media.items())


def _media(item: Item) -> list[Media]:
    return [media for media in (item.media, item.published_ocr) if isinstance(media, Media)]
