"""What becomes of cells in other processes, told in the one that launched them as soon as their records say it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glyphrank.report.cells import State, launch_folder, read_cells

_SECONDS = 1.0
logger = logging.getLogger("glyphrank")


@contextmanager
def failures_told(sweep: Path, launch: str) -> Iterator[None]:
    """While the block runs, every cell of the launch that fails is told once, with its overrides."""
    end = threading.Event()
    watcher = threading.Thread(target=_watch, args=(sweep, launch, end), name="cells", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        end.set()
        watcher.join()


def _watch(sweep: Path, launch: str, end: threading.Event) -> None:
    told: set[int] = set()
    seen: tuple[int, ...] = ()
    while not end.wait(_SECONDS):
        try:
            now = tuple(sorted(path.stat().st_mtime_ns for path in launch_folder(sweep, launch).glob("[0-9]*.json")))
        except OSError:
            continue
        if now == seen:
            continue
        seen = now
        for cell in read_cells(sweep, launch):
            if cell.state is State.failed and cell.number not in told:
                told.add(cell.number)
                logger.error("glyphrank: %s failed: %s\n%s", cell.name, " ".join(cell.overrides), cell.error)
