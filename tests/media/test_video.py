from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from clip_files import ffmpeg, frames_by_ffmpeg, number_in, taking, write_clip, write_h264
from glyphrank.errors import ConfigError
from glyphrank.media import video
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.sampling import Fps
from glyphrank.media.video import sample

pytest.importorskip("decord")


def test_the_frames_at_the_middles_are_taken_with_their_times(tmp_path: Path) -> None:
    frames = sample(write_clip(tmp_path / "a.mp4", 20), taking(4))
    assert [number_in(image) for image in frames.images] == [2, 7, 12, 17]
    assert frames.times == (0.2, 0.7, 1.2, 1.7)
    assert {image.shape for image in frames.images} == {(96, 160, 3)}


@pytest.mark.parametrize("asked", [8, 13])
@pytest.mark.parametrize("n", [1, 3, 15])
def test_short_clips_give_each_frame_at_most_once(tmp_path: Path, n: int, asked: int) -> None:  # case V07
    found = [number_in(image) for image in sample(write_clip(tmp_path / "a.mp4", n), taking(asked)).images]
    assert found == [(2 * i + 1) * n // (2 * asked) for i in range(asked)] if n > asked else found == list(range(n))


def test_one_frame_a_second_goes_by_the_clips_times(tmp_path: Path) -> None:
    frames = sample(write_clip(tmp_path / "a.mp4", 35), Fps(1.0, 64, 1600, 10**6))
    assert [number_in(image) for image in frames.images] == [0, 10, 20, 30]
    assert frames.times == (0.0, 1.0, 2.0, 3.0)


def test_frames_are_reduced_to_the_long_side(tmp_path: Path) -> None:
    frames = sample(write_clip(tmp_path / "a.mp4", 3), taking(2, long_side=80))
    assert frames.images[0].shape == (48, 80, 3)


def test_a_clip_over_the_budget_is_refused_by_what_it_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case E13
    monkeypatch.setattr(video, "_opened", lambda *_: pytest.fail("the clip was opened"))
    with pytest.raises(MediaError, match=r"^a\.mp4: has 15360 pixels, wanted at most 15359; ") as caught:
        sample(write_clip(tmp_path / "a.mp4", 3), taking(2, most_pixels=15_359))
    assert caught.value.fault is MediaFault.too_large


def test_a_clip_that_declares_no_size_is_held_to_the_budget_by_its_frames(tmp_path: Path) -> None:
    write_h264(tmp_path / "a.flv", 5)
    with pytest.raises(MediaError, match="has 15360 pixels, wanted at most 15359"):
        sample(tmp_path / "a.flv", taking(2, most_pixels=15_359))
    assert len(sample(tmp_path / "a.flv", taking(2, most_pixels=15_360)).images) == 2


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize(("width", "height"), [(320, 240), (64, 48), (48, 64), (32, 24), (16, 32)])
def test_frames_stand_upright_by_the_clips_rotation(
    tmp_path: Path, rotation: int, width: int, height: int
) -> None:  # case V05
    source = f"testsrc=duration=0.5:size={width}x{height}:rate=10"
    ffmpeg("-f", "lavfi", "-i", source, "-c:v", "libx264", "-pix_fmt", "yuv420p", tmp_path / "plain.mp4")
    ffmpeg("-i", tmp_path / "plain.mp4", "-c", "copy", "-metadata:s:v:0", f"rotate={rotation}", tmp_path / "a.mp4")
    if rotation in (90, 270):
        width, height = height, width
    expected = frames_by_ffmpeg(tmp_path / "a.mp4", width, height)
    frames = sample(tmp_path / "a.mp4", taking(5))
    assert [image.shape for image in frames.images] == [(height, width, 3)] * 5
    difference = np.abs(np.stack(frames.images).astype(int) - expected)
    assert difference.mean() < 4  # the two scale colours differently
    assert np.abs(np.stack(frames.images)[:, ::-1, ::-1].astype(int) - expected).mean() > 20


def test_a_clip_cut_with_stream_copy_shows_its_visible_part_alone(tmp_path: Path) -> None:  # case V15
    write_h264(tmp_path / "in.mp4", 420, "-g", "250")
    ffmpeg("-ss", "4.3", "-i", tmp_path / "in.mp4", "-t", "5", "-c", "copy", tmp_path / "cut.mp4")
    visible = [number_in(frame) for frame in frames_by_ffmpeg(tmp_path / "cut.mp4", 160, 96)]
    assert visible[:2] == [129, 130]
    assert len(set(visible)) == len(visible) > 140
    frames = sample(tmp_path / "cut.mp4", taking(16))
    found = [number_in(image) for image in frames.images]
    assert found == [visible[(2 * i + 1) * len(visible) // 32] for i in range(16)]
    assert frames.times is not None
    assert np.abs(np.array(frames.times) - (np.array(found) - 129) / 30).max() < 0.07


@pytest.mark.parametrize("name", ["a.mkv", "a.flv", "a.avi"])
def test_other_containers_give_the_same_frames(tmp_path: Path, name: str) -> None:
    write_h264(tmp_path / name, 60, "-bf", "0", "-g", "12")
    frames = sample(tmp_path / name, taking(4))
    assert [number_in(image) for image in frames.images] == [7, 22, 37, 52]
    assert np.abs(np.array(frames.times) - np.array([7, 22, 37, 52]) / 30).max() < 0.002


@pytest.mark.parametrize("size", ["320x180", "64x48", "200x200"])
@pytest.mark.parametrize("name", ["a.ts", "a.mpg"])
def test_streams_show_the_right_frames_or_fail_by_name(tmp_path: Path, name: str, size: str) -> None:
    source = f"testsrc=duration=8:size={size}:rate=30"
    ffmpeg("-f", "lavfi", "-i", source, "-g", "100", "-pix_fmt", "yuv420p", tmp_path / name)
    width, height = map(int, size.split("x"))
    expected = frames_by_ffmpeg(tmp_path / name, width, height)[20::40]
    with suppress(MediaError):
        assert np.abs(np.stack(sample(tmp_path / name, taking(6)).images).astype(int) - expected).mean() < 4


CODINGS = {
    "closed groups": ("-g", "15", "-bf", "3"),
    "open groups": ("-x264-params", "open-gop=1:keyint=15:min-keyint=15:bframes=3:b-adapt=0:scenecut=0"),
    "gradual refresh": ("-x264-params", "intra-refresh=1:keyint=20:bframes=0"),
    "HEVC": ("-c:v", "libx265", "-x265-params", "keyint=20:log-level=error"),
    "HEVC, closed groups": ("-c:v", "libx265", "-x265-params", "keyint=20:open-gop=0:log-level=error"),
    "MPEG-4": ("-c:v", "mpeg4", "-bf", "2", "-g", "15", "-q:v", "2"),
    "MPEG-2": ("-c:v", "mpeg2video", "-bf", "2", "-g", "15", "-q:v", "2"),
    "MJPEG": ("-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-q:v", "2"),
    "VP9": ("-c:v", "libvpx-vp9", "-g", "15", "-b:v", "400k", "-cpu-used", "8"),
}


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv"])
@pytest.mark.parametrize("coding", CODINGS)
def test_the_right_frames_are_taken_of_every_coding(tmp_path: Path, coding: str, name: str) -> None:  # case V15
    write_h264(tmp_path / name, 100, *CODINGS[coding])
    for count in (1, 4, 9):
        frames = sample(tmp_path / name, taking(count))
        wanted = [(2 * i + 1) * 100 // (2 * count) for i in range(count)]
        assert [number_in(image) for image in frames.images] == wanted
        assert np.abs(np.array(frames.times) - np.array(wanted) / 30).max() < 0.002


@pytest.mark.parametrize(("coding", "before"), [("MPEG-4", "a.avi"), ("MPEG-2", "a.m2v")])
@pytest.mark.parametrize("name", ["b.mp4", "b.mov"])
def test_the_right_frames_are_taken_where_a_copy_has_lost_the_times(
    tmp_path: Path, coding: str, before: str, name: str
) -> None:  # case V15
    write_h264(tmp_path / before, 100, *CODINGS[coding])
    ffmpeg("-i", tmp_path / before, "-c", "copy", tmp_path / name)
    frames = sample(tmp_path / name, taking(9))
    wanted = [(2 * i + 1) * 100 // 18 for i in range(9)]
    assert [number_in(image) for image in frames.images] == wanted


def noting(name: str, calls: list[str], function: Callable[..., object]) -> Callable[..., object]:
    def called(*given: object) -> object:
        calls.append(name)
        return function(*given)

    return called


@pytest.mark.parametrize(
    ("coding", "name", "sought"),
    [
        ("closed groups", "a.mp4", True),
        ("HEVC, closed groups", "a.mp4", True),
        ("MJPEG", "a.mp4", False),
        ("VP9", "a.mkv", True),
        ("open groups", "a.mp4", False),
        ("gradual refresh", "a.mp4", False),
        ("HEVC", "a.mp4", False),
        ("MPEG-4", "a.mp4", False),
        ("closed groups", "a.mkv", False),
    ],
)
def test_clips_are_sought_in_where_the_container_proves_it_right_and_decoded_once_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, coding: str, name: str, sought: bool
) -> None:
    calls: list[str] = []
    for function in ("_opened", "_by_seeking", "_in_order"):
        monkeypatch.setattr(video, function, noting(function, calls, getattr(video, function)))
    write_h264(tmp_path / name, 60, *CODINGS[coding])
    sample(tmp_path / name, taking(4))
    assert calls == ["_opened", "_by_seeking" if sought else "_in_order"]


def test_seeking_and_counting_take_the_same_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_h264(tmp_path / "a.mp4", 100, "-g", "15", "-bf", "3")
    sought = sample(tmp_path / "a.mp4", taking(9))
    monkeypatch.setattr(video, "_by_seeking", lambda *_: None)
    counted = sample(tmp_path / "a.mp4", taking(9))
    assert sought.times == counted.times
    assert np.array_equal(sought.images, counted.images)


MATRICES = [(-1, 0, 0, 1), (1, 0, 0, -1), (0, 1, 1, 0), (0, -1, -1, 0), (0, 1, -1, 0), (-1, 0, 0, -1), (2, 0, 0, 2)]


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("header", ["tkhd", "mvhd"])
def test_a_mirrored_clip_is_mirrored(tmp_path: Path, header: str, matrix: tuple[int, ...]) -> None:  # case V05
    source = "testsrc=duration=0.5:size=64x48:rate=10"
    ffmpeg("-f", "lavfi", "-i", source, "-c:v", "libx264", "-pix_fmt", "yuv420p", tmp_path / "a.mp4")
    data = bytearray((tmp_path / "a.mp4").read_bytes())
    at = data.index(header.encode()) + (44 if header == "tkhd" else 40)
    a, b, c, d = (65536 * value for value in matrix)
    data[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    (tmp_path / "a.mp4").write_bytes(data)
    width, height = (48, 64) if a == 0 else (64, 48)
    expected = frames_by_ffmpeg(tmp_path / "a.mp4", width, height)
    frames = sample(tmp_path / "a.mp4", taking(5))
    assert np.abs(np.stack(frames.images).astype(int) - expected).mean() < 4


@pytest.mark.parametrize("order", [("flat.mp4", "busy.mp4"), ("busy.mp4", "flat.mp4")])
def test_of_two_videos_in_a_file_the_one_that_is_played_is_held_to_the_budget(
    tmp_path: Path, order: tuple[str, str]
) -> None:  # case E13
    for name, source in (("flat.mp4", "color=red:size=320x240"), ("busy.mp4", "testsrc2=size=160x96")):
        ffmpeg("-f", "lavfi", "-i", f"{source}:duration=2", "-c:v", "libx264", "-pix_fmt", "yuv420p", tmp_path / name)
    first, second = (tmp_path / name for name in order)
    ffmpeg("-i", first, "-i", second, "-map", "0", "-map", "1", "-c", "copy", tmp_path / "a.mp4")
    frames = sample(tmp_path / "a.mp4", taking(2, most_pixels=15_360))
    assert [image.shape for image in frames.images] == [(96, 160, 3)] * 2


class Careless:
    """A sampler that does not keep its promise."""

    long_side, most_pixels = 1600, 10**6

    def __init__(self, *places: int) -> None:
        self._places = places

    def places(self, times: object) -> list[int]:
        return [1 // place if place < -1 else place for place in self._places]


@pytest.mark.parametrize("places", [(), (1, 0), (0, 0), (-1,), (5,)])
def test_places_that_a_sampler_may_not_take_are_a_fault_of_the_sampler(tmp_path: Path, places: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match=r"Careless took .* of 5 frames; wanted ascending places below 5"):
        sample(write_clip(tmp_path / "a.mp4", 5), Careless(*places))


def test_a_machine_without_decord_is_told_what_is_missing_and_what_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "decord", None)
    video._quiet_decord.cache_clear()
    with pytest.raises(MediaError, match=r"^a\.mp4: .*pip install decord.*x86-64 Linux and Windows") as caught:
        sample(write_clip(tmp_path / "a.mp4", 3), taking(1))
    assert caught.value.fault is MediaFault.no_decoder
