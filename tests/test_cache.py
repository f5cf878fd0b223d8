"""Work is done once: hits, misses, shards that are touched, failures, and folders that cannot be written."""

from __future__ import annotations

import errno
import json
import logging
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from capitals import TEXTS, Upper, digest, shard_files, stage
from glyphrank.cache import Stage, cut, remember
from glyphrank.errors import DataError
from glyphrank.shards import ArraysCodec, LinesCodec


def test_what_was_worked_on_is_found_again(tmp_path: Path) -> None:
    cold, warm = Upper(), Upper()
    first = cold(stage(tmp_path), TEXTS)
    second = warm(stage(tmp_path), TEXTS)
    assert cold.seen == TEXTS
    assert warm.seen == []
    assert first.values == second.values == [text.upper() for text in TEXTS]
    assert (first.hits, first.worked, second.hits, second.worked) == (0, 200, 200, 0)


def test_a_cold_cache_returns_what_a_warm_one_returns(tmp_path: Path) -> None:
    def work(positions: Sequence[int]) -> list[Any]:
        return [{"pair": (1, 2), 3: "three"} for _ in positions]

    cold = remember(stage(tmp_path), ["0a"], work)
    warm = remember(stage(tmp_path), ["0a"], work)
    assert cold.values == warm.values == [{"pair": [1, 2], "3": "three"}]


def test_another_key_is_a_miss(tmp_path: Path) -> None:
    upper = Upper()
    upper(stage(tmp_path, "one"), TEXTS[:5])
    upper(stage(tmp_path, "two"), TEXTS[:5])
    assert upper.seen == TEXTS[:5] * 2


def test_values_stand_in_the_order_of_first_appearance_and_repeats_are_worked_once(tmp_path: Path) -> None:
    upper = Upper()
    found = upper(stage(tmp_path), ["b", "a", "b", "c", "a"])
    assert upper.seen == ["b", "a", "c"]
    assert found.values == ["B", "A", "C"]
    assert found.digests == (digest("b"), digest("a"), digest("c"))


def test_no_input_makes_no_folder(tmp_path: Path) -> None:
    found = Upper()(stage(tmp_path / "cache"), [])
    assert found.values == []
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("changed", "cost"),
    [
        (["text 0 edited", *TEXTS[1:]], 1),
        ([*TEXTS[:77], "new", *TEXTS[77:]], 1),
        ([*TEXTS[:50], *TEXTS[51:]], 0),
        ([*TEXTS, "last", "very last"], 2),
        (TEXTS[::2], 0),
        (TEXTS[::-1], 0),
        ([*TEXTS[100:], "one more"], 1),
    ],
    ids=["edit", "insert", "remove", "append", "halve", "reverse", "move on"],
)
def test_a_change_costs_what_changed(tmp_path: Path, changed: list[str], cost: int) -> None:
    Upper()(stage(tmp_path), TEXTS)
    before = shard_files(stage(tmp_path))
    again = Upper()
    found = again(stage(tmp_path), changed)
    assert len(again.seen) == cost
    assert found.values == [text.upper() for text in changed]
    assert before <= shard_files(stage(tmp_path))
    assert len(shard_files(stage(tmp_path)) - before) <= 1


def test_shards_end_after_a_digest_that_is_0_modulo_the_spacing() -> None:
    assert cut(["01", "04", "05", "06", "08", "03"], 4) == [("01", "04"), ("05", "06", "08"), ("03",)]


def test_shards_have_at_most_twice_the_spacing() -> None:
    assert [len(shard) for shard in cut(["01"] * 20, 4)] == [8, 8, 4]


def test_shards_away_from_an_insertion_stay_as_they_are() -> None:
    digests = [digest(text) for text in TEXTS]
    before, after = cut(digests, 8), cut([*digests[:100], digest("new"), *digests[100:]], 8)
    assert len(set(before) - set(after)) == 1


def test_failures_are_named_and_not_kept(tmp_path: Path) -> None:
    upper = Upper()
    first = upper(stage(tmp_path), ["a", "bad 1", "b"])
    assert first.values == ["A", None, "B"]
    assert first.failed == {digest("bad 1")}
    again = Upper()
    second = again(stage(tmp_path), ["a", "bad 1", "b"])
    assert again.seen == ["bad 1"]
    assert (second.hits, second.worked, second.values) == (2, 1, first.values)


def test_failures_alone_leave_no_shard(tmp_path: Path) -> None:
    found = Upper()(stage(tmp_path), ["bad 1", "bad 2"])
    assert found.values == [None, None]
    assert shard_files(stage(tmp_path)) == set()


def test_arrays_are_gathered_in_place_from_shards_and_work(tmp_path: Path) -> None:
    wanted = Stage(tmp_path, "vectors", {}, "key", 2, ArraysCodec())

    def work(positions: Sequence[int]) -> list[Any]:
        return [
            {"values": np.full(3, position, np.float32), "truncated": np.bool_(position == 1)} for position in positions
        ]

    remember(wanted, ["00", "01", "02"], work)
    found = remember(wanted, ["00", "01", "02", "03"], work)
    assert found.worked == 1
    assert found.values["values"].tolist() == [[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]
    assert found.values["values"].dtype == np.float32
    assert found.values["truncated"].tolist() == [False, True, False, False]


def test_finished_shards_stay_when_work_raises(tmp_path: Path) -> None:
    def work(positions: Sequence[int]) -> list[str]:
        if 150 in positions:
            raise RuntimeError("the engine broke")
        return [TEXTS[position].upper() for position in positions]

    with pytest.raises(RuntimeError, match="the engine broke"):
        remember(stage(tmp_path), [digest(text) for text in TEXTS], work)
    again = Upper()
    again(stage(tmp_path), TEXTS)
    assert again.seen[-1] == TEXTS[-1]
    assert again.seen == TEXTS[200 - len(again.seen) :]
    assert 50 <= len(again.seen) <= 58
    assert list((stage(tmp_path).folder / "locks").iterdir()) == []


def test_work_must_return_a_value_for_each_input(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="reading: 1 values for 2 inputs"):
        remember(stage(tmp_path), ["01", "02"], lambda positions: ["only one"])


def test_a_spacing_below_1_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="spacing is 0; wanted at least 1"):
        stage(tmp_path, spacing=0)


def test_progress_counts_every_distinct_input_once(tmp_path: Path) -> None:
    done: list[int] = []
    digests = [digest(text) for text in [*TEXTS[:30], TEXTS[0]]]
    for _ in range(2):
        remember(stage(tmp_path), digests, lambda positions: [p if p else None for p in positions], done.append)
        assert sum(done) == 30
        done.clear()


def test_the_manifest_says_what_the_folder_holds_and_is_written_once(tmp_path: Path) -> None:
    Upper()(stage(tmp_path), TEXTS[:5])
    manifest = stage(tmp_path).folder / "manifest.json"
    written = manifest.read_text()
    found = json.loads(written)
    assert (found["stage"], found["key"], found["recipe"]["fields"]) == ("reading", "key", {"size": 3})
    assert found["versions"]["numpy"] == np.__version__
    os.utime(manifest, (0, 0))
    Upper()(stage(tmp_path), TEXTS[:9])
    assert manifest.read_text() == written
    assert time.time() - manifest.stat().st_mtime < 60  # the time of last use


def test_a_manifest_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    wanted: Stage[Any, list[Any]] = Stage(tmp_path, "reading", {"odd": object()}, "key", 4, LinesCodec())
    assert Upper()(wanted, ["a"]).values == ["A"]
    assert Upper()(wanted, ["a"]).hits == 1


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


def test_threads_share_the_work_as_processes_do(tmp_path: Path) -> None:
    uppers = [Upper() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda upper: upper(stage(tmp_path), TEXTS), uppers))
    assert [each.values for each in found] == [[text.upper() for text in TEXTS]] * 4
    assert sorted(text for upper in uppers for text in upper.seen) == sorted(TEXTS)


def test_a_full_disk_leaves_the_old_shards_and_nothing_half_written(  # case C04
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Upper()(stage(tmp_path), TEXTS[:20])
    before = {path: path.read_bytes() for path in stage(tmp_path).folder.iterdir() if path.is_file()}

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
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


def test_the_log_says_what_came_from_the_cache(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "glyphrank")
    Upper()(stage(tmp_path), TEXTS[:3])
    Upper()(stage(tmp_path), TEXTS[:4])
    assert "reading: 3 inputs from the cache, 1 worked on (key)" in caplog.text
