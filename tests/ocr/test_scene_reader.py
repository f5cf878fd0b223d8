"""With EasyOCR itself and its English weights, which the extra `offline` carries."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from glyphrank.devices import choose_device
from glyphrank.errors import ConfigError, DataError
from glyphrank.ocr.scene_reader import load_reader
from glyphrank.ocr.scene_weights import PACKAGE
from glyphrank.records import Frames, Item, Reading, Source, UInt8Array
from glyphrank.runtime import Runtime
from scene_parts import easyocr_en

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("easyocr") is None or importlib.util.find_spec(PACKAGE) is None,
    reason="the weights of the extra `offline` are not here",
)
ITEM = Item("p", None, None)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def sign(text: str) -> UInt8Array:
    """Dark text on a light sign, (80, 320, 3)."""
    image = Image.new("RGB", (320, 80), (240, 240, 200))
    ImageDraw.Draw(image).text((30, 20), text, (20, 20, 90), ImageFont.load_default(36))
    return np.asarray(image)


def test_read_reads_a_sign_twice_alike_and_says_where_it_stands(
    runtime: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    path = list(sys.path)
    first, second = (easyocr_en().read(ITEM, lambda: Frames((sign("NO PARKING"),)), runtime) for _ in range(2))
    assert first == second
    [line] = first.lines
    assert line.text == "NO PARKING"
    assert line.confidence is not None
    assert line.confidence > 0.5
    assert line.box is not None
    assert np.allclose(line.box, (0.09, 0.28, 0.81, 0.72), atol=0.1)
    assert sys.path == path
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("size", [(60, 80), (1, 1), (1, 3000), (3000, 1), (5, 3000)])
def test_read_of_blank_and_very_thin_frames_is_empty(runtime: Runtime, size: tuple[int, int]) -> None:  # case O04
    frames = Frames((np.full((*size, 3), 255, dtype=np.uint8), np.zeros((*size, 3), dtype=np.uint8)))
    assert easyocr_en().read(ITEM, lambda: frames, runtime) == Reading(Source.scene, length=2)


def test_load_reader_names_weights_that_cannot_be_loaded(tmp_path: Path) -> None:
    for name in ("craft_mlt_25k.pth", "english_g2.pth"):
        (tmp_path / name).write_bytes(b"cut off")
    with pytest.raises(DataError, match=r"EasyOCR cannot load .*craft_mlt_25k\.pth and .*english_g2\.pth on cpu"):
        load_reader(("en",), tmp_path / "craft_mlt_25k.pth", tmp_path / "english_g2.pth", True, "cpu")


def test_choose_device_refuses_a_device_that_is_not_here() -> None:
    with pytest.raises(ConfigError, match=r"runtime\.device is 'cuda:99'; this machine has cpu"):
        choose_device("cuda:99")


@pytest.mark.shared
def test_read_reads_a_plaque_in_a_real_clip(runtime: Runtime, shared_data: Path) -> None:
    decord = pytest.importorskip("decord")
    clip = decord.VideoReader(str(shared_data / "street_clips" / "media" / "blue_plaque.mp4"), num_threads=1)
    frames = Frames((clip[len(clip) // 2].asnumpy(),), (1.5,))
    lines = easyocr_en().read(ITEM, lambda: frames, runtime).lines
    assert {"OCTAVIA", "HILL"} <= {word for line in lines for word in line.text.upper().split()}
    assert {line.time for line in lines} == {1.5}
