"""What is said of TextVR's OCR files where they are not there, and which items are listed as odd."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from glyphrank.datasets.textvr import Split, TextVr
from glyphrank.datasets.textvr_gallery import Missing
from glyphrank.records import Task
from glyphrank.runtime import Runtime
from textvr_miniature import TEST, write_stubs, write_textvr

PATHS = [film.path for film in TEST]


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The miniature, its clips files of a few bytes: nothing looks into them."""
    folder = write_textvr(tmp_path / "textvr", videos=None)
    write_stubs(folder, TEST)
    return folder


def put(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(path.name.encode())


def load(root: Path, runtime: Runtime, missing: str = "error") -> Task:
    return TextVr(root, Split.test, Missing(missing), 0.5, 7).load(runtime)


def test_ocr_that_is_wholly_absent_is_said_clearly_with_what_to_fetch(root: Path, runtime: Runtime) -> None:
    shutil.rmtree(root / "Kwai_VideoOCR")
    task = load(root, runtime)
    assert task.notes[0] == (
        "TextVR_test.json: there is no folder Kwai_VideoOCR, so that ocr=published cannot read the files that 8 of 8 "
        f"records name: looked for in {root}/Kwai_VideoOCR, which is not there; fetch the archive of 5.4 GB (resized "
        "videos, annotations, OCR) that the README of github.com/callsys/TextVR links, or check dataset.root"
    )
    assert task.listed["missing_ocr"] == tuple(PATHS)


@pytest.mark.parametrize("spelled", ["Kwai_Video_OCR", "Kwai_OCR", "kwai_videoocr", "OCR", "Kwai_VideosOCR"])
def test_a_folder_of_ocr_with_nearly_the_name_is_hinted_at(root: Path, runtime: Runtime, spelled: str) -> None:
    (root / "Kwai_VideoOCR").rename(root / spelled)
    hint = f"{root}/Kwai_VideoOCR, which is not there; {root}/{spelled} is: rename it to Kwai_VideoOCR"
    assert load(root, runtime).notes[0].endswith(hint)


def test_a_folder_within_that_of_the_ocr_with_nearly_the_name_is_hinted_at(root: Path, runtime: Runtime) -> None:
    (root / "Kwai_VideoOCR" / "Activity").rename(root / "Kwai_VideoOCR" / "Activaty")
    assert load(root, runtime).notes[0] == (
        "TextVR_test.json: Kwai_OCR names a file below Kwai_VideoOCR that is not there in 3 of 8 records, which "
        f"ocr=published cannot read: '{PATHS[1]}', '{PATHS[2]}', '{PATHS[5]}'; looked for in {root}/Kwai_VideoOCR; "
        "there is no folder Activity but Activaty"
    )


def test_all_ids_that_are_odd_are_listed_and_three_of_them_named(root: Path, runtime: Runtime) -> None:
    for film in (0, 1, 2, 6):
        (root / "Videos" / PATHS[film]).unlink()
    (root / "Kwai_VideoOCR" / TEST[7].kwai).unlink()
    whole = load(root, runtime, "keep")
    assert whole.listed == {
        "missing_videos": (PATHS[0], PATHS[1], PATHS[2], PATHS[6]),
        "missing_ocr": (PATHS[5], PATHS[7]),
        "ocr_in_another_folder": (PATHS[3],),
    }
    assert f"'{PATHS[2]}' and 1 more; looked for" in whole.notes[0]
    assert load(root, runtime, "drop").listed == whole.listed


def test_what_is_not_odd_is_not_listed(root: Path, runtime: Runtime) -> None:
    put(root / "Kwai_VideoOCR" / TEST[5].kwai)
    assert load(root, runtime).listed == {"ocr_in_another_folder": (PATHS[3],)}
