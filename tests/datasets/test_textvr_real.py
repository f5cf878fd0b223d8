"""The two published test files of TextVR, as they are."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from glyphrank.datasets.textvr import Split, TextVr
from glyphrank.datasets.textvr_gallery import Missing
from glyphrank.datasets.textvr_records import read_clips
from glyphrank.errors import DataError
from glyphrank.records import Task
from glyphrank.runtime import Runtime

pytestmark = pytest.mark.shared


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def load(root: Path, runtime: Runtime) -> Task:
    return TextVr(root, Split.test, Missing.keep, 0.1, 7).load(runtime)


def about(notes: tuple[str, ...], words: str) -> list[str]:
    return [note for note in notes if words in note]


def test_the_real_test_file_has_the_numbers_that_were_measured(shared_data: Path, runtime: Runtime) -> None:
    task = load(shared_data / "textvr", runtime)
    assert (len(task.items), len(task.queries)) == (2727, 2727)
    groups = [size for size in Counter(query.text for query in task.queries).values() if size > 1]
    assert len({query.text for query in task.queries}) == 2454
    assert (len(groups), sum(groups), max(groups)) == (223, 496, 7)
    assert Counter(item.slices["scenario"] for item in task.items) == {
        **{"Activity": 1244, "Street_View_Indoor": 510, "Street_View_Outdoor": 415, "Driving": 134},
        **{"Sports": 119, "Cooking": 115, "News_Movie": 113, "Games": 77},
    }
    assert len(about(task.notes, "Kwai_OCR names another folder than the scenario in 113 of 2727 records")) == 1
    assert not about(task.notes, "OCR of another video")
    assert {name: len(ids) for name, ids in task.listed.items()} == {
        **{"missing_videos": 2727, "missing_ocr": 2727, "ocr_in_another_folder": 113}
    }
    assert about(task.notes, "there is no folder Kwai_VideoOCR, so that ocr=published cannot read the files that 2727")
    assert max(map(len, task.notes)) < 500
    assert all(item.published_ocr is not None for item in task.items)
    assert about(task.notes, "2727 of 2727 videos missing, and kept in the gallery")


def test_the_gold_column_of_a_real_caption_is_where_the_random_file_has_its_video(
    shared_data: Path, runtime: Runtime
) -> None:
    task = load(shared_data / "textvr", runtime)
    rand = json.loads((shared_data / "textvr" / "TextVR_test_rand.json").read_text())
    column = {path: at for at, path in enumerate(task.orders["rand"])}
    for query in task.queries:
        (gold,) = task.relevant[query.id]
        assert rand[column[gold]]["path"] == gold
    fixed = sum(column[item.id] == at for at, item in enumerate(task.items))
    assert fixed <= 5  # scored as it stands a perfect matrix gives chance level


def test_the_real_random_file_under_the_test_file_s_name_is_refused(
    shared_data: Path, tmp_path: Path, runtime: Runtime
) -> None:
    (tmp_path / "TextVR_test.json").write_bytes((shared_data / "textvr" / "TextVR_test_rand.json").read_bytes())
    with pytest.raises(DataError, match="captions and videos are not paired: 1316 of 2727 captions"):
        load(tmp_path, runtime)


def test_outer_white_space_parts_no_two_real_captions(shared_data: Path) -> None:
    captions = [clip.captions[0] for clip in read_clips(shared_data / "textvr" / "TextVR_test.json")]
    assert sum(caption != caption.strip() for caption in captions) == 1136
    assert len(set(captions)) == len({caption.strip() for caption in captions}) == 2454
