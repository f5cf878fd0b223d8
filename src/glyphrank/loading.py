"""From a dataset to its task, which the next cell of a sweep takes over where no file behind it has changed."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, runtime_checkable

from glyphrank.datasets import Dataset
from glyphrank.identity import Stamp, stamp_of
from glyphrank.last_values import LastValue
from glyphrank.records import Item, Media, Task
from glyphrank.runtime import Runtime

_ABSENT: Stamp = ()
_TICK = 20_000_000
"""Nanoseconds within which two changes of a folder may bear the same time: the kernel's clock for files ticks."""


@runtime_checkable
class ReadsFiles(Protocol):
    """A dataset that tells what it reads, so that a sweep need not load it anew for every cell."""

    def files(self, runtime: Runtime) -> tuple[Path, ...] | None:
        """Every file that `load` reads, or would read if it were there; None where that is not known.

        Media are left out: their stamps tell of change. A folder stands for the names in it, and must be given where a
        new name could change the outcome, but for those between the files and the media. Nothing is read or raised.
        """
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
    stamps: Collection[tuple[Path, Stamp | None]]
    steady: bool


_last: LastValue[_Loaded] = LastValue()


def load(dataset: Dataset, runtime: Runtime) -> Task:
    """The task of a dataset; the very same object again where dataset, runtime and all its files are as they were.

    Only a dataset that tells which files it reads is remembered, and only where each of its media has a stamp or is not
    there.

    Raises:
        DataError: as `Dataset.load`.
    """
    files = dataset.files(runtime) if isinstance(dataset, ReadsFiles) else None
    if files is None:
        return dataset.load(runtime)
    began = time.time_ns()
    stamps = tuple(map(_stamp, files))

    def make() -> _Loaded:
        task = dataset.load(runtime)
        media = set(_media_stamps(task.items))
        given = {path for path in files if _is_folder(path)}
        folders = _folders({path if path in given else path.parent for path in files}, [path for path, _ in media])
        steady = stamps == tuple(map(_stamp, files)) and all(_is_older(path, began) for path in given | folders)
        return _Loaded(task, [*((folder, _stamp(folder)) for folder in folders), *media], steady)

    _last.keep_if(_is_current)
    return _last.get((dataset, runtime, files, stamps), make, _is_current).task


def _stamp(path: Path, stamp: Callable[[Path], Stamp] = stamp_of) -> Stamp | None:
    """`_ABSENT` for a file that is not there, None where nobody can tell."""
    try:
        return stamp(path)
    except (FileNotFoundError, NotADirectoryError):
        return _ABSENT
    except (OSError, RuntimeError, ValueError):  # no permission; a loop of links; a NUL in the name
        return None


class _FewFolders:
    """`stamp_of` for thousands of files in few folders, each of which is resolved once: that is most of the work."""

    def __init__(self) -> None:
        self._resolved = cache(os.path.realpath)

    def __call__(self, path: Path) -> Stamp:
        state = path.lstat()
        folder, name = os.path.split(path)
        if stat.S_ISLNK(state.st_mode) or name in ("", ".."):
            return stamp_of(path)
        place = os.path.join(self._resolved(folder), name)  # noqa: PTH118 -- a Path costs as much as the rest
        return place, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino


def _is_current(loaded: _Loaded) -> bool:
    """Whether every file of the items is the one whose content was fingerprinted; False where that is not known.

    A new file may make the name of an item fit two, which is a fault; its folder tells of it.
    """
    here = _FewFolders()
    return loaded.steady and all(stamp is not None and _stamp(path, here) == stamp for path, stamp in loaded.stamps)


def _media_stamps(items: Iterable[Item]) -> Iterable[tuple[Path, Stamp | None]]:
    """The files of items as they were fingerprinted; one without a stamp is absent where it still is not there.

    That it went away meanwhile, its folder would tell.
    """
    for item in items:
        for media in (item.media, item.published_ocr):
            if isinstance(media, Media):
                absent = media.stamp is None and _stamp(media.path) == _ABSENT
                yield media.path, _ABSENT if absent else media.stamp


def _folders(files: Iterable[Path], media: Iterable[Path]) -> set[Path]:
    """Folders that hold media, with those above them up to the one that holds all that the dataset reads.

    Args:
        files: the folders of what it reads beside the media.
    """
    own = {path.parent for path in media}
    if not own:
        return set()
    try:
        top = Path(os.path.commonpath([*own, *files]))
    except ValueError:  # absolute places and relative ones
        return own
    found: set[Path] = set()
    for folder in own:
        while folder not in found:
            found.add(folder)
            folder = folder if folder == top else folder.parent
    return found


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _is_older(folder: Path, moment: int) -> bool:
    """Whether a folder's entries were last changed before a moment, in nanoseconds; its parent's, where it is absent.

    A folder that changed a tick before may have changed once more since, without a sign of it.
    """
    try:
        return folder.stat().st_mtime_ns < moment - _TICK
    except (FileNotFoundError, NotADirectoryError):
        return folder != folder.parent and _is_older(folder.parent, moment)
    except OSError:
        return False
