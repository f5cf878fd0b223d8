"""Generated inputs of the benchmarks: pictures, clips, and the settings of a model of published size."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from glyphrank.datasets.sample_clips import SampleClips
from glyphrank.digests import digest_file
from glyphrank.encoders.clip import OpenClip
from glyphrank.encoders.clip_crop import Crop
from glyphrank.encoders.clip_weights import ClipWeights
from glyphrank.encoders.precision import Precision
from glyphrank.media.decoder import Decoder, Look
from glyphrank.media.faults import MediaError
from glyphrank.media.sampling import Middles
from glyphrank.records import Frames, Item, Line, Media, Reading, Source
from glyphrank.runtime import Runtime

WIDTH, HEIGHT = 1240, 1754
"""Pixels of a page at 150 dots an inch."""
SAMPLER = Middles(count=4, long_side=1600, most_pixels=89_000_000)
TINY = {
    "embed_dim": 32,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "patch_size": 8, "head_width": 32},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1},
}


@dataclass(frozen=True)
class Dark:
    """Counts dark pixels."""

    VERSION: ClassVar[int] = 1
    needs_frames: ClassVar[bool] = True
    sources: ClassVar[tuple[Source, ...]] = (Source.scene,)

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        return Reading(Source.scene, tuple(Line(str(int((image < 128).sum()))) for image in frames().images))


@dataclass(frozen=True)
class Patient(Dark):
    """The same after some seconds, with a line in a file for every item read."""

    seconds: float
    log: str

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        time.sleep(self.seconds)
        with Path(self.log).open("a") as log:
            log.write(f"{item.id}\n")
        return super().read(item, frames, runtime)


def runtime(folder: Path, device: str = "cpu", batch_size: int = 32, workers: int = 2) -> Runtime:
    """With outputs and cache in a folder."""
    return Runtime(device, batch_size, workers, 60, 4, False, folder / "outputs", folder / "cache")


def encoder(folder: Path, name: str, precision: Precision = Precision.float32) -> OpenClip:
    """open_clip's model of a name, or a tiny one, with random weights: its speed is that of the real one."""
    import open_clip

    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    model = TINY if name == "tiny" else open_clip.get_model_config(name)
    (place / "open_clip_config.json").write_text(json.dumps({"model_cfg": model, "preprocess_cfg": {}}))
    weights = ClipWeights(None, None, None, None, place)
    return OpenClip(weights, None, precision, False, Crop.squash, "", "", random_weights=True, seed=0)


def pages(folder: Path, count: int, width: int = WIDTH, height: int = HEIGHT) -> list[Item]:
    """JPEG files that look like pages: lines of dark marks on white, all different."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    items = []
    for number in range(count):
        path = folder / f"{number:05}.jpg"
        if not path.exists():
            generator = np.random.default_rng(number)
            marks = generator.random((height // 8, width // 8)) < 0.4
            marks[::3] = False
            grey = np.where(np.kron(marks, np.ones((8, 8), dtype=bool)), 30, 250).astype(np.uint8)
            Image.fromarray(grey).convert("RGB").save(path, quality=85)
        items.append(Item(path.stem, Media(path, None, digest_file(path)), None))
    return items


def clips(folder: Path, count: int) -> list[Item]:
    """Clips of the generated dataset, 320 x 180, 24 frames."""
    task = SampleClips(clips=-(-count // 16) * 16, clips_a_text=4, clips_a_scene=4, seed=7).load(runtime(folder))
    return list(task.items[:count])


def prepared(items: Sequence[Item], encoder: OpenClip, folder: Path) -> list[Frames]:
    """What an encoder that never waits is given."""
    look = Look(SAMPLER, encoder.preparation(runtime(folder)), pixels=True)
    with Decoder(2, 60, 4) as decoder:
        seen = list(decoder.run([item.media for item in items if item.media], look))
    return [one.frames for one in seen if not isinstance(one, MediaError) and one.frames]
