"""What seeing, reading and both reach on the sample's clips, over three seeds of their generation; writes the card.

    python benchmarks/sample_significance.py [--outputs outputs/sample_significance] [--card FILE] [--section FILE]

Clips are read by EasyOCR (two frames each), seen by `sample_scenes`, and searched by each channel alone and by all
three. The rule of fusion is chosen on the validation seeds; the test seeds are run with it once. Runs are compared as
`glyphrank compare` compares them: paired sign flips by clip on the reciprocal rank, adjusted for three channels.
The exit code is 1 where fusion is not above every channel by .1 with p below .05 for every seed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import scene_split
from glyphrank.compare import How, compare
from glyphrank.report.compared import LEVEL
from glyphrank.report.finished import Finished, read_finished
from glyphrank.trec import read_run
from glyphrank.whole_files import replace_whole
from scene_card import FOLDER, RECIPROCAL, Measured, card, section

ENOUGH = 0.1
FUSIONS = {
    "reciprocal_rank": ("fusion=reciprocal_rank",),
    "weighted_sum (minmax)": ("fusion=weighted_sum", "fusion.normalisation=minmax"),
    "weighted_sum (zscore)": ("fusion=weighted_sum", "fusion.normalisation=zscore"),
}
CHANNELS = {"visual": "sample_scenes", "text": "minilm", "lexical": "bm25_words"}
_FIXED = (
    *("dataset=sample_clips", f"dataset.clips={scene_split.CLIPS}", f"dataset.clips_a_text={scene_split.CLIPS_A_TEXT}"),
    *(f"dataset.clips_a_scene={scene_split.CLIPS_A_SCENE}", "frames.count=2", "transcript=confident"),
    *("metrics=clips", "metrics.ties=average", "tracking=none"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Chooses the fusion, measures, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", type=Path, default=Path("outputs/sample_significance"))
    parser.add_argument("--card", type=Path, default=FOLDER / "README.md")
    parser.add_argument("--machine", default="two CPU cores", help="what the encoder was trained on, for the card")
    parser.add_argument("--section", type=Path, help="a file for the table of the README")
    options = parser.parse_args(argv)
    outputs = options.outputs.resolve()
    tried = {name: _mean(_runs(outputs, name, CHANNELS, fusion, False)) for name, fusion in FUSIONS.items()}
    chosen = max(tried, key=lambda name: tried[name])  # of equal ones the first, which is the configuration's own
    alone = {name: _runs(outputs, name, {name: choice}, (), True) for name, choice in CHANNELS.items()}
    fused = _runs(outputs, "fused", CHANNELS, FUSIONS[chosen], True)
    measured = [
        _measured(seed, {"fused": fused[number], **{name: runs[number] for name, runs in alone.items()}}, outputs)
        for number, seed in enumerate(scene_split.TEST_SEEDS)
    ]
    training = json.loads((FOLDER / "training.json").read_text(encoding="utf-8"))
    text = card(training, tried, chosen, options.machine, measured)
    replace_whole(options.card, lambda draft: draft.write_text(text, encoding="utf-8"))
    shown = section(measured)
    if options.section is not None:
        replace_whole(options.section, lambda draft: draft.write_text(shown, encoding="utf-8"))
    print(shown)
    return 0 if all(one.passed for one in measured) else 1


def _runs(outputs: Path, name: str, channels: dict[str, str], fusion: Sequence[str], tested: bool) -> list[Finished]:
    """One run for each seed of the test or of the validation, in the seeds' order."""
    seeds = scene_split.TEST_SEEDS if tested else scene_split.validation_seeds()
    slots = [f"encoder@{slot}={channels.get(slot, 'none')}" for slot in CHANNELS]
    reads = "easyocr_en" if set(channels) != {"visual"} else "none"
    folder = outputs / "runs" / ("test" if tested else "validation") / re.sub(r"\W+", "_", name).strip("_")
    command = [sys.executable, "-m", "glyphrank", "run", "-m", *_FIXED, *slots, f"ocr={reads}", *fusion]
    command += [f"dataset.seed={','.join(map(str, seeds))}", f"hydra.sweep.dir={folder}"]
    environment = {**os.environ, "GLYPHRANK_OUTPUTS": str(outputs), "HF_HUB_OFFLINE": "1"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return [read_finished(folder / str(number), name) for number in range(len(seeds))]


def _mean(runs: Sequence[Finished]) -> float:
    return float(np.mean([run.report.metrics[RECIPROCAL] for run in runs]))


def _measured(seed: int, runs: dict[str, Finished], outputs: Path) -> Measured:
    compared = compare(list(runs.values()), RECIPROCAL, How(baseline=runs["fused"]))
    rows = {row.name: row for row in compared.runs}
    told = [
        row.difference is not None
        and row.difference <= -ENOUGH
        and row.p_adjusted is not None
        and row.p_adjusted < LEVEL
        for name, row in rows.items()
        if name != "fused"
    ]
    return Measured(seed, rows, _scenes(seed, outputs / "results" / runs["visual"].report.identity), all(told))


def _scenes(seed: int, result: Path) -> float:
    """Share of queries whose first clip shows the scene of the query's own."""
    clips = scene_split.clips_of(seed)
    first = {query: items[0] for query, items in read_run(result / "run.trec").items.items()}
    return float(np.mean([clips[item].scene == clips[query.partition("_")[0]].scene for query, item in first.items()]))


if __name__ == "__main__":
    sys.exit(main())
