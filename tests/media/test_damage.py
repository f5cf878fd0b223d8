from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from clip_files import ffmpeg, frames_by_ffmpeg, number_in, taking, write_h264
from glyphrank.media.damage import heard
from glyphrank.media.decoder import Decoder, Look
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.video import sample
from glyphrank.records import Media


def damage_of(*lines: str) -> str | None:
    with heard(lambda level: None, 32, -8) as damage:
        for line in lines:
            os.write(2, line.encode() + b"\n")
        return damage()


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "[h264 @ 0x55d0] error while decoding MB 7 0, bytestream 3402",
            "error while decoding MB 7 0, bytestream 3402",
        ),
        ("[h264 @ 0x55d0] concealing 18 DC, 18 AC, 18 MV errors in P frame", "concealing 18 DC, 18 AC, 18 MV errors"),
        ("[hevc @ 0x55d0] Invalid NAL unit size (9 > 4).", "Invalid NAL unit size (9 > 4)."),
        ("[mpeg4 @ 0x55d0] P cbpy damaged at 19 13", "P cbpy damaged at 19 13"),
        ("[mjpeg @ 0x55d0] error count: 64", "error count: 64"),
        ("[png @ 0x55d0] inflate returned error -3", "inflate returned error -3"),
        ("[h264 @ 0x55d0] mmco: unref short failure", None),
        ("[h264 @ 0x55d0] Missing reference picture, default is 65536", None),
        (
            "[h264 @ 0x55d0] number of reference frames (0+4) exceeds max (3; probably corrupt input), discarding one",
            None,
        ),
        ("[mjpeg @ 0x55d0] overread 8", None),
        ("[mov,mp4,m4a,3gp,3g2,mj2 @ 0x55d0] stream 1: the index is damaged", None),
        ("a log says that a parcel was damaged", None),
    ],
)
def test_what_decoders_say_of_damage_is_told_from_their_chatter(line: str, cause: str | None) -> None:
    found = damage_of("[h264 @ 0x1] nothing in particular", line)
    assert found is None if cause is None else found is not None and found.startswith(cause)


def test_the_first_message_is_the_cause() -> None:
    first, second = "[h264 @ 0x1] corrupted macroblock 1 2", "[h264 @ 0x1] error while decoding MB 1 2"
    assert damage_of(first, second) == "corrupted macroblock 1 2"


def test_what_others_write_to_standard_error_gets_there_and_the_libraries_lines_do_not(
    capfd: pytest.CaptureFixture[str],
) -> None:
    damage_of("ours", "[h264 @ 0x1] mmco: unref short failure", "[23:33:20] /src/video_reader.cc:83: ERROR", "ours too")
    os.write(2, b"and then\n")
    assert capfd.readouterr().err == "ours\nours too\nand then\n"


def test_the_level_is_raised_for_the_time_and_lowered_again_after_a_failure() -> None:
    levels: list[int] = []
    with pytest.raises(KeyError), heard(levels.append, 32, -8):
        raise KeyError
    assert levels == [32, -8]


def test_standard_error_may_be_closed() -> None:
    before = os.dup(2)
    os.close(2)
    try:
        assert damage_of("[flv @ 0x1] header damaged") == "header damaged"
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.write(2, b"x")
    finally:
        os.dup2(before, 2)
        os.close(before)


def changed(path: Path, seed: int, length: int) -> None:
    """Overwrites some bytes in the first half of the stream."""
    data = bytearray(path.read_bytes())
    chance = np.random.default_rng(seed)
    start = data.index(b"mdat") + 1000 if path.suffix == ".mp4" else len(data) // 5
    at = start + int(chance.integers(0, len(data) // 2 - start))
    data[at : at + length] = chance.bytes(length)
    path.write_bytes(data)


def ffmpeg_conceals(path: Path) -> bool:
    """Whether the ffmpeg command says so."""
    command = shutil.which("ffmpeg") or "ffmpeg"
    options = ["-v", "info", "-threads", "1", "-i", str(path), "-f", "null", "-"]
    return b"concealing" in subprocess.run([command, *options], capture_output=True, check=False, timeout=60).stderr


@pytest.mark.parametrize("name", ["a.mp4", "a.avi"])
@pytest.mark.parametrize("length", [1, 8, 60])
def test_damage_that_ffmpeg_conceals_fails_by_name(tmp_path: Path, name: str, length: int) -> None:  # case V02
    pytest.importorskip("decord")
    source, path = "testsrc=duration=4:size=320x240:rate=15", tmp_path / name
    ffmpeg("-f", "lavfi", "-i", source, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "30", path)
    whole, concealed = path.read_bytes(), 0
    for seed in range(6):
        path.write_bytes(whole)
        changed(path, seed, length)
        if ffmpeg_conceals(path):
            concealed += 1
            with pytest.raises(MediaError, match=rf"^{name}: the video is damaged \(\w") as caught:
                sample(path, taking(12))
            assert caught.value.fault is MediaFault.damaged
    assert concealed


def test_processes_that_decode_find_the_same_damage(tmp_path: Path) -> None:  # case V02
    pytest.importorskip("decord")
    found = {}
    media = []
    for seed in range(4):
        path = write_h264(tmp_path / f"{seed}.mkv", 100, "-g", "20")  # of which every frame is decoded
        changed(path, seed, 300 * (seed > 0))
        media.append(Media(path, None, ""))
    for workers in (0, 1):
        with Decoder(workers, 60.0, 4.0) as decoder:
            run = decoder.run(media, Look(taking(6), None, False))
            found[workers] = [str(seen) if isinstance(seen, MediaError) else seen.digest for seen in run]
    assert found[0] == found[1]
    assert any("the video is damaged" in each for each in found[0])


OPTIONS = {
    "closed": ("-bf", "3"),
    "open": ("-x264-params", "open-gop=1:keyint=20"),
    "refresh": ("-x264-params", "intra-refresh=1:keyint=20"),
}


@pytest.mark.parametrize("options", OPTIONS)
def test_clips_cut_between_key_frames_are_not_called_damaged_for_what_they_lack(
    tmp_path: Path, options: str
) -> None:  # case V15
    pytest.importorskip("decord")
    write_h264(tmp_path / "a.mkv", 100, *OPTIONS[options])
    for start in ("0.4", "1.3", "2.1"):
        for name in ("b.mp4", "b.mkv"):
            ffmpeg("-ss", start, "-i", tmp_path / "a.mkv", "-c", "copy", tmp_path / name)
            visible = [number_in(frame) for frame in frames_by_ffmpeg(tmp_path / name, 160, 96)]
            try:
                frames = sample(tmp_path / name, taking(200))
            except MediaError as error:
                if options != "refresh" or "decord can decode" not in str(error):
                    raise  # only a refresh that takes long leaves too few frames
                continue
            assert [number_in(image) for image in frames.images] == visible
            assert np.abs(np.array(frames.times) - (np.array(visible) - visible[0]) / 30).max() < 0.002
