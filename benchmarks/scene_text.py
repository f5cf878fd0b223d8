"""Reading scene text through our engine and stage against a bare loop over EasyOCR's `readtext`.

    python benchmarks/scene_text.py [--repeats 3] [--clips 8]

`readtext` decodes with decord and reads frame after frame, as a person would write it. `stage` is ours on a cold cache:
decoded ahead in two processes, addressed by pixels, lines written. Two frames of each generated clip that moves, so
that no frame repeats (a repeated one would cost the stage nothing). Each measurement has a process of its own, by
turns; loading the model is not counted. Needs the weights of the extra `offline`.
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
from glyphrank.media.look import look
from glyphrank.media.sampling import Middles
from glyphrank.ocr.scene_reader import load_reader
from glyphrank.ocr.scene_text import Decoder, EasyOcr
from glyphrank.reading import read_items
from glyphrank.records import Frames, Item
from glyphrank.sight import Sight
from peak import peak_megabytes

SAMPLER = Middles(count=2, long_side=1600, most_pixels=89_000_000)
OPTIONS = {
    **{"canvas_size": 2560, "mag_ratio": 1.0, "text_threshold": 0.7, "low_text": 0.4, "link_threshold": 0.4},
    **{"min_size": 20, "slope_ths": 0.1, "width_ths": 0.5, "add_margin": 0.1},
    **{"contrast_ths": 0.1, "adjust_contrast": 0.5},
}
ENGINE = EasyOcr(
    languages=("en",),
    folder=None,
    decoder=Decoder.greedy,
    beam_width=5,
    rotations=(),
    quantize=True,
    same_frame=0.0,
    **OPTIONS,  # type: ignore[arg-type]
)


def main() -> int:
    """Measures by turns and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clips", type=int, default=8)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(options.measure[0], Path(options.measure[1]), options.clips)))
        return 0
    measured: dict[str, list[dict[str, float]]] = {"readtext": [], "stage": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.repeats):
            for kind, results in measured.items():
                command = [sys.executable, __file__, "--clips", str(options.clips), "--measure", kind, folder]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                results.append(json.loads(done.stdout.splitlines()[-1]))
    print(f"{'':10}{'s/frame':>10}{'lines':>8}{'peak MB':>10}")
    for kind, results in measured.items():
        seconds = statistics.median(result["seconds"] / result["frames"] for result in results)
        peak = max(result["megabytes"] for result in results)
        print(f"{kind:10}{seconds:10.3f}{results[0]['lines']:8.0f}{peak:10.0f}")
    pairs = zip(measured["stage"], measured["readtext"], strict=True)
    ratio = statistics.median(ours["seconds"] / bare["seconds"] for ours, bare in pairs)
    print(f"stage against readtext: {ratio:.2f} times its seconds")
    return 0


def _measure(kind: str, folder: Path, count: int) -> dict[str, float]:
    items = [item for item in inputs.clips(folder, 48) if len(set(_bytes(item))) == SAMPLER.count][:count]
    runtime = inputs.runtime(folder)
    reader = load_reader(("en",), *ENGINE.find(runtime), True, "cpu")
    reader.readtext(np.full((180, 320, 3), 255, dtype=np.uint8))
    start = time.perf_counter()
    if kind == "readtext":
        lines = sum(len(reader.readtext(frame[:, :, ::-1])) for item in items for frame in _decoded(item))
        megabytes = peak_megabytes()
    else:
        with tempfile.TemporaryDirectory(dir=folder) as cold:
            here = inputs.runtime(Path(cold))
            with Sight(SAMPLER, here) as sight:
                lines = sum(len(reading.lines) for reading in read_items(ENGINE, items, sight, here))
                megabytes = peak_megabytes()
    seconds = time.perf_counter() - start
    frames = len(items) * SAMPLER.count
    return {"seconds": seconds, "frames": frames, "lines": lines, "megabytes": megabytes}


def _bytes(item: Item) -> list[bytes]:
    return [image.tobytes() for image in _looked(item).images]


def _looked(item: Item) -> Frames:
    if item.media is None:
        raise ValueError(f"{item.id} has no media")
    return look(item.media, SAMPLER)


def _decoded(item: Item) -> Sequence[np.ndarray]:
    import decord

    if item.media is None:
        raise ValueError(f"{item.id} has no media")
    reader = decord.VideoReader(str(item.media.path), num_threads=1)
    return list(reader.get_batch(SAMPLER.places([number / 10 for number in range(len(reader))])).asnumpy())


if __name__ == "__main__":
    sys.exit(main())
