"""Faults that a file has whatever it holds, and how messages name it."""

from __future__ import annotations

import stat
from pathlib import Path

from glyphrank.identity import kind_of_file
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.records import Media

_LONGEST_NAME = 80
"""Characters of a file's name that a message shows."""


def check_file(path: Path, name: str | None = None) -> None:
    """Refuses what libraries report in one breath with damage, and pipes and devices, where they would wait for ever.

    Args:
        name: what messages call it, None for the file's own name.

    Raises:
        MediaError: the file is missing, cannot be looked at, is no regular file, or is empty.
    """
    name = name or shown_name(path)
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MediaError(MediaFault.missing, f"{name}: there is no such file") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise unreadable(name, error) from error
    if not stat.S_ISREG(state.st_mode):
        kind = kind_of_file(state.st_mode)
        raise MediaError(MediaFault.unreadable, f"{name}: cannot be read ({kind}, not a file)")
    if state.st_size == 0:
        raise MediaError(MediaFault.empty, f"{name}: the file is empty (0 bytes)")


def head_of(path: Path, length: int) -> bytes:
    """The first bytes of a file.

    Raises:
        MediaError: as `check_file`, and where permission is missing.
    """
    check_file(path)
    try:
        with path.open("rb") as stream:
            return stream.read(length)
    except OSError as error:
        raise unreadable(shown_name(path), error) from error


def shown_name(path: Path) -> str:
    """The name of a file for a message, on one line and not too long."""
    name = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in path.name)
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 10]}...{name[-7:]}"


def shown_media(media: Media) -> str:
    """What a message calls an item's media: its file, with the row where it is one of a parquet file.

    >>> from glyphrank.records import Cell
    >>> shown_media(Media(Path("/x/corpus.parquet"), None, "d", cell=Cell("image", 17)))
    'corpus.parquet row 17'
    """
    name = shown_name(media.path)
    return name if media.cell is None else f"{name} row {media.cell.row}"


def too_many_pixels(name: str, found: int, wanted: int) -> MediaError:
    """The error for a picture, frame or page of some name that declares more pixels than it may."""
    return MediaError(
        MediaFault.too_large,
        f"{name}: has {found} pixels, wanted at most {wanted}; raise frames.most_pixels to read it",
    )


def unreadable(name: str, error: OSError | ValueError) -> MediaError:
    """The error for a file of some name that the system does not let one read."""
    reason = error.strerror if isinstance(error, OSError) else None
    return MediaError(MediaFault.unreadable, f"{name}: cannot be read ({reason or error})")
