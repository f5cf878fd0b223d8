"""Folders that cannot be written, full disks, refused locks, and what dead processes left."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from capitals import TEXTS, Upper, shard_files, stage
from glyphrank.errors import DataError


def test_a_folder_that_cannot_be_made_is_named_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    upper = Upper()
    with pytest.raises(DataError, match=r"cache/reading/key: the cache cannot be (written|read) .*paths\.cache"):
        upper(stage(tmp_path / "cache"), ["a"])
    assert upper.seen == []


def test_a_folder_without_permission_is_named_before_any_work_and_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Upper()(stage(tmp_path), TEXTS[:20])
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert Upper()(stage(tmp_path), TEXTS[:20]).hits == 20
    upper = Upper()
    with pytest.raises(DataError, match="no permission to write"):
        upper(stage(tmp_path), TEXTS)
    assert upper.seen == []


@pytest.mark.parametrize(("owner", "step"), [(os, "fsync"), (Path, "replace")])
def test_a_full_disk_leaves_the_old_shards_and_nothing_half_written(  # case C04
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, step: str
) -> None:
    Upper()(stage(tmp_path), TEXTS[:20])
    before = {path: path.read_bytes() for path in stage(tmp_path).folder.iterdir() if path.is_file()}

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, full)
        with pytest.raises(DataError, match=r"reading/key.*No space left on device"):
            Upper()(stage(tmp_path), TEXTS)
    assert {path: path.read_bytes() for path in stage(tmp_path).folder.iterdir() if path.is_file()} == before
    again = Upper()
    assert again(stage(tmp_path), TEXTS).values == [text.upper() for text in TEXTS]
    assert again.seen == TEXTS[20:]


def test_a_write_that_the_system_cuts_short_leaves_nothing(tmp_path: Path) -> None:  # case C04
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from glyphrank.cache import Stage, remember; from glyphrank.shards import LinesCodec\n"
        "stage = Stage(Path(sys.argv[1]), 'reading', {}, 'key', 4, LinesCodec())\n"
        "remember(stage, ['01'], lambda positions: ['small'])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "remember(stage, ['01', '02'], lambda positions: [[n * n * n for n in range(9999)]])\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert "DataError" in ended.stderr
    assert "File too large" in ended.stderr
    assert len(shard_files(stage(tmp_path))) == 1
    assert not list(stage(tmp_path).folder.glob(".*.tmp"))
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_what_dead_processes_left_is_ignored_and_cleared_when_it_is_old(tmp_path: Path) -> None:
    upper = Upper()
    upper(stage(tmp_path), TEXTS[:5])
    folder = stage(tmp_path, "other").folder
    (folder / "locks").mkdir(parents=True)
    old, young = folder / ".x.jsonl.zst.1.ab.tmp", folder / ".y.jsonl.zst.1.ab.tmp"
    old_lock, young_lock = folder / "locks" / "x.lock", folder / "locks" / "y.lock"
    for path in (old, young, old_lock, young_lock):
        path.write_bytes(b"half")
    for path in (old, old_lock):
        os.utime(path, (time.time() - 4000, time.time() - 4000))
    assert upper(stage(tmp_path, "other"), TEXTS[:5]).damaged == 0
    assert [path.exists() for path in (old, young, old_lock, young_lock)] == [False, True, False, True]


def test_a_file_system_that_refuses_locks_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(self: FileLock, *args: object, **kwargs: object) -> None:
        raise NotImplementedError("no flock here")

    monkeypatch.setattr(FileLock, "acquire", refuse)
    for texts in (TEXTS[:50], TEXTS):
        assert Upper()(stage(tmp_path), texts).values == [text.upper() for text in texts]
    assert [record.getMessage().count("refuses locks (no flock here)") for record in caplog.records] == [1]


def test_locks_that_never_come_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("fcntl.flock", _unsupported)  # seen as a lock that somebody holds by some versions of filelock
    assert Upper()(stage(tmp_path), TEXTS).worked == 200
    assert "refuses locks" in caplog.text


def _unsupported(handle: int, operation: int) -> None:
    raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
