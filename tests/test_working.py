"""What the cell before left is taken where all stages behind it are the same, and made again where one differs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from command import corpus
from composing import built
from glyphrank import working
from glyphrank.pipeline import execute

ITEMS = [{"id": "p", "text": "red cats"}, {"id": "r", "text": "blue dogs"}]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was really read and built, in order."""
    names: list[str] = []

    def noted(name: str) -> None:
        real = getattr(working, name)

        def call(*arguments: Any) -> Any:
            names.append(name)
            return real(*arguments)

        monkeypatch.setattr(working, name, call)

    noted("read_items")
    noted("lexical_part")
    return names


def cell(folder: Path, *overrides: str, items: Sequence[dict[str, Any]] = ITEMS) -> dict[str, float]:
    """The metrics of a cell over a small corpus."""
    corpus(folder / "data", list(items), [{"id": "q", "text": "cats"}], ["q\tp\t1"])
    run, start = built(folder, "dataset=folder", f"dataset.root={folder / 'data'}", "tracking=none", *overrides)
    return dict(execute(run, start.config, start.choices).report.metrics)


def test_a_cell_with_other_metrics_reads_and_builds_nothing(tmp_path: Path, done: list[str]) -> None:
    first = cell(tmp_path)
    second = cell(tmp_path, "metrics.cutoffs=[2]")
    assert done == ["read_items", "lexical_part"]
    assert second["hit_rate_at_1"] == first["hit_rate_at_1"] == 1.0


def test_another_transcript_or_encoder_costs_no_reading(tmp_path: Path, done: list[str]) -> None:
    cell(tmp_path)
    cell(tmp_path, "lexical.k1=0.7")
    cell(tmp_path, "lexical.k1=0.7", "transcript.normal_form=nfkc")
    assert done == ["read_items", "lexical_part", "lexical_part", "lexical_part"]


def test_another_corpus_engine_or_cache_is_worked_on(tmp_path: Path, done: list[str]) -> None:  # case C04
    cell(tmp_path)
    cell(tmp_path, "ocr.thin_below=5")
    cell(tmp_path, "ocr.thin_below=5", f"paths.cache={tmp_path / 'other'}", "rerun=true")
    found = cell(tmp_path, "ocr.thin_below=5", items=[{"id": "p", "text": "birds"}, *ITEMS[1:]])
    assert done == ["read_items", "lexical_part"] * 4
    assert found["hit_rate_at_1"] == 0.0


def test_a_reading_that_failed_is_tried_again(tmp_path: Path, done: list[str]) -> None:
    torn = [*ITEMS, {"id": "t", "text": "\ufffd" * 40}]  # garbled, which is a failure
    cell(tmp_path, items=torn)
    cell(tmp_path, "metrics.cutoffs=[2]", items=torn)
    assert done.count("read_items") == 2
