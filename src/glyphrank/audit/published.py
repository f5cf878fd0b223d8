"""Files of published OCR: which of them are missing, damaged, empty or garbled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from glyphrank.audit.records import Finding, Level
from glyphrank.records import Media, Reading, Task, TextState


def check_published(task: Task, readings: Sequence[Reading]) -> Iterator[Finding]:
    """Findings about the files of lines that items name.

    Args:
        readings: (n,) what the published OCR of each item holds.
    """
    files = [
        (item.id, item.published_ocr.path, reading)
        for item, reading in zip(task.items, readings, strict=True)
        if isinstance(item.published_ocr, Media)
    ]
    absent = tuple(name for name, path, reading in files if reading.failure and not path.exists())
    damaged = {name: reading.failure for name, path, reading in files if reading.failure and path.exists()}
    empty = tuple(name for name, _, reading in files if not reading.failure and not reading.lines)
    garbled = tuple(name for name, _, reading in files if reading.state is TextState.garbled)
    what = f"of {len(files)} files of published OCR"
    if damaged:
        yield Finding(Level.error, "unreadable_ocr", f"{len(damaged)} {what} are damaged", tuple(damaged), damaged)
    if absent:
        yield Finding(Level.warning, "absent_ocr", f"{len(absent)} {what} are not there", absent)
    if empty:
        yield Finding(Level.warning, "empty_ocr_files", f"{len(empty)} {what} hold no text", empty)
    if garbled:
        yield Finding(Level.warning, "garbled_ocr_files", f"{len(garbled)} {what} hold no readable text", garbled)
