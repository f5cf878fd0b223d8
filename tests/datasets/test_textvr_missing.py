"""Where TextVR's files may lie, and what becomes of videos that are not there."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from glyphrank.datasets.textvr import Split, TextVr
from glyphrank.datasets.textvr_gallery import Missing
from glyphrank.digests import digest_text
from glyphrank.errors import DataError
from glyphrank.records import Task
from glyphrank.runtime import Runtime
from textvr_miniature import TEST, TRAIN, write_stubs, write_textvr

PATHS = [film.path for film in TEST]


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The miniature, its clips files of a few bytes: nothing looks into them."""
    folder = write_textvr(tmp_path / "textvr", videos=None)
    write_stubs(folder, (*TEST, *TRAIN))
    return folder


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(path.name.encode())
    return path


def load(root: Path, runtime: Runtime, missing: str = "error") -> Task:
    return TextVr(root, Split.test, Missing(missing), 0.5, 7).load(runtime)


def fault(root: Path, runtime: Runtime, missing: str = "error") -> str:
    with pytest.raises(DataError) as caught:
        load(root, runtime, missing)
    return str(caught.value)


def places(task: Task) -> list[Path]:
    return [item.media.path for item in task.items if item.media]


def drop(root: Path, *films: int) -> None:
    for film in films:
        (root / "Videos" / TEST[film].path).unlink()


@pytest.mark.parametrize("name", ["Videos", "Video"])
def test_videos_lie_under_either_name(root: Path, runtime: Runtime, name: str) -> None:
    (root / "Videos").rename(root / name)
    assert places(load(root, runtime)) == [root / name / path for path in PATHS]


def test_videos_may_be_spread_over_both_folders(root: Path, runtime: Runtime) -> None:
    other = root / "Video" / TEST[2].path
    other.parent.mkdir(parents=True)
    (root / "Videos" / TEST[2].path).rename(other)
    assert places(load(root, runtime))[2] == other


def test_a_video_that_stands_in_both_folders_is_a_fault(root: Path, runtime: Runtime) -> None:
    other = put(root / "Video" / TEST[2].path)
    message = fault(root, runtime)
    assert f"record [2], '{TEST[2].path}': stands at '{root / 'Videos' / TEST[2].path}' and at '{other}'" in message
    assert "keep one" in message


def test_two_folders_that_are_one_are_no_fault(root: Path, runtime: Runtime) -> None:
    (root / "Video").symlink_to(root / "Videos")
    assert len(places(load(root, runtime))) == 8


def test_two_names_that_are_equal_in_nfc_are_a_fault(root: Path, runtime: Runtime) -> None:  # case C07
    put(root / "Videos" / unicodedata.normalize("NFD", TEST[6].path))
    message = fault(root, runtime, "keep")
    assert f"record [6], '{TEST[6].path}': path is " in message
    assert "which fits 2 names on disk that are equal in NFC" in message


@pytest.mark.parametrize("name", ["annotations", "Annotations", "TextVR", "TextVR/annotations", "data/TextVR"])
def test_annotation_files_may_lie_a_little_deeper(root: Path, runtime: Runtime, name: str) -> None:
    (root / name).mkdir(parents=True)
    for file in root.glob("*.json"):
        file.rename(root / name / file.name)
    task = load(root, runtime)
    assert len(task.items) == 8
    assert len(task.orders["rand"]) == 8


def test_everything_may_lie_below_a_clone_of_the_repository(root: Path, runtime: Runtime) -> None:
    clone = root.with_name("clone")
    (clone / "data").mkdir(parents=True)
    root.rename(clone / "data" / "TextVR")
    assert places(load(clone, runtime))[0] == clone / "data" / "TextVR" / "Videos" / TEST[0].path


def test_two_annotation_files_of_different_content_are_a_fault(root: Path, runtime: Runtime) -> None:
    twin = root / "annotations" / "TextVR_test.json"
    twin.parent.mkdir()
    twin.write_bytes((root / "TextVR_test.json").read_bytes())
    assert len(load(root, runtime).items) == 8
    twin.write_bytes(b"[]")
    message = fault(root, runtime)
    assert f"TextVR_test.json stands at {root / 'TextVR_test.json'} and at {twin} with different content" in message


def test_a_folder_without_annotations_is_told_what_to_fetch(tmp_path: Path, runtime: Runtime) -> None:
    message = fault(tmp_path, runtime)
    assert "holds no TextVR_test.json" in message
    assert "fetch data/TextVR/TextVR_test.json (0.9 MB) of github.com/callsys/TextVR" in message
    with pytest.raises(DataError, match=r"holds no TextVR_train\.json.*; it comes only with the archive of 5\.4 GB"):
        TextVr(tmp_path, Split.val, Missing.keep, 0.5, 7).load(runtime)


@pytest.mark.parametrize("name", ["nowhere", "textvr/TextVR_test.json", "a\0b"])
def test_a_root_that_is_no_folder_is_refused(root: Path, runtime: Runtime, name: str) -> None:
    assert "check dataset.root" in fault(root.parent / name, runtime)


def test_missing_videos_are_an_error_with_count_names_places_and_what_to_do(root: Path, runtime: Runtime) -> None:
    drop(root, 0, 3)
    first, advice = fault(root, runtime).split("\n")
    assert first == (
        f"{root}/TextVR_test.json: 2 of 8 videos missing: '{PATHS[0]}', '{PATHS[3]}'; looked for in {root}/Videos."
    )
    assert "the archive of 5.4 GB" in advice
    assert "github.com/callsys/TextVR" in advice
    assert "dataset.missing=keep" in advice
    assert "dataset.missing=drop" in advice


def test_ten_missing_videos_are_named_and_the_others_counted(root: Path, runtime: Runtime) -> None:
    records = ", ".join(
        f'{{"path": "Sports/{number}.mp4", "captions_info": [{{"caption": "x"}}], "videos_info": {{}}}}'
        for number in range(13)
    )
    (root / "TextVR_test.json").write_text(f"[{records}]")
    (root / "TextVR_test_rand.json").unlink()
    message = fault(root, runtime)
    assert "13 of 13 videos missing: 'Sports/0.mp4'" in message
    assert "'Sports/9.mp4' and 3 more; looked for" in message


def test_kept_videos_stay_in_the_gallery_with_a_digest_that_says_missing(root: Path, runtime: Runtime) -> None:
    drop(root, 0, 6)
    task = load(root, runtime, "keep")
    assert [item.id for item in task.items] == PATHS
    assert task.tags == {}
    for number in (0, 6):
        media = task.items[number].media
        assert media is not None
        assert media.path == root / "Videos" / PATHS[number]
        assert media.digest == digest_text(digest_text("missing", PATHS[number]), "")
        assert media.stamp is None
    assert task.notes[0] == (
        "2 of 8 videos missing, and kept in the gallery, where channels that look at frames cannot retrieve them: "
        f"'{PATHS[0]}', '{PATHS[6]}'; looked for in {root}/Videos"
    )


def test_keeping_works_without_any_folder_of_videos(tmp_path: Path, runtime: Runtime) -> None:
    task = load(write_textvr(tmp_path / "texts", videos=None), runtime, "keep")
    assert len(task.items) == 8
    assert task.notes[0].endswith("/texts/Videos (or Video), which is not there")


def test_dropped_videos_leave_with_their_captions_and_orders_and_a_tag(root: Path, runtime: Runtime) -> None:
    drop(root, 1, 4)
    task = load(root, runtime, "drop")
    left = [path for number, path in enumerate(PATHS) if number not in (1, 4)]
    assert [item.id for item in task.items] == left
    assert [query.id for query in task.queries] == [f"{path}#0" for path in left]
    assert task.orders["rand"] == tuple(path for path in (*PATHS[3:], *PATHS[:3]) if path in left)
    assert task.tags == {"gallery": "6 of 8 videos: the others are missing and dropped"}
    assert task.notes[0].startswith("2 of 8 videos missing, and dropped with their captions")


@pytest.mark.parametrize("missing", ["error", "keep", "drop"])
def test_where_no_video_is_missing_all_policies_agree(root: Path, runtime: Runtime, missing: str) -> None:
    task = load(root, runtime, missing)
    assert task == load(root, runtime)
    assert task.tags == {}


def test_dropping_all_videos_is_an_error(tmp_path: Path, runtime: Runtime) -> None:
    message = fault(write_textvr(tmp_path / "texts", videos=None), runtime, "drop")
    assert "8 of 8 videos missing" in message
    assert "Nothing is left to rank" in message


@pytest.mark.parametrize("spelled", ["videos", "VIDEO", "Vedios", "Clips", "TextVR_Videos"])
@pytest.mark.parametrize("missing", ["error", "keep"])
def test_a_folder_with_nearly_the_name_is_hinted_at(root: Path, runtime: Runtime, spelled: str, missing: str) -> None:
    (root / "Videos").rename(root / spelled)
    message = fault(root, runtime) if missing == "error" else load(root, runtime, "keep").notes[0]
    assert f"{root}/Videos (or Video), which is not there; {root}/{spelled} is: rename it to Videos" in message


def test_a_scenario_with_nearly_the_name_is_hinted_at(root: Path, runtime: Runtime) -> None:
    (root / "Videos" / "Activity").rename(root / "Videos" / "Activaty")
    assert f"looked for in {root}/Videos; there is no folder Activity but Activaty." in fault(root, runtime)


def test_a_link_that_leads_nowhere_is_a_missing_video_and_a_damaged_file_is_none(root: Path, runtime: Runtime) -> None:
    drop(root, 0, 1, 2)
    (root / "Videos" / PATHS[0]).symlink_to(root / "nowhere")
    (root / "Videos" / PATHS[1]).write_bytes(b"")
    os.mkfifo(root / "Videos" / PATHS[2])
    assert "1 of 8 videos missing" in fault(root, runtime)
    media = [item.media for item in load(root, runtime, "keep").items]
    assert [one is not None and one.stamp is not None for one in media[:3]] == [False, True, False]


@pytest.mark.parametrize("path", ["../a/x.mp4", "/a/x.mp4", "a/../../x.mp4"])
def test_a_path_that_leads_out_of_the_folder_is_a_fault(root: Path, runtime: Runtime, path: str) -> None:
    (root / "TextVR_test_rand.json").unlink()
    text = (root / "TextVR_test.json").read_text()
    (root / "TextVR_test.json").write_text(text.replace(PATHS[0], path))
    message = fault(root, runtime, "keep")
    assert f"record [0], '{path}': path is '{path}'; wanted '<Scenario>/<name>.mp4' as published" in message


@pytest.mark.parametrize("name", ["TextVR_test.json", "TextVR_test_rand.json", "annotations/TextVR_test.json"])
def test_an_annotation_file_that_is_a_link_to_itself_is_named(root: Path, runtime: Runtime, name: str) -> None:
    (root / "annotations").mkdir()
    if name.startswith("annotations"):
        (root / "TextVR_test.json").unlink()
    (root / name).unlink(missing_ok=True)
    (root / name).symlink_to(root / name)
    assert fault(root, runtime) == f"{root / name}: cannot be read (Too many levels of symbolic links)"


def test_one_of_two_annotation_files_that_cannot_be_read_is_named(
    root: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = root / "annotations" / "TextVR_test.json"
    twin.parent.mkdir()
    twin.write_bytes((root / "TextVR_test.json").read_bytes())

    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("glyphrank.identity.digest_file", refuse)
    assert "TextVR_test.json: cannot be read (Permission denied)" in fault(root, runtime)


@pytest.mark.parametrize("name", ["Videos", "Video", "Kwai_VideoOCR", f"Videos/{PATHS[0]}"])
def test_other_links_to_themselves_are_things_that_are_missing(root: Path, runtime: Runtime, name: str) -> None:
    place = root / name
    if place.exists():
        place.rename(root / "away")
    place.symlink_to(place)
    assert len(load(root, runtime, "keep").items) == 8
