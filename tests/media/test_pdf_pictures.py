from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reportlab.pdfgen.canvas import Canvas

from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.pdf import render_page
from pdf_files import write_pdf

BUDGET = 89_000_000


def marked(path: Path, size: tuple[float, float] = (600, 300), rotation: int = 0) -> Path:
    """A page with a red mark above left and a blue one below right, as it is before the page is rotated."""
    canvas: Any = Canvas(str(path), pagesize=size, invariant=1)
    canvas.setFillColorRGB(1, 0, 0)
    canvas.rect(0, size[1] * 0.9, size[0] * 0.1, size[1] * 0.1, stroke=0, fill=1)
    canvas.setFillColorRGB(0, 0, 1)
    canvas.rect(size[0] * 0.9, 0, size[0] * 0.1, size[1] * 0.1, stroke=0, fill=1)
    canvas.showPage()
    canvas.save()
    # ReportLab's own rotation also swaps the sides of the page; scanners set the number alone, as here.
    path.write_bytes(path.read_bytes().replace(b"/Rotate 0", f"/Rotate {rotation}".encode()))
    return path


def corner(image: np.ndarray, name: str) -> str:
    y, x = {"above left": (1, 1), "above right": (1, -2), "below left": (-2, 1), "below right": (-2, -2)}[name]
    return {(255, 0, 0): "red", (0, 0, 255): "blue", (255, 255, 255): "white"}[tuple(image[y, x].tolist())]


def test_a_page_is_drawn_on_white_with_the_long_side_asked_for(tmp_path: Path) -> None:
    page = render_page(marked(tmp_path / "a.pdf"), 1, 200, BUDGET)
    assert page.shape == (100, 200, 3)
    assert page.dtype == np.uint8
    assert [corner(page, name) for name in ("above left", "below right", "below left")] == ["red", "blue", "white"]


@pytest.mark.parametrize(
    ("rotation", "shape", "red", "blue"),
    [
        (90, (200, 100, 3), "above right", "below left"),
        (180, (100, 200, 3), "below right", "above left"),
        (270, (200, 100, 3), "below left", "above right"),
    ],
)
def test_a_rotated_page_stands_upright(
    tmp_path: Path, rotation: int, shape: tuple[int, int, int], red: str, blue: str
) -> None:
    page = render_page(marked(tmp_path / "a.pdf", rotation=rotation), 1, 200, BUDGET)
    assert page.shape == shape
    assert (corner(page, red), corner(page, blue)) == ("red", "blue")


@pytest.mark.parametrize("long_side", [1, 7, 640, 1600, 1601])
@pytest.mark.parametrize("size", [(612, 792), (595.276, 841.89), (100, 99.99)])
def test_the_long_side_is_exact_for_every_size_of_paper(
    tmp_path: Path, size: tuple[float, float], long_side: int
) -> None:
    assert max(render_page(marked(tmp_path / "a.pdf", size), 1, long_side, BUDGET).shape[:2]) == long_side


def test_a_page_of_14400_points_is_drawn_like_any_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # case P08
    page = render_page(marked(tmp_path / "vast.pdf", (14_400, 14_400)), 1, 1600, BUDGET)
    assert page.shape == (1600, 1600, 3)
    assert corner(page, "above left") == "red"
    assert caplog.records == []


@pytest.mark.parametrize(
    ("size", "most"), [((14_400, 14_400), 10_000), ((600, 300), 999), ((1000, 1), 50), ((9, 9), 1)]
)
def test_a_page_over_the_budget_is_drawn_smaller_and_that_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, size: tuple[float, float], most: int
) -> None:  # case P08
    with caplog.at_level(logging.WARNING, "glyphrank"):
        page = render_page(marked(tmp_path / "vast.pdf", size), 1, 40_000, most)
    height, width, _ = page.shape
    assert most / 2 - 1 < height * width <= most
    assert caplog.messages == [
        f"vast.pdf: page 1 is drawn with a long side of {max(height, width)} pixels, not 40000, "
        f"to keep within {most} pixels (frames.most_pixels)"
    ]


def test_what_is_filled_into_a_form_is_drawn(tmp_path: Path) -> None:
    canvas: Any = Canvas(str(tmp_path / "form.pdf"), pagesize=(200, 100), invariant=1)
    canvas.acroForm.textfield(name="a", value="XXXXXXXX", x=10, y=20, width=180, height=60, fontSize=40, borderWidth=0)
    canvas.showPage()
    canvas.save()
    assert (render_page(tmp_path / "form.pdf", 1, 200, BUDGET)[30:70] < 100).any()


@pytest.mark.parametrize("page", [0, 3])
def test_a_page_that_is_not_there_is_named(tmp_path: Path, page: int) -> None:
    with pytest.raises(MediaError, match=rf"^two\.pdf: there is no page {page}; the document has 2$") as caught:
        render_page(write_pdf(tmp_path / "two.pdf", "a", "b"), page, 100, BUDGET)
    assert caught.value.fault is MediaFault.no_page


THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from glyphrank.media.pdf import page_text, render_page
path = Path(sys.argv[1])
def read(number):
    return page_text(path, 1).text, render_page(path, 1, 64, 10**6).tobytes()
with ThreadPoolExecutor(8) as pool:
    print(len(set(pool.map(read, range(100)))))
"""


def test_threads_that_read_and_draw_do_not_disturb_one_another(tmp_path: Path) -> None:  # case P05
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-W", "error", "-c", THREADS, str(write_pdf(tmp_path / "a.pdf", "text"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "1", "")
