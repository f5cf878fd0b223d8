"""Text in the one form that every encoder and analyser reads."""

from __future__ import annotations

import re

from glyphrank.ids import nfc

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(text: str) -> str:
    """The text in NFC, with U+FFFD for halves of surrogate pairs, which tokenisers refuse.

    Hangul that macOS and some PDFs store as separate letters becomes syllables, so both sides compare equal.
    """
    return nfc(_LONE_SURROGATE.sub("\ufffd", text))
