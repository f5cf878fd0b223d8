"""The README's commands for both published benchmarks, as they stand there, on miniatures of the published layouts.

What no machine without a hub has is replaced: the large text encoder by MiniLM, CLIP's weights by a tiny model.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beir_miniature import write_beir
from command import ran, refused
from glyphrank.composition import config_folder
from kopub_miniature import write_kopub
from one_process import one_process
from textvr_miniature import TEST, write_textvr
from tiny_clip import write_tiny_clip

README = Path(__file__).parents[2] / "README.md"
SECTION = README.read_text(encoding="utf-8").partition("## The two benchmarks")[2].partition("\n## ")[0]
COMMANDS = [line.partition(" # ")[0].strip() for line in SECTION.splitlines() if line.startswith("glyphrank ")]
TINY = ("encoder@visual=clip_folder", "visual.weights.folder=clip")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the README's commands name."""
    folder = tmp_path_factory.mktemp("benchmarks")
    write_kopub(folder / "kopub")
    write_textvr(folder / "textvr")
    write_beir(folder / "PATH")
    write_tiny_clip(folder / "clip")
    return folder


def replaced(command: str) -> list[str]:
    """The arguments of a command, with what cannot be had here replaced by what can."""
    _, *arguments = shlex.split(command)
    experiment = re.search(r"experiment=(\w+)", command)
    if experiment is None:
        return arguments
    overlay = (config_folder() / "experiment" / f"{experiment[1]}.yaml").read_text(encoding="utf-8")
    text = ["encoder@text=minilm"] if "encoder@text: bge_m3" in overlay else []
    return [*arguments, *text, *(TINY if "encoder@visual: " in overlay else ()), "tracking=none"]


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """The report of a run, with its folder and what it printed."""
    done = ran("run", *arguments, "tracking=none", cwd=folder)
    return report_of(done.stdout) | {"printed": done.stdout, "log": done.stderr}


def report_of(printed: str) -> dict[str, Any]:
    folder = Path(re.findall(r"^files: (.+)$", printed, re.MULTILINE)[-1])
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report | {"folder": folder}


def test_the_readme_has_a_command_for_every_experiment_of_the_benchmarks() -> None:
    named = set(re.findall(r"experiment=(\w+)", SECTION))
    files = {path.stem for path in (config_folder() / "experiment").glob("*.yaml")}
    assert named == {name for name in files if name.startswith(("kopub", "textvr"))}


@pytest.mark.timeout(900)
def test_every_command_of_the_readme_runs(place: Path) -> None:
    with one_process(place) as commands:
        for command in COMMANDS:
            done = commands.run(replaced(command))
            assert done.code == ("--ndcg" in command), command + done.stdout + done.stderr  # that one finds a fault
            if "save_scores=true" in command:
                report = report_of(done.stdout)
                shutil.copy(report["folder"] / "scores_rand.npy", place / "textvr.npy")
            if "--matrix" in command:
                printed = re.findall(r"^(\S+) +(\d\.\d{4})", done.stdout, re.MULTILINE)
                scored = {name: float(value) for name, value in printed}
                assert {"hit_rate_at_1", "v2t/hit_rate_at_1", "v2t/mean_rank"} <= scored.keys()
                for name in scored.keys() & report["metrics"].keys():
                    assert scored[name] == pytest.approx(report["metrics"][name], abs=5e-5)


def test_kopub_texts_are_found_by_their_words(place: Path) -> None:
    report = run(place, *replaced("glyphrank experiment=kopub_task1_text"), "dataset.root=kopub", *WORDS)
    assert report["views"] == {"lexical": {"view": "text", "source": "embedded"}}
    assert report["metrics"]["hit_rate_at_1"] > 0.7
    assert set(report["slices"]) == {"type", "domain"}
    assert sum(row["queries"] for row in report["slices"]["type"].values()) == report["counts"]["queries"]
    assert report["counts"]["garbled_items"] == len(report["listed"]["garbled"]) == 2
    assert report["counts"]["failed_items"] == 0  # garbled texts count as published
    lists = json.loads((report["folder"] / "ranked_10.json").read_text(encoding="utf-8"))
    assert list(lists) == [f"query-{row}" for row in range(report["counts"]["queries"])]
    assert all(len(items) <= 10 for items in lists.values())
    assert "│ type" in report["printed"].replace("┃", "│")


WORDS = ("encoder@text=none", "encoder@lexical=bm25_ngrams")


def test_kopub_pages_that_look_alike_are_worked_on_once(place: Path, tmp_path: Path) -> None:
    outputs = f"paths.outputs={tmp_path}/outputs"
    report = run(place, *replaced("glyphrank experiment=kopub_task2_image"), "dataset.root=kopub", outputs)
    assert report["views"]["visual"] == {"view": "frames", "vector_size": 32, "projection": "none"}
    worked = re.findall(r"^(\w+): \d+ inputs from the cache, (\d+) worked on", report["log"], re.MULTILINE)
    assert ("frames", "18") in worked
    *looks, _ = (int(count) for stage, count in worked if stage == "vectors")  # the last are the queries
    assert sum(looks) == 16


@pytest.mark.parametrize(
    ("experiment", "overrides", "message"),
    [
        ("kopub_task1_text", TINY, "channel 'visual' sees frames, but the metrics protocol allows text only"),
        ("kopub_task1_text", ("ocr=easyocr_ko_en",), "the source scene is read by the ocr, but"),
        ("kopub_task1_ocr", ("ocr=embedded_else_easyocr",), "the source scene is read by the ocr, but"),
        ("kopub_task2_image", ("encoder@lexical=bm25_words", "ocr=embedded"), "channel 'lexical' sees text, but"),
        ("kopub_fused", ("metrics=kopub_task1",), "channel 'visual' sees frames"),
        ("kopub_task1_text", ("metrics.views=[text,frames]",), "views is text, frames, but kopub_task1 allows"),
        ("textvr_ocr", ("ocr=embedded",), "the source embedded is read by the ocr, but"),
    ],
)
def test_what_a_task_does_not_let_a_channel_see_is_refused_under_its_name(
    place: Path, experiment: str, overrides: tuple[str, ...], message: str
) -> None:
    arguments = replaced(f"glyphrank experiment={experiment}")
    assert message in refused("run", *arguments, "dataset.root=nowhere", *overrides, cwd=place)


def test_a_run_without_the_data_says_what_to_fetch(tmp_path: Path) -> None:
    message = refused("run", "experiment=kopub_task1_text", "encoder@text=minilm", cwd=tmp_path)
    revision = "759fcae092aef58436d125e72f74a2b53cdd5640"
    assert all(part in message for part in ("SDS-KoPub-corpus.parquet", "hf download", revision, "download=true"))
    (tmp_path / "textvr").mkdir()
    assert "callsys/TextVR" in refused("run", "experiment=textvr_ocr", "dataset.root=textvr", cwd=tmp_path)


def test_textvr_by_its_published_ocr_needs_no_video_and_is_not_confused_with_our_own(
    place: Path, tmp_path: Path
) -> None:
    write_textvr(tmp_path / "texts", videos=None)
    words = ("encoder@text=none", "encoder@lexical=bm25_words")
    published = run(tmp_path, "experiment=textvr_ocr", "dataset.root=texts", *words)
    assert published["views"]["lexical"]["source"] == "published"
    scene = run(place, "experiment=textvr_ocr", "dataset.root=textvr", "ocr=easyocr_en", "frames.count=2", *words)
    assert scene["views"]["lexical"]["source"] == "scene"
    assert scene["lineage"]["ocr"] != published["lineage"]["ocr"]
    assert min(published["metrics"]["hit_rate_at_1"], scene["metrics"]["hit_rate_at_1"]) >= 0.4
    assert set(published["slices"]) == {"scenario"}
    assert "v2t/hit_rate_at_1" in published["slices"]["scenario"]["Activity"]


def test_a_share_of_missed_lines_costs_recall_and_no_ocr(place: Path, tmp_path: Path) -> None:
    words = ("encoder@text=none", "encoder@lexical=bm25_words", f"paths.outputs={tmp_path}/outputs")
    arguments = ("run", "-m", "experiment=textvr_ocr_misses", "dataset.root=textvr", *words, "tracking=none")
    done = ran(*arguments, "transcript.share=0,0.4,0.8", cwd=place)
    worked = re.findall(r"^reading: .* (\d+) worked on", done.stderr, re.MULTILINE)
    assert worked == ["8", "1", "1"]  # the one whose file is missing is looked for again
    found = [json.loads(path.read_text()) for path in tmp_path.glob("outputs/sweeps/*/*/*/report.json")]
    recall = {report["config"]["transcript"]["share"]: report["metrics"]["hit_rate_at_1"] for report in found}
    assert recall[0] > recall[0.8]
    assert recall[0] >= recall[0.4] >= recall[0.8]


def test_missing_videos_are_an_error_or_kept_or_dropped_as_the_run_says(tmp_path: Path) -> None:
    gone = TEST[0].path
    write_textvr(tmp_path / "textvr", absent=(gone,))
    write_tiny_clip(tmp_path / "clip")
    arguments = ("experiment=textvr_visual", "dataset.root=textvr", *TINY)
    message = refused("run", *arguments, cwd=tmp_path)
    assert gone in message
    assert "dataset.missing=drop" in message
    kept = run(tmp_path, *arguments, "dataset.missing=keep")
    assert list(kept["failures"]) == [gone]
    assert kept["counts"]["items"] == len(TEST)
    dropped = run(tmp_path, *arguments, "dataset.missing=drop", "save_scores=true")
    assert dropped["counts"]["items"] == len(TEST) - 1
    assert dropped["counts"]["failed_items"] == 0
    assert dropped["tags"]["gallery"].startswith(f"{len(TEST) - 1} of {len(TEST)} videos")
    assert f"gallery: {len(TEST) - 1} of {len(TEST)} videos" in dropped["printed"]
    for name in ("scores.npy", "scores_rand.npy"):
        assert np.load(dropped["folder"] / name).shape == (len(TEST) - 1, len(TEST) - 1)


def test_the_first_release_of_textvr_is_refused(tmp_path: Path) -> None:
    write_textvr(tmp_path / "textvr", mismatched=True)
    message = refused("run", "experiment=textvr_ocr", "dataset.root=textvr", cwd=tmp_path)
    assert "TextVR_test.json" in message
    assert "first release" in message
