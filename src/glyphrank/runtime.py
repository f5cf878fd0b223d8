"""How and where a run works, as against what it works on: speed, permission, places, and files that must be there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Runtime:
    """What changes speed, permission or place, and never a number; it enters no key.

    Attributes:
        device: where models run: `auto`, `cpu`, `cuda`, `cuda:1`, `mps`.
        batch_size: inputs that a model takes at once, at least 1.
        workers: processes that read media ahead of the models; 0: the run's own, without limits.
        media_seconds: seconds that reading one item may take at most, above 0.
        media_memory: GiB that reading one item may take at most in its process, above 0.
        download: whether weights may be fetched from a hub.
        outputs: folder for everything produced; absolute once a run is built.
        cache: folder for the shards; absolute once a run is built.
    """

    device: str
    batch_size: int
    workers: int
    media_seconds: float
    media_memory: float
    download: bool
    outputs: Path
    cache: Path

    def __post_init__(self) -> None:
        if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", self.device):
            raise ValueError(f"device is {self.device!r}; wanted auto, cpu, cuda, cuda:1 (any number) or mps")
        if self.batch_size < 1:
            raise ValueError(f"batch_size is {self.batch_size}; wanted at least 1")
        if self.workers < 0:
            raise ValueError(f"workers is {self.workers}; wanted at least 0")
        for name in ("media_seconds", "media_memory"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; wanted more than 0")


@dataclass(frozen=True)
class Launch:
    """How a sweep's cells are started; it changes no number.

    Attributes:
        snapshot: whether they run from a copy of configs and sources in the sweep's folder.
    """

    snapshot: bool


@runtime_checkable
class NeedsFiles(Protocol):
    """A component that runs on files of its own, such as weights; what it lacks is said before any data is read."""

    def find(self, runtime: Runtime) -> object:
        """Looks for the files, or fetches them where that is allowed; a DataError names what is missing."""
