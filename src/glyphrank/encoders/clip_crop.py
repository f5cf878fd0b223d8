"""How a picture of any shape becomes the square that a model sees; numpy and Pillow only.

The arithmetic is that of open_clip's evaluation transform up to its ToTensor, so that published numbers can be
reproduced (but a centre crop to a size that is not square follows the model's interpolation, which open_clip ignores
there); here it runs where frames are decoded, and what it leaves is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from glyphrank.records import UInt8Array


class Crop(StrEnum):
    """What happens to the proportions and the edges of a picture.

    `squash` keeps all of it, distorted; `pad` keeps all of it in its proportions, smaller, with a border;
    `centre_crop` keeps proportions and loses two edges: top and bottom of a page, the sides of a wide frame. They are
    `squash`, `longest` and `shortest` in open_clip.
    """

    squash = "squash"
    pad = "pad"
    centre_crop = "centre_crop"


@dataclass(frozen=True)
class Preparation:
    """Brings one picture to the size of a model; it pickles, and is cheap to import.

    Attributes:
        crop: see `Crop`.
        size: height and width that come out.
        interpolation: `bicubic` or `bilinear`; both average over the source when they reduce.
        fill: level of what padding adds, 0 to 255.
    """

    crop: Crop
    size: tuple[int, int]
    interpolation: str
    fill: int

    def __call__(self, image: UInt8Array) -> UInt8Array:
        """The picture (h, w, 3) uint8 as (size, 3) uint8."""
        height, width = image.shape[:2]
        if self.crop is Crop.squash:
            return self._resized(image, self.size)
        if self.crop is Crop.pad:
            ratio = max(height / self.size[0], width / self.size[1])
            # A picture of 1 to 1,000 would be left without a row.
            return self._centred(self._resized(image, (max(1, round(height / ratio)), max(1, round(width / ratio)))))
        return self._centred(self._resized(image, self._covering(height, width)))

    def _covering(self, height: int, width: int) -> tuple[int, int]:
        """The smallest size in the picture's proportions that covers the wanted one, rounded as open_clip rounds."""
        if self.size[0] == self.size[1]:
            side = self.size[0]
            return (side, int(side * width / height)) if height <= width else (int(side * height / width), side)
        ratio = min(height / self.size[0], width / self.size[1])
        return round(height / ratio), round(width / ratio)

    def _resized(self, image: UInt8Array, size: tuple[int, int]) -> UInt8Array:
        from PIL import Image

        if image.shape[:2] == size:
            return image
        method = Image.Resampling.BILINEAR if self.interpolation == "bilinear" else Image.Resampling.BICUBIC
        return np.array(Image.fromarray(np.ascontiguousarray(image)).resize(size[::-1], method))

    def _centred(self, image: UInt8Array) -> UInt8Array:
        """The middle of a picture, with a border where it is too small."""
        rows, columns = (_overlap(have, want) for have, want in zip(image.shape, self.size, strict=False))
        if image.shape[:2] != self.size:
            canvas = np.full((*self.size, 3), self.fill, dtype=np.uint8)
            canvas[rows[1], columns[1]] = image[rows[0], columns[0]]
            return canvas
        return image


def _overlap(have: int, want: int) -> tuple[slice, slice]:
    """Which pixels of a side of `have` are kept, and where they lie on one of `want`."""
    if have > want:
        start = round((have - want) / 2)
        return slice(start, start + want), slice(0, want)
    start = (want - have) // 2
    return slice(0, have), slice(start, start + have)
