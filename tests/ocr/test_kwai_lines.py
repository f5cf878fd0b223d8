"""TextVR's OCR files: the lines of their tracks, and what is said of tracks and files that are damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from glyphrank.media.faults import MediaError
from glyphrank.ocr.kwai_lines import KwaiLines, read_kwai, told
from glyphrank.records import Line
from odd_files import odd_file
from textvr_miniature import kwai_tracks


def track(text: object = "EXIT", frames: object = (3, 4), top: float = 10, left: float = 20, **fields: Any) -> Any:
    """A track of a text that is followed over frames; fields that are `None` stay."""
    corners = [left, top, left + 50, top, left + 50, top + 9, left, top + 9, 0.5, 1]
    followed = {str(frame): corners for frame in frames} if isinstance(frames, tuple) else frames
    return {"text": text, "score": 0.5, "recommend_box": corners[:8], "tracks": followed} | fields


def read(folder: Path, *tracks: object, raw: str | None = None) -> KwaiLines:
    file = folder / "a.json"
    file.write_text(raw if raw is not None else json.dumps(dict(enumerate(tracks))), encoding="utf-8")
    return read_kwai(file)


def texts(found: KwaiLines) -> list[str]:
    return [line.text for line in found.lines]


def spans(found: KwaiLines) -> list[tuple[tuple[int, int], ...]]:
    return [line.spans for line in found.lines]


def test_a_track_is_a_line_from_its_first_to_its_last_frame(tmp_path: Path) -> None:
    line = Line("EXIT", 0.5, None, 7, None, ((7, 10),))
    assert read(tmp_path, track(" EXIT ", (10, 7, 8, 9))) == KwaiLines((line,), 11, ())


def test_a_track_that_was_lost_keeps_the_stretches_in_which_it_was_seen(tmp_path: Path) -> None:
    found = read(tmp_path, track(frames=(0, 1, 22, 23)), track(frames=(4, 9, 10, 15)))
    assert spans(found) == [((0, 1), (22, 23)), ((4, 4), (9, 10), (15, 15))]
    assert (found.lines[1].frame, found.frames) == (4, 24)


def test_frames_that_were_not_looked_at_part_no_track(tmp_path: Path) -> None:
    """A file of every fifth frame: the step is the least of all its tracks."""
    found = read(tmp_path, track(frames=(0, 10, 20)), track(frames=(5, 10, 15, 30, 35)), track(frames=(40,)))
    assert spans(found) == [((0, 0), (10, 10), (20, 20)), ((5, 15), (30, 35)), ()]


def test_a_step_is_known_from_tracks_without_a_text_too_and_not_from_one_to_the_next(tmp_path: Path) -> None:
    found = read(tmp_path, track(frames=(0, 5, 10)), track(frames=(2, 12)), track(frames=(3,)), track(frames=(4,)))
    assert spans(found) == [((0, 10),), ((2, 2), (12, 12)), (), ()]
    assert spans(read(tmp_path, track(frames=(0, 5, 10)), track(" ", frames=(6, 7)))) == [((0, 0), (5, 5), (10, 10))]


def test_a_step_is_not_known_from_tracks_that_are_left_out(tmp_path: Path) -> None:
    assert spans(read(tmp_path, track(frames=(0, 5, 10)), track(score=7, frames=(6, 7)))) == [((0, 10),)]


def test_texts_that_were_seen_once_each_have_no_stretch(tmp_path: Path) -> None:
    assert spans(read(tmp_path, track(frames=(0,)), track(frames=(1,)), track(frames=(23,)))) == [(), (), ()]


@pytest.mark.parametrize(("last", "is_far"), [(23, False), (239, False), (240, True), (999_999, True)])
def test_a_track_far_beyond_the_clip_is_a_fault(tmp_path: Path, last: int, is_far: bool) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"0": track("kept", (0, 1)), "9": track("stray", (2, last))}))
    found = read_kwai(tmp_path / "a.json", 24)
    if is_far:
        assert (texts(found), found.frames) == (["kept"], 2)
        assert found.faults == (f'track "9": frame {last}, far beyond the clip\'s 24',)
    else:
        assert (texts(found), found.frames, found.faults) == (["kept", "stray"], last + 1, ())
    assert read_kwai(tmp_path / "a.json").frames == last + 1


@pytest.mark.parametrize(
    ("twin", "said"),
    [
        (
            '"1": {"text": "A", "tracks": {"3": []}}, "1": {"text": "B", "tracks": {"3": []}}',
            "stands twice in the file",
        ),
        ('"1": {"text": "A", "text": "B", "tracks": {"3": []}}', 'the key "text" stands twice in one object'),
        ('"1": {"text": "A", "tracks": {"3": [], "4": [], "3": []}}', 'the key "3" stands twice in one object'),
        ('"1": {"text": "A", "tracks": {"3": [], "03": []}}', 'frame 3 stands twice, as "3" and "03"'),
        ('"1": {"text": "A", "tracks": {"3": [{"x": 1, "x": 2}]}}', 'the key "x" stands twice in one object'),
    ],
)
def test_what_stands_twice_is_a_fault_of_its_track(tmp_path: Path, twin: str, said: str) -> None:
    found = read(tmp_path, raw=f'{{"0": {json.dumps(track("first"))}, {twin}, "2": {json.dumps(track("last"))}}}')
    assert texts(found) == ["first", "last"]
    (fault,) = found.faults
    assert fault.startswith('track "1": ')
    assert said in fault


def test_a_text_that_was_seen_once_is_not_followed(tmp_path: Path) -> None:
    assert read(tmp_path, track(frames=(0,))) == KwaiLines((Line("EXIT", 0.5, None, 0),), 1, ())


def test_frames_are_numbers_and_not_texts(tmp_path: Path) -> None:
    (line,) = read(tmp_path, track(frames=(99, 9, 100, 101))).lines
    assert (line.frame, line.spans) == (9, ((9, 9), (99, 101)))


def test_numbers_are_plain_python_types(tmp_path: Path) -> None:  # case O03
    for line in read(tmp_path, track(score=1), track(score="0.25"), track(frames=(1,))).lines:
        assert type(line.confidence) is float
        assert type(line.frame) is int
        assert {type(frame) for span in line.spans for frame in span} <= {int}
        assert json.dumps([line.confidence, line.frame, line.spans])


def test_an_empty_file_has_no_lines_and_is_no_fault(tmp_path: Path) -> None:
    assert read(tmp_path, raw="{}") == KwaiLines((), 1, ())


def test_lines_are_ordered_by_first_frame_then_top_then_left_whatever_the_order_of_tracks(tmp_path: Path) -> None:
    tracks = [
        track("e", (5, 6), top=0, left=0),
        track("d", (2, 9), top=30, left=0),
        track("c", (2,), top=10, left=90),
        track("b", (2,), top=10, left=20),
        track("a", (0,), top=99, left=99),
    ]
    assert texts(read(tmp_path, *tracks)) == list("abcde")
    assert texts(read(tmp_path, *tracks[::-1])) == list("abcde")


def test_lines_at_one_place_stay_in_the_order_of_the_tracks(tmp_path: Path) -> None:
    assert texts(read(tmp_path, track("b"), track("a"), track("c"))) == ["b", "a", "c"]


@pytest.mark.parametrize(
    "corners", [None, [], "x", [1, 2, 3], [1, 2, 3, 4, "5", 6, 7, 8], [float("nan")] * 10, [1e400] * 10, [10**400] * 10]
)
def test_corners_that_make_no_sense_cost_no_line(tmp_path: Path, corners: object) -> None:
    found = read(tmp_path, track("b", top=5), track("a", frames={"3": corners}))
    assert texts(found) == ["a", "b"]
    assert found.faults == ()


@pytest.mark.parametrize(
    ("score", "confidence"),
    [(0, 0.0), (1, 1.0), (0.5, 0.5), ("0.98", 0.98), (" 1 ", 1.0), (1.0000001192092896, 1.0), (None, None)],
)
def test_a_score_is_a_number_from_0_to_1_or_none(tmp_path: Path, score: object, confidence: float | None) -> None:
    (line,) = read(tmp_path, track(score=score)).lines
    assert line.confidence == confidence


def test_a_track_without_a_score_has_no_confidence(tmp_path: Path) -> None:
    whole = track()
    del whole["score"]
    (line,) = read(tmp_path, whole).lines
    assert line.confidence is None


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_track_without_a_character_is_no_line(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, track(text, (3, 50))) == KwaiLines((), 51, ())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (3, "it is 3; wanted an object"),
        (["EXIT"], 'it is ["EXIT"]; wanted an object'),
        (track(None), "text is null; wanted text"),
        (track(7), "text is 7; wanted text"),
        (track("EX\ud83dIT"), r"text holds '\ud83d', half of a character"),
        (track(score=98.5), "score is 98.5; wanted a number from 0 to 1"),
        (track(score=-0.1), "score is -0.1; wanted a number from 0 to 1"),
        (track(score=float("nan")), "score is NaN; wanted a number from 0 to 1"),
        (track(score=float("inf")), "score is Infinity; wanted a number from 0 to 1"),
        (track(score="nan"), 'score is "nan"; wanted a number from 0 to 1'),
        (track(score="high"), 'score is "high"; wanted a number from 0 to 1'),
        (track(score=True), "score is true; wanted a number from 0 to 1"),
        (track(score=[0.5]), "score is [0.5]; wanted a number from 0 to 1"),
        (track(score=10**400), "wanted a number from 0 to 1"),
        (track(frames=None), "tracks is null; wanted an object of frames"),
        (track(frames={}), "tracks is {}; wanted an object of frames"),
        (track(frames=[[1, 2]]), "tracks is [[1, 2]]; wanted an object of frames"),
        (track(frames={"-1": []}), '"-1" among its tracks is no number of a frame; wanted whole numbers from 0'),
        (track(frames={"1.0": []}), '"1.0" among its tracks is no number of a frame'),
        (track(frames={"3": [], "": []}), '"" among its tracks is no number of a frame'),
        (track(frames={"९": []}), "among its tracks is no number of a frame"),
        (track(frames={"1" * 5000: []}), "among its tracks is no number of a frame"),
        (track(frames={"10000000": []}), '"10000000" among its tracks is no number of a frame'),
    ],
)
def test_a_damaged_track_is_told_and_the_others_stay(tmp_path: Path, wrong: object, said: str) -> None:
    found = read(tmp_path, track("first"), wrong, track("last"))
    assert texts(found) == ["first", "last"]
    (fault,) = found.faults
    assert fault.startswith('track "1": ')
    assert said in fault
    assert len(fault) < 200


def test_faults_are_told_in_one_sentence_that_names_the_file() -> None:
    assert told(Path("x/a.json"), []) is None
    assert told(Path("x/a.json"), ["track 1: bad"]) == "a.json: track 1: bad"
    assert told(Path("x/a.json"), list("abcdefg")) == "a.json: a; b; c; d; e; and 2 more"


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"0": ', "a.json: not JSON (Expecting value"),
        ("<html>", "a.json: not JSON (Expecting value"),
        ("[]", "a.json: JSON of the type list; wanted an object of tracks such as"),
        ('"x"', "a.json: JSON of the type str; wanted an object of tracks"),
        ("null", "a.json: JSON of the type NoneType; wanted an object of tracks"),
        ("[" * 100_000, "a.json: not JSON ("),
        ("", "a.json: the file is empty (0 bytes)"),
    ],
)
def test_a_file_that_is_no_object_of_tracks_is_an_error(tmp_path: Path, raw: str, said: str) -> None:
    with pytest.raises(MediaError) as caught:
        read(tmp_path, raw=raw)
    assert str(caught.value).startswith(said)


def test_bytes_that_are_not_utf_8_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"0": "\xff"}')
    with pytest.raises(MediaError, match=r"a\.json: not JSON \('utf-8' codec can't decode"):
        read_kwai(tmp_path / "a.json")


@pytest.mark.parametrize("kind", ["a directory", "a named pipe", "a device"])
def test_what_is_no_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    with pytest.raises(MediaError, match=kind):
        read_kwai(odd_file(tmp_path / "a.json", kind))


def test_the_miniature_is_written_as_it_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, raw=json.dumps(kwai_tracks(("OPEN", "LATE"))))
    assert found == KwaiLines(
        (Line("OPEN", 0.97, spans=((0, 11),)), Line("LATE", 0.88, frame=12, spans=((12, 23),))), 24, ()
    )
