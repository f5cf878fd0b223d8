"""Frames to vectors and readings: each look is worked on once, and what cannot be seen is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from counting_parts import Colours, Counting, Looking, Twofold
from glyphrank.channels import visual_part
from glyphrank.errors import DataError
from glyphrank.indexes.exact import Exact
from glyphrank.media.sampling import Middles
from glyphrank.rankings import Asked
from glyphrank.reading import read_items
from glyphrank.records import Item, Query, Task
from glyphrank.runtime import Runtime
from glyphrank.sight import Sight
from glyphrank.visual import encode_frames
from pictures import pictured, write_picture


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    for record in (Colours.calls, Counting.reads, Looking.reads):
        record.clear()
    return Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


@pytest.fixture
def sight(runtime: Runtime) -> Iterator[Sight]:
    with Sight(Middles(2, 100, 10_000), runtime) as opened:
        yield opened


def test_equal_looks_are_encoded_once_and_share_a_vector(tmp_path: Path, sight: Sight, runtime: Runtime) -> None:
    items = [
        pictured(write_picture(tmp_path / "a.png", "red")),
        pictured(write_picture(tmp_path / "b.png", "blue")),
        pictured(write_picture(tmp_path / "c.bmp", "red")),  # another file, equal pixels
    ]
    found = encode_frames(Colours(1.0), items, sight, runtime)
    assert Colours.calls == [(3, 4, 3), (3, 4, 3)]  # prepared: every second row and column
    assert found.digests[0] == found.digests[2] != found.digests[1]
    assert found.vectors.ids == (found.digests[0], found.digests[1])
    assert found.vectors.values.tolist() == [[1, 0, 0], [0, 0, 1]]
    encode_frames(Colours(1.0), items, sight, runtime)
    assert len(Colours.calls) == 2
    encode_frames(Colours(2.0), items, sight, runtime)  # another encoder: the pixels are known, the vectors are not
    assert len(Colours.calls) == 4


def test_what_cannot_be_seen_is_named_and_tried_again(tmp_path: Path, sight: Sight, runtime: Runtime) -> None:
    good = pictured(write_picture(tmp_path / "good.png", "green"))
    (tmp_path / "torn.png").write_bytes((tmp_path / "good.png").read_bytes()[:40])
    dark = pictured(write_picture(tmp_path / "dark.png", "black"))
    items = [pictured(tmp_path / "gone.png"), good, pictured(tmp_path / "torn.png"), dark]
    found = encode_frames(Colours(1.0), items, sight, runtime)
    assert set(found.failures) == {"gone", "torn", "dark"}
    assert "gone.png" in found.failures["gone"]
    assert "torn.png" in found.failures["torn"]
    assert found.failures["dark"] == "its vector is zero or not finite"
    write_picture(tmp_path / "gone.png", "red")
    assert set(encode_frames(Colours(1.0), items, sight, runtime).failures) == {"torn", "dark"}


def test_each_of_two_equal_files_is_named_when_they_cannot_be_seen(
    tmp_path: Path, sight: Sight, runtime: Runtime
) -> None:
    good = pictured(write_picture(tmp_path / "good.png", "green"))
    for name in ("one.png", "two.png"):
        (tmp_path / name).write_bytes(b"only words")
    items = [good, pictured(tmp_path / "one.png"), pictured(tmp_path / "two.png")]
    failures = encode_frames(Colours(1.0), items, sight, runtime).failures
    readings = read_items(Looking(True), items, sight, runtime)
    for name, why in [*failures.items(), ("one", readings[1].failure), ("two", readings[2].failure)]:
        assert str(why).startswith(f"{name}.png"), why


def test_a_file_that_vanished_after_its_pixels_were_known_is_named(
    tmp_path: Path, sight: Sight, runtime: Runtime
) -> None:
    items = [pictured(write_picture(tmp_path / "a.png", "red")), pictured(write_picture(tmp_path / "b.png", "blue"))]
    sight.pixels(items)
    (tmp_path / "a.png").unlink()
    found = encode_frames(Colours(1.0), items, sight, runtime)
    assert set(found.failures) == {"a"}
    assert "a.png" in found.failures["a"]
    assert len(found.vectors.ids) == 1


def test_a_file_changed_after_the_run_began_is_named_and_kept_out_of_the_cache(
    tmp_path: Path, sight: Sight, runtime: Runtime
) -> None:  # case C01
    write_picture(tmp_path / "a.png", "red")
    item = pictured(tmp_path / "a.png")
    other = pictured(write_picture(tmp_path / "b.png", "green"))
    write_picture(tmp_path / "a.png", "blue")  # the digest is still that of the red one
    reason = "a.png: it was changed after the run began; run again"
    assert encode_frames(Colours(1.0), [item, other], sight, runtime).failures == {"a": reason}
    assert sight.pixels([item]).failures == {0: reason}
    write_picture(tmp_path / "a.png", "red")
    again = pictured(tmp_path / "a.png")
    assert encode_frames(Colours(1.0), [again, other], sight, runtime).vectors.values.tolist() == [[1, 0, 0], [0, 1, 0]]
    write_picture(tmp_path / "a.png", "blue")  # its look is known, another encoder's vector is not
    failures = encode_frames(Colours(2.0), [again], sight, runtime).failures
    assert failures == {"a": reason}
    assert read_items(Looking(True), [again], sight, runtime)[0].failure == failures["a"]


def test_items_without_media_are_counted_and_are_no_failures(tmp_path: Path, sight: Sight, runtime: Runtime) -> None:
    items = (pictured(write_picture(tmp_path / "red.png", "red")), Item("bare", None, "only text"))
    task = Task("t", (Query("q", "red"),), items, {"q": {"red": 1.0}}, "f")
    part = visual_part(Colours(1.0), Exact(), Asked.of(task), items, sight, runtime)
    assert part.failures == {}
    assert part.counts["items_without_media"] == 1
    assert np.isneginf(np.concatenate(list(part.channel.blocks(8)))[:, 1]).all()


def test_visual_part_ranks_by_sight(tmp_path: Path, sight: Sight, runtime: Runtime) -> None:
    items = tuple(pictured(write_picture(tmp_path / f"{name}.png", name)) for name in ("red", "green", "blue"))
    task = Task("t", (Query("q", "a green thing"), Query("r", "nothing")), items, {"q": {"green": 1.0}}, "f")
    part = visual_part(Colours(1.0), Exact(), Asked.of(task), items, sight, runtime)
    scores = np.concatenate(list(part.channel.blocks(8)))
    assert scores[0].tolist() == [0, 1, 0]
    assert np.isneginf(scores[1]).all()
    assert part.counts == {"items_without_media": 0, "visual_truncated_queries": 0, "visual_failed_queries": 1}
    assert part.exact is None
    assert part.vector_size == 3


def test_visual_part_without_anything_to_see_says_so(tmp_path: Path, sight: Sight, runtime: Runtime) -> None:
    items = (pictured(tmp_path / "gone.png"),)
    task = Task("t", (Query("q", "red"),), items, {"q": {"gone": 1.0}}, "f")
    with pytest.raises(DataError, match=r"no item can be seen\n  gone: gone\.png"):
        visual_part(Colours(1.0), Exact(), Asked.of(task), items, sight, runtime)


def test_an_engine_that_looks_reads_each_look_once(tmp_path: Path, sight: Sight, runtime: Runtime) -> None:
    items = [
        pictured(write_picture(tmp_path / "a.png", "red")),
        pictured(write_picture(tmp_path / "b.bmp", "red")),
        pictured(write_picture(tmp_path / "dot.png", "red", 1, 1)),
        pictured(tmp_path / "gone.png"),
    ]
    readings = read_items(Looking(True), items, sight, runtime)
    assert [[line.text for line in reading.lines] for reading in readings] == [["8 wide"], ["8 wide"], [], []]
    assert readings[2].failure == "it is too small"
    assert "gone.png" in str(readings[3].failure)
    assert Looking.reads == ["a", "dot"]
    read_items(Looking(True), items, sight, runtime)
    assert Looking.reads == ["a", "dot", "dot"]


def test_the_second_engine_reads_what_the_first_could_not_and_shares_its_cache(
    tmp_path: Path, sight: Sight, runtime: Runtime
) -> None:
    items = [
        pictured(write_picture(tmp_path / "a.png", "red"), "fine"),
        pictured(write_picture(tmp_path / "b.png", "blue"), "bad"),
        pictured(tmp_path / "gone.png", "bad"),
    ]
    items.append(Item("bare", None, "bad"))
    readings = read_items(Twofold(Counting(True), Looking(True)), items, sight, runtime)
    assert [reading.failure is None for reading in readings] == [True, True, False, False]
    assert readings[3].failure == "it is bad"  # nothing to look at: the first engine's word stands
    items.pop()
    assert readings[1].lines[0].text == "8 wide"
    assert "it is bad; gone.png" in str(readings[2].failure)
    assert Looking.reads == ["b"]
    read_items(Looking(True), items, sight, runtime)
    assert Looking.reads == ["b", "a"]
