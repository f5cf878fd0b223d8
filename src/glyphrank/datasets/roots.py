"""The folder that a dataset is pointed at."""

from __future__ import annotations

import os
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
