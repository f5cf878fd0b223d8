from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clip_files import write_clip, write_h264
from glyphrank.digests import digest_file
from glyphrank.identity import stamp_of
from glyphrank.media.sampling import Middles
from glyphrank.ocr.else_read import ElseRead
from glyphrank.ocr.embedded import Embedded
from glyphrank.ocr.published import Published
from glyphrank.reading import read_items
from glyphrank.records import Item, Line, Media, Reading, Source, TextState
from glyphrank.runtime import Runtime
from glyphrank.sight import Sight
from glyphrank.transcript import AllLines, NormalForm, Order, Pooling
from glyphrank.windows import Windows
from unseen import unseen

ENGINE = Published(thin_below=4, garbled_above=0.1)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def read(item: Item, runtime: Runtime) -> Reading:
    return ENGINE.read(item, unseen, runtime)


def file_of(path: Path, *tracks: Any) -> Media:
    """An OCR file of tracks, each (text, score, frames)."""
    written = {
        str(number): {"text": text, "score": score, "recommend_box": [], "tracks": {str(frame): [] for frame in frames}}
        for number, (text, score, frames) in enumerate(tracks)
    }
    path.write_text(json.dumps(written))
    return media(path)


def media(path: Path) -> Media:
    return Media(path, None, digest_file(path), stamp_of(path))


def length_of(reading: Reading) -> tuple[int, bool]:
    return reading.length, reading.length_known


def clip_of(ocr: str | Media | None, clip: Path | None = None, text: str | None = None) -> Item:
    return Item("a.mp4", None if clip is None else Media(clip, None, "clip"), text, published_ocr=ocr)


def test_a_published_text_is_taken_over_line_by_line(runtime: Runtime) -> None:
    found = read(clip_of("  first line \r\n\r\nsecond"), runtime)
    assert found == Reading(Source.published, (Line("first line"), Line("second")))


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("", TextState.blank),
        (" \n", TextState.blank),
        ("abc", TextState.thin),
        ("(cid:1)(cid:2)abc", TextState.garbled),
    ],
)
def test_a_poor_text_is_used_as_it_is_and_counted(runtime: Runtime, text: str, state: TextState) -> None:  # case P02
    found = read(clip_of(text), runtime)
    assert (found.state, found.failure) == (state, None)
    assert "".join(line.text for line in found.lines) == text.strip()


def test_the_text_layer_is_not_read(runtime: Runtime) -> None:
    assert read(clip_of("by OCR", text="by the publisher"), runtime).lines == (Line("by OCR"),)
    assert read(clip_of(None, text="by the publisher"), runtime) == Reading(
        Source.published, failure="no OCR was published with it"
    )


def test_a_file_gives_a_line_for_each_text_that_was_followed(tmp_path: Path, runtime: Runtime) -> None:
    file = file_of(tmp_path / "a.json", ("OPEN", 0.9, (0, 1, 2)), ("LATE", "0.5", (7,)))
    lines = (Line("OPEN", 0.9, spans=((0, 2),)), Line("LATE", 0.5, frame=7))
    assert read(clip_of(file), runtime) == Reading(Source.published, lines, length=8, length_known=False)


def test_the_length_is_that_of_the_clip_where_it_is_there(tmp_path: Path, runtime: Runtime) -> None:
    file, clip = file_of(tmp_path / "a.json", ("OPEN", 0.9, (0, 1, 2))), write_clip(tmp_path / "a.mp4", 24)
    assert length_of(read(clip_of(file, clip), runtime)) == (24, True)
    whole = file_of(tmp_path / "b.json", ("OPEN", 0.9, range(24)))
    assert length_of(read(clip_of(whole, clip), runtime)) == (24, True)


def test_without_a_clip_that_tells_its_length_only_where_the_text_ends_is_known(
    tmp_path: Path, runtime: Runtime
) -> None:
    file = file_of(tmp_path / "a.json", ("OPEN", 0.9, (0, 1, 2)))
    (tmp_path / "bad.mp4").write_bytes(b"not a clip")
    cut = write_h264(tmp_path / "cut.mp4", 12, "-movflags", "+frag_keyframe+empty_moov")
    for clip in (None, tmp_path / "gone.mp4", tmp_path / "bad.mp4", cut):
        assert length_of(read(clip_of(file, clip), runtime)) == (3, False)


def test_the_length_of_a_text_is_known(runtime: Runtime) -> None:
    assert length_of(read(clip_of("by OCR"), runtime)) == (1, True)


def test_text_that_was_seen_beyond_the_clip_makes_the_length(tmp_path: Path, runtime: Runtime) -> None:
    """Another copy of the clip was read, of which nobody knows how far it goes on."""
    file, clip = file_of(tmp_path / "a.json", ("OPEN", 0.9, (0, 40))), write_clip(tmp_path / "a.mp4", 24)
    assert length_of(read(clip_of(file, clip), runtime)) == (41, False)


def test_one_stray_frame_leaves_the_length_and_all_other_text_alone(tmp_path: Path, runtime: Runtime) -> None:
    tracks = [("A", 1, range(6)), ("B", 1, range(6, 12)), ("STRAY", 1, (12, 999_999)), ("C", 1, range(18, 24))]
    file, clip = file_of(tmp_path / "a.json", *tracks), write_clip(tmp_path / "a.mp4", 24)
    found = read(clip_of(file, clip), runtime)
    assert length_of(found) == (24, True)
    assert found.failure == 'a.json: track "2": frame 999999, far beyond the clip\'s 24'
    windows = Windows(4, Pooling.mean, AllLines(Order.source, " ", NormalForm.nfc))
    assert windows.write(found) == ("A", "B", "C")


@pytest.mark.parametrize(("frames", "length"), [(None, 1), (24, 24)])
def test_an_empty_file_is_blank_and_no_failure(
    tmp_path: Path, runtime: Runtime, frames: int | None, length: int
) -> None:  # case P02
    clip = None if frames is None else write_clip(tmp_path / "a.mp4", frames)
    found = read(clip_of(file_of(tmp_path / "a.json"), clip), runtime)
    known = frames is not None
    assert found == Reading(Source.published, state=TextState.blank, length=length, length_known=known)


def test_a_word_in_a_file_is_text_and_not_little_of_it(tmp_path: Path, runtime: Runtime) -> None:
    assert read(clip_of(file_of(tmp_path / "a.json", ("A", 0.9, (0,)))), runtime).state is TextState.text
    assert read(clip_of(file_of(tmp_path / "b.json", (" ", 0.9, (0,)))), runtime).state is TextState.blank


def test_a_missing_or_damaged_file_is_a_failure_that_names_it(tmp_path: Path, runtime: Runtime) -> None:
    gone = Media(tmp_path / "gone.json", None, "missing")
    assert read(clip_of(gone), runtime) == Reading(Source.published, failure="gone.json: there is no such file")
    (tmp_path / "bad.json").write_text("[1]")
    found = read(clip_of(media(tmp_path / "bad.json")), runtime)
    assert found.lines == ()
    assert (found.failure or "").startswith("bad.json: JSON of the type list")


def test_damaged_texts_are_a_failure_beside_those_that_are_whole(tmp_path: Path, runtime: Runtime) -> None:
    file = file_of(tmp_path / "a.json", ("OPEN", 0.9, (0,)), ("LATE", 98, (1,)), ("FREE", 0.9, (2,)))
    found = read(clip_of(file), runtime)
    assert [line.text for line in found.lines] == ["OPEN", "FREE"]
    assert found.failure == 'a.json: track "1": score is 98; wanted a number from 0 to 1'


@pytest.mark.parametrize(("thin_below", "garbled_above"), [(-1, 0.1), (1, 1.1), (1, -0.1), (1, float("nan"))])
def test_fields_out_of_range_are_refused(thin_below: int, garbled_above: float) -> None:
    with pytest.raises(ValueError, match="; wanted"):
        Published(thin_below, garbled_above)


def all_read(engine: Any, items: list[Item], runtime: Runtime) -> list[Reading]:
    with Sight(Middles(4, 320, 10**6), runtime) as sight:
        return read_items(engine, items, sight, runtime)


def test_readings_come_back_from_the_cache_as_they_were(tmp_path: Path, runtime: Runtime) -> None:
    items = [
        clip_of(file_of(tmp_path / "a.json", ("OPEN", "0.9", (0, 1, 2, 5, 6)), ("LATE", None, (7,)))),
        clip_of("한국어\ntext"),
        clip_of(file_of(tmp_path / "b.json")),
    ]
    first = all_read(ENGINE, items, runtime)
    assert first == [read(item, runtime) for item in items]
    assert all_read(ENGINE, items, runtime) == first


def test_a_file_that_appears_is_read_although_it_was_missing(tmp_path: Path, runtime: Runtime) -> None:
    gone = clip_of(Media(tmp_path / "a.json", None, "missing"))
    assert all_read(ENGINE, [gone], runtime)[0].failure
    there = clip_of(file_of(tmp_path / "a.json", ("OPEN", 0.9, (0,))))
    assert all_read(ENGINE, [there], runtime)[0].lines == (Line("OPEN", 0.9),)


def test_a_file_that_was_changed_since_the_dataset_was_loaded_is_a_failure(tmp_path: Path, runtime: Runtime) -> None:
    item = clip_of(file_of(tmp_path / "a.json", ("OPEN", 0.9, (0,))))
    (tmp_path / "a.json").write_text("{}")
    assert "changed after the run began" in (all_read(ENGINE, [item], runtime)[0].failure or "")


def test_windows_hold_the_texts_that_were_followed_through_them(tmp_path: Path, runtime: Runtime) -> None:
    file, clip = file_of(tmp_path / "a.json", ("A", 1, range(12)), ("B", 1, range(9, 24))), tmp_path / "a.mp4"
    write_clip(clip, 24)
    windows = Windows(4, Pooling.mean, AllLines(Order.source, " ", NormalForm.nfc))
    assert windows.write(read(clip_of(file, clip), runtime)) == ("A", "A B", "B", "B")


def test_a_text_that_was_lost_stands_in_no_window_of_its_gap(tmp_path: Path, runtime: Runtime) -> None:
    file, clip = file_of(tmp_path / "a.json", ("A", 1, (0, 1, 22, 23)), ("B", 1, range(24))), tmp_path / "a.mp4"
    write_clip(clip, 24)
    windows = Windows(12, Pooling.mean, AllLines(Order.source, " ", NormalForm.nfc))
    assert windows.write(read(clip_of(file, clip), runtime)) == ("A B", *["B"] * 10, "A B")


def test_the_published_ocr_is_read_where_the_text_layer_is_thin(runtime: Runtime) -> None:
    pair = ElseRead(Embedded(4, 1.0, False), ENGINE, thin_below=4)
    items = [clip_of("by OCR", text=text) for text in ("layer", "abc", "")]
    items.append(Item("b", Media(Path("page.png"), None, "page"), "", published_ocr="by OCR"))
    found = all_read(pair, items, runtime)
    assert [reading.source for reading in found] == [
        *(Source.embedded, Source.published, Source.embedded),  # an item without text and media is blank, not thin
        Source.published,
    ]
    assert pair.sources == (Source.embedded, Source.published)
    assert not pair.needs_frames
