"""Versions of installed packages; they are asked for many times a run."""

from __future__ import annotations

import importlib.metadata
from email import message_from_string
from functools import lru_cache


def installed_version(package: str) -> str | None:
    """The version of a package as it is installed now, None where it is not."""
    try:
        found = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return None
    metadata = found.read_text("METADATA")
    return found.version if metadata is None else _version_in(metadata)


@lru_cache(maxsize=256)
def _version_in(metadata: str) -> str | None:
    """Parsing takes ten times as long as reading does."""
    version = message_from_string(metadata)["Version"]
    return None if version is None else str(version)
