"""Window OCR: frame i of as many lies in window i, tracks stand in every window that they span."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from composing import built
from glyphrank.errors import ConfigError
from glyphrank.media.sampling import Middles
from glyphrank.misses import Misses
from glyphrank.records import Line, Reading, Source
from glyphrank.transcript import AllLines, Confident, NormalForm, Order, Pooling, Transcript, Unique
from glyphrank.windows import Windows
from watching import Watching

JOINED = AllLines(Order.source, " ", NormalForm.none)
CONFIDENT = Confident(0.5, Order.source, Unique.words, True, 1000, " ", NormalForm.nfkc)


def windows(count: int, written: Transcript = JOINED) -> Windows:
    return Windows(count, Pooling.mean, written)


def clip(length: int, *lines: Line) -> Reading:
    return Reading(Source.published, lines, length=length)


@given(length=st.integers(1, 3000), count=st.integers(1, 64))
def test_frame_i_of_as_many_lies_in_window_i(length: int, count: int) -> None:
    places = Middles(count, 100, 100).places([0.0] * length)
    lines = [Line(f"at {i}", frame=place) for i, place in enumerate(places)]
    texts = windows(count).write(clip(length, *lines))
    assert texts == tuple(f"at {i}" for i in range(min(count, length)))


@given(length=st.integers(1, 200), count=st.integers(1, 20))
def test_windows_are_equal_parts_in_order(length: int, count: int) -> None:
    texts = windows(count).write(clip(length, *(Line(str(frame), frame=frame) for frame in range(length))))
    frames = [[int(word) for word in text.split()] for text in texts]
    assert [frame for window in frames for frame in window] == list(range(length))
    assert len(frames) == min(count, length)
    assert max(map(len, frames)) - min(map(len, frames)) <= 1


def test_the_window_of_a_frame_is_that_of_its_middle() -> None:
    """Three windows of five frames end at 1.67, 3.33 and 5; the frames' middles are 0.5, 1.5, 2.5, 3.5, 4.5."""
    lines = [Line(letter, frame=frame) for frame, letter in enumerate("abcde")]
    assert windows(3).write(clip(5, *lines)) == ("a b", "c", "d e")


def test_a_track_stands_in_every_window_that_it_spans() -> None:
    lines = [Line("all", spans=((0, 99),)), Line("early", frame=3, spans=((3, 20),)), Line("late", frame=80)]
    lines += [Line("middle", frame=30, spans=((30, 60),))]
    assert windows(4).write(clip(100, *lines)) == ("all early", "all middle", "all middle", "all late")


def test_a_track_that_was_lost_stands_in_no_window_of_its_gap() -> None:
    lines = [Line("torn", spans=((0, 1), (22, 23))), Line("held", spans=((0, 23),))]
    assert windows(4).write(clip(24, *lines)) == ("torn held", "held", "held", "torn held")
    assert windows(3).write(clip(24, *lines[:1])) == ("torn", "torn")


def test_a_track_stands_once_in_a_window_in_which_it_was_found_twice() -> None:
    assert windows(2).write(clip(24, Line("blink", spans=((0, 1), (4, 4), (9, 13))))) == ("blink", "blink")


def test_a_track_of_one_frame_is_a_line_of_that_frame() -> None:
    for spans in ((), ((7, 7),)):
        assert windows(2).write(clip(10, Line("late", frame=7, spans=spans))) == ("late",)


def test_windows_without_a_line_have_no_text() -> None:
    lines = [Line("end", frame=95), Line("start", frame=2)]
    assert windows(12).write(clip(100, *lines)) == ("start", "end")
    assert windows(12).write(clip(100)) == ()
    assert windows(12).write(clip(100, Line(" ", frame=50))) == ()


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_reading_of_fewer_frames_than_windows_has_one_text_a_frame(length: int) -> None:
    lines = [Line(f"frame {frame}", frame=frame) for frame in range(length)]
    assert windows(12).write(clip(length, *lines)) == tuple(f"frame {frame}" for frame in range(length))


def test_a_page_is_a_clip_of_one_frame() -> None:
    page = Reading(Source.embedded, (Line("first"), Line("second")))
    assert windows(12).write(page) == JOINED.write(page) == ("first second",)


def test_lines_beyond_the_length_stand_in_the_last_window() -> None:
    lines = [Line("in", frame=9), Line("beyond", frame=12, spans=((12, 30),))]
    lines += [Line("across", frame=4, spans=((4, 11),))]
    assert windows(2).write(clip(10, *lines)) == ("across", "in beyond across")


def test_each_window_is_written_as_configured() -> None:
    """Words are once in a window, not in a clip; unsure lines go; queries have the form of the texts."""
    lines = [Line("NO  entry", 0.9), Line("No exit", 0.9, frame=1), Line("no entry", 0.9, frame=9)]
    lines += [Line("unsure", 0.2, frame=5)]
    written = windows(2, CONFIDENT)
    assert written.write(clip(10, *lines)) == ("no entry exit", "no entry")
    assert written.query("Ａ NO") == CONFIDENT.query("Ａ NO") == "a no"


def test_windows_of_one_give_the_text_of_the_whole() -> None:
    lines = [Line("b", 0.9, frame=40), Line("a", 0.9, frame=3), Line("c", 0.9, frame=3, spans=((3, 70),))]
    reading = clip(80, *lines)
    assert windows(1, CONFIDENT).write(reading) == CONFIDENT.write(reading)


def test_windows_keep_what_else_is_known_of_a_reading() -> None:
    watching = Watching()
    reading = replace(clip(10, Line("a"), Line("b", frame=9)), failure="half of it is torn")
    assert windows(2, watching).write(reading) == ()
    assert watching.seen == [replace(reading, lines=(line,)) for line in reading.lines]


@pytest.mark.parametrize("count", [0, -1])
def test_windows_refuse_a_number_below_one(count: int) -> None:
    with pytest.raises(ValueError, match=f"windows is {count}; wanted at least 1"):
        windows(count)


def transcript(folder: Path, *overrides: str) -> Any:
    return built(folder, "transcript=windows", *overrides)[0].transcript


def test_as_many_windows_as_sampled_frames_are_composed(tmp_path: Path) -> None:
    assert transcript(tmp_path, "frames.count=3").windows == 3
    assert transcript(tmp_path, "frames=middles_12").windows == 12
    assert transcript(tmp_path, "frames=fps_1", "transcript.windows=5").windows == 5
    assert transcript(tmp_path, "transcript.pooling=best").pooling is Pooling.best


def test_windows_of_frames_without_a_count_are_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        transcript(tmp_path, "frames=fps_1")
    [first, fault] = str(caught.value).splitlines()
    assert first == "1 fault in the configuration:"
    assert fault.startswith("  transcript.windows: ")
    assert "'frames.count' not found" in fault
    assert fault.endswith("[transcript=windows]")


def test_windows_in_windows_are_refused_however_deep() -> None:
    inner = Windows(2, Pooling.mean, AllLines(Order.source, " ", NormalForm.nfc))
    for written in (inner, Misses(0.5, 1, inner)):
        with pytest.raises(ValueError, match="written cuts windows itself"):
            Windows(4, Pooling.mean, written)
