"""Damage means: said once, made again, replaced; and never a wrong value."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from capitals import TEXTS, Upper, digest, shard_files, stage
from glyphrank.cache import _open


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    changed = {
        "truncated": data[: len(data) // 2],
        "cut in the header": data[:10],
        "empty": b"",
        "flipped": data[:-60] + bytes([data[-60] ^ 4]) + data[-59:],
        "longer": data + b"\n",
    }
    path.write_bytes(changed[how])


@pytest.mark.parametrize("how", ["truncated", "cut in the header", "empty", "flipped", "longer"])
@pytest.mark.parametrize("same_process", [True, False])
def test_a_damaged_shard_is_made_again_and_replaced(  # case C02
    tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str, same_process: bool
) -> None:
    Upper()(stage(tmp_path), TEXTS)
    files = shard_files(stage(tmp_path))
    victim = stage(tmp_path).folder / min(files)
    whole = victim.read_bytes()
    damage(victim, how)
    if not same_process:
        _open.cache_clear()  # nothing is remembered of the folder
    again = Upper()
    found = again(stage(tmp_path), TEXTS)
    assert found.values == [text.upper() for text in TEXTS]
    assert 1 <= len(again.seen) <= 8
    assert found.damaged == 1
    assert [victim.name in record.getMessage() for record in caplog.records] == [True]
    assert "is damaged" in caplog.text
    assert victim.read_bytes() == whole
    assert shard_files(stage(tmp_path)) == files
    assert Upper()(stage(tmp_path), TEXTS).damaged == 0


def test_a_damaged_shard_that_nobody_can_replace_by_name_is_met_once(tmp_path: Path) -> None:
    Upper()(stage(tmp_path), TEXTS)
    victim = stage(tmp_path).folder / min(shard_files(stage(tmp_path)))
    damage(victim, "flipped")
    assert Upper()(stage(tmp_path), TEXTS[::-1]).damaged == 1  # another order, so other shards
    _open.cache_clear()
    again = Upper()
    assert again(stage(tmp_path), TEXTS).damaged == 0
    assert again.seen == []


def test_a_shard_that_cannot_be_read_for_once_is_not_taken_for_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    Upper()(stage(tmp_path), TEXTS)
    files = shard_files(stage(tmp_path))

    def broken(path: Path) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", broken)
        again = Upper()
        found = again(stage(tmp_path), TEXTS[:9])
    assert found.values == [text.upper() for text in TEXTS[:9]]
    assert (found.worked, found.damaged) == (9, 0)
    assert "cannot be read (Input/output error)" in caplog.text
    assert shard_files(stage(tmp_path)) >= files


def test_a_shard_that_vanishes_is_made_again_without_a_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Upper()(stage(tmp_path), TEXTS)
    (stage(tmp_path).folder / min(shard_files(stage(tmp_path)))).unlink()
    again = Upper()
    assert again(stage(tmp_path), TEXTS).damaged == 0
    assert 1 <= len(again.seen) <= 8
    assert not caplog.records


def test_a_shard_under_the_name_of_another_gives_no_wrong_value(tmp_path: Path) -> None:
    Upper()(stage(tmp_path), TEXTS)
    first, second = sorted(shard_files(stage(tmp_path)))[:2]
    folder = stage(tmp_path).folder
    (folder / first).write_bytes((folder / second).read_bytes())
    again = Upper()
    assert again(stage(tmp_path), TEXTS).values == [text.upper() for text in TEXTS]
    assert 1 <= len(again.seen) <= 8


@pytest.mark.parametrize("how", ["cut in the header", "empty", "flipped"])
def test_a_damaged_shard_is_removed_even_when_its_name_is_not_written_again(tmp_path: Path, how: str) -> None:
    Upper()(stage(tmp_path), TEXTS)
    victim = stage(tmp_path).folder / min(shard_files(stage(tmp_path)))
    damage(victim, how)
    _open.cache_clear()
    assert Upper()(stage(tmp_path), TEXTS[::-1]).damaged == 1  # another order, so other shards
    assert not victim.exists()
    _open.cache_clear()
    again = Upper()
    assert again(stage(tmp_path), TEXTS).damaged == 0
    assert again.seen == []


def test_a_pipe_among_the_shards_is_passed_over(tmp_path: Path) -> None:
    stage(tmp_path).folder.mkdir(parents=True)
    os.mkfifo(stage(tmp_path).folder / f"{'0' * 32}.jsonl.zst")
    assert Upper()(stage(tmp_path), TEXTS[:9]).worked == 9


def test_foreign_files_are_ignored_with_one_warning_each(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = stage(tmp_path).folder
    (folder / "a folder").mkdir(parents=True)
    for name in ("notes.txt", "copy of a shard.jsonl.zst", ".hidden"):
        (folder / name).write_text("junk")
    for _ in range(2):
        assert Upper()(stage(tmp_path), TEXTS[:9]).damaged == 0
    assert sorted(Path(record.getMessage().split(":")[0]).name for record in caplog.records) == [
        "copy of a shard.jsonl.zst",
        "notes.txt",
    ]
    assert (folder / "notes.txt").read_text() == "junk"


def test_a_name_that_held_other_inputs_leaves_nothing_of_them(tmp_path: Path) -> None:
    """Somebody copied a shard over another: when the name has its own inputs again, those others are worked on."""
    here = stage(tmp_path, spacing=100)
    first, second = TEXTS[:3], TEXTS[3:6]
    Upper()(here, first)
    (victim,) = (here.folder / name for name in shard_files(here))
    other = here.codec.dump([digest(text) for text in second], [text.upper() for text in second])
    victim.write_bytes(other)
    _open.cache_clear()
    for texts in (first, second, first, second):
        again = Upper()
        assert again(here, texts).values == [text.upper() for text in texts]
    assert again.seen == []
