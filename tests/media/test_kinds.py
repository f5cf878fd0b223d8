from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, features

from clip_files import taking, write_clip
from glyphrank.media.kinds import HEAD, FileKind, is_pdf, kind_of
from glyphrank.media.look import look
from glyphrank.records import Media
from pdf_files import write_pdf

SUFFIXES = ("avif", "bmp", "gif", "ico", "jpg", "jp2", "j2k", "pcx", "png", "pbm", "pgm", "ppm", "pfm", "qoi", "sgi")


def head(path: Path) -> bytes:
    return path.read_bytes()[:HEAD]


@pytest.mark.parametrize("suffix", [*SUFFIXES, "tif", "webp"])
def test_every_kind_of_picture_is_told_even_where_it_mentions_a_document(tmp_path: Path, suffix: str) -> None:
    if suffix == "avif" and not features.check("avif"):
        pytest.skip("this Pillow has no AVIF")
    mode = {"pbm": "1", "pgm": "L", "pfm": "F"}.get(suffix, "RGB")
    Image.new(mode, (32, 32)).save(tmp_path / f"a.{suffix}")
    assert kind_of(head(tmp_path / f"a.{suffix}")) is FileKind.picture
    assert kind_of(head(tmp_path / f"a.{suffix}")[:40] + b" from %PDF-1.4") is FileKind.picture


def test_big_tiffs_in_either_order_of_bytes_are_pictures(tmp_path: Path) -> None:
    assert {kind_of(start + bytes(40)) for start in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")} == {FileKind.picture}


def test_a_document_is_one_with_other_bytes_before_it_as_far_as_pdfium_looks(tmp_path: Path) -> None:
    document = write_pdf(tmp_path / "a.pdf", "text").read_bytes()
    found = {count: kind_of(b"#" * count + document) for count in (0, 1, 1024, 1025)}
    assert found == {0: FileKind.pdf, 1: FileKind.pdf, 1024: FileKind.pdf, 1025: FileKind.unknown}


def test_a_clip_is_one_even_where_it_mentions_a_document(tmp_path: Path) -> None:
    start = head(write_clip(tmp_path / "a.mp4", 3))
    assert kind_of(start[:100] + b"%PDF-1.4") is FileKind.clip
    assert kind_of(b"only words") is FileKind.unknown


def test_a_photograph_with_a_comment_about_a_document_is_seen(tmp_path: Path) -> None:
    Image.new("RGB", (30, 20)).save(tmp_path / "a.jpg", comment=b"converted from %PDF-1.5 scan")
    assert look(Media(tmp_path / "a.jpg", None, ""), taking(1)).images[0].shape == (20, 30, 3)


def test_a_name_counts_only_where_the_content_says_nothing(tmp_path: Path) -> None:
    Image.new("RGB", (3, 2)).save(tmp_path / "a.png")
    (tmp_path / "a.png").rename(tmp_path / "picture.pdf")
    (tmp_path / "torn.pdf").write_bytes(b"words")
    (tmp_path / "empty.PDF").write_bytes(b"")
    (tmp_path / "pdf").write_bytes(b"words")
    write_pdf(tmp_path / "page.jpg", "text")
    found = {
        name: is_pdf(tmp_path / name)
        for name in ("picture.pdf", "page.jpg", "torn.pdf", "empty.PDF", "absent.pdf", "absent.pdf.mp4", "pdf")
    }
    assert [name for name, document in found.items() if document] == ["page.jpg", "torn.pdf", "empty.PDF", "absent.pdf"]
