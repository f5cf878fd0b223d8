"""Work is done once: hits, misses, shards that are touched, failures."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from capitals import TEXTS, Upper, digest, shard_files, stage
from glyphrank.array_shards import ArraysCodec
from glyphrank.cache import Stage, remember
from glyphrank.errors import DataError
from glyphrank.shards import LinesCodec, cut


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


def test_threads_share_the_work_as_processes_do(tmp_path: Path) -> None:
    uppers = [Upper() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda upper: upper(stage(tmp_path), TEXTS), uppers))
    assert [each.values for each in found] == [[text.upper() for text in TEXTS]] * 4
    assert sorted(text for upper in uppers for text in upper.seen) == sorted(TEXTS)


def test_the_log_says_what_came_from_the_cache(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "glyphrank")
    Upper()(stage(tmp_path), TEXTS[:3])
    Upper()(stage(tmp_path), TEXTS[:4])
    assert "reading: 3 inputs from the cache, 1 worked on (key)" in caplog.text


def test_a_shard_made_while_the_component_changed_is_not_kept(tmp_path: Path) -> None:  # case C01
    changing = iter([True, False])
    watched = replace(stage(tmp_path), is_current=lambda: next(changing))
    with pytest.raises(DataError, match="reading: a file that the component runs on changed while it was used"):
        Upper()(watched, TEXTS)
    kept = remember(stage(tmp_path), [digest(text) for text in TEXTS], lambda positions: ["new" for _ in positions])
    assert 0 < sum(value != "new" for value in kept.values) <= 8  # the first shard alone
