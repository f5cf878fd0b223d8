"""What is read of TextVR's annotation files, and what is said where they are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glyphrank.datasets.textvr_records import Clip, read_clips
from glyphrank.errors import DataError
from odd_files import odd_file


def record(path: object = "Sports/a.mp4", **fields: Any) -> dict[str, Any]:
    """A record of one caption, some of its fields replaced; those that are `None` are left out."""
    whole = {
        "path": path,
        "captions_info": [{"caption": " They run.", "caption_info": {"duration": 10.0, "desc_id": 1}}],
        "videos_info": {"source": "vitvr_batch1", "split": "test", "Kwai_OCR": "Sports/a.json"},
    }
    return {name: value for name, value in (whole | fields).items() if value is not None}


def duration(value: object) -> dict[str, Any]:
    return {"caption": "x", "caption_info": {"duration": value}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "TextVR_test.json"


def read(file: Path, *records: object) -> list[Clip]:
    file.write_text(json.dumps(records))
    return read_clips(file)


def fault(file: Path, *records: object) -> str:
    with pytest.raises(DataError) as caught:
        read(file, *records)
    return str(caught.value)


def test_a_record_gives_its_path_captions_durations_and_ocr(file: Path) -> None:
    (clip,) = read(file, record())
    assert clip == Clip(0, "Sports/a.mp4", (" They run.",), (10.0,), "Sports/a.json")
    assert (clip.scenario, clip.stem, clip.is_matched) == ("Sports", "a", True)


def test_further_fields_do_not_matter_and_missing_ones_that_nobody_needs_neither(file: Path) -> None:
    captions = [{"caption": "x", "more": 1}, {"caption": "y", "caption_info": {"duration": 0}}]
    (clip,) = read(file, record(captions_info=captions, videos_info={}, more=[1]))
    assert clip == Clip(0, "Sports/a.mp4", ("x", "y"), (None, 0.0), None)


@pytest.mark.parametrize(
    ("ocr", "matched"),
    [("Movie/a.json", True), ("a.json", True), ("Sports/b.json", False), ("Sports/a_1.json", False), (None, True)],
)
def test_ocr_is_matched_by_the_stem_and_not_by_the_folder(file: Path, ocr: str | None, matched: bool) -> None:
    (clip,) = read(file, record(videos_info={"Kwai_OCR": ocr}))
    assert clip.is_matched is matched


def test_stems_are_compared_in_nfc(file: Path) -> None:  # case P04
    (clip,) = read(file, record("Sports/\u1112\u1161\u11ab.mp4", videos_info={"Kwai_OCR": "Sports/한.json"}))
    assert clip.is_matched


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (3, "record [1]: JSON of the type int; wanted an object"),
        (record(None), "record [1]: path is null; wanted text"),
        (record(12), "record [1]: path is 12; wanted text"),
        (record(" "), "record [1], ' ': path is \" \"; wanted text"),
        (record("b.mp4"), "record [1], 'b.mp4': path has no folder; wanted '<Scenario>/<name>.mp4'"),
        *(
            (record(path), f"record [1], {path!r}: path is {path!r}; wanted '<Scenario>/<name>.mp4' as published")
            for path in ("./S/b.mp4", "S//b.mp4", "S/../b.mp4", "../S/b.mp4", "/S/b.mp4", "S/./b.mp4", "S/")
        ),
        *(
            (record("S/b", captions_info=[duration(wrong)]), f"captions_info[0].caption_info.duration is {said}")
            for wrong, said in (
                (10**400, f"1{'0' * 73}...000; wanted a number of seconds"),
                (-(10**400), "-1000"),
                (float("nan"), "NaN; wanted a number of seconds"),
                (float("inf"), "Infinity; wanted a number of seconds"),
            )
        ),
        (record("S/b", captions_info=None), "record [1], 'S/b': captions_info is null; wanted a list of at least one"),
        (record("S/b", captions_info=[]), "captions_info is []; wanted a list of at least one caption"),
        (record("S/b", captions_info={"a": 1}), 'captions_info is {"a": 1}; wanted a list'),
        (record("S/b", captions_info=["x"]), 'captions_info[0] is "x"; wanted an object with a caption'),
        (record("S/b", captions_info=[{"caption": "x"}, {}]), "captions_info[1].caption is null; wanted text"),
        (record("S/b", captions_info=[{"caption": " \n"}]), 'captions_info[0].caption is " \\n"; wanted text'),
        (record("S/b", captions_info=[{"caption": 5}]), "captions_info[0].caption is 5; wanted text"),
        (record("S/b", captions_info=[{"caption": "\ud83d"}]), "holds '\\ud83d', half of a character"),
        (record("S/b", videos_info=None), "videos_info is null; wanted an object with Kwai_OCR"),
        (record("S/b", videos_info={"Kwai_OCR": 1}), "Kwai_OCR is 1; wanted text"),
        (record("S/b", videos_info={"Kwai_OCR": ""}), 'Kwai_OCR is ""; wanted text'),
        (record(), "record [1], 'Sports/a.mp4': the path stands in record [0] already; wanted each video once"),
    ],
)
def test_a_fault_names_the_record_and_its_path(file: Path, wrong: object, said: str) -> None:
    message = fault(file, record(), wrong)
    assert message.startswith(f"{file}: record [1]")
    assert said in message


def test_paths_that_are_equal_in_nfc_stand_twice(file: Path) -> None:  # case P04
    assert "stands in record [0] already" in fault(file, record("S/한.mp4"), record("S/\u1112\u1161\u11ab.mp4"))


@pytest.mark.parametrize(
    ("written", "doubled", "key"),
    [
        ('"path": "Sports/a.mp4"', '"path": "S/other.mp4", "path": "Sports/a.mp4"', "path"),
        ('"videos_info": {', '"videos_info": {}, "videos_info": {', "videos_info"),
        ('"caption": " They run."', '"caption": "They walk.", "caption": " They run."', "caption"),
        ('"duration": 10.0', '"duration": 0, "duration": 10.0', "duration"),
        ('"Kwai_OCR": "Sports/a.json"', '"Kwai_OCR": "Sports/b.json", "Kwai_OCR": "Sports/a.json"', "Kwai_OCR"),
    ],
)
def test_a_key_that_stands_twice_is_a_fault_of_its_record(file: Path, written: str, doubled: str, key: str) -> None:
    whole = json.dumps(record())
    assert written in whole
    file.write_text(f"[{json.dumps(record('S/b.mp4'))}, {whole.replace(written, doubled)}]")
    with pytest.raises(DataError) as caught:
        read_clips(file)
    said = f"record [1], 'Sports/a.mp4': the key '{key}' stands twice in one object; wanted it once"
    assert str(caught.value) == f"{file}: {said}"


def test_a_link_to_itself_is_named(file: Path) -> None:
    file.symlink_to(file)
    with pytest.raises(DataError, match=r"TextVR_test\.json: cannot be read \(Too many levels of symbolic links\)"):
        read_clips(file)


def test_all_faults_are_told_at_once(file: Path) -> None:
    message = fault(file, *[record(f"S/{number}", videos_info=None) for number in range(12)])
    assert f"{file}: 12 faults:" in message
    assert message.endswith("and 2 more")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON (Expecting value: line 1 column 1 (char 0)); wanted a list of records such as"),
        (b"<!DOCTYPE html><html>", "it looks like a web page: fetch the file itself"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "it is a Git LFS pointer"),
        (b'[{"path": ', "not JSON (Expecting value"),
        (b"[" * 100_000, "not JSON (nested too deeply)"),
        (b"[" + b"1" * 5000 + b"]", "not JSON (Exceeds the limit"),
        (b'{"path": 1}', "JSON of the type object; wanted a list of records"),
        (b"[]", "holds no record; wanted a list"),
        (b'["\xff"]', "bytes that are not UTF-8 (invalid start byte)"),
    ],
)
def test_a_file_that_is_no_list_of_records_is_refused(file: Path, content: bytes, said: str) -> None:
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_clips(file)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(file))


@pytest.mark.parametrize("depth", range(960, 1000))
def test_a_value_that_is_nested_nearly_too_deeply_is_a_fault(file: Path, depth: int) -> None:
    file.write_text(f'[{{"path": {"[" * depth}{"]" * depth}}}]')
    with pytest.raises(DataError, match=r"path is \[\[\[|nested too deeply"):
        read_clips(file)


def test_a_byte_order_mark_is_tolerated(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps([record()]).encode())
    assert len(read_clips(file)) == 1


@pytest.mark.parametrize("kind", ["a directory", "a named pipe", "a device"])
def test_what_is_no_file_is_not_opened(file: Path, kind: str) -> None:
    odd_file(file, kind)
    with pytest.raises(DataError, match=rf"cannot be read \({kind}\)"):
        read_clips(file)
