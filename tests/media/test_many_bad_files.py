from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bombs import bomb
from clip_files import number_in, numbered, taking, write_clip
from glyphrank.media.decoder import Decoder, Look, Seen
from glyphrank.media.faults import MediaError
from glyphrank.records import Media
from pdf_files import write_pdf
from strange_looks import acting, picture

pytest.importorskip("decord")


def bad_files(folder: Path) -> dict[str, str]:
    """Writes files that cannot be seen; their names with the causes."""
    clip = write_clip(folder / "good_clip.mp4", 60).read_bytes()
    noise = np.random.default_rng(5).integers(0, 256, (80, 80, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "whole.jpg", quality=90)
    photo = (folder / "whole.jpg").read_bytes()
    files = {
        "empty.png": (b"", "empty"),
        "empty.mp4": (b"", "empty"),
        "empty.pdf": (b"", "empty"),
        "words.jpg": (b"only words, whatever the name says", "not_media"),
        "words.mp4": (b"only words, whatever the name says", "not_media"),
        "list.m3u8": (b"#EXTM3U\n#EXTINF:1,\ngood_clip.mp4\n", "not_media"),
        "sound.wav": (b"RIFF\x24\0\0\0WAVEfmt " + b"\0" * 400, "no_video"),
        "no_frames.mp4": (b"\0\0\0\x10ftypisom\0\0\0\0\0\0\0\x08moov", "no_video"),
        "page.pdf": (b"%PDF-1.7\n", "damaged"),
        "phone.heic": (b"\0\0\0\x18ftypheic" + b"\0" * 40, "unsupported"),
        **{f"cut_{i}.mp4": (clip[: len(clip) * i // 11], "truncated") for i in range(1, 11)},
        **{f"cut_{i}.jpg": (photo[: len(photo) * i // 11], "truncated") for i in range(1, 11)},
    }
    for name, (content, _) in files.items():
        (folder / name).write_bytes(content)
    bomb(folder / "scan.png", 19_000, 10_000)
    for act in ("hang", "kill", "eat"):
        picture(folder, act, act)
    more = {"absent.png": "missing", "scan.png": "too_large"}
    return (
        {name: cause for name, (_, cause) in files.items()}
        | more
        | {
            "hang.png": "too_slow",
            "kill.png": "crashed",
            "eat.png": "too_large",
        }
    )


def good_files(folder: Path) -> list[str]:
    """Writes files of odd kinds that can be seen, all of a light grey."""
    names = []
    for mode in ("1", "L", "P", "RGB", "RGBA", "LA", "I;16", "I", "F", "CMYK", "YCbCr", "LAB", "PA"):
        suffix = "tif" if mode in ("F", "CMYK", "YCbCr", "LAB", "I") else "png"
        image = Image.new("L", (12, 8), 255).convert({"LAB": "L", "PA": "LA"}.get(mode, mode.split(";")[0]))
        if mode == "LAB":
            image = Image.frombytes("LAB", (12, 8), bytes([255, 0, 0]) * 96)
        if mode == "I;16":
            image = Image.fromarray(np.full((8, 12), 65535, dtype=np.uint16))
        image.save(folder / f"mode_{mode.replace(';', '_')}.{suffix}")
        names.append(f"mode_{mode.replace(';', '_')}.{suffix}")
    Image.new("RGB", (1, 1), "white").save(folder / "tiny.png")
    Image.new("RGB", (12, 8), "white").save(folder / "moving.gif", save_all=True)
    write_pdf(folder / "blank.pdf", "")
    return [*names, "tiny.png", "moving.gif", "blank.pdf"]


def test_each_of_fifty_odd_files_is_named_with_its_cause_and_the_good_ones_are_right(tmp_path: Path) -> None:
    causes, good = bad_files(tmp_path), good_files(tmp_path)
    assert len(causes) + len(good) >= 50
    names = [name for pair in zip(sorted(causes), good * 3, strict=False) for name in pair] + ["good_clip.mp4"]
    start = time.monotonic()
    with Decoder(2, 3, 1) as decoder:
        media = [Media(tmp_path / name, None, name) for name in names]
        found = dict(zip(names, decoder.run(media, Look(taking(4), acting, True)), strict=True))
    assert time.monotonic() - start < 60
    errors = {name: error for name, error in found.items() if isinstance(error, MediaError)}
    assert {name: error.fault.value for name, error in errors.items()} == causes
    assert all(str(error).startswith(f"{name}: ") for name, error in errors.items())
    seen = {name: one.frames.images for name, one in found.items() if isinstance(one, Seen) and one.frames}
    assert all(images[0].min() >= 250 for name, images in seen.items() if name != "good_clip.mp4")
    assert [number_in(np.repeat(np.repeat(image, 2, 0), 2, 1)) for image in seen["good_clip.mp4"]] == [7, 22, 37, 52]
    assert number_in(numbered(37)) == 37
