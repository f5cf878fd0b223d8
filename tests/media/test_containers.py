from __future__ import annotations

from pathlib import Path

import pytest

from clip_files import write_clip, write_h264
from glyphrank.media.containers import Container, clip_kind, declared

MP4 = b"\0\0\0\x20ftypisom" + b"\0" * 20


def box(name: bytes, content: bytes) -> bytes:
    return (8 + len(content)).to_bytes(4, "big") + name + content


def track(handler: bytes, codec: bytes, width: int, height: int) -> bytes:
    entry = bytes(24) + width.to_bytes(2, "big") + height.to_bytes(2, "big") + bytes(50)
    table = box(b"stbl", box(b"stsd", bytes(8) + box(codec, entry)))
    return box(b"trak", box(b"mdia", box(b"hdlr", bytes(8) + handler + bytes(12)) + box(b"minf", table)))


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (MP4, "mp4"),
        (b"\0\0\0\x20ftypavif" + b"\0" * 20, None),
        (b"\0\0\0\x20ftypheic" + b"\0" * 20, None),
        (b"\0\0\1\0moov" + b"\0" * 20, "mp4"),
        (b"\x1a\x45\xdf\xa3" + b"\0" * 20, "matroska"),
        (b"RIFF\0\0\0\0AVI LIST", "avi"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio"),
        (b"RIFF\0\0\0\0WEBPVP8 ", None),
        (b"FLV\1", "flv"),
        ((b"\x47" + bytes(187)) * 3, "ts"),
        ((bytes(4) + b"\x47" + bytes(187)) * 2, "ts"),
        (b"\x47just a G", None),
        (b"GIF89a", None),
        (b"#EXTM3U\nhttp://example.org/a.ts", None),
        (b"ffconcat version 1.0\nfile /etc/passwd", None),
        (b"words", None),
        (b"", None),
    ],
)
def test_the_kind_goes_by_the_first_bytes(head: bytes, kind: str | None) -> None:
    assert clip_kind(head[:400]) == kind


def test_an_mp4_declares_its_video_track(tmp_path: Path) -> None:
    index = box(
        b"moov", track(b"soun", b"mp4a", 1, 1) + track(b"vide", b"av01", 640, 360) + track(b"text", b"tx3g", 9, 9)
    )
    (tmp_path / "a.mp4").write_bytes(MP4 + index + box(b"mdat", b"xyz"))
    assert declared(tmp_path / "a.mp4", "mp4") == Container("mp4", "av01", 640, 360, True)


def test_an_mp4_with_sound_alone_declares_no_video(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(MP4 + box(b"moov", track(b"soun", b"mp4a", 1, 1)))
    assert declared(tmp_path / "a.mp4", "mp4") == Container("mp4", None, 0, 0, True)


@pytest.mark.parametrize(
    ("content", "complete"),
    [
        (box(b"moov", b""), True),
        (box(b"moov", b"") + b"\0\0\0\0mdat until the end", True),
        (box(b"moov", b"") + (1).to_bytes(4, "big") + b"mdat" + (19).to_bytes(8, "big") + b"xyz", True),
        (box(b"moov", b"") + (1).to_bytes(4, "big") + b"mdat" + (20).to_bytes(8, "big") + b"xyz", False),
        (box(b"moov", b"") + box(b"mdat", b"x" * 9)[:-1], False),
        (box(b"moov", b"") + b"\0\0\0\1", True),
        (box(b"mdat", b"no index"), False),
        (b"", False),
    ],
)
def test_an_mp4_is_complete_when_its_boxes_end_within_the_file_and_its_index_is_there(
    tmp_path: Path, content: bytes, complete: bool
) -> None:
    (tmp_path / "a.mp4").write_bytes(MP4 + content)
    assert declared(tmp_path / "a.mp4", "mp4").complete is complete


def test_boxes_that_make_no_sense_declare_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(MP4 + box(b"moov", box(b"trak", b"\xff" * 40)))
    assert declared(tmp_path / "a.mp4", "mp4").codec is None


def test_a_matroska_file_declares_its_video_track(tmp_path: Path) -> None:
    path = write_h264(tmp_path / "a.mkv", 4)
    assert declared(path, "matroska") == Container("matroska", "V_MPEG4/ISO/AVC", 160, 96, True)
    path.write_bytes(path.read_bytes()[:-1])
    assert declared(path, "matroska").complete is False


def test_a_live_matroska_stream_without_a_length_is_complete(tmp_path: Path) -> None:
    video = b"\xae\x8b\x83\x81\x01\x86\x86V_TEST"
    content = b"\x1a\x45\xdf\xa3\x80" + b"\x18\x53\x80\x67\x01" + b"\xff" * 7
    (tmp_path / "a.mkv").write_bytes(content + b"\x16\x54\xae\x6b" + bytes([0x80 | len(video)]) + video)
    assert declared(tmp_path / "a.mkv", "matroska") == Container("matroska", "V_TEST", 0, 0, True)


@pytest.mark.parametrize("content", [b"", b"\x1a\x45\xdf\xa3", b"\x1a\x45\xdf\xa3\xff\xff\xff", b"\0" * 50])
def test_a_matroska_file_without_a_segment_is_cut_off(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.mkv").write_bytes(content)
    assert declared(tmp_path / "a.mkv", "matroska").complete is False


def test_an_avi_declares_its_size_and_coding(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.avi", 4)
    assert declared(path, "avi") == Container("avi", "mp4v", 160, 96, True)
    path.write_bytes(path.read_bytes()[:-100])
    assert declared(path, "avi").complete is False
