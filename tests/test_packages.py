from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from glyphrank.datasets.sample_clips_video import write_video
from glyphrank.errors import ConfigError
from glyphrank.indexes.faiss_hnsw import FaissHnsw
from glyphrank.indexes.faiss_ivf import FaissIvf
from glyphrank.indexes.faiss_search import installed_faiss
from glyphrank.ocr.scene_reader import load_reader
from glyphrank.packages import import_package
from glyphrank.records import Vectors
from glyphrank.runtime import Runtime
from tiny_clip import loaded, tiny_encoder, write_tiny_clip

UNIT = Vectors(("a",), np.ones((1, 1), dtype=np.float32))


def test_import_package_gives_the_module() -> None:
    assert import_package("math", "python") is math


def test_import_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ConfigError, match=r"'cv2' cannot be imported \(.*\); pip install opencv-python-headless"):
        import_package("cv2", "opencv-python-headless")


@pytest.mark.parametrize("error", ["ImportError('libGL.so.1: no such file')", "OSError('torn')", "AttributeError('x')"])
def test_import_package_takes_whatever_a_broken_package_raises(
    error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_package.py").write_text(f"raise {error}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"broken_package.*(libGL|torn|x).*pip install broken"):
        import_package("broken_package", "broken")


def test_every_late_package_that_is_missing_is_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")
    encoder = tiny_encoder(write_tiny_clip(tmp_path / "tiny"))
    for module in ("easyocr", "faiss", "cv2", "open_clip"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=r"'easyocr'.*pip install easyocr"):
        load_reader(("en",), tmp_path / "detector", tmp_path / "recogniser", True, "cpu")
    for index in (FaissHnsw(2, 1, 1, 1), FaissIvf(1, 1, 1)):
        with pytest.raises(ConfigError, match=f"'faiss'.*pip install {re.escape(installed_faiss()[0])}"):
            index.build(UNIT)
    with pytest.raises(ConfigError, match=r"'cv2'.*pip install opencv-python-headless"):
        write_video(tmp_path / "clip.mp4", ())
    with pytest.raises(ConfigError, match=r"'open_clip'.*pip install open-clip-torch"):
        loaded(encoder, runtime)
