"""A plug-in whose encoder takes as many seconds as it is told; where they are negative, its process dies at once."""

from __future__ import annotations

from pathlib import Path

SOURCE = """
import os
import signal
import time
from dataclasses import dataclass

import numpy as np

from glyphrank.records import Encoded


@dataclass(frozen=True)
class Slow:
    seconds: float

    def encode_queries(self, texts, runtime):
        return self.encode_texts(texts, runtime)

    def encode_texts(self, texts, runtime):
        with (runtime.outputs / f"began-{self.seconds:g}").open("a") as began:
            began.write(f"{os.getpid()}\\n")
        if self.seconds < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self.seconds)
        return Encoded(np.array([[len(text), 1] for text in texts], dtype=np.float32), np.zeros(len(texts), dtype=bool))
"""


def slow_cells(folder: Path) -> tuple[str, ...]:
    """Puts the plug-in into a folder; the options that choose it, but for `text.seconds`."""
    (folder / "own" / "encoder").mkdir(parents=True)
    (folder / "own" / "slow_one.py").write_text(SOURCE)
    (folder / "own" / "encoder" / "slow.yaml").write_text("_target_: slow_one.Slow\nseconds: 0.0\n")
    return ("--config-dir", "own", "plugins=[slow_one]", "encoder@text=slow")
