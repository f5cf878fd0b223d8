from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.ocr.embedded import Embedded
from glyphrank.records import Item, Line, Media, Reading, Source, TextState
from glyphrank.runtime import Runtime
from pdf_files import cut_off, write_drawing, write_pdf
from unseen import unseen

ENGINE = Embedded(thin_below=0, garbled_above=0.3, refuse_garbled=True)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def page(path: Path, number: int | None = 1, text: str | None = None) -> Item:
    return Item("p", Media(path, number, "digest"), text)


def test_read_gives_the_lines_of_the_text_layer(tmp_path: Path, runtime: Runtime) -> None:
    item = page(write_pdf(tmp_path / "a.pdf", "other", "first line\nsecond line"), 2)
    assert ENGINE.read(item, unseen, runtime) == Reading(Source.embedded, (Line("first line"), Line("second line")))


def test_read_prefers_the_published_text(tmp_path: Path, runtime: Runtime) -> None:
    item = page(write_pdf(tmp_path / "a.pdf", "text layer"), text="  published \r\n\r\ntext ")
    assert [line.text for line in ENGINE.read(item, unseen, runtime).lines] == ["published", "text"]


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_published_text_says_nothing_about_what_an_item_shows(
    tmp_path: Path, runtime: Runtime, text: str
) -> None:  # case P02
    def read(item: Item) -> Reading:
        return ENGINE.read(item, unseen, runtime)

    scan, blank = write_drawing(tmp_path / "scan.pdf"), write_pdf(tmp_path / "blank.pdf", "")
    (tmp_path / "a.png").write_bytes(b"\x89PNG and so on")
    states = [read(page(scan, text=text)), read(page(tmp_path / "a.png", None, text)), read(page(blank, text=text))]
    assert states == [
        Reading(Source.embedded, state=TextState.image_only),
        Reading(Source.embedded, state=TextState.image_only),
        Reading(Source.embedded, state=TextState.blank),
    ]
    assert read(page(write_pdf(tmp_path / "a.pdf", "layer"), text=text)).lines == (Line("layer"),)
    assert "there is no such file" in (read(page(tmp_path / "absent.pdf", text=text)).failure or "")


def test_an_empty_published_text_is_all_there_is_of_an_item_without_media(runtime: Runtime) -> None:
    assert ENGINE.read(Item("p", None, ""), unseen, runtime) == Reading(Source.embedded, state=TextState.blank)


def test_read_finds_a_document_by_what_it_holds(tmp_path: Path, runtime: Runtime) -> None:
    document = write_pdf(tmp_path / "a.pdf", "text layer").rename(tmp_path / "document")
    assert ENGINE.read(page(document, None), unseen, runtime).lines == (Line("text layer"),)


def test_read_of_blank_and_image_only_pages_has_no_lines_and_no_failure(
    tmp_path: Path, runtime: Runtime
) -> None:  # case P02
    blank, drawn = write_pdf(tmp_path / "blank.pdf", ""), write_drawing(tmp_path / "drawn.pdf")
    assert ENGINE.read(page(blank), unseen, runtime) == Reading(Source.embedded, state=TextState.blank)
    assert ENGINE.read(page(drawn), unseen, runtime) == Reading(Source.embedded, state=TextState.image_only)


def test_read_refuses_a_text_that_is_mostly_garbled(runtime: Runtime) -> None:  # case P01
    reading = ENGINE.read(Item("p", None, "(cid:12)(cid:7) ab"), unseen, runtime)
    assert reading.lines == ()
    assert reading.state is TextState.garbled
    assert reading.failure is not None
    assert reading.failure.startswith("garbled: 88% of the text layer")


def test_read_of_a_garbled_text_that_is_not_refused_uses_and_marks_it(tmp_path: Path, runtime: Runtime) -> None:
    lenient = replace(ENGINE, refuse_garbled=False)
    text = "(cid:12)(cid:7) ab\nsecond"
    marked = Reading(Source.embedded, (Line("(cid:12)(cid:7) ab"), Line("second")), state=TextState.garbled)
    assert lenient.read(Item("p", None, text), unseen, runtime) == marked
    layer = page(write_pdf(tmp_path / "a.pdf", text.replace("\n", " ")))
    assert lenient.read(layer, unseen, runtime).state is TextState.garbled
    assert lenient.read(layer, unseen, runtime).failure is None
    good = Item("p", None, "good")
    assert lenient.read(good, unseen, runtime) == ENGINE.read(good, unseen, runtime)


@pytest.mark.parametrize(("below", "state"), [(0, "text"), (9, "text"), (10, "thin"), (100, "thin")])
def test_read_uses_and_marks_a_thin_text(tmp_path: Path, runtime: Runtime, below: int, state: str) -> None:
    engine = replace(ENGINE, thin_below=below)
    published = engine.read(Item("p", None, "nine\nc h ars"), unseen, runtime)
    layer = engine.read(page(write_pdf(tmp_path / "a.pdf", "nine\nc h ars")), unseen, runtime)
    assert published == layer == Reading(Source.embedded, (Line("nine"), Line("c h ars")), state=TextState(state))


def test_read_never_calls_a_page_without_text_thin(tmp_path: Path, runtime: Runtime) -> None:  # case P02
    engine = replace(ENGINE, thin_below=100)
    blank, drawn = write_pdf(tmp_path / "blank.pdf", ""), write_drawing(tmp_path / "drawn.pdf")
    assert engine.read(page(blank), unseen, runtime).state is TextState.blank
    assert engine.read(page(drawn), unseen, runtime).state is TextState.image_only
    assert engine.read(Item("p", None, " "), unseen, runtime).state is TextState.blank


def test_read_keeps_a_text_with_a_few_garbled_characters(runtime: Runtime) -> None:
    assert ENGINE.read(Item("p", None, "\uf0b7 a list of things"), unseen, runtime).lines == (
        Line("\uf0b7 a list of things"),
    )


def test_read_reports_a_bad_document_instead_of_raising(tmp_path: Path, runtime: Runtime) -> None:
    failures = {
        "locked": ENGINE.read(page(write_pdf(tmp_path / "locked.pdf", "x", password="word")), unseen, runtime).failure,
        "cut": ENGINE.read(page(cut_off(write_pdf(tmp_path / "cut.pdf", "x"))), unseen, runtime).failure,
        "absent": ENGINE.read(page(tmp_path / "absent.pdf"), unseen, runtime).failure,
        "range": ENGINE.read(page(write_pdf(tmp_path / "one.pdf", "x"), 2), unseen, runtime).failure,
        "clip": ENGINE.read(page(tmp_path / "clip.mp4", None), unseen, runtime).failure,
        "nothing": ENGINE.read(Item("p", None, None), unseen, runtime).failure,
    }
    wanted = {
        "locked": "locked.pdf: encrypted",
        "cut": "cut.pdf: not a PDF, or damaged",
        "absent": "absent.pdf: there is no such file",
        "range": "one.pdf: there is no page 2; the document has 1",
        "clip": "clip.mp4: ocr=embedded reads published texts and PDF files",
        "nothing": "neither published text nor media",
    }
    for case, part in wanted.items():
        assert part in (failures[case] or ""), case


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_embedded_refuses_a_threshold_that_is_no_share(share: float) -> None:
    with pytest.raises(ValueError, match=r"garbled_above is .*; wanted a share from 0 to 1"):
        Embedded(0, share, True)


def test_embedded_refuses_a_number_of_characters_below_none() -> None:
    with pytest.raises(ValueError, match="thin_below is -1; wanted at least 0"):
        Embedded(-1, 0.1, True)


@pytest.mark.shared
def test_read_of_a_real_page_finds_its_korean_title(shared_data: Path, runtime: Runtime) -> None:
    reading = ENGINE.read(page(shared_data / "guide_ko" / "install.ko.pdf"), unseen, runtime)
    assert reading.lines[0].text == "데비안 GNU/리눅스 설치 안내서"
