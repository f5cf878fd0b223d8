from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from glyphrank.datasets.media_names import MediaNames, content_of
from glyphrank.digests import digest_file, digest_text
from glyphrank.identity import stamp_of


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def test_find_takes_folders_and_files_of_another_unicode_form(tmp_path: Path) -> None:  # case C07
    file = tmp_path / nfd("한강") / nfd("달리기.mp4")
    file.parent.mkdir()
    file.write_bytes(b"x")
    assert MediaNames(tmp_path).find("한강/달리기.mp4") == file
    assert MediaNames(tmp_path).find("한강/없다.mp4") == file.parent / "없다.mp4"


def test_find_refuses_two_names_that_are_equal_in_nfc(tmp_path: Path) -> None:  # case C07
    for name in ("가.mp4", nfd("가.mp4")):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(ValueError, match=r"path is '가.mp4', which fits 2 names on disk that are equal in NFC .*\\u"):
        MediaNames(tmp_path, "path").find("가.mp4")


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../x", "a/../../x", "a\0b"])
def test_find_refuses_names_that_lead_nowhere_or_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="Kwai_OCR is "):
        MediaNames(tmp_path, "Kwai_OCR").find(name)


def test_content_of_tells_files_from_what_is_missing_or_cannot_be_read(tmp_path: Path) -> None:
    file, pipe = tmp_path / "a", tmp_path / "pipe"
    file.write_bytes(b"x")
    os.mkfifo(pipe)

    def content(path: Path) -> object:
        return content_of(path, "a", digest_file if path != pipe else _refuses)

    assert content(file) == (stamp_of(file), digest_file(file))
    assert content(tmp_path / "b") == (None, digest_text("missing", "a"))
    assert content(pipe) == (None, digest_text("unreadable", "a"))
    assert content(tmp_path / ("x" * 5000)) == (None, digest_text("missing", "a"))


def _refuses(path: Path) -> str:
    raise OSError(f"{path} is no file")
