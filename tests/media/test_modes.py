from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from glyphrank.media.modes import on_white

MODES = ("1", "L", "P", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "I", "F", "LA", "PA", "RGBX", "RGBa", "La")
DEEP = ("I;16", "I;16L", "I;16B", "I;16N")


def pixels(image: Image.Image) -> np.ndarray:
    return np.array(on_white(image))


@pytest.mark.parametrize("mode", MODES + DEEP)
def test_every_mode_becomes_rgb_of_the_same_size(mode: str) -> None:
    found = on_white(Image.new(mode, (5, 3)))
    assert (found.mode, found.size) == ("RGB", (5, 3))


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "CMYK", "YCbCr", "HSV", "RGBX", "P", "PA"])
def test_red_stays_red(mode: str) -> None:
    red = Image.new("RGB", (4, 4), (254, 0, 0)).convert("P" if mode == "PA" else mode).convert(mode)
    assert np.abs(pixels(red).astype(int) - [254, 0, 0]).max() <= 2


def test_lab_colours_are_converted_and_not_reinterpreted() -> None:
    white = Image.frombytes("LAB", (1, 1), bytes([255, 0, 0]))
    red = Image.frombytes("LAB", (1, 1), bytes([136, 80, 67]))  # L 53.2, a 80, b 67: sRGB's red
    assert pixels(white)[0, 0].min() >= 250
    assert np.abs(pixels(red)[0, 0].astype(int) - [254, 0, 0]).max() <= 12


@pytest.mark.parametrize("mode", DEEP)
def test_sixteen_bit_greys_are_scaled(mode: str) -> None:  # case E10
    ramp = np.linspace(0, 65535, 256).round().astype(">u2" if mode == "I;16B" else "<u2")
    found = pixels(Image.frombytes(mode, (16, 16), ramp.tobytes()))
    assert len(np.unique(found)) >= 200
    assert found.ravel()[:: 3 * 255].tolist() == [0, 255]


def test_whole_numbers_of_32_bits_are_scaled_by_the_range_they_need() -> None:
    def of(*values: int) -> list[int]:
        return [int(value) for value in pixels(Image.fromarray(np.array([values], dtype=np.int32)))[0, :, 0]]

    assert of(0, 100, 255) == [0, 100, 255]
    assert of(0, 32768, 65535) == [0, 128, 255]
    assert of(0, 2**30, 2**31 - 1) == [0, 128, 255]
    assert of(0, 1000, 4095) == [0, 62, 255]
    assert of(0, 128, 256) == [0, 64, 128]
    assert of(-5, 0, 0) == [0, 0, 0]


def test_floating_point_greys_are_scaled_by_the_range_they_need() -> None:
    def of(*values: float) -> list[int]:
        return [int(value) for value in pixels(Image.fromarray(np.array([values], dtype=np.float32)))[0, :, 0]]

    assert of(0.0, 0.5, 1.0) == [0, 128, 255]
    assert of(0.0, 128.0, 255.0) == [0, 128, 255]
    assert of(0.0, 512.0, 1000.5) == [0, 128, 249]  # ten bits
    assert of(0.0, 0.505, 1.01) == [0, 128, 255]  # a little over one, as after sharpening
    assert of(0.0, 1.0, 254.0) == [0, 1, 254]
    assert of(float("nan"), -1.0, 1.0) == [0, 0, 255]
    assert of(0.0, 0.0, 0.0) == [0, 0, 0]


@pytest.mark.parametrize("mode", ["RGBA", "LA", "RGBa", "La"])
def test_what_is_transparent_is_white(mode: str) -> None:
    clear = Image.new(mode, (2, 2), (0,) * len(Image.new(mode, (1, 1)).getbands()))
    assert (pixels(clear) == 255).all()


def test_half_transparent_black_is_grey() -> None:
    assert np.abs(pixels(Image.new("LA", (1, 1), (0, 128))).astype(int) - 127).max() <= 1


def test_the_transparent_colour_of_a_palette_is_white() -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.putpixel((1, 0), 1)
    image.info["transparency"] = 0
    assert pixels(image).tolist() == [[[255, 255, 255], [200, 100, 50]]]


def test_the_transparent_colour_of_a_plain_picture_is_white() -> None:
    image = Image.new("RGB", (2, 1), (1, 2, 3))
    image.putpixel((1, 0), (9, 9, 9))
    image.info["transparency"] = (1, 2, 3)
    assert pixels(image).tolist() == [[[255, 255, 255], [9, 9, 9]]]
