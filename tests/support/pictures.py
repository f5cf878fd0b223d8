"""Items whose media are small pictures of one colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from glyphrank.digests import digest_file, digest_text
from glyphrank.identity import stamp_of
from glyphrank.records import Item, Media

COLOURS = {"red": (200, 0, 0), "green": (0, 200, 0), "blue": (0, 0, 200), "black": (0, 0, 0)}


def write_picture(path: Path, colour: str, width: int = 8, height: int = 6) -> Path:
    """A picture of one colour, without loss."""
    from PIL import Image

    image = np.full((height, width, 3), COLOURS[colour], dtype=np.uint8)
    Image.fromarray(image).save(path)
    return path


def pictured(path: Path, text: str | None = None) -> Item:
    """An item with the file as its media; the digest of a file that is not there is that of its name."""
    if not path.is_file():
        return Item(path.stem, Media(path, None, digest_text(path.name)), text)
    return Item(path.stem, Media(path, None, digest_file(path), stamp_of(path)), text)
