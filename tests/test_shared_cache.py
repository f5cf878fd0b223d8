"""A cache that a group shares, as `deploy/README.md` sets it up: umask 002 and folders that hand on their group."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from glyphrank.cache import Stage, remember
from glyphrank.identity import FileDigests
from glyphrank.shards import LinesCodec

INPUTS = [f"{number:032x}" for number in range(1, 9)]


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Path]:
    """A folder with the set-group-id bit, in a process with umask 002."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o2775)
    before = os.umask(0o002)
    yield folder
    os.umask(before)


def test_a_group_can_read_and_replace_all_that_a_run_leaves(shared: Path) -> None:
    stage = Stage(shared, "reading", {"class": "mine.Reader"}, "a" * 32, 2, LinesCodec())
    locks: list[int] = []

    def work(at: Sequence[int]) -> list[dict[str, int]]:
        locks.extend(path.stat().st_mode for path in (stage.folder / "locks").iterdir())
        return [{"at": position} for position in at]

    remember(stage, INPUTS, work)
    (shared.parent / "page.txt").write_text("page")
    FileDigests(shared / "files")(shared.parent / "page.txt")
    found = list(shared.rglob("*"))
    files = [path.stat().st_mode for path in found if path.is_file()]
    folders = [path.stat().st_mode for path in found if path.is_dir()]
    assert len(files) >= 6
    assert len(folders) == 4
    assert locks
    assert {oct(stat.S_IMODE(mode)) for mode in (*files, *locks)} == {"0o664"}
    assert {oct(stat.S_IMODE(mode)) for mode in folders} == {"0o2775"}
    assert {path.stat().st_gid for path in found} == {shared.stat().st_gid}
