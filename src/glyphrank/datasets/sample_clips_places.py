"""Places of the sample clips: backgrounds drawn three times too large, so that scaling them down smooths the edges."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from PIL import Image, ImageDraw

WIDTH, HEIGHT = 352, 180
"""Units (pixels of a clip) of a background: wider than a frame, so that the camera can follow the thing."""
SCALE = 3
"""Pixels of a drawing for one unit."""

Colour = tuple[int, int, int]
Chance = Callable[[], float]


class Canvas:
    """Draws in units on an image that is `SCALE` times as large."""

    def __init__(self, image: Image.Image) -> None:
        self._draw = ImageDraw.Draw(image)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """A filled rectangle."""
        self._draw.rectangle([left * SCALE, top * SCALE, right * SCALE, bottom * SCALE], fill)

    def disc(self, x: float, y: float, width: float, height: float, fill: Colour) -> None:
        """A filled ellipse around (x, y) with the given half axes."""
        corners = [(x - width) * SCALE, (y - height) * SCALE, (x + width) * SCALE, (y + height) * SCALE]
        self._draw.ellipse(corners, fill)

    def shape(self, points: list[tuple[float, float]], fill: Colour) -> None:
        """A filled polygon."""
        self._draw.polygon([(x * SCALE, y * SCALE) for x, y in points], fill)

    def line(self, points: list[tuple[float, float]], fill: Colour, width: float) -> None:
        """A line through the points."""
        self._draw.line([(x * SCALE, y * SCALE) for x, y in points], fill, round(width * SCALE), joint="curve")

    def fade(self, top: float, bottom: float, above: Colour, below: Colour) -> None:
        """A band over the whole width that passes from one colour to another."""
        for row in range(round(top * SCALE), round(bottom * SCALE)):
            share = (row / SCALE - top) / (bottom - top)
            fill = tuple(round(a + (b - a) * share) for a, b in zip(above, below, strict=True))
            self._draw.line([(0, row), (WIDTH * SCALE, row)], fill)


def draw_place(place: str, seed: str) -> Image.Image:
    """The background of a place, RGB, WIDTH x HEIGHT units; the seed decides its details.

    Args:
        place: a key of `sample_clips_words.PLACES`.
        seed: any text.
    """
    image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE))
    source = Random(seed).random  # noqa: S311 -- invented scenes, no secret
    _DRAWN[place](Canvas(image), source)
    return image


def _beach(canvas: Canvas, chance: Chance) -> None:
    canvas.fade(0, 84, (112, 187, 236), (205, 233, 247))
    canvas.disc(40 + 270 * chance(), 24, 13, 13, (255, 240, 170))
    canvas.fade(84, 124, (20, 112, 168), (74, 184, 206))
    for _ in range(14):
        left, top = WIDTH * chance(), 88 + 32 * chance()
        canvas.line([(left, top), (left + 18, top)], (176, 224, 236), 1)
    shore = [(x, 121 + 5 * chance()) for x in range(0, WIDTH + 22, 22)]
    canvas.shape([*[(x, y - 3) for x, y in shore], (WIDTH, HEIGHT), (0, HEIGHT)], (240, 248, 250))
    canvas.shape([*shore, (WIDTH, HEIGHT), (0, HEIGHT)], (238, 212, 152))
    for _ in range(60):
        canvas.disc(WIDTH * chance(), 130 + 50 * chance(), 1.2, 0.7, (214, 184, 122))


def _forest(canvas: Canvas, chance: Chance) -> None:
    canvas.fade(0, 125, (186, 214, 190), (120, 164, 122))
    for depth, green in ((0, (92, 140, 98)), (1, (58, 106, 66)), (2, (34, 78, 44))):
        for number in range(11):
            x, foot = number * 36 + 24 * chance() - 12, 112 + 8 * depth
            _fir(canvas, x, foot, 82 + 26 * chance(), green)
    canvas.fade(124, HEIGHT, (84, 122, 62), (46, 80, 38))
    for _ in range(50):
        x, y = WIDTH * chance(), 130 + 48 * chance()
        canvas.line([(x, y), (x + 2, y - 5)], (112, 150, 76), 1)


def _fir(canvas: Canvas, x: float, foot: float, height: float, green: Colour) -> None:
    """A fir: a trunk and three layers."""
    canvas.box(x - 2.5, foot - height * 0.3, x + 2.5, foot + 6, (88, 64, 44))
    for layer in range(3):
        low = foot - height * (0.12 + 0.26 * layer)
        wide = height * (0.24 - 0.05 * layer)
        canvas.shape([(x - wide, low), (x + wide, low), (x, low - height * 0.4)], green)


def _street(canvas: Canvas, chance: Chance) -> None:
    canvas.fade(0, 127, (176, 208, 232), (226, 236, 242))
    walls: list[Colour] = [(206, 142, 112), (224, 196, 150), (170, 178, 186), (196, 160, 150), (214, 208, 190)]
    left = -20.0
    while left < WIDTH:
        wide, top = 46 + 22 * chance(), 22 + 26 * chance()
        canvas.box(left, top, left + wide, 130, walls[int(len(walls) * chance())])
        canvas.shape([(left - 3, top), (left + wide + 3, top), (left + wide / 2, top - 17)], (120, 66, 54))
        for x in (left + wide * 0.2, left + wide * 0.62):
            for y in (top + 10, top + 38, top + 66):
                canvas.box(x - 1, y - 1, x + 10, y + 16, (246, 242, 232))
                canvas.box(x, y, x + 9, y + 15, (86, 110, 134))
        left += wide + 2
    canvas.box(0, 126, WIDTH, 138, (190, 188, 184))
    canvas.fade(138, HEIGHT, (96, 98, 104), (72, 74, 80))
    for x in range(-10, WIDTH, 46):
        canvas.box(x, 160, x + 24, 162, (232, 230, 220))


def _snow(canvas: Canvas, chance: Chance) -> None:
    canvas.fade(0, 117, (150, 190, 226), (222, 234, 246))
    for number in range(6):
        x, top = number * 68 + 30 * chance() - 10, 24 + 30 * chance()
        canvas.shape([(x - 78, 126), (x + 78, 126), (x, top)], (126, 144, 170))
        cap = [(x - 25, top + 33), (x - 9, top + 27), (x, top + 35), (x + 10, top + 26), (x + 25, top + 33)]
        canvas.shape([(x, top), *reversed(cap)], (246, 250, 254))
    canvas.fade(116, HEIGHT, (236, 243, 250), (252, 253, 255))
    for _ in range(5):
        _fir(canvas, WIDTH * chance(), 122, 34 + 16 * chance(), (52, 92, 84))
    for _ in range(150):
        canvas.disc(WIDTH * chance(), HEIGHT * chance(), 1.1, 1.1, (255, 255, 255))


def _night(canvas: Canvas, chance: Chance) -> None:
    canvas.fade(0, 133, (12, 16, 44), (52, 48, 92))
    for _ in range(50):
        canvas.disc(WIDTH * chance(), 70 * chance(), 0.7, 0.7, (226, 228, 240))
    x = 40 + 270 * chance()
    canvas.disc(x, 24, 12, 12, (240, 236, 206))
    canvas.disc(x + 6, 21, 11, 11, (16, 20, 50))
    left = -10.0
    while left < WIDTH:
        wide, top = 24 + 22 * chance(), 36 + 54 * chance()
        canvas.box(left, top, left + wide, 134, (26, 28, 52))
        for y in range(round(top) + 6, 126, 9):
            for column in range(int(wide // 8)):
                light = (250, 214, 120) if chance() < 0.45 else (40, 44, 72)
                canvas.box(left + 3 + 8 * column, y, left + 7 + 8 * column, y + 4, light)
        left += wide + 3
    canvas.fade(132, HEIGHT, (46, 46, 60), (28, 28, 38))
    for x in range(0, WIDTH, 58):
        canvas.disc(x, 150, 20, 5, (86, 78, 66))


_DRAWN = {"beach": _beach, "forest": _forest, "street": _street, "snow": _snow, "night": _night}
