"""What became of cells that left no word, as the process that launched them sees it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from glyphrank.redaction import redact_text
from glyphrank.report.cells import DIED, CellRecord, State, write_cell
from glyphrank.tracking.processes import Life, life_of, own_process

_SECONDS_TO_DIE = 5.0


def interrupted(folder: Path, cells: Sequence[CellRecord], why: str) -> list[CellRecord]:
    """The records, with those as interrupted of cells of this process and of dead ones; nobody waits for the others."""
    found = []
    for cell in cells:
        own = cell.process == own_process()
        if cell.state is State.running and (own or life_of(cell.host, cell.process) is Life.dead):
            cell = replace(cell, state=State.interrupted, error=why)
            write_cell(folder, cell)
        found.append(cell)
    return found


def settled(cells: Sequence[CellRecord], error: BaseException | None, jobs_ended: bool) -> list[CellRecord]:
    """The records, with those of cells as failed whose process is no more; it is given a moment to go.

    Args:
        error: what ended the sweep.
        jobs_ended: whether no process is left on machines that cannot be seen from here.
    """
    until = time.monotonic() + _SECONDS_TO_DIE
    found = []
    for cell in cells:
        if cell.state is State.running and cell.process == own_process():
            told = error and redact_text(f"{type(error).__name__}: {error}".partition("\n")[0])
            cell = replace(cell, state=State.failed, error=told) if told else cell
        elif cell.state is State.running:
            while (life := life_of(cell.host, cell.process)) is Life.alive and time.monotonic() < until:
                time.sleep(0.05)
            if life is Life.dead or (life is Life.unknown and jobs_ended):
                cell = replace(cell, state=State.failed, error=DIED)
        found.append(cell)
    return found
