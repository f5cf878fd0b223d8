from __future__ import annotations

import itertools
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from clip_files import ffmpeg, number_in, taking, write_clip, write_h264
from glyphrank.media import video
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.look import look
from glyphrank.media.video import sample
from glyphrank.records import Media

pytest.importorskip("decord")


def fault(path: Path) -> MediaFault:
    """The cause why a file cannot be seen; the message names the file and stands on one line."""
    with pytest.raises(MediaError, match=f"^{path.name}: ") as caught:
        look(Media(path, None, ""), taking(4))
    assert "\n" not in str(caught.value)
    return caught.value.fault


def test_each_cause_of_a_failure_has_its_own_fault(tmp_path: Path) -> None:  # case V03
    whole = write_clip(tmp_path / "whole.mp4", 300).read_bytes()
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "text.mp4").write_text("these are words\n" * 50)
    (tmp_path / "start.mp4").write_bytes(whole[:3000])
    (tmp_path / "no_index.mp4").write_bytes(whole[: whole.index(b"moov") - 4])
    (tmp_path / "sound.wav").write_bytes(b"RIFF\x24\0\0\0WAVEfmt " + b"\0" * 400)
    names = ["absent.mp4", "empty.mp4", "text.mp4", "start.mp4", "no_index.mp4", "sound.wav"]
    assert [fault(tmp_path / name) for name in names] == [
        MediaFault.missing,
        MediaFault.empty,
        MediaFault.not_media,
        MediaFault.truncated,
        MediaFault.truncated,
        MediaFault.no_video,
    ]


@pytest.mark.parametrize("tenths", range(1, 10))
@pytest.mark.parametrize("fast_start", [False, True])
def test_a_clip_that_is_cut_off_anywhere_is_called_cut_off(
    tmp_path: Path, tenths: int, fast_start: bool
) -> None:  # case V03
    whole = write_clip(tmp_path / "whole.mp4", 60)
    if fast_start:
        ffmpeg("-i", whole, "-c", "copy", "-movflags", "+faststart", tmp_path / "fast.mp4")
        whole = tmp_path / "fast.mp4"
    data = whole.read_bytes()
    (tmp_path / "cut.mp4").write_bytes(data[: len(data) * tenths // 10])
    assert fault(tmp_path / "cut.mp4") is MediaFault.truncated


@pytest.mark.parametrize("name", ["a.mkv", "a.avi"])
def test_other_containers_that_are_cut_off_are_called_so(tmp_path: Path, name: str) -> None:
    data = write_h264(tmp_path / name, 60).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) * 6 // 10])
    assert fault(tmp_path / name) is MediaFault.truncated


def test_sound_without_pictures_has_no_video(tmp_path: Path) -> None:  # case V03
    for name in ("sound.mp4", "sound.mkv", "sound.aac", "sound.mp3", "sound.ogg"):
        ffmpeg("-f", "lavfi", "-i", "sine=duration=1", tmp_path / name)
        assert fault(tmp_path / name) is MediaFault.no_video


@pytest.mark.parametrize("name", ["new.mp4", "new.mkv"])
def test_av1_is_told_apart_from_damage(tmp_path: Path, name: str) -> None:  # case V03
    source = "testsrc=duration=0.5:size=64x48:rate=10"
    ffmpeg("-f", "lavfi", "-i", source, "-c:v", "libaom-av1", "-cpu-used", "8", tmp_path / name)
    with pytest.raises(MediaError, match=rf"^{name}: its video is AV1 \(\w+\), which decord does not decode") as caught:
        sample(tmp_path / name, taking(4))
    assert caught.value.fault is MediaFault.unsupported


@pytest.mark.parametrize("name", ["a.webm", "a.mkv", "a.ogv", "a.ivf"])
def test_a_container_without_a_duration_is_told_apart_from_damage_and_its_advice_helps(
    tmp_path: Path, name: str
) -> None:  # case V03
    coding = {"a.mkv": "libx264", "a.ogv": "libtheora"}.get(name, "libvpx")
    live = ("-live", "1") if name in ("a.webm", "a.mkv") else ()
    source = "testsrc=duration=1:size=64x48:rate=10"
    ffmpeg("-f", "lavfi", "-i", source, "-pix_fmt", "yuv420p", "-c:v", coding, *live, tmp_path / name)
    with pytest.raises(MediaError, match=r"does not say how long .*ffmpeg -i IN -c copy OUT\.mkv") as caught:
        sample(tmp_path / name, taking(4))
    assert caught.value.fault is MediaFault.unsupported
    ffmpeg("-i", tmp_path / name, "-c", "copy", tmp_path / "OUT.mkv")
    assert len(sample(tmp_path / "OUT.mkv", taking(4)).images) == 4


def test_a_stream_overwritten_in_the_middle_fails_by_name(tmp_path: Path) -> None:  # case V02
    data = bytearray(write_h264(tmp_path / "a.mp4", 300, "-g", "250").read_bytes())
    middle = data.index(b"mdat") + (len(data) - data.index(b"mdat")) // 3
    data[middle : middle + 4000] = np.random.default_rng(3).bytes(4000)
    (tmp_path / "a.mp4").write_bytes(data)
    assert fault(tmp_path / "a.mp4") is MediaFault.damaged


@pytest.mark.parametrize("seed", range(12))
def test_a_stream_with_some_bytes_changed_never_shows_a_frame_twice(tmp_path: Path, seed: int) -> None:  # case V02
    data = bytearray(write_h264(tmp_path / "a.mp4", 120, "-g", "30").read_bytes())
    chance = np.random.default_rng(seed)
    start, length = data.index(b"mdat") + 4, int(chance.choice([1, 20, 400]))
    at = start + int(chance.integers(0, (len(data) - start) // 2))
    data[at : at + length] = chance.bytes(length)
    (tmp_path / "a.mp4").write_bytes(data)
    with suppress(MediaError):
        assert len({image.tobytes() for image in sample(tmp_path / "a.mp4", taking(12)).images}) == 12


def test_a_clip_of_which_too_few_frames_can_be_decoded_fails_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case V15
    decoded = video._all_frames
    monkeypatch.setattr(video, "_all_frames", lambda path, reader: itertools.islice(decoded(path, reader), 89))
    with pytest.raises(MediaError, match=r"^a\.mkv: decord can decode 89 of its 100 frames$") as caught:
        sample(write_h264(tmp_path / "a.mkv", 100), taking(4))
    assert caught.value.fault is MediaFault.damaged
    assert len(sample(write_h264(tmp_path / "b.mkv", 98), taking(4)).images) == 4


def test_a_failure_leaves_the_next_clip_readable(tmp_path: Path) -> None:
    good = write_clip(tmp_path / "good.mp4", 8)
    (tmp_path / "bad.mp4").write_bytes(good.read_bytes()[:500])
    for _ in range(3):
        fault(tmp_path / "bad.mp4")
        assert [number_in(image) for image in sample(good, taking(2)).images] == [2, 6]


def test_names_in_any_alphabet_and_form_are_opened(tmp_path: Path) -> None:  # case C07
    for name in ("전봇대 광고.mp4", "\u1112\u1161\u11ab.mp4", "été %d [1].mp4", "http:x.mp4"):
        assert len(sample(write_clip(tmp_path / "a.mp4", 3).rename(tmp_path / name), taking(3)).images) == 3


def test_a_name_that_is_no_text_is_refused_by_name(tmp_path: Path) -> None:
    path = write_clip(tmp_path / "a.mp4", 3).rename(tmp_path / "a\udcff.mp4")
    with pytest.raises(MediaError, match="decord wants a name in UTF-8") as caught:
        sample(path, taking(1))
    assert caught.value.fault is MediaFault.unreadable


@pytest.mark.shared
def test_every_clip_of_the_street_collection_is_read(shared_data: Path) -> None:
    for path in sorted((shared_data / "street_clips" / "media").iterdir()):
        frames = sample(path, taking(12))
        assert len({image.tobytes() for image in frames.images}) == 12
