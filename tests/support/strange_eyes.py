"""A plug-in encoder whose preparation misbehaves for some pictures; see `strange_looks`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import strange_looks
from glyphrank.records import Encoded, FloatArray, Frames
from glyphrank.runtime import Runtime


def install(folder: Path) -> tuple[str, ...]:
    """Puts the plug-in into a folder; returns the options that choose it."""
    (folder / "encoder").mkdir(parents=True, exist_ok=True)
    (folder / "encoder" / "strange_eyes.yaml").write_text("_target_: strange_eyes.StrangeEyes\nsalt: 1\n")
    for module in (__file__, strange_looks.__file__):
        shutil.copy(str(module), folder)
    return ("--config-dir", str(folder), "plugins=[strange_eyes,strange_looks]", "encoder@visual=strange_eyes")


@dataclass(frozen=True)
class StrangeEyes:
    """Brightness and its complement."""

    VERSION: ClassVar[int] = 1
    salt: int

    def preparation(self, runtime: Runtime) -> Callable[[Any], Any]:
        return strange_looks.acting

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return Encoded(np.ones((len(texts), 2), dtype=np.float32), np.zeros(len(texts), dtype=np.bool_))

    def encode_frames(self, frames: Iterable[Frames], runtime: Runtime) -> FloatArray:
        light = [float(np.mean([image.mean() for image in item.images])) for item in frames]
        return np.array([[value, 300 - value] for value in light], dtype=np.float32).reshape(-1, 2)
