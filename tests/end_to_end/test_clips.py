"""Clips from files to numbers: decoded, read by EasyOCR, seen by open_clip, fused; and a sweep that repeats no work."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from command import ran
from glyphrank.array_shards import ArraysCodec
from glyphrank.shards import LinesCodec
from tiny_clip import write_tiny_clip

CLIPS = 16
COMMAND = (
    *("run", "-m", "dataset=sample_clips", f"dataset.clips={CLIPS}", "frames.count=2", "ocr=easyocr_en"),
    *("transcript=confident", "transcript.min_confidence=0.1,0.3,0.5", "encoder@visual=clip_folder"),
    *("visual.weights.folder=first,second", "encoder@text=minilm", "encoder@lexical=bm25_words"),
    *("fusion=reciprocal_rank,weighted_sum", "metrics=clips", "metrics.ties=average", "tracking=none"),
)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a sweep over three cuts, two encoders and two fusions, and what it logged."""
    folder = tmp_path_factory.mktemp("swept")
    for seed, name in enumerate(("first", "second")):
        write_tiny_clip(folder / name, seed=seed)
    return folder, ran(*COMMAND, cwd=folder, seconds=900).stderr


def worked(log: str) -> dict[str, int]:
    """Stage -> inputs that were worked on, all cells together."""
    total: Counter[str] = Counter()
    for stage, count in re.findall(r"^(\w+): \d+ inputs from the cache, (\d+) worked on", log, re.MULTILINE):
        total[stage] += int(count)
    return dict(total)


def reports(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("outputs/results/*/report.json"))]


@pytest.mark.timeout(900)
def test_a_sweep_reads_every_look_and_encodes_every_text_once(swept: tuple[Path, str]) -> None:
    folder, log = swept
    held: Counter[str] = Counter()
    for stage, codec in (("frames", LinesCodec()), ("reading", LinesCodec()), ("vectors", ArraysCodec())):
        for key in (folder / "outputs" / "cache" / stage).iterdir():
            digests = [digest for path in key.glob(f"*{codec.suffix}") for digest in codec.load(path.read_bytes())[0]]
            assert len(digests) == len(set(digests))
            held[stage] += len(digests)
    assert held["frames"] == held["reading"] == CLIPS
    assert {stage: count for stage, count in worked(log).items() if stage in held} == dict(held)
    assert len(reports(folder)) == 12


@pytest.mark.timeout(900)
def test_a_sweep_again_works_on_nothing(swept: tuple[Path, str]) -> None:
    folder, _ = swept
    again = ran(*COMMAND, cwd=folder)
    assert again.stderr.count("nothing is recomputed") == 12
    assert set(worked(ran(*COMMAND, "rerun=true", cwd=folder).stderr).values()) == {0}


@pytest.mark.timeout(900)
def test_every_channel_has_its_numbers_in_both_directions_and_reading_reaches_its_ceiling(
    swept: tuple[Path, str],
) -> None:
    for report in reports(swept[0]):
        assert list(report["channels"]) == ["visual", "text", "lexical"]
        for metrics in (*report["channels"].values(), report["metrics"]):
            assert {"hit_rate_at_1", "ndcg_at_10", "median_rank", "v2t/hit_rate_at_1"} <= set(metrics)
        assert report["channels"]["lexical"]["hit_rate_at_1"] == 0.25  # a sign stands in four clips, and is read
        assert report["counts"]["failed_items"] == 0
        assert set(report["lineage"]) >= {"frames", "ocr", "transcript", "visual", "text", "lexical", "index", "fusion"}
        assert any(
            "a perfect text channel that sees no scene reaches hit_rate_at_1 0.250" in note for note in report["notes"]
        )


@pytest.mark.timeout(900)
def test_random_weights_are_said_and_an_approximate_index_tells_its_loss(swept: tuple[Path, str]) -> None:
    folder, _ = swept
    before = {report["identity"] for report in reports(folder)}
    changed = ("visual.random_weights=true", "visual.seed=3", "index=faiss_ivf", "encoder@text=none")
    alone = [part for part in COMMAND if part != "-m" and "," not in part and part != "encoder@text=minilm"]
    done = ran(*alone, "visual.weights.folder=first", *changed, cwd=folder)
    (report,) = [report for report in reports(folder) if report["identity"] not in before]
    assert report["tags"] == {"random_weights": "visual"}
    assert not any(name.startswith("v2t/") for name in report["metrics"])
    assert report["losses"]["hit_rate_at_1"] == 0
    assert "lost against exact search: nothing" in done.stdout
    assert "channel visual has random weights" in done.stdout
