"""Clips whose frames carry their number, with and without the ffmpeg command."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from glyphrank.media.sampling import Middles

Image = NDArray[np.uint8]
BITS = 10
SIZE = (160, 96)
"""Width and height of a numbered frame."""


def taking(count: int, most_pixels: int = 89_000_000, long_side: int = 1600) -> Middles:
    """A sampler of so many frames."""
    return Middles(count, long_side, most_pixels)


def numbered(number: int) -> Image:
    """A frame with ten upright bars, black or white as the bits of the number, above a grey that moves on."""
    width, height = SIZE
    bits = [255 * (number >> bit & 1) for bit in range(BITS)]
    frame = np.repeat(np.array(bits, dtype=np.uint8), width // BITS)
    image = np.broadcast_to(frame[None, :, None], (height, width, 3)).copy()
    image[height // 2 :] = number * 7 % 256
    return image


def number_in(frame: Image) -> int:
    """The number that a decoded frame carries."""
    width = SIZE[0] // BITS
    return sum(1 << bit for bit in range(BITS) if frame[8:40, bit * width + 4 : (bit + 1) * width - 4].mean() > 127)


def write_clip(path: Path, count: int, rate: float = 10.0) -> Path:
    """A clip of numbered frames by OpenCV's own writer."""
    import cv2

    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), rate, SIZE)
    for number in range(count):
        writer.write(np.ascontiguousarray(numbered(number)[:, :, ::-1]))
    writer.release()
    return path


def ffmpeg(*arguments: str | Path, given: bytes | None = None) -> bytes:
    """Runs ffmpeg and gives what it writes; the test is skipped where there is none, or none with that encoder."""
    command = shutil.which("ffmpeg")
    if command is None:
        pytest.skip("the ffmpeg command is not here")
    done = subprocess.run(
        [command, "-v", "error", "-y", *map(str, arguments)], input=given, capture_output=True, check=False, timeout=120
    )
    if b"Unknown encoder" in done.stderr:
        pytest.skip(done.stderr.decode().strip())
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def write_h264(path: Path, count: int, *options: str, rate: int = 30) -> Path:
    """A clip of numbered frames in H.264."""
    raw = b"".join(numbered(number).tobytes() for number in range(count))
    size = f"{SIZE[0]}x{SIZE[1]}"
    shape = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", str(rate))
    ffmpeg(*shape, "-i", "-", "-c:v", "libx264", "-pix_fmt", "yuv420p", *options, path, given=raw)
    return path


def frames_by_ffmpeg(path: Path, width: int, height: int) -> Image:
    """All frames of a clip as ffmpeg shows them, upright: (n, height, width, 3)."""
    raw = ffmpeg("-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
    return np.frombuffer(raw, dtype=np.uint8).reshape(-1, height, width, 3)
