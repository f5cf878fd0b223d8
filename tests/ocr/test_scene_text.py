from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.errors import DataError
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.ocr import scene_text
from glyphrank.ocr.scene_text import EasyOcr
from glyphrank.records import Frames, Item, Line, Reading, Source, UInt8Array
from glyphrank.runtime import Runtime
from scene_parts import StubReader, easyocr_en

ITEM = Item("p", None, None)
SQUARE = [[np.int32(10), np.int32(5)], [np.int32(30), np.int32(5)], [np.int32(30), np.int32(15)], [np.int32(10), 15]]


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> StubReader:
    reader = StubReader([(SQUARE, "STOP", np.float64(0.75))])
    monkeypatch.setattr(scene_text, "find_weights", lambda *_: (Path("detector"), Path("recogniser")))
    monkeypatch.setattr(scene_text, "load_reader", lambda *_: reader)
    return reader


def plain(value: int, height: int = 20, width: int = 40) -> UInt8Array:
    return np.full((height, width, 3), value, dtype=np.uint8)


def read(engine: EasyOcr, runtime: Runtime, *images: UInt8Array, times: tuple[float, ...] | None = None) -> Reading:
    return engine.read(ITEM, lambda: Frames(images, times), runtime)


def test_read_gives_boxes_as_fractions_of_the_frame(stub: StubReader, runtime: Runtime) -> None:
    assert read(easyocr_en(), runtime, plain(9)) == Reading(
        Source.scene, (Line("STOP", 0.75, (0.25, 0.25, 0.75, 0.75)),)
    )


def test_read_gives_plain_types_that_go_through_json(stub: StubReader, runtime: Runtime) -> None:  # case O03
    stub.results = [(SQUARE, np.str_("STOP"), np.float64(0.75)), ([[np.float64(1.5), np.float32(2)]] * 4, "go", 1)]
    lines = read(easyocr_en(), runtime, plain(9), times=(np.float64(1.5),)).lines
    stored = json.loads(json.dumps([asdict(line) for line in lines]))
    assert [Line(**{**line, "box": tuple(line["box"]), "spans": ()}) for line in stored] == list(lines)
    assert {type(value) for line in lines for value in (*(line.box or ()), line.confidence, line.time)} == {float}


def test_read_clips_boxes_to_the_frame(stub: StubReader, runtime: Runtime) -> None:
    stub.results = [([[-4.0, 2], [50, -3], [44, 30], [-1, 25]], "slanted", 0.5)]
    assert read(easyocr_en(), runtime, plain(9)).lines[0].box == (0.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize(("confidence", "kept"), [(np.nan, 0.0), (1.0000001, 1.0), (0.2, 0.2)])
def test_read_keeps_confidence_a_number_from_0_to_1(
    stub: StubReader, runtime: Runtime, confidence: float, kept: float
) -> None:
    stub.results = [(SQUARE, "STOP", confidence)]
    assert read(easyocr_en(), runtime, plain(9)).lines[0].confidence == kept


def test_read_takes_results_without_confidence(stub: StubReader, runtime: Runtime) -> None:  # case O07
    stub.results = [(SQUARE, "STOP")]
    assert read(easyocr_en(), runtime, plain(9)).lines == (Line("STOP", None, (0.25, 0.25, 0.75, 0.75)),)


def test_read_hands_frames_over_as_bgr(stub: StubReader, runtime: Runtime) -> None:  # case O11
    red = plain(0)
    red[..., 0] = 255
    read(easyocr_en(), runtime, red)
    assert stub.pictures[0][0, 0].tolist() == [0, 0, 255]
    assert stub.pictures[0].flags["C_CONTIGUOUS"]
    assert red[0, 0].tolist() == [255, 0, 0]


def test_read_reads_a_frame_that_repeats_once_and_repeats_its_lines(stub: StubReader, runtime: Runtime) -> None:
    frames = [plain(9), plain(8), plain(9), plain(9, 40, 20)]
    lines = read(easyocr_en(), runtime, *frames, times=(0.5, 1.5, 2.5, 3.5)).lines
    assert [picture[0, 0, 0] for picture in stub.pictures] == [9, 8, 9]  # equal bytes of another shape are another
    assert [(line.frame, line.time) for line in lines] == [(0, 0.5), (1, 1.5), (2, 2.5), (3, 3.5)]


@pytest.mark.parametrize(("same_frame", "reads"), [(0.0, [0, 51, 102, 153]), (0.2, [0, 102]), (1.0, [0])])
def test_read_compares_with_the_last_frame_that_was_read(
    stub: StubReader, runtime: Runtime, same_frame: float, reads: list[int]
) -> None:
    lines = read(easyocr_en(same_frame=same_frame), runtime, *map(plain, (0, 51, 102, 153))).lines
    assert [int(picture[0, 0, 0]) for picture in stub.pictures] == reads
    assert [line.frame for line in lines] == [0, 1, 2, 3]


@pytest.mark.parametrize("size", [(1, 1), (1, 3000), (3000, 1), (4, 9000)])
def test_read_finds_nothing_in_frames_too_thin_for_a_letter(
    stub: StubReader, runtime: Runtime, size: tuple[int, int]
) -> None:  # case O04
    assert read(easyocr_en(), runtime, plain(0, *size)) == Reading(Source.scene)
    assert stub.pictures == []


def test_read_records_a_crash_of_the_engine_as_that_items_failure(stub: StubReader, runtime: Runtime) -> None:
    stub.results = ZeroDivisionError("float division by zero")  # case O04: a box without area
    reading = read(easyocr_en(), runtime, plain(9))
    assert reading == Reading(Source.scene, failure="EasyOCR failed: ZeroDivisionError: float division by zero")


def by_frame(stub: StubReader, monkeypatch: pytest.MonkeyPatch, errors: dict[int, Exception]) -> list[int]:
    """Lets the reader raise an error for pictures of these values; which values it is given comes in the list."""
    given: list[int] = []

    def readtext(picture: UInt8Array, **_: object) -> list[Any]:
        given.append(int(picture[0, 0, 0]))
        if given[-1] in errors:
            raise errors[given[-1]]
        return [(SQUARE, f"READ {given[-1]}", 0.5)]

    monkeypatch.setattr(stub, "readtext", readtext)
    return given


def test_read_loses_the_lines_of_a_frame_that_fails_and_no_others(
    stub: StubReader, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:  # case O04
    given = by_frame(stub, monkeypatch, {2: ValueError("resize")})
    reading = read(easyocr_en(), runtime, *map(plain, (1, 2, 3, 2)), times=(0.5, 1.5, 2.5, 3.5))
    assert reading.failure is None
    assert [(line.text, line.frame, line.time) for line in reading.lines] == [("READ 1", 0, 0.5), ("READ 3", 2, 2.5)]
    assert reading.length == 4  # so that frames are windows of their own even where nothing is read in the last
    assert given == [1, 2, 3]
    assert caplog.messages == [
        f"item 'p': nothing is read in frame {number} of 4: EasyOCR failed: ValueError: resize" for number in (2, 4)
    ]


def test_read_fails_where_every_frame_does(
    stub: StubReader, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:  # case O04
    by_frame(stub, monkeypatch, {1: ValueError("resize"), 2: IndexError("none")})
    assert read(easyocr_en(), runtime, plain(1), plain(2)).failure == "EasyOCR failed: ValueError: resize"


def test_read_takes_no_frame_as_the_same_as_one_that_failed(
    stub: StubReader, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = by_frame(stub, monkeypatch, {2: ValueError("resize")})
    lines = read(easyocr_en(same_frame=0.01), runtime, plain(2), plain(3), plain(4)).lines
    assert given == [2, 3]
    assert [(line.text, line.frame) for line in lines] == [("READ 3", 1), ("READ 3", 2)]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA error: an illegal memory access was encountered"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_read_keeps_no_reading_that_the_machine_made_thinner(
    stub: StubReader, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    by_frame(stub, monkeypatch, {2: error})
    reading = read(easyocr_en(), runtime, plain(1), plain(2))
    assert reading == Reading(Source.scene, failure=f"EasyOCR failed: {type(error).__name__}: {error}")


def test_read_records_media_that_cannot_be_decoded(stub: StubReader, runtime: Runtime) -> None:
    def torn() -> Frames:
        raise MediaError(MediaFault.damaged, "p.mp4: torn")

    assert easyocr_en().read(ITEM, torn, runtime) == Reading(Source.scene, failure="p.mp4: torn")


def test_read_raises_where_the_weights_are_missing(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case O05
    monkeypatch.setenv("EASYOCR_MODULE_PATH", str(tmp_path))
    with pytest.raises(DataError, match=r"korean_g2\.pth|craft_mlt_25k\.pth"):
        read(easyocr_en(languages=("ko", "en")), runtime, plain(9))


def test_read_passes_every_setting_on_and_never_joins_paragraphs(stub: StubReader, runtime: Runtime) -> None:
    read(easyocr_en(rotations=(90, 270), beam_width=7, mag_ratio=1.5), runtime, plain(9))
    own = {field.name for field in fields(EasyOcr)} - {"languages", "folder", "quantize", "same_frame"}
    assert set(stub.options) == (own - {"beam_width", "rotations"}) | {"beamWidth", "rotation_info"} | {
        "batch_size",
        "workers",
        "paragraph",
    }
    assert stub.options["paragraph"] is False  # case O07
    assert (stub.options["rotation_info"], stub.options["beamWidth"], stub.options["mag_ratio"]) == ([90, 270], 7, 1.5)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text_threshold", 1.5),
        ("same_frame", -0.1),
        ("min_size", -1),
        ("canvas_size", 0),
        ("mag_ratio", 0.0),
        ("beam_width", 0),
        ("rotations", (0,)),
    ],
)
def test_easyocr_refuses_values_out_of_range(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"{field}\b.*wanted"):
        easyocr_en(**{field: value})


def test_easyocr_names_all_values_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"^text_threshold is 1\.5; .*; min_size is -1; .*; languages are \['xx'\]"):
        easyocr_en(text_threshold=1.5, min_size=-1, languages=("xx",))


def test_easyocr_refuses_a_decoder_that_would_be_ignored() -> None:  # case O07
    with pytest.raises(ValueError, match="wanted greedy: EasyOCR decodes Chinese in no other way"):
        easyocr_en(languages=("ch_sim", "en"), decoder=scene_text.Decoder.beamsearch)
