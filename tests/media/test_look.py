from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from clip_files import taking, write_clip
from glyphrank.errors import ConfigError
from glyphrank.media import look as looking
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.look import look
from glyphrank.records import Media
from odd_files import odd_file
from pdf_files import write_pdf


def of(path: Path, page: int | None = None) -> Media:
    return Media(path, page, "")


def test_what_a_file_is_goes_by_what_it_holds_and_not_by_its_name(tmp_path: Path) -> None:
    Image.new("RGB", (30, 20)).save(tmp_path / "a.png")
    (tmp_path / "a.png").rename(tmp_path / "picture.mp4")
    write_pdf(tmp_path / "page.jpg", "text")
    write_clip(tmp_path / "a.mp4", 5).rename(tmp_path / "clip.pdf")
    shapes = {
        name: [image.shape for image in look(of(tmp_path / name), taking(2, long_side=100)).images]
        for name in ("picture.mp4", "page.jpg", "clip.pdf")
    }
    assert shapes == {"picture.mp4": [(20, 30, 3)], "page.jpg": [(100, 71, 3)], "clip.pdf": [(60, 100, 3)] * 2}


def test_a_page_and_a_picture_have_no_times_and_a_clip_has(tmp_path: Path) -> None:
    Image.new("RGB", (3, 2)).save(tmp_path / "a.gif")
    assert look(of(tmp_path / "a.gif"), taking(2)).times is None
    assert look(of(write_pdf(tmp_path / "a.pdf", "a")), taking(2)).times is None
    assert look(of(write_clip(tmp_path / "a.mp4", 5)), taking(2)).times == (0.1, 0.3)


def test_the_page_that_is_named_is_seen_and_the_first_otherwise(tmp_path: Path) -> None:
    document = write_pdf(tmp_path / "two.pdf", "", "XXXXXXXXXX")
    assert look(of(document, 1), taking(1)).images[0].min() == 255
    assert look(of(document), taking(1)).images[0].min() == 255
    assert look(of(document, 2), taking(1)).images[0].min() < 100


def test_a_page_of_what_is_no_document_is_a_fault(tmp_path: Path) -> None:
    Image.new("RGB", (3, 2)).save(tmp_path / "a.png")
    with pytest.raises(MediaError, match=r"^a\.png: not a PDF"):
        look(of(tmp_path / "a.png", 2), taking(1))


@pytest.mark.parametrize("kind", ["a directory", "a named pipe", "a socket", "a device"])
def test_what_is_no_regular_file_is_named_and_not_opened(tmp_path: Path, kind: str) -> None:
    with pytest.raises(MediaError, match=rf"^odd: cannot be read \({kind}, not a file\)$"):
        look(of(odd_file(tmp_path / "odd", kind)), taking(1))


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0,
    reason="permissions bind accounts of POSIX, not the superuser",
)
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    (tmp_path / "a.png").chmod(0)
    with pytest.raises(MediaError, match=r"^a\.png: cannot be read \(Permission denied\)"):
        look(of(tmp_path / "a.png"), taking(1))


@pytest.mark.parametrize(
    "content", [b"\0" * 5000, b"%PDF-1.7 and nothing more", b"GIF89a", b"\x1a\x45\xdf\xa3" + b"\0" * 99]
)
def test_files_of_nothing_are_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(MediaError, match=r"^a: "):
        look(of(tmp_path / "a"), taking(1))


@pytest.mark.parametrize(
    "start", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"\0\0\0\x20ftypisom", b"%PDF-1.4\n", b"RIFF"]
)
def test_no_bytes_whatever_raise_anything_but_a_media_error(tmp_path: Path, start: bytes) -> None:
    chance = np.random.default_rng(7)
    for length in (1, 20, 400, 9000):
        (tmp_path / "noise").write_bytes(start + chance.bytes(length))
        with pytest.raises(MediaError, match=r"^noise: "):
            look(of(tmp_path / "noise"), taking(1))


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (RuntimeError("from inside"), MediaFault.damaged),
        (MemoryError(), MediaFault.too_large),
        (MediaError(MediaFault.encrypted, "a.png: x"), MediaFault.encrypted),
    ],
)
def test_whatever_a_library_raises_is_a_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, fault: MediaFault
) -> None:
    def fail(*_: object) -> None:
        raise error

    Image.new("RGB", (3, 2)).save(tmp_path / "a.png")
    monkeypatch.setattr(looking, "load_image", fail)
    with pytest.raises(MediaError, match=r"^a\.png: ") as caught:
        look(of(tmp_path / "a.png"), taking(1))
    assert caught.value.fault is fault


class Broken:
    """A sampler that fails."""

    long_side, most_pixels = 100, 10**6

    def places(self, times: object) -> list[int]:
        raise ZeroDivisionError("in the sampler")


def test_a_fault_of_the_sampler_is_no_fault_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Broken\.places: ZeroDivisionError: in the sampler"):
        look(of(write_clip(tmp_path / "a.mp4", 3)), Broken())
