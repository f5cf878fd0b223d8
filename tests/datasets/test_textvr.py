"""TextVR as a task: ids, captions, splits, the second order, and OCR files."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glyphrank.datasets.textvr import Split, TextVr
from glyphrank.datasets.textvr_gallery import Missing
from glyphrank.digests import digest_file, digest_text
from glyphrank.errors import DataError
from glyphrank.records import Media, Task
from glyphrank.runtime import Runtime
from textvr_miniature import TEST, TRAIN, write_textvr


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The miniature with its clips; no test changes it."""
    return write_textvr(tmp_path_factory.mktemp("textvr") / "whole")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The miniature without clips, for a test to change."""
    return write_textvr(tmp_path / "textvr", videos=None)


def load(root: Path, runtime: Runtime, split: Split = Split.test, **fields: Any) -> Task:
    settings: dict[str, Any] = {"missing": Missing.keep, "val_share": 0.5, "val_seed": 7} | fields
    return TextVr(root, split, **settings).load(runtime)


def fault(root: Path, runtime: Runtime, split: Split = Split.test, **fields: Any) -> str:
    with pytest.raises(DataError) as caught:
        load(root, runtime, split, **fields)
    return str(caught.value)


def change(path: Path, alter: Callable[[list[Any]], object]) -> None:
    """Alters the records of an annotation file."""
    records = json.loads(path.read_text())
    alter(records)
    path.write_text(json.dumps(records))


def about(notes: tuple[str, ...], words: str) -> list[str]:
    return [note for note in notes if words in note]


def test_items_are_videos_with_their_path_as_id(published: Path, runtime: Runtime) -> None:
    task = load(published, runtime, missing=Missing.error)
    assert task.name == "textvr/test"
    assert [item.id for item in task.items] == [film.path for film in TEST]
    assert {item.text for item in task.items} == {None}
    assert [item.slices["scenario"] for item in task.items] == [film.path.split("/")[0] for film in TEST]
    for item in task.items:
        assert item.media is not None
        assert item.media.path.is_file()
        assert item.media.digest == digest_text(digest_file(item.media.path), "")
        assert item.media.stamp is not None


def test_queries_are_captions_without_outer_white_space_each_with_its_own_video(
    published: Path, runtime: Runtime
) -> None:
    task = load(published, runtime)
    assert [query.id for query in task.queries] == [f"{film.path}#0" for film in TEST]
    assert task.queries[1].text == task.queries[2].text == "They keep running in the background."
    assert task.queries[7].text == "The screen says GAME OVER after LEVEL SEVEN."
    assert task.relevant == {f"{film.path}#0": {film.path: 1.0} for film in TEST}
    assert {query.slices["scenario"] for query in task.queries} == {film.path.split("/")[0] for film in TEST}


def test_several_captions_of_a_video_are_numbered_from_0(folder: Path, runtime: Runtime) -> None:  # case M10
    task = load(folder, runtime, Split.train, val_share=0)
    assert Counter(len(film.captions) for film in TRAIN) == Counter(
        Counter(query.id.rpartition("#")[0] for query in task.queries).values()
    )
    own = [query.text for query in task.queries if query.id.startswith(TRAIN[2].path)]
    assert own == ["The lift goes to PLATFORM TWO.", "A lift.", "They wait at PLATFORM TWO.", "A lift."]
    assert task.relevant[f"{TRAIN[2].path}#3"] == {TRAIN[2].path: 1.0}


def test_names_in_nfd_on_disk_are_found_and_ids_stay_as_published(
    published: Path, runtime: Runtime
) -> None:  # case C07
    item = load(published, runtime, missing=Missing.error).items[6]
    assert item.id == "Sports/한강 달리기_00010_00020.mp4"
    assert item.media is not None
    assert isinstance(item.published_ocr, Media)
    for path in (item.media.path, item.published_ocr.path):
        assert path.is_file()
        assert path.name != unicodedata.normalize("NFC", path.name)


def test_the_order_of_the_random_file_is_that_of_a_matrix_whose_gold_is_found_by_path(
    folder: Path, runtime: Runtime
) -> None:
    task = load(folder, runtime)
    assert task.orders == {"rand": tuple(film.path for film in (*TEST[3:], *TEST[:3]))}


def test_without_the_random_file_there_is_no_such_order(folder: Path, runtime: Runtime) -> None:
    (folder / "TextVR_test_rand.json").unlink()
    assert load(folder, runtime).orders == {}


def test_a_copy_of_the_test_file_in_place_of_the_random_one_gives_no_order_and_a_note(
    folder: Path, runtime: Runtime
) -> None:
    (folder / "TextVR_test_rand.json").write_bytes((folder / "TextVR_test.json").read_bytes())
    task = load(folder, runtime)
    assert task.orders == {}
    assert about(task.notes, "it is a copy of it, so the order 'rand' of a competition's matrix is not known")


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (lambda records: records.pop(), "wanted the 8 captions of TextVR_test.json in its order; 7 are here"),
        (list.reverse, "caption 0 is '  The screen says GAME OVER after LEVEL SEVEN.', there 'The shop"),
        (
            lambda records: records[2].update(path="S/other.mp4"),
            "wanted the 8 videos of TextVR_test.json in another order; 1 are not, such as record [2], 'S/other.mp4'",
        ),
    ],
)
def test_a_random_file_of_other_captions_or_videos_is_refused(
    folder: Path, runtime: Runtime, alter: Callable[[list[Any]], object], said: str
) -> None:
    change(folder / "TextVR_test_rand.json", alter)
    assert said in fault(folder, runtime)


def test_a_test_file_whose_captions_are_not_paired_is_refused(folder: Path, runtime: Runtime) -> None:
    def many(records: list[Any], shift: int) -> None:
        twins = [
            record | {"path": f"{record['path']}{copy}", "videos_info": {}} for copy in range(4) for record in records
        ]
        paths = [twin["path"] for twin in twins]
        records[:] = [twin | {"path": path} for twin, path in zip(twins, paths[shift:] + paths[:shift], strict=True)]

    (folder / "TextVR_test_rand.json").unlink()
    change(folder / "TextVR_test.json", lambda records: many(records, 0))
    assert len(load(folder, runtime).items) == 32
    change(folder / "TextVR_test.json", lambda records: many(records, 5))
    assert "TextVR_test.json: captions and videos are not paired: " in fault(folder, runtime)


def test_ocr_is_the_file_that_the_record_names_whatever_its_folder(published: Path, runtime: Runtime) -> None:
    task = load(published, runtime)
    for item, film in zip(task.items, TEST, strict=True):
        assert isinstance(item.published_ocr, Media)
        parts = item.published_ocr.path.relative_to(published / "Kwai_VideoOCR").parts
        assert unicodedata.normalize("NFC", "/".join(parts)) == film.kwai
        assert item.published_ocr.path.is_file() == (film.ocr != "absent")
        assert (item.published_ocr.stamp is None) == (film.ocr == "absent")
    assert task.notes == (
        "TextVR_test.json: Kwai_OCR names a file below Kwai_VideoOCR that is not there in 1 of 8 records, which "
        f"ocr=published cannot read: 'Cooking/b_uK tart_3.mp4'; looked for in {published.resolve()}/Kwai_VideoOCR",
        "TextVR_test.json: Kwai_OCR names another folder than the scenario in 1 of 8 records, where it is used as it "
        "is: 'News_Movie/kL9_mN0pQ1r_00045_00055.mp4'",
    )


def test_ocr_of_another_video_is_left_out_and_noted(folder: Path, runtime: Runtime) -> None:  # case P02
    def alter(records: list[Any]) -> None:
        records[0]["videos_info"]["Kwai_OCR"] = TEST[7].kwai
        records[1]["videos_info"].pop("Kwai_OCR")

    change(folder / "TextVR_test.json", alter)
    task = load(folder, runtime)
    assert [item.published_ocr is None for item in task.items] == [True, True] + [False] * 6
    assert task.listed["ocr_of_another_video"] == (TEST[0].path,)
    assert task.listed["ocr_not_named"] == (TEST[1].path,)
    assert about(task.notes, f"Kwai_OCR is not given in 1 of 8 records, which have no published OCR: '{TEST[1].path}'")
    assert about(
        task.notes, f"names the OCR of another video in 1 of 8 records, where it is left out: '{TEST[0].path}'"
    )


def test_a_file_most_of_whose_ocr_is_of_other_videos_is_refused(tmp_path: Path, runtime: Runtime) -> None:
    root = write_textvr(tmp_path / "first", mismatched=True, videos=None)
    message = fault(root, runtime)
    assert message.startswith(f"{root.resolve()}/TextVR_test.json: 8 of 8 records name the OCR of another video: ")
    assert f"Kwai_OCR of record [0], '{TEST[0].path}' is '{TEST[3].kwai}'" in message
    assert "The first release of TextVR_test.json had this fault in 2725 of 2727 records; fetch the current" in message


@pytest.mark.parametrize(("wrong", "refused"), [(4, False), (5, True)])
def test_half_of_the_ocr_may_be_of_other_videos(folder: Path, runtime: Runtime, wrong: int, refused: bool) -> None:
    def alter(records: list[Any]) -> None:
        for record in records[:wrong]:
            record["videos_info"]["Kwai_OCR"] = "Sports/other.json"

    change(folder / "TextVR_test.json", alter)
    if refused:
        assert "5 of 8 records" in fault(folder, runtime)
    else:
        assert len(load(folder, runtime).items) == 8


def test_the_fingerprint_depends_on_captions_videos_and_ocr_and_not_on_the_place(
    folder: Path, published: Path, runtime: Runtime, tmp_path: Path
) -> None:
    first = load(folder, runtime).fingerprint
    assert load(write_textvr(tmp_path / "twin", videos=None), runtime).fingerprint == first
    assert load(published, runtime).fingerprint != first
    (folder / "Kwai_VideoOCR" / TEST[0].kwai).write_text("{}")
    second = load(folder, runtime).fingerprint
    change(folder / "TextVR_test.json", lambda records: records[0]["captions_info"][0].update(caption="x"))
    (folder / "TextVR_test_rand.json").unlink()
    assert len({first, second, load(folder, runtime).fingerprint}) == 3


def test_val_and_train_part_the_train_file_by_source_video_and_say_so(folder: Path, runtime: Runtime) -> None:
    val, train = (load(folder, runtime, split) for split in (Split.val, Split.train))
    assert [item.id for item in val.items] == [film.path for film in (*TRAIN[:6], TRAIN[9])]
    assert [item.id for item in train.items] == [film.path for film in TRAIN[6:9]]
    start = (
        "TextVR has no published validation split: val is 0.5 of the source videos of TextVR_train.json (val_seed 7)"
    )
    assert val.notes[0] == f"{start}, train the others; val has 7 of the 10 clips, from 3 of 5 videos"
    assert train.notes[0] == f"{start}, train the others; train has 3 of the 10 clips, from 2 of 5 videos"
    assert val.fingerprint != train.fingerprint
    assert (val.orders, train.orders) == ({}, {})


def test_val_does_not_depend_on_the_order_of_the_file(folder: Path, runtime: Runtime) -> None:
    before = {item.id for item in load(folder, runtime, Split.val).items}
    change(folder / "TextVR_train.json", list.reverse)
    assert {item.id for item in load(folder, runtime, Split.val).items} == before
    assert {item.id for item in load(folder, runtime, Split.val, val_seed=1).items} != before


def test_with_a_share_of_0_train_is_the_whole_file_and_nothing_is_said(folder: Path, runtime: Runtime) -> None:
    task = load(folder, runtime, Split.train, val_share=0)
    assert len(task.items) == 10
    assert not about(task.notes, "validation")


def test_a_split_without_a_clip_is_an_error(folder: Path, runtime: Runtime) -> None:
    message = fault(folder, runtime, Split.val, val_share=0.01)
    assert "none of the 10 clips is in val, with val_share 0.01 and val_seed 7; change one of them" in message


@pytest.mark.parametrize(("share", "split"), [(-0.1, "test"), (1.0, "train"), (float("nan"), "test"), (0.0, "val")])
def test_a_share_out_of_range_is_refused(share: float, split: str) -> None:
    with pytest.raises(ValueError, match=r"val_share is .*; wanted"):
        TextVr(Path("x"), Split(split), Missing.error, share, 7)
