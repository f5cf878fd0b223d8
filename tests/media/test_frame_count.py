from __future__ import annotations

from pathlib import Path

import pytest

from clip_files import ffmpeg, write_clip, write_h264
from glyphrank.media.faults import MediaError
from glyphrank.media.frame_count import declared_frames
from odd_files import odd_file


@pytest.mark.parametrize("count", [1, 2, 24])
def test_the_index_of_a_clip_tells_how_many_frames_it_has(tmp_path: Path, count: int) -> None:
    assert declared_frames(write_clip(tmp_path / "a.mp4", count)) == count


def test_an_index_at_the_front_and_frames_that_are_shown_out_of_order_make_no_difference(tmp_path: Path) -> None:
    clip = write_h264(tmp_path / "a.mp4", 30, "-bf", "2", "-movflags", "+faststart")
    assert declared_frames(clip) == 30


def test_a_clip_in_fragments_and_other_containers_do_not_tell(tmp_path: Path) -> None:
    clip = write_h264(tmp_path / "a.mp4", 12, "-movflags", "+frag_keyframe+empty_moov")
    assert declared_frames(clip) is None
    ffmpeg("-i", clip, "-c", "copy", tmp_path / "a.mkv")
    assert declared_frames(tmp_path / "a.mkv") is None


@pytest.mark.parametrize("content", [b"x", b"\0\0\0\x08moov", b"\0\0\0\x10ftypisom\0\0\0\0", b"not a clip at all" * 99])
def test_what_is_no_clip_tells_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.mp4").write_bytes(content)
    assert declared_frames(tmp_path / "a.mp4") is None


def test_an_index_that_is_cut_off_tells_nothing(tmp_path: Path) -> None:
    whole = write_clip(tmp_path / "a.mp4", 24).read_bytes()
    for length in range(len(whole) - 500, len(whole), 50):
        (tmp_path / "b.mp4").write_bytes(whole[:length])
        assert declared_frames(tmp_path / "b.mp4") in (None, 24)


@pytest.mark.parametrize("kind", ["a directory", "a named pipe", "a device"])
def test_what_is_no_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    with pytest.raises(MediaError, match=kind):
        declared_frames(odd_file(tmp_path / "a.mp4", kind))
    with pytest.raises(MediaError, match="there is no such file"):
        declared_frames(tmp_path / "b.mp4")
