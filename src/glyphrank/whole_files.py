"""Files that are replaced whole: at any moment a reader sees the old one or the new one, never a part."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_PIECE = 1 << 20

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
    with whole_file(path, durable) as temporary:
        write(temporary)


@contextmanager
def whole_file(path: Path, durable: bool = True) -> Iterator[Path]:
    """`replace_whole` as a context: gives the path to write to, and renames it when the block ends without an error."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}{TEMPORARY}")
    try:
        yield temporary
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


def allocate(file: IO[bytes], size: int) -> None:
    """Gives a file its blocks on the disk: writing to a mapped hole of a full disk would kill the process (SIGBUS).

    Raises:
        OSError: there is no room.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for start in range(file.seek(0, os.SEEK_END), size, _PIECE):
        file.write(bytes(min(_PIECE, size - start)))
    file.flush()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
