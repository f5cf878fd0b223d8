"""Whether an accelerator gives the CPU's vectors, and how busy the stage keeps the encoder there.

    python benchmarks/gpu_check.py [--device auto] [--model ViT-B-32] [--pages 256]

Encodes generated pages and clips with a model of published size and random weights (agreement and speed are those of
the real one): on the CPU in float32 as reference, then on the device in every precision. Wanted: cosine between the
vectors of an item at least 1 - 1e-4 in float32 and 1 - 2e-3 in float16 and bfloat16, and equal ranks at 1 in float32
for 99 of 100 queries. Busy: seconds of encoding frames that are in memory, through seconds of the whole stage on a
cold cache; 1 means that the encoder never waits for decoding. Where there is no accelerator the device is the CPU,
with another batch size, so that the check compares something there too. Exit code 1 where agreement is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import inputs
from glyphrank.devices import choose_device
from glyphrank.encoders.clip import OpenClip
from glyphrank.encoders.precision import Precision
from glyphrank.records import FloatArray, Frames, Item
from glyphrank.scoring import unit_rows
from glyphrank.sight import Sight
from glyphrank.visual import encode_frames

FARTHEST = {Precision.float32: 1e-4, Precision.float16: 2e-3, Precision.bfloat16: 2e-3}
SAME_FIRST = 0.99


def main() -> int:
    """Compares and prints; 1 where the vectors do not agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--model", default="ViT-B-32")
    parser.add_argument("--pages", type=int, default=256)
    parser.add_argument("--clips", type=int, default=16)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    device = choose_device(options.device)
    print(f"device {device}, against cpu; {options.model}, {options.pages} pages, {options.clips} clips")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        items = inputs.pages(folder / "pages", options.pages) + inputs.clips(folder, options.clips)
        agreed = [_agrees(precision, device, items, folder, options) for precision in Precision]
        _tell_busy(device, items, folder, options)
    return int(not all(agreed))


def _agrees(
    precision: Precision, device: str, items: Sequence[Item], folder: Path, options: argparse.Namespace
) -> bool:
    """Whether a precision on the device gives the CPU's float32 vectors."""
    frames = inputs.prepared(items, inputs.encoder(folder / "models", options.model), folder)
    reference = _vectors(inputs.encoder(folder / "models", options.model), frames, folder, "cpu", 16)
    encoder = inputs.encoder(folder / "models", options.model, precision)
    found = _vectors(encoder, frames, folder, device, options.batch_size)
    farthest = float(1 - np.einsum("ij,ij->i", reference, found).min())
    # Vectors of a random model are all alike: what tells them apart is what is left without their mean.
    queries, mean = reference[:100], reference.mean(axis=0)
    first = [((queries - mean) @ (values - mean).T).argmax(axis=1) for values in (reference, found)]
    same = float((first[0] == first[1]).mean())
    good = farthest <= FARTHEST[precision] and (precision is not Precision.float32 or same >= SAME_FIRST)
    wanted = f"wanted <= {FARTHEST[precision]:.0e}"
    print(
        f"{precision:10} 1 - cosine at most {farthest:.1e} ({wanted}), same first of 100: {same:.2f}"
        f"{'' if good else '  MISSED'}"
    )
    return good


def _tell_busy(device: str, items: Sequence[Item], folder: Path, options: argparse.Namespace) -> None:
    """Seconds in memory through seconds of the stage, in each precision that a device is used with."""
    for precision in (Precision.float32, Precision.float16):
        encoder = inputs.encoder(folder / "models", options.model, precision)
        frames = inputs.prepared(items, encoder, folder)
        _vectors(encoder, frames[:8], folder, device, options.batch_size)  # the model is loaded, kernels are chosen
        start = time.perf_counter()
        _vectors(encoder, frames, folder, device, options.batch_size)
        alone = time.perf_counter() - start
        with tempfile.TemporaryDirectory(dir=folder) as cold:
            runtime = inputs.runtime(Path(cold), device, options.batch_size, options.workers)
            start = time.perf_counter()
            with Sight(inputs.SAMPLER, runtime) as sight:
                encode_frames(encoder, items, sight, runtime)
            whole = time.perf_counter() - start
        count = sum(len(item.images) for item in frames)
        print(
            f"{precision:10} in memory {count / alone:.0f} frames/s, stage {count / whole:.0f} frames/s with "
            f"{options.workers} processes that decode: busy {alone / whole:.2f}"
        )


def _vectors(encoder: OpenClip, frames: Sequence[Frames], folder: Path, device: str, batch_size: int) -> FloatArray:
    return unit_rows(encoder.encode_frames(iter(frames), inputs.runtime(folder, device, batch_size)))[0]


if __name__ == "__main__":
    sys.exit(main())
