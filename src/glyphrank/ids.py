"""Ids: written as published, compared in NFC."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from glyphrank.errors import DataError

SHORTEST = 6
"""Characters that are enough of a run's id or of an identity to name it."""


def nfc(text: str) -> str:
    """The text in Unicode's composed form, in which ids and words are compared."""
    return unicodedata.normalize("NFC", text)


def unique(ids: Iterable[str], kind: str, task: str) -> set[str]:
    """The ids in NFC.

    Args:
        kind: what they are ids of, for the message.
        task: the dataset's name, for the message.

    Raises:
        DataError: two are equal in NFC; both are named.
    """
    seen: dict[str, str] = {}
    for published in ids:
        normal = nfc(published)
        if normal in seen:
            form = "" if seen[normal] == published else f" (as {published!r} and {seen[normal]!r}, equal in NFC)"
            raise DataError(f"{task}: the {kind} id {published!r} stands twice{form}; ids must be unique")
        seen[normal] = published
    return set(seen)


def is_beginning(text: str) -> bool:
    """Whether a text may be a run's id or an identity, or enough of its beginning."""
    return bool(re.fullmatch(rf"[0-9a-f]{{{SHORTEST},32}}", text))
