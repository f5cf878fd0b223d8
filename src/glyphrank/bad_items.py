"""What to do about items that cannot be read or encoded: keep them as not retrieved, or stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from glyphrank.errors import DataError
from glyphrank.media.files import shown_media, shown_name
from glyphrank.records import Media, Task

MOST_SHOWN = 10
"""Bad items that an error names."""


class BadMedia(StrEnum):
    """The choice of a run: `keep` lists the item and leaves it in the gallery, unretrievable; `error` stops."""

    keep = "keep"
    error = "error"


def check_failures(task: Task, failures: Mapping[str, str], policy: BadMedia) -> None:
    """Lets failed items pass, or not.

    Args:
        failures: item id -> why it failed.

    Raises:
        DataError: an item failed and the policy is `error`; the first ten are named.
    """
    if not failures or policy is BadMedia.keep:
        return
    advice = "on_bad_media=keep goes on without them"
    first = f"{task.name}: {len(failures)} of {len(task.items)} items cannot be read or encoded; {advice}"
    raise DataError("\n".join([first, *shown(failures)]))


def check_texts(task: Task, texts: Sequence[Sequence[str]], failures: Mapping[str, str]) -> None:
    """Lets a run with text channels go on when at least one item has a text.

    Args:
        texts: (n,) the texts of each item, none where nothing was read; empty where no channel needs texts.
        failures: item id -> why it failed, for the message.

    Raises:
        DataError: no item has a text; the first ten failures are named.
    """
    if any(texts) or not texts:
        return
    first = f"{task.name}: none of the {len(texts)} items has a text: {len(failures)} cannot be read"
    first += "" if len(failures) == len(texts) else ", the others are empty"
    noted = [f"  when it was loaded: {note}" for note in task.notes]
    raise DataError("\n".join([f"{first}; choose another ocr or transcript", *noted, *shown(failures)]))


def of_equal(why: str, looked_at: Media | None, own: Media | None) -> str:
    """Why an item failed, where only one of several of equal content was looked at: in the end it names its own file.

    Two rows of a parquet file are two; two pages of a document are spoken of by the document.

    >>> of_equal("a.png: torn", Media(Path("/x/a.png"), None, "d"), Media(Path("/x/b.png"), None, "d"))
    'b.png has the content of a.png: torn'
    """
    if looked_at is None or own is None or (looked_at.path, looked_at.cell) == (own.path, own.cell):
        return why
    # What is wrong with a whole parquet file is told without a row, and then holds for its other rows as it is.
    theirs = shown_media(looked_at) if looked_at.path == own.path else shown_name(looked_at.path)
    return f"{shown_media(own)} has the content of {why}" if why.startswith(theirs) else why


def shown(failures: Mapping[str, str]) -> list[str]:
    """The first failures, a line each, and how many more there are."""
    lines = [f"  {item_id}: {why}" for item_id, why in list(failures.items())[:MOST_SHOWN]]
    return [*lines, f"  and {len(failures) - MOST_SHOWN} more"] if len(failures) > MOST_SHOWN else lines
