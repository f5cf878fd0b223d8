"""The folder that a dataset is pointed at, and what of it tells of every change."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from glyphrank.errors import DataError


def readable_folder(root: Path, wanted: str = "") -> Path:
    """The folder, absolute.

    Args:
        wanted: what it should hold, for the message.

    Raises:
        DataError: there is none, or it cannot be read.
    """
    try:
        absolute = root.resolve()
        with os.scandir(absolute):
            return absolute
    except (FileNotFoundError, NotADirectoryError) as error:
        hint = f"; wanted one with {wanted}" if wanted else ""
        raise DataError(f"{root}: no such folder{hint}; check dataset.root") from error
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links; ValueError: a NUL
        reason = error.strerror if isinstance(error, OSError) else None
        raise DataError(f"{str(root)!r}: the folder cannot be read ({reason or error}); check dataset.root") from error


def readable_or_none(root: Path) -> Path | None:
    """As `readable_folder`; None where that raises, for whoever leaves the message to `load`."""
    try:
        return readable_folder(root)
    except DataError:
        return None


def watched(root: Path, is_read: Callable[[str], bool] = lambda name: False) -> tuple[Path, ...]:
    """What must be as it was for a search below a folder to find the same, sorted; see `loading.ReadsFiles`.

    These are the folder, whether it is there or not, and all folders below it, whose stamps tell of new names and lost
    ones; the files that are read; and links that lead nowhere, since their aims may appear. No file but links is looked
    at, so that thousands of pictures cost a listing. Each folder is listed once, also where links lead to it.

    Args:
        is_read: whether the content of a file matters, by its name.
    """
    seen: set[tuple[int, int]] = set()
    found: list[str] = []
    waiting = [str(root)]
    while waiting:
        place = waiting.pop()
        found.append(place)
        try:
            state = Path(place).stat()
            if (state.st_dev, state.st_ino) in seen:
                continue
            seen.add((state.st_dev, state.st_ino))
            with os.scandir(place) as entries:
                for entry in entries:
                    if _is_folder(entry):
                        waiting.append(entry.path)
                    elif is_read(entry.name) or (entry.is_symlink() and not _leads_somewhere(entry)):
                        found.append(entry.path)
        except OSError:  # absent, or not to be listed: its own stamp tells when that changes
            continue
    return tuple(map(Path, sorted(found)))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _leads_somewhere(entry: os.DirEntry[str]) -> bool:
    try:
        entry.stat()
    except OSError:
        return False
    return True
