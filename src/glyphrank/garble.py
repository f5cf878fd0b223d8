"""How much of a text layer is not text: what fonts without a usable Unicode map leave behind."""

from __future__ import annotations

import re
import unicodedata

from glyphrank.records import TextState

_GLYPH_NUMBERS = re.compile(r"\(cid:\d+\)")
_JAMO_RUNS = re.compile(r"[ㄱ-ㅎㅏ-ㅣ]{3,}")
_CONJOINING = (("\u1100", "\u11ff"), ("\ua960", "\ua97f"), ("\ud7b0", "\ud7ff"))
_BAD_CATEGORIES = frozenset({"Cc", "Cn", "Co", "Cs"})


def garble_share(text: str) -> float:
    """Share of the characters (white space aside) that no reader would have written, in [0, 1]; 0 for no text.

    Counted are glyph numbers such as `(cid:12)`, replacement characters, private-use, unassigned and control
    characters, conjoining jamo that compose to no syllable, runs of three or more jamo letters, and syllables outside
    the 2,350 of KS X 1001, which wrong maps produce and writers of Korean hardly ever use. Decomposed Hangul (NFD)
    and single jamo letters such as the bullet `ㅇ` are text.

    >>> garble_share("(cid:12)(cid:7)")
    1.0
    >>> garble_share("한국 \ue000\ue001")
    0.5
    """
    composed = "".join(unicodedata.normalize("NFC", text).split())
    if not composed:
        return 0.0
    rest, numbers = _without(_GLYPH_NUMBERS, composed)
    rest, jamo = _without(_JAMO_RUNS, rest)
    return (numbers + jamo + sum(map(_is_garbled, rest))) / len(composed)


def check_thresholds(thin_below: int, garbled_above: float) -> None:
    """Refuses thresholds of `judge` that are out of range, with a ValueError."""
    if thin_below < 0:
        raise ValueError(f"thin_below is {thin_below}; wanted at least 0")
    if not 0 <= garbled_above <= 1:
        raise ValueError(f"garbled_above is {garbled_above}; wanted a share from 0 to 1")


def judge(text: str, thin_below: int, garbled_above: float) -> TextState:
    """What a text is worth: `garbled` before `thin` before `text`; a text of white space alone is `blank`.

    Args:
        thin_below: characters, in NFC and white space aside, that a text must have not to be thin.
        garbled_above: share of garbled characters above which it counts as garbled.
    """
    characters = len("".join(unicodedata.normalize("NFC", text).split()))
    if not characters:
        return TextState.blank
    if garble_share(text) > garbled_above:
        return TextState.garbled
    return TextState.thin if characters < thin_below else TextState.text


def _without(pattern: re.Pattern[str], text: str) -> tuple[str, int]:
    """The text without the pattern's matches, and how many characters these had."""
    rest = pattern.sub("", text)
    return rest, len(text) - len(rest)


def _is_garbled(character: str) -> bool:
    if "\uac00" <= character <= "\ud7a3":
        # The codec spells syllables outside KS X 1001 with eight bytes.
        return len(character.encode("euc_kr")) > 2
    if character == "\ufffd" or unicodedata.category(character) in _BAD_CATEGORIES:
        return True
    return any(low <= character <= high for low, high in _CONJOINING)
