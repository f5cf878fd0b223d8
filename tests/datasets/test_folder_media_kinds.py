from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PIL import Image

from corpora import Corpus
from glyphrank.datasets.folder import Folder
from glyphrank.records import Media, Task
from glyphrank.runtime import Runtime
from pdf_files import write_pdf


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "fruit", tmp_path / "cache")


def media(task: Task) -> list[Media]:
    return [item.media for item in task.items if item.media]


def picture(path: Path, colour: str = "red") -> None:
    Image.new("RGB", (4, 4), colour).save(path)


def test_pictures_and_clips_have_no_page_and_a_pdf_has(corpus: Corpus) -> None:
    picture(corpus.root / "x.png")
    (corpus.root / "y.mp4").write_bytes(b"a clip")
    write_pdf(corpus.root / "z.pdf", "one")
    task = corpus.pages('"media": "x.png"', '"media": "y.mp4"', '"media": "z.pdf"').load()
    assert [(place.path.name, place.page) for place in media(task)] == [("x.png", None), ("y.mp4", None), ("z.pdf", 1)]
    assert len({place.digest for place in media(task)}) == 3


def test_equal_pictures_have_one_fingerprint_and_others_have_others(corpus: Corpus) -> None:
    for name, colour in (("x", "red"), ("y", "red"), ("z", "blue")):
        picture(corpus.root / f"{name}.png", colour)
    first, twin, other = media(corpus.pages(*(f'"media": "{name}.png"' for name in "xyz")).load())
    assert first.digest == twin.digest != other.digest


@pytest.mark.parametrize("name", ["x.png", "x.JPG", "x.mp4"])
def test_page_1_of_a_file_without_pages_is_the_file(corpus: Corpus, name: str) -> None:
    (corpus.root / name).write_bytes(b"bytes")
    whole, named = media(corpus.pages(f'"media": "{name}"', f'"media": "{name}", "page": 1').load())
    assert whole == named
    assert named.page is None


def test_a_further_page_of_a_picture_or_clip_is_a_fault(corpus: Corpus) -> None:
    picture(corpus.root / "x.png")
    (corpus.root / "y.mp4").write_bytes(b"a clip")
    message = corpus.pages('"media": "x.png", "page": 2', '"media": "y.mp4", "page": 3').fault()
    assert "line 1: 'a': page 2 of x.png, which has none; leave the field out" in message
    assert "line 2: 'b': page 3 of y.mp4, which has none; leave the field out" in message


def test_what_a_file_is_goes_by_what_it_holds_and_not_by_its_name(corpus: Corpus) -> None:
    picture(corpus.root / "x.png")
    (corpus.root / "x.png").rename(corpus.root / "x.pdf")
    write_pdf(corpus.root / "z.pdf", "one", "two").rename(corpus.root / "z")
    task = corpus.pages('"media": "x.pdf"', '"media": "x.pdf", "page": 1', '"media": "z", "page": 2').load()
    assert [place.page for place in media(task)] == [None, None, 2]


def test_a_document_of_several_pages_wants_a_page_whatever_its_name(corpus: Corpus) -> None:
    picture(corpus.root / "x.png")
    (corpus.root / "x.png").rename(corpus.root / "x.pdf")
    write_pdf(corpus.root / "z.pdf", "one", "two").rename(corpus.root / "z")
    message = corpus.pages('"media": "z"', '"media": "z", "page": 3', '"media": "x.pdf", "page": 2').fault()
    assert "line 1: 'a': no page of z, which has 2; wanted a field 'page' from 1 to 2" in message
    assert "line 2: 'b': page 3 of z, which has 2" in message
    assert "line 3: 'c': page 2 of x.pdf, which has none" in message


@pytest.mark.parametrize("name", ["x.png", "x.mp4"])
def test_a_missing_picture_or_clip_keeps_its_item(corpus: Corpus, name: str) -> None:
    (gone,) = media(corpus.pages(f'"media": "{name}"', '"text": "b"').load())
    (corpus.root / name).write_bytes(b"")
    (empty,) = media(corpus.load())
    assert gone.path == empty.path == corpus.root / name
    assert gone.digest != empty.digest


def test_loading_decodes_nothing(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:  # case V03
    for name in ("x.png", "y.mp4"):
        (corpus.root / name).write_bytes(b"neither a picture nor a clip")
    for package in ("cv2", "decord", "torch"):
        monkeypatch.setitem(sys.modules, package, None)
    task = corpus.pages('"media": "x.png"', '"media": "y.mp4"').load()
    assert len(media(task)) == 2


@pytest.mark.shared
def test_the_street_clips_are_clips_without_pages_that_all_differ(shared_data: Path, tmp_path: Path) -> None:
    runtime = Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")
    task = Folder(shared_data / "street_clips", "test").load(runtime)
    assert len(task.items) == len({place.digest for place in media(task)})
    assert {(place.page, place.path.is_file()) for place in media(task)} == {(None, True)}
