"""Pictures of every kind that Pillow opens, as upright RGB; whatever is odd about them is settled here, once."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
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
    return _decoded(path, head_of(path, HEAD), shown_name(path), (long_side, most_pixels))


def load_picture(data: bytes, name: str, long_side: int, most_pixels: int) -> UInt8Array:
    """The same of a picture that is at hand.

    Args:
        data: what a file of it would hold.
        name: what messages call it.

    Raises:
        MediaError: as `load_image`, and where there is not one byte.
    """
    if not data:
        raise MediaError(MediaFault.empty, f"{name}: the picture is empty (0 bytes)")
    return _decoded(BytesIO(data), data[:HEAD], name, (long_side, most_pixels))


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


def _check_png(source: Path | BytesIO) -> None:
    """Compares the checksum of every part of a PNG, which decoding its pixels passes over; raises as Pillow does."""
    if isinstance(source, BytesIO):
        source.seek(0)
    with Image.open(source, formats=("PNG",)) as image:
        image.verify()


def _decoded(source: Path | BytesIO, head: bytes, name: str, limits: tuple[int, int]) -> UInt8Array:
    """A picture from a file or from memory.

    Args:
        head: its first bytes, by which it is named where Pillow does not know it.
        limits: long side and most pixels, as of `load_image`.
    """
    long_side, most_pixels = limits
    know_deep_tiffs()
    try:
        with _limited_to(most_pixels), Image.open(source, formats=_FORMATS) as image:
            if image.width * image.height > most_pixels:
                raise too_many_pixels(name, image.width * image.height, most_pixels)
            image.load()
            picture = np.array(_reduced(on_white(_upright(image)), long_side))
            if image.format == "PNG":
                _check_png(source)
            return picture
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        found = re.search(r"\d+", str(error))
        raise too_many_pixels(name, int(found[0]) if found else 2 * most_pixels, most_pixels) from error
    except UnidentifiedImageError as error:
        raise _unknown(name, head) from error
    except MemoryError as error:
        raise MediaError(MediaFault.too_large, f"{name}: needs more memory than there is") from error
    except (OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, ArithmeticError) as error:
        cut = isinstance(error, EOFError) or "truncated" in str(error).lower()
        fault = MediaFault.truncated if cut else MediaFault.damaged
        cause = "the picture is cut off" if cut else "the picture is damaged"
        raise MediaError(fault, f"{name}: {cause} ({error})") from error


def _unknown(name: str, head: bytes) -> MediaError:
    """What is to be said of a picture that Pillow does not know, by how it begins."""
    if head[4:8] == b"ftyp":
        brands = [head[at : at + 4] for at in (8, *range(16, min(len(head), int.from_bytes(head[:4], "big")), 4))]
        if not (features.check("avif") and any(brand in _AVIF for brand in brands)):
            brand = brands[0].decode("latin-1").strip()
            return MediaError(
                MediaFault.unsupported,
                f"{name}: a picture of the kind {brand!r}, which is not decoded; wanted JPEG or PNG",
            )
    if kind_of(head) is FileKind.picture or head.startswith(b"RIFF"):
        return MediaError(
            MediaFault.damaged,
            f"{name}: the picture is damaged or cut off, or laid out in a way that is not decoded",
        )
    return MediaError(MediaFault.not_media, f"{name}: neither a picture, nor a PDF, nor a clip by what it holds")
