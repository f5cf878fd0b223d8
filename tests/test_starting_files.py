from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from clip_files import write_clip
from glyphrank import starting_files
from glyphrank.errors import DataError
from glyphrank.media.kinds import FileKind
from glyphrank.starting_files import find_documents, natural
from pdf_files import cut_off, write_pdf
from pictures import write_picture


def names(folder: Path, *without: Path) -> list[str]:
    return [document.name for document in find_documents(folder, without).documents]


def causes(folder: Path) -> dict[str, str]:
    return {each.name: each.cause for each in find_documents(folder, ()).skipped}


def test_natural_counts_within_names_and_goes_folder_by_folder() -> None:
    assert sorted(["b.pdf", "a/p10.pdf", "A/p2.pdf", "a/p2/x.pdf"], key=natural) == [
        "A/p2.pdf",
        "a/p2/x.pdf",
        "a/p10.pdf",
        "b.pdf",
    ]


def test_natural_takes_other_digits_for_signs() -> None:
    ordered = ["2²", "10²3", "a", "²", "٣", "①"]
    assert sorted(set(ordered), key=natural) == ordered


def test_find_documents_tells_kinds_by_what_files_hold(tmp_path: Path) -> None:
    write_pdf(tmp_path / "report.dat", "one", "two")
    write_picture(tmp_path / "photo.png", "red")
    write_clip(tmp_path / "clip.avi", 3)
    found = find_documents(tmp_path, ())
    assert [(each.name, each.kind, each.pages) for each in found.documents] == [
        ("clip.avi", FileKind.clip, None),
        ("photo.png", FileKind.picture, None),
        ("report.dat", FileKind.pdf, 2),
    ]
    assert not found.skipped


def test_find_documents_names_what_it_skips_and_why(tmp_path: Path) -> None:
    write_pdf(tmp_path / "locked.pdf", "one", password="secret")
    cut_off(write_pdf(tmp_path / "cut.pdf", "one"))
    (tmp_path / "empty.pdf").touch()
    (tmp_path / "prices.txt").write_text("BM is how some pictures begin")
    (tmp_path / "plan.hwp").write_bytes(b"\xd0\xcf\x11\xe0")
    (tmp_path / "song.mp3").write_bytes(b"ID3" + bytes(500))
    (tmp_path / "talk.mp4").write_bytes(b"\0\0\0\x14ftypisom" + bytes(8))
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / "pipe.pdf")
    assert causes(tmp_path) == {
        ".git/": "hidden",
        "cut.pdf": "not a PDF, or damaged or cut off",
        "empty.pdf": "the file is empty (0 bytes)",
        "locked.pdf": "encrypted; wanted a PDF that opens without a password",
        "pipe.pdf": "cannot be read (a named pipe, not a file)",
        "plan.hwp": "no PDF, picture or clip; save it as PDF",
        "prices.txt": "no PDF, picture or clip",
        "song.mp3": "a sound, without pictures",
        "talk.mp4": "a clip without video, or cut off",
    }


def test_damaged_pictures_are_skipped(tmp_path: Path) -> None:
    for name in ("cut.png", "cut.jpg", "cut.bmp"):
        cut_off(write_picture(tmp_path / name, "red", 64, 64))
    changed = write_picture(tmp_path / "changed.png", "red", 64, 64)
    data = changed.read_bytes()
    changed.write_bytes(data[:60] + b"????" + data[64:])
    (tmp_path / "phone.heic").write_bytes(b"\0\0\0\x14ftypheic" + bytes(12))
    for name in ("whole.png", "whole.jpg", "whole.bmp", "whole.webp"):
        write_picture(tmp_path / name, "red")
    found = causes(tmp_path)
    assert names(tmp_path) == ["whole.bmp", "whole.jpg", "whole.png", "whole.webp"]
    assert list(found) == ["changed.png", "cut.bmp", "cut.jpg", "cut.png", "phone.heic"]
    assert "the picture is damaged" in found["changed.png"]
    assert "which is not decoded; wanted JPEG or PNG" in found["phone.heic"]
    assert all("the picture is" in found[f"cut.{kind}"] for kind in ("bmp", "jpg", "png"))


def test_a_picture_of_too_many_pixels_is_an_item_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting_files, "_MOST_PIXELS", 10)
    write_picture(tmp_path / "poster.bmp", "red")
    assert names(tmp_path) == ["poster.bmp"]


def test_a_tiff_of_several_pages_is_skipped_and_one_with_a_preview_is_not(tmp_path: Path) -> None:
    from PIL import Image

    pages = [Image.new("L", (8, 8), shade) for shade in (0, 100, 200)]
    pages[0].save(tmp_path / "scan.tif", save_all=True, append_images=pages[1:])
    pages[1].encoderinfo = {"tiffinfo": {254: 1}}
    pages[0].save(tmp_path / "preview.tif", save_all=True, append_images=pages[1:2])
    assert names(tmp_path) == ["preview.tif"]
    assert causes(tmp_path) == {"scan.tif": "a TIFF of 3 pages; save it as PDF"}


def test_find_documents_follows_each_link_out_of_the_folder_once(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    (folder / "deep").mkdir(parents=True)
    elsewhere.mkdir()
    write_picture(folder / "deep" / "one.png", "red")
    write_picture(elsewhere / "two.png", "red")
    (elsewhere / "back").symlink_to(folder)
    (folder / "other").symlink_to(elsewhere)
    (folder / "same").symlink_to(elsewhere)
    (folder / "deep" / "up").symlink_to("..")
    (folder / "again.png").symlink_to("deep/one.png")
    (folder / "itself").symlink_to("itself")
    (folder / "nothing.pdf").symlink_to("gone.pdf")
    assert names(folder) == ["deep/one.png", "other/two.png"]
    skipped = causes(folder)
    assert skipped["deep/up"] == skipped["again.png"] == "a link to what is read anyway, or to a folder around it"
    assert skipped["itself"] == "a link that leads back to itself"
    assert skipped["nothing.pdf"] == "a link to nothing"
    assert skipped["same/"] == "a folder that was read already, under another name"


def test_names_are_in_nfc_and_two_that_become_equal_are_skipped(tmp_path: Path) -> None:  # case C07
    apart = unicodedata.normalize("NFD", "보고서.png")
    write_picture(tmp_path / apart, "red")
    assert names(tmp_path) == ["보고서.png"]
    write_picture(tmp_path / "보고서.png", "red")
    assert names(tmp_path) == []
    assert set(causes(tmp_path).values()) == {"two names of the folder are equal in NFC; rename one"}


def test_a_name_that_is_not_utf8_is_skipped_and_shown(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png", "red").rename(tmp_path / os.fsdecode(b"\xb0\xa1.png"))
    assert causes(tmp_path) == {"\\udcb0\\udca1.png": "its name is not UTF-8; rename it"}


def test_find_documents_passes_over_what_it_is_told_to(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png", "red")
    (tmp_path / "outputs").mkdir()
    write_picture(tmp_path / "outputs" / "plot.png", "red")
    assert names(tmp_path, tmp_path / "outputs") == ["a.png"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the folder cannot be read"):
        find_documents(tmp_path / "gone", ())
