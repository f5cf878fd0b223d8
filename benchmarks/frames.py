"""The stage that encodes frames against a bare serial loop and against an encoder that never waits.

    python benchmarks/frames.py [--repeats 5] [--model ViT-B-32] [--pages 96] [--clips 48]

`serial` decodes, transforms and encodes in one loop with open_clip's own transform, a batch at a time, and keeps
nothing. `preloaded` encodes frames that are in memory, prepared. `stage` is ours on a cold cache: files decoded ahead
in two processes under limits, looks hashed, vectors written. Each measurement has a process of its own, by turns;
loading the model is not counted, starting our processes is. The table gives medians; ratios are medians of neighbours.
Peak memory is that of the process and, for ours, of the two that decode.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import inputs
from glyphrank.encoders.clip import OpenClip
from glyphrank.records import FloatArray, Frames, Item
from glyphrank.scoring import unit_rows
from glyphrank.sight import Sight
from glyphrank.visual import encode_frames
from peak import peak_megabytes

KINDS = ("serial", "preloaded", "stage")
BATCH = 32


def main() -> int:
    """Measures by turns and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--model", default="ViT-B-32")
    parser.add_argument("--pages", type=int, default=96)
    parser.add_argument("--clips", type=int, default=48)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        kind, what, folder = options.measure
        print(json.dumps(_measure(kind, what, Path(folder), options)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for what in ("pages", "clips"):
            _compare(what, folder, options)
    return 0


def _compare(what: str, folder: str, options: argparse.Namespace) -> None:
    measured: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    size = ["--model", options.model, "--pages", str(options.pages), "--clips", str(options.clips)]
    for turn in range(options.repeats + 1):
        for kind, results in measured.items():
            command = [sys.executable, __file__, *size, "--measure", kind, what, folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            if turn:  # the first turn writes the files and warms the disk
                results.append(json.loads(done.stdout.splitlines()[-1]))
    seconds = {kind: [result["seconds"] for result in results] for kind, results in measured.items()}
    count = measured["stage"][0]["items"]
    print(f"{what}: {count:.0f} items, {measured['stage'][0]['frames']:.0f} frames, {options.model}")
    print(f"{'':10}{'items/s':>10}{'frames/s':>10}{'peak MB':>10}")
    for kind, results in measured.items():
        median, peak = statistics.median(seconds[kind]), max(result["megabytes"] for result in results)
        print(f"{kind:10}{count / median:10.1f}{results[0]['frames'] / median:10.1f}{peak:10.0f}")
    for other in ("serial", "preloaded"):
        ratios = [mine / its for mine, its in zip(seconds["stage"], seconds[other], strict=True)]
        print(f"stage against {other}: {statistics.median(ratios):.2f} times its seconds")
    distance = max(result["distance"] for result in measured["stage"])
    print(f"largest difference between a vector of the stage and of the serial loop: {distance:.1e}")


def _measure(kind: str, what: str, folder: Path, options: argparse.Namespace) -> dict[str, float]:
    items = inputs.pages(folder / "pages", options.pages) if what == "pages" else inputs.clips(folder, options.clips)
    encoder = inputs.encoder(folder / "models", options.model)
    runtime = inputs.runtime(folder, batch_size=BATCH)
    prepared = inputs.prepared(items, encoder, folder) if kind == "preloaded" else []
    encoder.encode_frames(iter([Frames((np.zeros((224, 224, 3), dtype=np.uint8),))]), runtime)
    start = time.perf_counter()
    distance, megabytes, seconds = 0.0, 0.0, 0.0
    if kind == "serial":
        np.save(folder / f"{what}.npy", _serial(items, encoder, folder))
    elif kind == "preloaded":
        encoder.encode_frames(iter(prepared), runtime)
    else:
        with tempfile.TemporaryDirectory(dir=folder) as cold:
            here = inputs.runtime(Path(cold), batch_size=BATCH)
            with Sight(inputs.SAMPLER, here) as sight:
                found = encode_frames(encoder, items, sight, here)
                seconds, megabytes = time.perf_counter() - start, peak_megabytes()
            place = {digest: row for row, digest in enumerate(found.vectors.ids)}
            values = found.vectors.values[[place[str(digest)] for digest in found.digests]]
        distance = float(np.abs(values - np.load(folder / f"{what}.npy")).max())
    seconds, megabytes = seconds or time.perf_counter() - start, megabytes or peak_megabytes()
    frames = len(items) * (1 if what == "pages" else inputs.SAMPLER.count)
    measured = {"seconds": seconds, "megabytes": megabytes, "items": len(items), "frames": frames}
    return {**measured, "distance": distance}


def _serial(items: Sequence[Item], encoder: OpenClip, folder: Path) -> FloatArray:
    """What a person would write by hand: unit vectors of items, frames pooled."""
    import open_clip
    import torch
    from PIL import Image

    model = encoder._model(inputs.runtime(folder))
    size = model.settings.size
    transform = open_clip.image_transform(
        size, is_train=False, mean=model.settings.mean, std=model.settings.std, resize_mode="squash"
    )
    pending: list[torch.Tensor] = []
    owners: list[int] = []
    vectors: list[torch.Tensor] = []
    with torch.no_grad():
        for number, item in enumerate(items):
            for image in _decoded(item):
                pending.append(transform(Image.fromarray(image)))
                owners.append(number)
            while len(pending) >= BATCH:
                vectors.append(model.network.encode_image(torch.stack(pending[:BATCH]), normalize=True))
                del pending[:BATCH]
        if pending:
            vectors.append(model.network.encode_image(torch.stack(pending), normalize=True))
    values, owner = torch.cat(vectors).numpy(), np.array(owners)
    pooled = np.stack([values[owner == number].mean(axis=0) for number in range(len(items))])
    return unit_rows(pooled)[0]


def _decoded(item: Item) -> Sequence[np.ndarray]:
    """The frames of a file by PIL or decord alone, larger pictures reduced as our sampler does."""
    from PIL import Image

    if item.media is None:
        raise ValueError(f"{item.id} has no media")
    if item.media.path.suffix == ".jpg":
        with Image.open(item.media.path) as image:
            rgb = image.convert("RGB")
            rgb.thumbnail((inputs.SAMPLER.long_side,) * 2, Image.Resampling.LANCZOS, reducing_gap=3.0)
            return [np.asarray(rgb)]
    import decord

    reader = decord.VideoReader(str(item.media.path), num_threads=1)
    places = inputs.SAMPLER.places([number / 10 for number in range(len(reader))])
    return list(reader.get_batch(places).asnumpy())


if __name__ == "__main__":
    sys.exit(main())
