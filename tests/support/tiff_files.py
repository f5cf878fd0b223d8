"""Grey TIFF files of depths and kinds that Pillow reads and does not write."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def write_tiff(
    path: Path, values: NDArray[np.uint16], bits: int, order: str = "<", zero_is_white: bool = False
) -> Path:
    """An uncompressed picture of 16 bits, or of 12 packed bits, in little-endian (`<`) or big-endian (`>`) order."""
    height, width = values.shape
    if bits == 12:
        data = bytes.fromhex("".join(f"{value:03x}" for value in values.ravel().tolist()))
    else:
        data = values.astype(f"{order}u2").tobytes()
    start = 8 + 2 + 12 * 9 + 4
    tags = {256: width, 257: height, 258: bits, 259: 1, 262: int(not zero_is_white), 273: start}
    tags |= {277: 1, 278: height, 279: len(data)}
    head = {"<": b"II", ">": b"MM"}[order] + struct.pack(f"{order}HIH", 42, 8, len(tags))
    entries = b"".join(struct.pack(f"{order}HHII", tag, 4, 1, value) for tag, value in tags.items())
    path.write_bytes(head + entries + bytes(4) + data)
    return path
