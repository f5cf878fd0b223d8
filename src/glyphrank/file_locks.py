"""Locks on files that end with the process that holds them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from filelock import FileLock

# A soft lock outlives a process that died, on this machine or another, and would be held for ever.
_OPTIONS: dict[str, Any] = (
    {"fallback_to_soft": False} if "fallback_to_soft" in inspect.signature(FileLock.__init__).parameters else {}
)


def file_lock(path: Path, **options: Any) -> FileLock:
    """A lock that is not taken yet; taking it raises OSError or NotImplementedError where the file system has none.

    Args:
        options: of `filelock.FileLock`.
    """
    return FileLock(path, **_OPTIONS, **options)
