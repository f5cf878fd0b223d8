"""EasyOCR's reader, loaded once for a process, and what it is told for every picture."""

from __future__ import annotations

import functools
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from glyphrank.devices import choose_device
from glyphrank.errors import DataError
from glyphrank.packages import import_package
from glyphrank.records import UInt8Array

_OF_THE_MACHINE = re.compile(
    r"out of memory|insufficient memory|allocate|cuda|cudnn|cublas|\bMPS\b|\bHIP\b|device-side", re.IGNORECASE
)


@functools.lru_cache(maxsize=1)
def load_reader(languages: tuple[str, ...], detector: Path, recogniser: Path, quantize: bool, device: str) -> Any:
    """EasyOCR's reader with the weights of two files, on the device that `runtime.device` names.

    Raises:
        ConfigError: EasyOCR cannot be imported, or the device is not on this machine.
        DataError: the weights cannot be loaded.
    """
    easyocr = import_package("easyocr", "easyocr")
    place, path = choose_device(device), list(sys.path)
    try:
        with _quiet():
            reader = easyocr.Reader(
                list(languages),
                gpu=False if place == "cpu" else place,
                model_storage_directory=str(recogniser.parent),
                user_network_directory=str(recogniser.parent),  # else a folder is made in the home directory
                download_enabled=False,
                detector=False,
                verbose=False,
                quantize=quantize,
            )
            reader.model_storage_directory = str(detector.parent)  # the two files may lie apart
            reader.setDetector("craft")
    except Exception as error:  # damaged weights surface as whatever torch trips over
        raise DataError(
            f"EasyOCR cannot load {detector} and {recogniser} on {place} ({type(error).__name__}: {error})"
        ) from error
    finally:
        sys.path[:] = path  # to which the reader adds its folder
    # Off the CPU both are wrapped for data parallelism, which only works on the first device.
    for part in ("detector", "recognizer"):
        setattr(reader, part, getattr(getattr(reader, part), "module", getattr(reader, part)).eval())
    return reader


def read_picture(reader: Any, picture: UInt8Array, options: Mapping[str, object]) -> list[tuple[Any, ...]]:
    """What EasyOCR finds in an upright RGB picture, (h, w, 3) uint8: corners in pixels, text, confidence.

    The reader takes arrays as BGR. Boxes go to the recogniser one at a time on every device: in a batch they are
    padded to the widest, and that changes what is read.
    """
    with _quiet():
        return list(reader.readtext(picture[:, :, ::-1].copy(), batch_size=1, workers=0, paragraph=False, **options))


def is_of_the_machine(error: Exception) -> bool:
    """Whether an error of EasyOCR is of the moment (memory, the accelerator), not of the picture.

    torch and OpenCV raise most of them as errors of general kinds, which only their words tell apart.

    >>> is_of_the_machine(RuntimeError("CUDA out of memory.")), is_of_the_machine(ValueError("resize"))
    (True, False)
    """
    return isinstance(error, MemoryError) or _OF_THE_MACHINE.search(str(error)) is not None


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings that EasyOCR 1.7 itself causes in newer versions of torch and Pillow."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"torch\.ao\.quantization is deprecated")
        warnings.filterwarnings("ignore", message=r"torch\.quantize_per_tensor")
        warnings.filterwarnings("ignore", message=r"'pin_memory' argument is set")
        warnings.filterwarnings("ignore", message=r"'mode' parameter is deprecated")
        yield
