"""From every mode of Pillow to RGB, eight bits a channel."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageCms, TiffImagePlugin

_BITS, _PHOTOMETRIC, _SAMPLE_FORMAT = 258, 262, 339
"""Tags of TIFF 6.0."""
_SIGNED = 2


def know_deep_tiffs() -> None:
    """Adds layouts of grey TIFF files to Pillow's table, which lacks them though it can decode them.

    These are 16 bits with white as zero in big-endian files, and 12 bits in all files but one kind; packed bits have no
    byte order.
    """
    for prefix in (b"II", b"MM"):
        for photometric in (0, 1):
            key = (prefix, photometric, (1,), 1, (12,), ())
            TiffImagePlugin.OPEN_INFO.setdefault(key, ("I;16", "I;12"))
    TiffImagePlugin.OPEN_INFO.setdefault((b"MM", 0, (1,), 1, (16,), ()), ("I;16B", "I;16B"))


def on_white(image: Image.Image) -> Image.Image:
    """A picture in mode RGB, transparency laid on white.

    Deep greys are scaled, never clipped. Where the file says which value is white (16-bit and 12-bit TIFF, PNG, PGM)
    that one is; a TIFF whose zero is white is turned round. Other 32-bit whole numbers and floating-point ones are
    scaled by the range that their largest value needs: 1 (floating-point only; values up to 2 count as a little over
    1, and the largest is white), 255, 511, 1023 and so on. Negative and undefined values count as 0.
    """
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        return _deep(image)
    if image.mode == "LAB":
        return _from_lab(image)
    if image.mode == "La":
        image = image.convert("LA")
    if image.mode in ("RGBA", "RGBa", "LA", "PA") or image.has_transparency_data:
        return _laid(image.convert("RGBA"))
    return image if image.mode == "RGB" else image.convert("RGB")


def _deep(image: Image.Image) -> Image.Image:
    values = np.asarray(image).astype(np.float64)
    clear = image.info.get("transparency")  # of a grey PNG: the one value that is transparent
    mask = values == clear if isinstance(clear, int) else None
    np.nan_to_num(values, copy=False, nan=0, posinf=0, neginf=0)
    white = _declared_white(image) or _needed_white(float(values.max()), image.mode == "F")
    values /= white
    np.clip(values, 0, 1, out=values)
    if image.format == "TIFF" and _tag(image, _PHOTOMETRIC, 0) == 0:
        np.subtract(1, values, out=values)
    if mask is not None:
        values[mask] = 1
    values *= 255
    return Image.fromarray(np.rint(values, out=values).astype(np.uint8)).convert("RGB")


def _declared_white(image: Image.Image) -> float | None:
    """The value that is white by what the file says, None where it says nothing."""
    if image.format == "TIFF":
        bits = _tag(image, _BITS, 1)
        if bits > 16 or image.mode == "F":
            return None
        return float(2 ** (bits - (_tag(image, _SAMPLE_FORMAT, 1) == _SIGNED)) - 1)
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PNG", "PPM")):
        return 65535.0  # Pillow scales those of PGM and JPEG 2000 to it
    return None


def _tag(image: Image.Image, number: int, usual: int) -> int:
    """A tag of a TIFF file, the first value where it has several."""
    value = getattr(image, "tag_v2", {}).get(number, usual)
    return int(value[0] if isinstance(value, tuple) else value)


def _needed_white(largest: float, floating: bool) -> float:
    if floating and largest < 2:
        return max(1.0, largest)
    return float(2 ** max(8, math.ceil(largest).bit_length()) - 1)


def _from_lab(image: Image.Image) -> Image.Image:
    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    converted = ImageCms.profileToProfile(image, lab, srgb, outputMode="RGB")
    if converted is None:
        raise ValueError("LAB colours cannot be converted")
    return converted


def _laid(image: Image.Image) -> Image.Image:
    white = Image.new("RGBA", image.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, image).convert("RGB")
