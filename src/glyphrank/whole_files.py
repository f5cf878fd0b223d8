"""Files that are replaced whole: at any moment a reader sees the old one or the new one, never a part."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

TEMPORARY = ".tmp"
"""How the names of files end that are still being written; they also begin with a dot."""


def replace_whole(path: Path, write: Callable[[Path], object], durable: bool = True) -> None:
    """Lets `write` fill a new file beside `path`, under a name of its own, and renames it to `path`.

    Args:
        write: is given the path of a file that does not exist yet.
        durable: whether file and renaming are brought to the disk before this returns.

    Raises:
        OSError: it could not be written; the old file is still there and nothing is left beside it.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}{TEMPORARY}")
    try:
        write(temporary)
        if durable:
            _sync(temporary)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if durable:
        with suppress(OSError):  # not every file system can sync a folder
            _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
