"""From every mode of Pillow to RGB, eight bits a channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms


def on_white(image: Image.Image) -> Image.Image:
    """A picture in mode RGB, transparency laid on white.

    Deep greys are scaled, never clipped: a 16-bit picture by 255 / 65535; 32-bit whole numbers and floating-point
    ones by the range their largest value needs: 1 (floating-point only), 255, 65535, or that value itself; negative
    and undefined values are black.
    """
    if image.mode.startswith("I;16"):
        return _grey(np.asarray(image).astype(np.float64) / 65535).convert("RGB")
    if image.mode in ("I", "F"):
        return _grey(_unit(np.asarray(image).astype(np.float64), image.mode == "F")).convert("RGB")
    if image.mode == "LAB":
        return _from_lab(image)
    if image.mode == "La":
        image = image.convert("LA")
    if image.mode in ("RGBA", "RGBa", "LA", "PA") or image.has_transparency_data:
        return _laid(image.convert("RGBA"))
    return image if image.mode == "RGB" else image.convert("RGB")


def _grey(values: NDArray[np.float64]) -> Image.Image:
    """From values in [0, 1] to a picture in mode L."""
    return Image.fromarray(np.rint(values * 255).astype(np.uint8))


def _unit(values: NDArray[np.float64], floating: bool) -> NDArray[np.float64]:
    values = np.clip(np.nan_to_num(values, nan=0, posinf=0, neginf=0), 0, None)
    largest = float(values.max())
    ranges = (1.0, 255.0, 65535.0) if floating else (255.0, 65535.0)
    return values / next((limit for limit in ranges if largest <= limit), largest)


def _from_lab(image: Image.Image) -> Image.Image:
    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    converted = ImageCms.profileToProfile(image, lab, srgb, outputMode="RGB")
    if converted is None:
        raise ValueError("LAB colours cannot be converted")
    return converted


def _laid(image: Image.Image) -> Image.Image:
    white = Image.new("RGBA", image.size, (255, 255, 255, 255))
    return Image.alpha_composite(white, image).convert("RGB")
