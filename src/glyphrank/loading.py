"""From a dataset to its task, which the next cell of a sweep takes over where no file behind it has changed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
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
    """A task, and what tells whether it would come out the same.

    Attributes:
        stamps: of the files of its items, and of the folders in which their names were looked up.
        steady: whether neither these folders nor any other file changed while it was loaded.
    """

    task: Task
    stamps: Mapping[Path, Stamp | None]
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
        began = time.time_ns()
        task = dataset.load(runtime)
        media = {media.path: media.stamp for item in task.items for media in _media(item)}
        folders = {folder: _stamp(folder) for folder in _folders(files, media)}
        steady = stamps == tuple(map(_stamp, files)) and all(_is_older(folder, began) for folder in folders)
        return _Loaded(task, {**folders, **media}, steady)

    _last.keep_if(_is_current)
    return _last.get((dataset, runtime, files, stamps), make, _is_current).task


def _stamp(path: Path) -> Stamp | None:
    """None for a file that is not there."""
    try:
        return stamp_of(path)
    except OSError:
        return None


def _is_current(loaded: _Loaded) -> bool:
    """Whether every file of the items is the one whose content was fingerprinted; False where that is not known.

    A new file may make the name of an item fit two, which is a fault; its folder tells of it.
    """
    return loaded.steady and all(stamp is not None and _stamp(path) == stamp for path, stamp in loaded.stamps.items())


def _folders(files: Iterable[Path], media: Iterable[Path]) -> set[Path]:
    """Folders that hold media, with those above them up to the one that holds all that the dataset reads."""
    own = {path.parent for path in media}
    if not own:
        return set()
    try:
        top = Path(os.path.commonpath([*own, *(path.parent for path in files)]))
    except ValueError:  # absolute places and relative ones
        return own
    found: set[Path] = set()
    for folder in own:
        while folder not in found:
            found.add(folder)
            folder = folder if folder == top else folder.parent
    return found


def _is_older(folder: Path, moment: int) -> bool:
    """Whether a folder's entries were last changed before a moment, in nanoseconds."""
    try:
        return folder.stat().st_mtime_ns < moment
    except OSError:
        return False


def _media(item: Item) -> list[Media]:
    return [media for media in (item.media, item.published_ocr) if isinstance(media, Media)]
