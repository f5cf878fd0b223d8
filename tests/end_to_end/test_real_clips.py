"""Real clips with scene text: decoded by decord, read by EasyOCR, seen by open_clip, against the reference results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import ran
from composing import built
from glyphrank.reading import read_items
from glyphrank.records import Reading
from glyphrank.scoring import unit_rows
from glyphrank.sight import Sight
from tiny_clip import write_tiny_clip

pytestmark = [pytest.mark.shared, pytest.mark.timeout(900)]

SETTINGS = ("frames.count=3", "ocr=easyocr_en", "transcript=confident", "metrics=clips", "tracking=none")
TEXT, WORDS = ("encoder@text=minilm", "encoder@lexical=none"), ("encoder@text=none", "encoder@lexical=bm25_words")


@pytest.fixture(scope="module")
def read(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, ...]]:
    """A folder whose cache holds the readings of all clips, and the options of a run over them."""
    folder = tmp_path_factory.mktemp("street")
    options = ("dataset=folder", f"dataset.root={shared_data / 'street_clips'}", *SETTINGS)
    ran("run", *options, *WORDS, cwd=folder, seconds=900)
    return folder, options


def report(folder: Path, *options: str) -> dict[str, Any]:
    """The report of one run."""
    done = ran("run", *options, cwd=folder)
    place = next(line for line in done.stdout.splitlines() if line.startswith("files: ")).removeprefix("files: ")
    found: dict[str, Any] = json.loads((Path(place) / "report.json").read_text())
    return found


def test_scene_text_finds_clips_as_the_reference_does(read: tuple[Path, tuple[str, ...]]) -> None:
    folder, options = read
    text, words = report(folder, *options, *TEXT), report(folder, *options, *WORDS)
    assert text["metrics"]["hit_rate_at_1"] == pytest.approx(0.522, abs=0.03)
    assert words["metrics"]["hit_rate_at_1"] == pytest.approx(0.478, abs=0.03)
    assert words["metrics"]["median_rank"] == 19
    assert words["metrics"]["mean_rank"] == pytest.approx(10.39, abs=0.6)
    for found in (text, words):
        assert {"v2t/hit_rate_at_1", "v2t/median_rank"} <= set(found["metrics"])
        assert found["counts"]["items_without_text"] == 7
        assert found["failures"] == {}
    # Eight queries ask for one of seven clips in which nothing sure is read; those are never found by accident.
    assert text["metrics"]["hit_rate_at_10"] == text["metrics"]["hit_rate_at_5"] == pytest.approx(15 / 23)


def test_the_reference_has_its_further_hits_from_empty_texts(read: tuple[Path, tuple[str, ...]]) -> None:
    folder, options = read
    loose = ("transcript.unique=lines", "transcript.order=source")
    run, _ = built(folder, *options, *TEXT, *loose)
    task = run.dataset.load(run.runtime)
    assert run.ocr is not None
    assert run.text is not None
    with Sight(run.frames, run.runtime) as sight:
        readings = read_items(run.ocr, task.items, sight, run.runtime)
    texts = ["".join(run.transcript.write(reading)) for reading in readings]
    queries = unit_rows(run.text.encode_queries([query.text for query in task.queries], run.runtime).values)[0]
    scores = queries @ unit_rows(run.text.encode_texts(texts, run.runtime).values)[0].T
    place = {item.id: number for number, item in enumerate(task.items)}
    worst, best = [], []
    for query, row in zip(task.queries, scores, strict=True):
        gold = row[[place[item] for item in task.relevant[query.id]]]
        worst.append(min(int((row > score - 1e-6).sum()) for score in gold))
        best.append(min(int((row > score + 1e-6).sum()) + 1 for score in gold))
    assert hit_rates(worst) == [0.522, 0.609, 0.696]
    # Seven clips have the vector of the empty text. The reference's .783 at 10 lies between both ends of their tie:
    # there a product's last bits told equal vectors apart.
    assert hit_rates(best) == [0.522, 0.652, 1.0]


def hit_rates(ranks: list[int]) -> list[float]:
    """At 1, 5 and 10."""
    return [round(float(np.mean(np.array(ranks) <= k)), 3) for k in (1, 5, 10)]


def test_three_channels_have_their_own_numbers_and_are_fused(read: tuple[Path, tuple[str, ...]]) -> None:
    folder, options = read
    write_tiny_clip(folder / "tiny")
    seen = ("encoder@visual=clip_folder", "visual.weights.folder=tiny")
    found = report(folder, *options, *seen, "encoder@text=minilm", "encoder@lexical=bm25_words")
    assert list(found["channels"]) == ["visual", "text", "lexical"]
    assert found["channels"]["text"] == report(folder, *options, *TEXT)["metrics"]
    assert found["channels"]["lexical"] == report(folder, *options, *WORDS)["metrics"]
    assert found["metrics"] not in list(found["channels"].values())
    assert found["channels"]["visual"]["mean_rank"] < 19  # every clip is seen


def test_readings_are_plain_and_boxes_lie_inside_their_frames(read: tuple[Path, tuple[str, ...]]) -> None:  # case O03
    folder, options = read
    run, _ = built(folder, *options, *WORDS)
    task = run.dataset.load(run.runtime)
    assert run.ocr is not None
    with Sight(run.frames, run.runtime) as sight:
        readings: list[Reading] = read_items(run.ocr, task.items, sight, run.runtime)
    lines = [line for reading in readings for line in reading.lines]
    assert len(lines) > 100
    for line in lines:
        assert line.box is not None
        assert 0 <= line.box[0] < line.box[2] <= 1
        assert 0 <= line.box[1] < line.box[3] <= 1
        assert line.confidence is not None
        assert 0 <= line.confidence <= 1
        assert line.time is not None
        assert line.frame in (0, 1, 2)
