"""Pictures of every kind that Pillow opens, as upright RGB; whatever is odd about them is settled here, once."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError, features

from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import head_of, shown_name, too_many_pixels
from glyphrank.media.kinds import HEAD, FileKind, kind_of
from glyphrank.media.modes import know_deep_tiffs, on_white
from glyphrank.records import UInt8Array

# Not all that Pillow knows: some of the rest start other programs (EPS), only know the header (MPEG, GRIB) or take
# nearly anything for theirs (TGA).
_FORMATS = ("AVIF", "BMP", "GIF", "ICO", "JPEG", "JPEG2000", "PCX", "PNG", "PPM", "QOI", "SGI", "TIFF", "WEBP")
_AVIF = (b"avif", b"avis")
_LIMIT = threading.Lock()


def load_image(path: Path, long_side: int, most_pixels: int) -> UInt8Array:
    """The first frame of a picture, (h, w, 3) uint8 RGB, upright by its EXIF orientation, transparency on white.

    A picture with a longer side than `long_side` pixels is reduced to it (by whole boxes to three times the size, then
    Lanczos), a smaller one is left as it is; nothing is cropped. Deeper greys are scaled, see `modes.on_white`. A JPEG
    with changed bytes inside is shown as far as it can be, with false parts: nobody tells.

    Raises:
        MediaError: the file cannot be opened or decoded, or declares more than `most_pixels` pixels; those are counted
            in its header, before anything is decoded.
    """
    head = head_of(path, HEAD)
    know_deep_tiffs()
    try:
        with _limited_to(most_pixels), Image.open(path, formats=_FORMATS) as image:
            if image.width * image.height > most_pixels:
                raise too_many_pixels(path, image.width * image.height, most_pixels)
            image.load()
            return np.array(_reduced(on_white(_upright(image)), long_side))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        found = re.search(r"\d+", str(error))
        raise too_many_pixels(path, int(found[0]) if found else 2 * most_pixels, most_pixels) from error
    except UnidentifiedImageError as error:
        raise _unknown(path, head) from error
    except MemoryError as error:
        raise MediaError(MediaFault.too_large, f"{shown_name(path)}: needs more memory than there is") from error
    except (OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, ArithmeticError) as error:
        cut = isinstance(error, EOFError) or "truncated" in str(error).lower()
        fault = MediaFault.truncated if cut else MediaFault.damaged
        cause = "the picture is cut off" if cut else "the picture is damaged"
        raise MediaError(fault, f"{shown_name(path)}: {cause} ({error})") from error


def reduced(frame: UInt8Array, long_side: int) -> UInt8Array:
    """A frame whose longer side has at most `long_side` pixels, reduced as `load_image` does; (h, w, 3) uint8."""
    if max(frame.shape[:2]) <= long_side:
        return frame
    return np.array(_reduced(Image.fromarray(frame), long_side))


@contextmanager
def _limited_to(most_pixels: int) -> Iterator[None]:
    """Pillow's own guard set to our budget and turned into an error, then back as it was; other warnings are muted."""
    with _LIMIT, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        before = Image.MAX_IMAGE_PIXELS
        Image.MAX_IMAGE_PIXELS = most_pixels
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = before


def _upright(image: Image.Image) -> Image.Image:
    with suppress(Exception):  # notes that cannot be read say nothing about what is up
        ImageOps.exif_transpose(image, in_place=True)
    return image


def _reduced(image: Image.Image, long_side: int) -> Image.Image:
    longer = max(image.size)
    if longer <= long_side:
        return image
    width, height = (max(1, round(side * long_side / longer)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)


def _unknown(path: Path, head: bytes) -> MediaError:
    """What is to be said of a file that Pillow does not know, by how it begins."""
    if head[4:8] == b"ftyp":
        brands = [head[at : at + 4] for at in (8, *range(16, min(len(head), int.from_bytes(head[:4], "big")), 4))]
        if not (features.check("avif") and any(brand in _AVIF for brand in brands)):
            brand = brands[0].decode("latin-1").strip()
            return MediaError(
                MediaFault.unsupported,
                f"{shown_name(path)}: a picture of the kind {brand!r}, which is not decoded; wanted JPEG or PNG",
            )
    if kind_of(head) is FileKind.picture or head.startswith(b"RIFF"):
        return MediaError(
            MediaFault.damaged,
            f"{shown_name(path)}: the picture is damaged or cut off, or laid out in a way that is not decoded",
        )
    return MediaError(
        MediaFault.not_media, f"{shown_name(path)}: neither a picture, nor a PDF, nor a clip by what it holds"
    )
