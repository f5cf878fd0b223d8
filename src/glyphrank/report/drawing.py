"""How figures are drawn: matplotlib's settings, and a font that has Hangul."""

from __future__ import annotations

import importlib.util
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_FONTS = ("Noto Sans CJK KR", "Noto Sans KR", "NanumGothic", "Malgun Gothic", "Apple SD Gothic Neo", "UnDotum")


@contextmanager
def drawing(drawn_letters: bool) -> Iterator[None]:
    """Settings of matplotlib inside the block: the same whatever a person's own are, and without a word about fonts.

    Args:
        drawn_letters: whether letters are drawn as shapes, where there is a font with Hangul; else text stays text.
    """
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.ERROR)  # before it is imported, which tells of its cache of fonts
    import matplotlib
    from matplotlib import font_manager

    fonts = _hangul(font_manager.fontManager)
    settings: Any = {  # matplotlib lists every key in a type of its own
        "font.family": ["DejaVu Sans", *fonts, "sans-serif"],
        "svg.fonttype": "path" if drawn_letters and fonts else "none",
        "svg.hashsalt": "glyphrank",
        "text.parse_math": False,  # a dollar sign is one
    }
    try:
        with warnings.catch_warnings(), matplotlib.rc_context():
            warnings.simplefilter("ignore")
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(settings)
            yield
    finally:
        log.setLevel(level)


def _hangul(fonts: Any) -> list[str]:
    """The first font with Hangul that is installed, or comes with a package."""
    there = {font.name for font in fonts.ttflist}
    own = importlib.util.find_spec("koreanize_matplotlib")
    for folder in own.submodule_search_locations or () if own else ():
        path = Path(folder) / "fonts" / "NanumGothic.ttf"
        if "NanumGothic" not in there and path.is_file():
            fonts.addfont(path)
            there.add("NanumGothic")
    return [name for name in _FONTS if name in there][:1]
