from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageChops

from glyphrank.datasets import sample_clips_places as places
from glyphrank.datasets.sample_clips_design import Clip, Scene
from glyphrank.datasets.sample_clips_places import draw_place
from glyphrank.datasets.sample_clips_things import draw_sign, draw_thing
from glyphrank.datasets.sample_clips_video import FRAMES, HEIGHT, RATE, WIDTH, draw_clip, write_video
from glyphrank.datasets.sample_clips_words import COLOURS, PLACES, TEXTS, THINGS
from glyphrank.records import UInt8Array

LEFTMOST, RIGHTMOST = places.WIDTH / 2 - 10, places.WIDTH / 2 + 10
"""Where the middle of a sign may be, in units."""


def clip(motion: str, thing: str = "ball", colour: str = "red", text: str = "Wet Paint") -> Clip:
    return Clip(Scene("snow", thing, colour, motion), text)


def thing_of(frame: UInt8Array) -> UInt8Array:
    """Rows and columns, (2, k), of the pixels that are strongly red; nothing else in the snow is."""
    red, green, blue = (frame[:, :, channel].astype(int) for channel in range(3))
    return np.array(np.nonzero((red > 180) & (green < 90) & (blue < 90)))


def first_and_last(motion: str, thing: str) -> tuple[UInt8Array, UInt8Array]:
    """The thing in the middles of the first and the last quarter of a clip."""
    frames = list(draw_clip(clip(motion, thing), "s"))
    return thing_of(frames[FRAMES // 8]), thing_of(frames[-FRAMES // 8])


def decoded(path: Path) -> UInt8Array:
    decord = pytest.importorskip("decord")
    reader: Any = decord.VideoReader(str(path))
    assert reader.get_avg_fps() == RATE
    frames: UInt8Array = reader.get_batch(range(len(reader))).asnumpy()
    return frames


@pytest.mark.parametrize("thing", THINGS)
def test_motion_can_be_seen_in_the_first_and_the_last_quarter(thing: str) -> None:
    for motion, sign in (("left", -1), ("right", 1)):
        before, after = first_and_last(motion, thing)
        assert sign * (after[1].mean() - before[1].mean()) > 80
    before, after = first_and_last("closer", thing)
    assert after.shape[1] > 2 * before.shape[1] > 0
    before, after = first_and_last("still", thing)
    assert np.array_equal(before, after)


def test_the_camera_follows_what_moves_so_that_frames_differ_and_signs_move() -> None:
    moving, still = (list(draw_clip(clip(motion, "kite"), "s")) for motion in ("right", "still"))
    assert len({frame.tobytes() for frame in moving}) == FRAMES
    assert len({frame.tobytes() for frame in still}) == 1
    below = slice(120, 160)  # the sign of a thing in the air
    assert np.array_equal(moving[0][below, 32:], moving[-1][below, :-32])


def test_frames_are_drawn_alike_each_time_and_another_seed_changes_the_details() -> None:
    once, again, other = (next(draw_clip(clip("still"), seed)) for seed in ("1", "1", "2"))
    assert once.shape == (HEIGHT, WIDTH, 3)
    assert once.dtype == np.uint8
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)


@pytest.mark.parametrize("text", TEXTS)
def test_a_sign_is_within_the_frame_wherever_it_hangs_and_the_camera_looks(text: str) -> None:
    for x in (LEFTMOST, RIGHTMOST):
        image = Image.new("RGB", (places.WIDTH * places.SCALE, places.HEIGHT * places.SCALE), (1, 2, 3))
        draw_sign(image, text, 0, (x, 140))
        box = ImageChops.difference(image, Image.new("RGB", image.size, (1, 2, 3))).getbbox()
        assert box is not None
        left, top, right, _ = box
        assert places.WIDTH - WIDTH <= left / places.SCALE < right / places.SCALE <= WIDTH
        assert top / places.SCALE > 100  # below whatever passes in the air


def test_every_place_and_every_thing_in_every_colour_looks_different() -> None:
    assert len({draw_place(place, "s").tobytes() for place in PLACES}) == 5
    assert len({draw_thing(thing, colour, "still").tobytes() for thing, colour in product(THINGS, COLOURS)}) == 25


def test_a_thing_that_goes_left_looks_left() -> None:
    left, right = (np.asarray(draw_thing("car", "red", motion)) for motion in ("left", "right"))
    assert np.array_equal(left, right[:, ::-1])
    assert not np.array_equal(left, right)


def test_a_video_holds_exactly_the_frames_that_were_written(tmp_path: Path) -> None:  # case V15
    path = tmp_path / "x.mp4"
    drawn = list(draw_clip(clip("right"), "s"))
    write_video(path, drawn)
    frames = decoded(path)
    assert frames.shape == (FRAMES, HEIGHT, WIDTH, 3)
    errors = [float(np.abs(frame.astype(int) - wanted).mean()) for frame, wanted in zip(frames, drawn, strict=True)]
    assert max(errors) < 6
    first, last = frames[2].astype(int), frames[-3].astype(int)
    assert np.abs(first - drawn[2]).mean() < np.abs(first - last).mean() / 2


def test_equal_frames_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("x", "y"):
        write_video(tmp_path / f"{name}.mp4", draw_clip(clip("left"), "s"))
    assert (tmp_path / "x.mp4").read_bytes() == (tmp_path / "y.mp4").read_bytes()


def test_a_video_that_cannot_be_opened_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OSError, match="cannot write MPEG-4"):
        write_video(tmp_path / "nowhere" / "x.mp4", [])


def test_drawing_needs_no_opencv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert next(draw_clip(clip("still"), "s")).any()
