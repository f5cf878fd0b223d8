"""A folder of odd files: those that cannot be seen, with their causes, and those that can."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from bombs import bomb
from clip_files import write_clip
from pdf_files import write_pdf
from strange_looks import picture


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
