"""A plug-in whose engine and encoder take their time and write down what they worked on, for tests that kill them.

`install` copies this file beside its YAMLs, where `--config-dir` and `plugins` find it as `slow_parts`.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from glyphrank.media.digest import digest_frames
from glyphrank.records import Encoded, FloatArray, Frames, Item, Line, Reading, Source, UInt8Array
from glyphrank.runtime import Runtime

SECONDS = 0.02
YAMLS = {"ocr/slow": "SlowOcr", "encoder/slow_eyes": "SlowEyes", "encoder/slow_words": "SlowWords"}
OPTIONS = ("ocr=slow", "encoder@visual=slow_eyes", "encoder@text=slow_words")


def install(folder: Path) -> tuple[str, ...]:
    """Puts the plug-in into a folder; returns the options that choose it."""
    for name, kind in YAMLS.items():
        file = folder / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"_target_: slow_parts.{kind}\nsalt: 1\n")
    shutil.copyfile(__file__, folder / "slow_parts.py")
    return ("--config-dir", str(folder), "plugins=[slow_parts]", *OPTIONS)


def note(kind: str, what: str) -> None:
    """Appends a line to the file that the environment names, whole whoever else writes."""
    time.sleep(SECONDS)
    with Path(os.environ["SLOW_PARTS_LOG"]).open("a") as log:
        log.write(f"{os.getpid()} {kind} {what}\n")


@dataclass(frozen=True)
class Same:
    """Leaves a frame as it is."""

    def __call__(self, image: UInt8Array) -> UInt8Array:
        return image


@dataclass(frozen=True)
class SlowOcr:
    """Reads the colour of the first corner."""

    VERSION: ClassVar[int] = 1
    needs_frames: ClassVar[bool] = True
    sources: ClassVar[tuple[Source, ...]] = (Source.scene,)
    salt: int

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        seen = frames()
        note("reading", digest_frames(seen))
        colours = (" ".join(map(str, image[0, 0])) for image in seen.images)
        lines = tuple(Line(f"colour {colour}", frame=number) for number, colour in enumerate(colours))
        return Reading(Source.scene, lines, length=len(lines))


@dataclass(frozen=True)
class SlowEyes:
    """Mean colour of the frames."""

    VERSION: ClassVar[int] = 1
    salt: int

    def preparation(self, runtime: Runtime) -> Same:
        return Same()

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return _of_texts(texts)

    def encode_frames(self, frames: Iterable[Frames], runtime: Runtime) -> FloatArray:
        rows = []
        for item in frames:
            note("vectors", digest_frames(item))
            rows.append(np.mean([image.mean(axis=(0, 1)) for image in item.images], axis=0))
        return np.array(rows, dtype=np.float32).reshape(-1, 3)


@dataclass(frozen=True)
class SlowWords:
    """The three numbers of a text."""

    VERSION: ClassVar[int] = 1
    salt: int

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return _of_texts(texts)

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        for text in texts:
            note("texts", text.replace(" ", "_"))
        return _of_texts(texts)


def _of_texts(texts: Sequence[str]) -> Encoded:
    rows = [[float(word) for word in text.split() if word.isdigit()][:3] for text in texts]
    return Encoded(np.array(rows, dtype=np.float32) + 1, np.zeros(len(texts), dtype=np.bool_))
