from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank import starting_text
from glyphrank.starting_files import find_documents
from glyphrank.starting_text import TextLayers, suggested_ocr, text_layers
from pdf_files import write_drawing, write_pdf
from pictures import write_picture

LONG = "a line of text that is long enough"


def test_text_layers_counts_pages_by_what_they_hold(tmp_path: Path) -> None:  # case P02
    write_pdf(tmp_path / "a.pdf", LONG, "short", "")
    write_pdf(tmp_path / "b.pdf", "(cid:1)(cid:2)(cid:3)(cid:4)")
    write_drawing(tmp_path / "scan.pdf")
    documents = find_documents(tmp_path, ()).documents
    layers = text_layers(documents)
    assert layers == TextLayers(pages=5, text=1, thin=1, scanned=1, garbled=1, blank=1)
    assert suggested_ocr(documents, layers) == "embedded_else_easyocr"


def test_of_many_pages_some_are_taken_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting_text, "MOST_PAGES", 3)
    write_pdf(tmp_path / "a.pdf", *[LONG, "", ""] * 3)
    layers = text_layers(find_documents(tmp_path, ()).documents)
    assert (layers.pages, layers.looked_at, layers.text) == (9, 3, 3)


def test_the_text_layer_is_enough_where_every_page_has_one(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", LONG, "")
    documents = find_documents(tmp_path, ()).documents
    assert suggested_ocr(documents, text_layers(documents)) == "embedded"


def test_pictures_and_scans_alone_are_left_to_the_engine(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png", "red")
    write_drawing(tmp_path / "scan.pdf")
    documents = find_documents(tmp_path, ()).documents
    assert suggested_ocr(documents, text_layers(documents)) == "easyocr_ko_en"
