"""Samplers and preparations that misbehave in the process that decodes; by the colour of a picture, or always."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures

from glyphrank.records import Media

Image = NDArray[np.uint8]
COLOURS = {
    "hang": (255, 0, 0),
    "hang asleep": (254, 0, 0),
    "kill": (0, 255, 0),
    "abort": (0, 254, 0),
    "eat": (0, 0, 255),
    "fail": (255, 255, 0),
    "slow": (0, 255, 255),
    "log": (255, 0, 255),
    "good": (9, 9, 9),
}
HEAVY = ("torch", "hydra", "omegaconf", "mlflow", "transformers", "easyocr", "open_clip")


def picture(folder: Path, act: str, name: str) -> Media:
    """A picture that makes `acting` do something."""
    path = folder / f"{name}.png"
    Pictures.new("RGB", (6, 4), COLOURS[act]).save(path)
    return Media(path, None, name)


def acting(image: Image) -> Image:
    """Does what the colour of the picture says, if anything, and halves the picture."""
    match {colour: act for act, colour in COLOURS.items()}.get(tuple(image[0, 0].tolist())):
        case "hang":
            while True:
                pass
        case "hang asleep":
            time.sleep(1000)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "abort":
            os.abort()
        case "eat":
            np.ones(1 << 33, dtype=np.uint8)
        case "fail":
            raise KeyError("a fault of the preparation")
        case "slow":
            time.sleep(0.4)
        case "log":
            logging.getLogger("glyphrank.media.stub").warning("seen by %s", "a stub")
    return image[::2, ::2]


def heavy_modules(image: Image) -> Image:
    """A picture as wide as the number of heavy modules that this process has imported, and one more."""
    return np.zeros((1, 1 + sum(name in sys.modules for name in HEAVY), 3), dtype=np.uint8)


def process_number(image: Image) -> Image:
    """A picture whose first eight values are the bytes of this process's number."""
    return np.frombuffer(os.getpid().to_bytes(9, "little"), dtype=np.uint8).reshape(1, 3, 3)


def number_of(image: Image) -> int:
    """The number that `process_number` has put into a picture."""
    return int.from_bytes(image.tobytes(), "little")


def grey_only(image: Image) -> Image:
    """A preparation that breaks its promise."""
    return image[:, :, 0]


@dataclass(frozen=True)
class Endless:
    """A sampler that never answers: what a decoder does that loops for ever."""

    long_side: int = 100
    most_pixels: int = 10**6

    def places(self, times: object) -> list[int]:
        """Never comes back."""
        while True:
            time.sleep(1)
