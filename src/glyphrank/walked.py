"""The files below a folder, wherever links lead; hundreds are looked at some times a run, so paths are plain text."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress


def files_below(folder: str, suffixes: str | tuple[str, ...] = "") -> Iterator[tuple[str, os.stat_result]]:
    """Path and state of every regular file below a folder, or of the file that it is.

    Hidden files, and those in hidden folders and `__pycache__`, are left out, but not what is asked for itself. Links
    are followed. A folder that several lead to is entered once, so that loops end; the order is the same each time.
    What cannot be looked at, such as a link to nothing or a folder without permission, is left out.
    """
    with suppress(OSError):
        own = os.stat(folder)  # noqa: PTH116
        if stat.S_ISREG(own.st_mode):
            yield folder, own
    entered: set[tuple[int, int]] = set()
    for place, inner, names in os.walk(folder, followlinks=True):
        if not _is_new(place, entered):
            inner.clear()
            continue
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            if name.endswith(suffixes) and not name.startswith("."):
                path = f"{place}{os.sep}{name}"
                with suppress(OSError):
                    found = os.stat(path)  # noqa: PTH116
                    if stat.S_ISREG(found.st_mode):
                        yield path, found


def _is_new(folder: str, entered: set[tuple[int, int]]) -> bool:
    """Whether a folder was not entered before; it is from now on."""
    try:
        state = os.stat(folder)  # noqa: PTH116
    except OSError:  # it went away
        return False
    own = (state.st_dev, state.st_ino)
    is_new = own not in entered
    entered.add(own)
    return is_new
