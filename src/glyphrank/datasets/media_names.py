"""Names as a dataset publishes them, to files on disk whatever their Unicode form, and what these files are."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path, PurePosixPath

from glyphrank.digests import digest_text
from glyphrank.errors import DataError
from glyphrank.faults import shown
from glyphrank.identity import FileDigest, Stamp, stamp_of
from glyphrank.ids import nfc


class MediaNames:
    """Looks names up below a folder; each folder on the way is listed once.

    Args:
        root: the folder.
        field: what the names stand in, for messages.
    """

    def __init__(self, root: Path, field: str = "media") -> None:
        self._root = root
        self._field = field
        self._names = cache(names_in)

    def find(self, name: str) -> Path:
        """The file that a name means; where there is none, the place where it was looked for.

        Raises:
            ValueError: the name leads out of the folder, holds a NUL, or fits two files.
        """
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or PurePosixPath(name).is_absolute():
            raise ValueError(f"{self._field} is {shown(name)}; wanted a path below the dataset's folder")
        if "\0" in name:
            raise ValueError(f"{self._field} is {shown(name)}, with a NUL, which no file's name can hold")
        path = self._root
        for part in parts:
            fitting = self._names(path).get(nfc(part), [part])
            if len(fitting) > 1:
                spelled = " and ".join(ascii(other) for other in fitting)
                raise ValueError(
                    f"{self._field} is {shown(name)}, which fits {len(fitting)} names on disk that are equal in NFC "
                    f"({spelled}); rename one"
                )
            path = path / fitting[0]
        return path


def names_in(folder: Path) -> dict[str, list[str]]:
    """Names in a folder by their NFC; empty where the folder cannot be listed."""
    names: dict[str, list[str]] = {}
    try:
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 -- names as the disk spells them, not paths
            names.setdefault(nfc(name), []).append(name)
    except OSError:
        return {}
    return names


def content_of(path: Path, name: str, file_digest: FileDigest) -> tuple[Stamp | None, str]:
    """A file's stamp, taken before it is read, and the digest of its content.

    A file that is missing or cannot be opened (a pipe, a folder, no permission, a name that no disk can hold) has no
    stamp, and a digest that says so under its published name.
    """
    try:
        return stamp_of(path), file_digest(path)
    except (OSError, ValueError, DataError):  # ValueError: a NUL in the name
        # `os.path` answers False where pathlib raises, for names too long and folders without permission.
        return None, digest_text("unreadable" if os.path.lexists(path) else "missing", nfc(name))
