"""What moves and what is read in the sample clips: things and signs, drawn three times too large."""

from __future__ import annotations

from PIL import Image, ImageDraw, ImageFont

from glyphrank.datasets.sample_clips_places import SCALE, Canvas, Colour

SIZE = 64
"""Units of the square that a thing is drawn in."""

_PAINTS: dict[str, tuple[Colour, Colour]] = {
    "red": ((218, 36, 40), (150, 16, 26)),
    "yellow": ((250, 208, 30), (204, 150, 10)),
    "green": ((40, 172, 74), (18, 112, 46)),
    "blue": ((36, 100, 222), (16, 58, 150)),
    "purple": ((150, 60, 190), (96, 28, 132)),
}
_DARK, _LIGHT, _GLASS = (38, 38, 42), (250, 250, 248), (196, 222, 236)
_BOARDS: tuple[tuple[Colour, Colour], ...] = (
    ((252, 250, 242), (28, 28, 32)),
    ((38, 44, 52), (252, 252, 250)),
    ((240, 228, 200), (66, 38, 22)),
    ((84, 58, 40), (255, 248, 232)),
)
"""Board and letters of signs; in colours that no thing has."""
MOST_BOARDS = len(_BOARDS)
_LETTERS = 26


def draw_thing(thing: str, colour: str, motion: str) -> Image.Image:
    """A thing on a transparent square of SIZE units, RGBA; it looks where it goes.

    Args:
        thing, colour, motion: names of `sample_clips_words`.
    """
    image = Image.new("RGBA", (SIZE * SCALE, SIZE * SCALE))
    _DRAWN[thing](Canvas(image), *_PAINTS[colour])
    return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if motion == "left" else image


def draw_sign(image: Image.Image, text: str, board: int, middle: tuple[float, float]) -> None:
    """Puts a board with a text in capitals on two posts into a background.

    Args:
        image: is drawn on; SCALE pixels a unit.
        text: one line.
        board: which of the `MOST_BOARDS` boards.
        middle: of the board, in units.
    """
    font = ImageFont.load_default(_LETTERS * SCALE)  # of Pillow itself, so that every machine has it
    fill, ink = _BOARDS[board]
    canvas, draw = Canvas(image), ImageDraw.Draw(image)
    x, y = middle
    half = draw.textlength(text.upper(), font) / SCALE / 2 + 14
    for post in (x - half * 0.7, x + half * 0.7):
        canvas.box(post - 3, y, post + 3, y + 60, (104, 92, 80))
    canvas.box(x - half - 2, y - 24, x + half + 2, y + 24, ink)
    canvas.box(x - half, y - 22, x + half, y + 22, fill)
    draw.text((x * SCALE, y * SCALE), text.upper(), ink, font, anchor="mm", stroke_width=SCALE // 2)


def _ball(canvas: Canvas, fill: Colour, shade: Colour) -> None:
    canvas.disc(32, 32, 26, 26, shade)
    canvas.disc(31, 31, 24, 24, fill)
    canvas.line([(12, 22), (26, 30), (40, 30), (54, 22)], _LIGHT, 3)
    canvas.line([(12, 44), (26, 36), (40, 36), (54, 44)], _LIGHT, 3)
    canvas.disc(23, 18, 5, 3.5, _LIGHT)


def _car(canvas: Canvas, fill: Colour, shade: Colour) -> None:
    canvas.shape([(15, 30), (22, 16), (42, 16), (51, 30)], shade)
    canvas.shape([(19, 30), (24, 19), (31, 19), (31, 30)], _GLASS)
    canvas.shape([(34, 30), (34, 19), (41, 19), (47, 30)], _GLASS)
    canvas.shape([(2, 46), (3, 32), (14, 29), (50, 29), (61, 34), (62, 46)], fill)
    canvas.box(2, 42, 62, 46, shade)
    canvas.disc(59, 37, 2.5, 2.5, (255, 244, 190))
    for x in (16, 48):
        canvas.disc(x, 46, 8, 8, _DARK)
        canvas.disc(x, 46, 3.5, 3.5, (190, 190, 194))


def _balloon(canvas: Canvas, fill: Colour, shade: Colour) -> None:
    for x in (24, 40):
        canvas.line([(x, 38), (32 + (x - 32) * 0.6, 52)], _DARK, 1)
    canvas.disc(32, 23, 22, 22, shade)
    canvas.shape([(12, 32), (52, 32), (38, 46), (26, 46)], shade)
    canvas.disc(32, 23, 14, 22, fill)
    canvas.shape([(19, 32), (45, 32), (36, 46), (28, 46)], fill)
    canvas.disc(32, 23, 5, 22, _LIGHT)
    canvas.shape([(27.5, 34), (36.5, 34), (33, 46), (31, 46)], _LIGHT)
    canvas.box(26, 52, 38, 61, (142, 96, 52))


def _kite(canvas: Canvas, fill: Colour, shade: Colour) -> None:
    canvas.line([(32, 46), (26, 52), (30, 57), (22, 62)], _DARK, 1.5)
    for x, y in ((26, 52), (22, 61)):
        canvas.shape([(x - 5, y - 3), (x - 5, y + 3), (x + 5, y - 3), (x + 5, y + 3)], fill)
    canvas.shape([(32, 2), (54, 20), (32, 48), (10, 20)], fill)
    canvas.shape([(32, 2), (54, 20), (32, 20)], shade)
    canvas.shape([(32, 48), (10, 20), (32, 20)], shade)
    canvas.line([(32, 2), (32, 48)], _LIGHT, 1.5)
    canvas.line([(10, 20), (54, 20)], _LIGHT, 1.5)


def _butterfly(canvas: Canvas, fill: Colour, shade: Colour) -> None:
    for side in (-1, 1):
        canvas.disc(32 + side * 16, 21, 14, 15, shade)
        canvas.disc(32 + side * 16, 21, 12, 13, fill)
        canvas.disc(32 + side * 13, 44, 10, 11, shade)
        canvas.disc(32 + side * 13, 44, 8, 9, fill)
        canvas.disc(32 + side * 19, 18, 4, 4, _LIGHT)
        canvas.line([(32, 14), (32 + side * 8, 4)], _DARK, 1.5)
    canvas.disc(32, 32, 3.5, 20, _DARK)


_DRAWN = {"ball": _ball, "car": _car, "balloon": _balloon, "kite": _kite, "butterfly": _butterfly}
