"""The files below a folder, wherever links lead; hundreds are looked at some times a run, so paths are plain text."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_Inode = tuple[int, int]


def files_below(folder: str, suffixes: str | tuple[str, ...] = "") -> Iterator[tuple[str, os.stat_result]]:
    """Path and state of every regular file below a folder, or of the file that it is.

    Hidden files, and those in hidden folders and `__pycache__`, are left out, but not what is asked for itself. Links
    are followed, and a file that several lead to has all its paths; a link to a folder in which the link itself lies,
    at any depth, is not entered. The order is the same each time. What cannot be looked at, such as a link to nothing
    or a folder without permission, is left out.
    """
    with suppress(OSError):
        state = os.stat(folder)  # noqa: PTH116
        if stat.S_ISREG(state.st_mode):
            yield folder, state
        elif stat.S_ISDIR(state.st_mode):
            yield from _below(folder, suffixes, _above(folder) | {(state.st_dev, state.st_ino)})


def _above(folder: str) -> frozenset[_Inode]:
    """The folders in which a folder lies, up to the root of the file system."""
    found: set[_Inode] = set()
    for parent in Path(folder).resolve().parents:
        with suppress(OSError):
            state = parent.stat()
            found.add((state.st_dev, state.st_ino))
    return frozenset(found)


def _below(
    folder: str, suffixes: str | tuple[str, ...], above: frozenset[_Inode]
) -> Iterator[tuple[str, os.stat_result]]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        try:
            state = entry.stat()
        except OSError:
            continue
        if stat.S_ISDIR(state.st_mode):
            own = (state.st_dev, state.st_ino)
            if own not in above:
                yield from _below(entry.path, suffixes, above | {own})
        elif stat.S_ISREG(state.st_mode) and entry.name.endswith(suffixes):
            yield entry.path, state
