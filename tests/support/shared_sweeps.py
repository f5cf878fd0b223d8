"""A sweep whose cells share their work, whatever launches them, and what is left of it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

from command import glyphrank

CLIPS = 16
SWEEP = (
    *("run", "-m", "dataset=sample_clips", f"dataset.clips={CLIPS}", "frames.count=1", "runtime.workers=1"),
    *("ocr=easyocr_en", "transcript=confident", "metrics=clips"),
)
"""Reads real clips with the real EasyOCR."""
CELLS = ("lexical.k1=1.2,1.5,-1",)
"""Two cells that go well, and one that cannot be built."""
_WORKED = re.compile(r"(frames|reading|tokens): (\d+) inputs from the cache, (\d+) worked on")


@dataclass(frozen=True)
class Swept:
    """What a sweep left.

    Attributes:
        done: the command that launched it.
        worked: for each stage, in how many inputs each cell had it, and how many each worked on.
        runs: status of every run in the store, and of what run it is a child: None for the parent.
    """

    done: CompletedProcess[str]
    worked: dict[str, list[tuple[int, int]]]
    runs: list[tuple[str, str | None]]

    @property
    def said(self) -> str:
        return self.done.stdout + self.done.stderr


def swept(folder: Path, *overrides: str, env: Mapping[str, str] | None = None) -> Swept:
    """Runs a sweep in a folder of its own, and looks at what is there afterwards."""
    done = glyphrank(*SWEEP, *overrides, cwd=folder, env=env)
    worked: dict[str, list[tuple[int, int]]] = {}
    for log in sorted(folder.glob("outputs/sweeps/*/*/*/glyphrank.log")):
        for stage, found, made in _WORKED.findall(log.read_text(encoding="utf-8")):
            worked.setdefault(stage, []).append((int(found) + int(made), int(made)))
    return Swept(done, worked, runs_of(folder))


def runs_of(folder: Path) -> list[tuple[str, str | None]]:
    """Status and parent of every run in the store."""
    query = """
        select status, value from runs
        left join tags on tags.run_uuid = runs.run_uuid and tags.key = 'mlflow.parentRunId'
        where lifecycle_stage = 'active' order by start_time
    """
    with closing(sqlite3.connect(folder / "outputs" / "mlflow.db")) as store:
        return [(status, parent) for status, parent in store.execute(query)]


def check_shared(left: Swept) -> None:
    """Every input was read once between the cells, and the cell that failed stopped no other."""
    assert left.done.returncode == 1, left.said
    assert "Traceback" not in left.said
    assert left.worked["reading"] != []
    for stage in ("frames", "reading"):
        looked = [inputs for inputs, _ in left.worked[stage]]
        assert looked == [looked[0]] * 2, left.worked
        assert sum(made for _, made in left.worked[stage]) == looked[0], left.worked
    assert left.worked["reading"][0][0] == CLIPS
    assert "k1 is -1" in left.said
    assert sorted(status for status, parent in left.runs if parent) == ["FAILED", "FINISHED", "FINISHED"], left.runs
    assert [status for status, parent in left.runs if not parent] == ["FAILED"]
    assert len({parent for _, parent in left.runs if parent}) == 1
