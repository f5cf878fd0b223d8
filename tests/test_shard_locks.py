"""Locks are tried, never waited for, and leave nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank.shard_locks import ShardLocks


def test_a_lock_that_is_held_is_not_given_again(tmp_path: Path) -> None:
    ours, theirs = ShardLocks(tmp_path), ShardLocks(tmp_path)
    lock = ours.take("one")
    assert lock is not None
    with lock:
        assert theirs.take("one") is None
        other = theirs.take("two")
        assert other is not None
        with other:
            assert {path.name for path in tmp_path.iterdir()} == {"one.lock", "two.lock"}
    again = theirs.take("one")
    assert again is not None
    with again:
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_ends_when_the_work_raises(tmp_path: Path) -> None:
    lock = ShardLocks(tmp_path).take("one")
    assert lock is not None
    with pytest.raises(RuntimeError), lock:
        raise RuntimeError("the work broke")
    assert ShardLocks(tmp_path).take("one") is not None
