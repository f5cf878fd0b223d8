"""Locks by which processes share work: tried, never waited for, and nothing but a way to save time."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from glyphrank.file_locks import file_lock

STALE = 3600.0
"""Seconds after which a temporary or lock file is taken for what a process that died has left."""

logger = logging.getLogger(__name__)


class ShardLocks:
    """Locks on named pieces of work, as files in a folder. A lock ends with the process that holds it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._granted: bool | None = None  # None: not tried yet

    def take(self, name: str) -> AbstractContextManager[None] | None:
        """The lock of a piece of work, for a `with` statement; None while somebody else holds it.

        Where the file system refuses locks, everything is granted after one warning.
        """
        if self._granted is None:
            # Nobody else knows this name: if even this lock cannot be had, none can.
            probe = self._try(f"probe-{secrets.token_hex(8)}")
            if probe is None:
                self._refuse("a lock that nobody holds is not granted")
            elif self._granted is None:
                with probe:
                    self._granted = True
                self._clear()
        return self._try(name) if self._granted else nullcontext()

    def _try(self, name: str) -> AbstractContextManager[None] | None:
        lock = file_lock(self._folder / f"{name}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return None
        except (OSError, NotImplementedError) as error:
            self._refuse(str(error))
            return nullcontext()
        return _held(lock)

    def _refuse(self, reason: str) -> None:
        self._granted = False
        logger.warning(
            "%s: the file system refuses locks (%s); processes that run at once may do the same work twice",
            self._folder,
            reason,
        )

    def _clear(self) -> None:
        """Removes lock files of processes that were killed, unless somebody holds them again."""
        with suppress(OSError):
            for path in self._folder.glob("*.lock"):
                lock = self._try(path.stem) if time.time() - path.stat().st_mtime > STALE else None
                with lock or nullcontext():
                    pass  # its end removes the file


@contextmanager
def _held(lock: FileLock) -> Iterator[None]:
    """Releases a lock in the end and removes its file; whoever opened that file meanwhile finds the work done."""
    try:
        yield
    finally:
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()
