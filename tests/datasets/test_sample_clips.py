from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from generated_folders import DAMAGES, contents, loaded_by_two, spoil
from glyphrank.datasets.sample_clips import SampleClips
from glyphrank.errors import DataError
from glyphrank.records import Task, UInt8Array
from glyphrank.runtime import Runtime

SMALL = {"clips": 4, "clips_a_text": 2, "clips_a_scene": 2, "seed": 7}


def runtime(folder: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, folder / "outputs", folder / "cache")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sample")


@pytest.fixture(scope="module")
def task(place: Path) -> Task:
    return SampleClips(clips=60, clips_a_text=4, clips_a_scene=4, seed=7).load(runtime(place))


@pytest.fixture(scope="module")
def small(place: Path) -> Task:
    return SampleClips(**SMALL).load(runtime(place))


def paths(task: Task) -> list[Path]:
    return [item.media.path for item in task.items if item.media]


def test_the_sample_has_60_clips_and_180_queries_with_one_clip_each(task: Task) -> None:
    assert task.name == "sample_clips"
    assert len(task.items) == 60
    assert len({query.text for query in task.queries}) == len(task.queries) == 180
    assert Counter(clip for gains in task.relevant.values() for clip in gains) == {item.id: 3 for item in task.items}
    assert {gain for gains in task.relevant.values() for gain in gains.values()} == {1.0}


def test_slices_of_queries_are_place_and_motion_with_few_values_each(task: Task) -> None:
    assert {frozenset(query.slices) for query in task.queries} == {frozenset({"place", "motion"})}
    places, motions = (Counter(query.slices[name] for query in task.queries) for name in ("place", "motion"))
    assert places == dict.fromkeys(("beach", "forest", "street", "snow", "night"), 36)
    assert set(motions) == {"left", "right", "closer", "still"}
    assert min(motions.values()) >= 36


def test_clips_are_media_without_pages_text_or_slices_that_all_differ(task: Task) -> None:
    assert {(item.text, len(item.slices)) for item in task.items} == {(None, 0)}
    assert {item.media.page for item in task.items if item.media} == {None}
    assert len({item.media.digest for item in task.items if item.media}) == 60


def test_notes_say_what_chance_and_each_channel_can_reach(task: Task, small: Task) -> None:
    numbers = [re.findall(r"\d\.\d{3}", note) for note in task.notes]
    assert numbers == [["0.017", "0.049"], ["0.250", "0.521"], ["0.250", "0.521"], ["1.000", "1.000"]]
    for note, who in zip(task.notes, ("a random order", "a perfect text", "a perfect scene", "who sees"), strict=True):
        assert note.startswith(f"by design, {who}")
        assert note.endswith("on average over the orders of equal scores")
    assert [note.split("hit_rate_at_1 ")[1][:5] for note in small.notes] == ["0.250", "0.500", "0.500", "1.000"]


def test_neither_text_nor_scene_of_a_query_is_enough_to_find_its_clip(task: Task) -> None:
    pairs = [
        query.text.rstrip(".").split("; the sign there reads ") for query in task.queries if query.id.endswith("_q1")
    ]
    assert len({tuple(pair) for pair in pairs}) == 60
    for side in (0, 1):
        assert set(Counter(pair[side] for pair in pairs).values()) == {4}


def test_equal_settings_give_equal_bytes_in_another_process(small: Task, tmp_path: Path) -> None:
    # Two processes at once into one new folder: both must succeed, and leave one folder.
    printed = loaded_by_two("sample_clips", "SampleClips(4, 2, 2, 7)", "cv2", tmp_path)
    assert printed == [[small.fingerprint, "False"]] * 2
    mine = paths(small)[0].parents[1]
    (theirs,) = (tmp_path / "outputs" / "samples").iterdir()
    assert mine.name == theirs.name
    assert contents(mine) == contents(theirs)


@pytest.mark.parametrize("change", [{"clips": 8}, {"clips_a_text": 1}, {"clips_a_scene": 1}, {"seed": 8}])
def test_another_setting_gives_another_folder_and_fingerprint(
    small: Task, place: Path, change: dict[str, int]
) -> None:  # case C01
    other = SampleClips(**{**SMALL, **change}).load(runtime(place))
    assert other.fingerprint != small.fingerprint
    assert not {path.parent for path in paths(other)} & {path.parent for path in paths(small)}


def test_the_second_load_draws_nothing(small: Task, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glyphrank.datasets.sample_clips.write_video", None)
    assert SampleClips(**SMALL).load(runtime(place)) == small


@pytest.mark.parametrize("how", DAMAGES)
def test_a_folder_that_is_not_whole_is_drawn_anew(tmp_path: Path, how: str) -> None:
    sample = SampleClips(**SMALL)
    wanted = sample.load(runtime(tmp_path))
    (folder,) = (tmp_path / "outputs" / "samples").iterdir()
    clip = folder / "media" / "clip1.mp4"
    whole = contents(folder)
    spoil(folder, clip, how, lambda data: data[:-1] + b"x")
    assert sample.load(runtime(tmp_path)) == wanted
    assert contents(folder) == whole
    assert list((tmp_path / "outputs" / "samples").iterdir()) == [folder]


def test_what_dead_processes_left_is_removed_when_it_is_old(tmp_path: Path) -> None:
    samples = tmp_path / "outputs" / "samples"
    old, young, other = samples / ".clips-a", samples / ".clips-b", samples / "mine"
    for path in (old, young, other):
        path.mkdir(parents=True)
        (path / "clip1.mp4").write_bytes(b"half")
    for path in (old, other):
        os.utime(path, (time.time() - 4000, time.time() - 4000))
    SampleClips(**SMALL).load(runtime(tmp_path))
    assert [path.exists() for path in (old, young, other)] == [False, True, True]


def test_a_disk_that_is_full_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # case C04
    def full(path: Path, _: Iterable[UInt8Array]) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("glyphrank.datasets.sample_clips.write_video", full)
    with pytest.raises(DataError, match=r"cannot be written \(No space left on device\); check outputs"):
        SampleClips(**SMALL).load(runtime(tmp_path))
    assert list((tmp_path / "outputs" / "samples").iterdir()) == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((0, 1, 1), "clips is 0; wanted a multiple of clips_a_text, which is 1"),
        ((60, 0, 4), "clips_a_text is 0; wanted at least 1"),
        ((60, 4, -1), "clips_a_scene is -1; wanted at least 1"),
        ((60, 7, 4), "clips is 60; wanted a multiple of clips_a_text, which is 7"),
        ((30, 2, 4), "clips is 30; wanted a multiple of clips_a_scene, which is 4"),
        ((31, 1, 31), "clips is 31 with clips_a_text 1, which takes 31 texts; wanted at most 30"),
        ((26, 2, 1), "clips is 26 with clips_a_scene 1, which takes 26 scenes; wanted at most 25"),
        ((8, 4, 4), "too few for different pairs; wanted at least 16"),
    ],
)
def test_numbers_that_cannot_be_crossed_are_refused(fields: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SampleClips(*fields, seed=7)
