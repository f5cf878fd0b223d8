"""A sweep has one parent run with the comparison of its cells, however it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from command import corpus, glyphrank, ran, refused

MODULE = '''
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hydra.experimental.callback import Callback

from glyphrank.records import Encoded


@dataclass(frozen=True)
class Slow:
    """Encodes at once, or says that it began and takes its time; refuses a negative one."""

    seconds: float

    def encode_queries(self, texts, runtime):
        return self.encode_texts(texts, runtime)

    def encode_texts(self, texts, runtime):
        if self.seconds < 0:
            raise RuntimeError("there is no going back")
        if self.seconds:
            (runtime.outputs / "began").touch()
            time.sleep(self.seconds)
        return Encoded(np.array([[len(text), 1] for text in texts], dtype=np.float32), np.zeros(len(texts), dtype=bool))


class Pause(Callback):
    """Waits before the second cell."""

    def on_job_start(self, config, **kwargs):
        if config.hydra.job.num == 1:
            Path(config.hydra.runtime.cwd, "outputs", "began").touch()
            time.sleep(60)
'''
TABLE = {"comparison.md", "comparison.csv", "comparison.json"}
SUMMARY = TABLE | {"multirun.yaml", "plan.md", "plan.json", "figures"}
KEPT = "hydra.sweep.dir=outputs/kept"
WORDS = ("run", "-m", "dataset=folder", "dataset.root=data", "encoder@lexical=bm25_words,bm25_ngrams")
SLOW = ("--config-dir", "own", "plugins=[slow_one]", "dataset=folder", "dataset.root=data", "encoder@text=slow")


@dataclass(frozen=True)
class Stored:
    """A run in MLflow's database."""

    run_id: str
    experiment: str
    status: str
    tags: dict[str, str]
    metrics: dict[str, float]

    @property
    def parent(self) -> str | None:
        return self.tags.get("mlflow.parentRunId")


def stored(folder: Path) -> list[Stored]:
    """All runs, oldest first."""
    query = "select run_uuid, experiments.name, status from runs join experiments using (experiment_id)"
    with closing(sqlite3.connect(folder / "outputs" / "mlflow.db")) as store:
        runs = []
        for run, experiment, status in store.execute(f"{query} order by start_time, run_uuid").fetchall():
            tags = dict(store.execute("select key, value from tags where run_uuid = ?", (run,)))
            metrics = dict(store.execute("select key, value from latest_metrics where run_uuid = ?", (run,)))
            runs.append(Stored(run, experiment, status, tags, metrics))
    return runs


def split(folder: Path) -> tuple[list[Stored], list[Stored]]:
    """Parents and all other runs."""
    runs = stored(folder)
    parents = [run for run in runs if run.tags.get("kind") == "sweep"]
    return parents, [run for run in runs if run not in parents]


def artifacts(folder: Path, run: Stored) -> set[str]:
    place = folder / "outputs" / "mlartifacts" / run.run_id / "artifacts"
    return {path.name for path in place.iterdir()} if place.is_dir() else set()


def sweeps(folder: Path) -> list[Path]:
    """The folders of sweeps below the outputs."""
    return sorted(folder.glob("outputs/sweeps/*/*"))


def prepare(folder: Path) -> Path:
    """A folder with a small dataset, `data`, another one, `more`, and the plug-in in `own`."""
    (folder / "own" / "encoder").mkdir(parents=True)
    (folder / "own" / "slow_one.py").write_text(MODULE)
    (folder / "own" / "encoder" / "slow.yaml").write_text("_target_: slow_one.Slow\nseconds: 0.0\n")
    items = [{"id": f"p{number}", "text": text} for number, text in enumerate(("red fox", "blue whale", "green frog"))]
    queries = [{"id": "q1", "text": "a fox"}, {"id": "q2", "text": "whales"}, {"id": "q3", "text": "frog green"}]
    qrels = ["q1\tp0\t1", "q2\tp1\t1", "q3\tp2\t1"]
    corpus(folder / "data", items, queries, qrels)
    corpus(folder / "more", [*items, {"id": "p3", "text": "grey owl"}], queries, qrels)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepare(tmp_path)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one sweep of two cells that went well, and its terminal in `said`."""
    folder = prepare(tmp_path_factory.mktemp("swept"))
    (folder / "said").write_text(ran(*WORDS, cwd=folder).stdout, encoding="utf-8")
    return folder


def test_cells_stand_below_one_finished_parent_in_the_store(swept: Path) -> None:
    (parent,), cells = split(swept)
    assert (parent.status, parent.parent) == ("FINISHED", None)
    assert [cell.parent for cell in cells] == [parent.run_id] * 2
    assert parent.tags["complete"] == "true"
    assert parent.tags["mlflow.note.content"] == f"```\nglyphrank {' '.join(WORDS)}\n```"


def test_parent_tells_the_best_cell_and_its_primary_metric(swept: Path) -> None:
    (parent,), cells = split(swept)
    best = max(cells, key=lambda cell: cell.metrics["ndcg_at_10"])
    assert parent.metrics == {"cells": 2, "failed_cells": 0, "ndcg_at_10": best.metrics["ndcg_at_10"]}
    assert parent.tags["best_cell"].startswith(("#0 dataset=folder", "#1 dataset=folder"))
    assert parent.tags["best_cell"].rpartition("_")[2] in best.tags["mlflow.note.content"]


def test_table_is_printed_last_and_lies_in_the_folder_and_in_the_parent(swept: Path) -> None:
    (parent,), _ = split(swept)
    (sweep,) = sweeps(swept)
    assert {path.name for path in sweep.iterdir()} >= TABLE
    assert artifacts(swept, parent) == SUMMARY
    said = (swept / "said").read_text(encoding="utf-8")
    figures = sweep / "cells" / sweep.name.rpartition("-")[2] / "figures"
    assert said.endswith(f"comparison: {sweep / 'comparison.md'}\nfigures: {figures}\n")
    assert said.rindex("rank group") > said.rindex("files: ")
    rows = json.loads((sweep / "comparison.json").read_text(encoding="utf-8"))["runs"]
    assert {row["name"] for row in rows} == {"cell 0", "cell 1"}
    assert not list(swept.glob("outputs/**/report.html"))  # for cells `glyphrank report` makes it


def test_reference_of_the_parent_stands_in_the_sweeps_folder(swept: Path) -> None:
    (parent,), _ = split(swept)
    (sweep,) = sweeps(swept)
    launch = sweep.name.rpartition("-")[2]
    reference = json.loads((sweep / "cells" / launch / "parent.json").read_text(encoding="utf-8"))
    assert reference == {
        "store": str(swept / "outputs" / "mlflow.db"),
        "experiment": "glyphrank",
        "run_id": parent.run_id,
    }


def test_single_run_has_no_parent_and_leaves_no_record(folder: Path) -> None:
    ran("run", *WORDS[2:-1], "encoder@lexical=bm25_words", cwd=folder)
    assert split(folder)[0] == []
    assert [run.parent for run in stored(folder)] == [None]
    assert not list(folder.glob("outputs/**/cells"))
    assert len(list(folder.glob("outputs/runs/**/report.html"))) == 1


def test_failed_cell_fails_the_parent_and_the_others_are_compared(folder: Path) -> None:
    done = glyphrank("run", "-m", *SLOW, "encoder@lexical=bm25_words,none", "text.seconds=0,-1", cwd=folder)
    assert done.returncode == 1, done.stderr
    (parent,), cells = split(folder)
    assert (parent.status, parent.tags["error"]) == ("FAILED", "CellsFailedError: 2 of 4 cells failed")
    assert sorted(cell.status for cell in cells) == ["FAILED", "FAILED", "FINISHED", "FINISHED"]
    assert (parent.metrics["cells"], parent.metrics["failed_cells"]) == (4, 2)
    assert parent.tags["complete"] == "false"
    (sweep,) = sweeps(folder)
    assert len(json.loads((sweep / "comparison.json").read_text(encoding="utf-8"))["runs"]) == 2
    assert "CellsFailedError" not in done.stderr


def test_sweep_that_is_refused_before_its_first_cell_leaves_no_run(folder: Path) -> None:
    assert "nosuch" in refused("run", "-m", "encoder@lexical=bm25_words,nosuch", cwd=folder)
    with closing(sqlite3.connect(folder / "outputs" / "mlflow.db")) as store:
        assert store.execute("select lifecycle_stage, status from runs").fetchall() == [("deleted", "FAILED")]


def test_sweep_without_tracking_is_compared_all_the_same(folder: Path) -> None:
    done = ran(*WORDS, "tracking=none", cwd=folder)
    (sweep,) = sweeps(folder)
    assert (sweep / "comparison.csv").is_file()
    assert "comparison: " in done.stdout
    assert not list(sweep.rglob("parent.json"))
    assert not (folder / "outputs" / "mlflow.db").exists()


def test_cells_that_cannot_be_compared_give_a_note(folder: Path) -> None:
    fields = ("dataset.root=data,more", "encoder@lexical=bm25_words")
    done = ran("run", "-m", "dataset=folder", *fields, cwd=folder)
    (parent,), cells = split(folder)
    assert "the sweep's cells are not compared: " in done.stderr
    assert "Traceback" not in done.stderr
    assert (parent.status, parent.tags["complete"]) == ("FINISHED", "true")
    assert parent.tags["notes"].startswith("the sweep's cells are not compared: ")
    assert parent.metrics == {"cells": 2, "failed_cells": 0}
    assert [cell.parent for cell in cells] == [parent.run_id] * 2
    assert not (sweeps(folder)[0] / "comparison.md").exists()


def test_dead_store_costs_the_sweep_its_runs_in_mlflow_until_they_are_sent_and_no_more(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"http://kim:hush-hush@127.0.0.1:{free.getsockname()[1]}"
    done = ran(*WORDS, "tracking=server", f"tracking.uri={uri}", cwd=folder)
    told = [line for line in done.stderr.splitlines() if "is not in MLflow yet" in line]
    assert len(told) == 3
    assert told[0].startswith("sweep dataset=folder ")
    assert "runs that wait for MLflow: 3; `glyphrank sync` sends them" in done.stderr
    assert "comparison: " in done.stdout
    assert len(list((folder / "outputs" / "pending").glob("*.json"))) == 3
    assert "hush" not in done.stderr + done.stdout


@pytest.mark.parametrize("swept", ["tracking.experiment=one,two", "paths.outputs=x,y"])
def test_sweep_whose_cells_go_to_several_stores_has_no_parent_and_a_table(swept: str, folder: Path) -> None:
    done = ran(*WORDS, swept, cwd=folder)
    (line,) = [line for line in done.stderr.splitlines() if "no parent run" in line]
    assert line == f"the sweep has no parent run, since its cells go to several stores: {swept}"
    (sweep,) = sweeps(folder)
    assert f"comparison: {sweep / 'comparison.md'}" in done.stdout
    assert len(list(sweep.glob("cells/*/[0-3].json"))) == 4
    stores = list(folder.glob("*/mlflow.db"))
    assert stores
    for path in stores:
        with closing(sqlite3.connect(path)) as store:
            found = store.execute("select key from tags where key in ('kind', 'mlflow.parentRunId')").fetchall()
        assert found == []


def test_sweep_in_batches_has_one_parent(folder: Path) -> None:
    ran(*WORDS, "hydra.sweeper.max_batch_size=1", cwd=folder)
    (parent,), cells = split(folder)
    assert [cell.parent for cell in cells] == [parent.run_id] * 2
    assert parent.metrics["cells"] == 2


def test_two_sweeps_at_once_do_not_mix(folder: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        fields = ("fusion=reciprocal_rank", "fusion=weighted_sum")
        list(pool.map(lambda field: ran(*WORDS, field, cwd=folder), fields))
    parents, runs = split(folder)
    assert [parent.status for parent in parents] == ["FINISHED"] * 2
    for parent in parents:
        field = parent.tags["mlflow.note.content"].rpartition(" ")[2].removesuffix("\n```")
        own = [run for run in runs if run.parent == parent.run_id]
        assert len(own) == 2
        assert all(field in run.tags["mlflow.note.content"] for run in own)


def test_sweep_again_in_its_folder_counts_its_cells_anew(folder: Path) -> None:
    for _ in range(2):
        ran(*WORDS, KEPT, cwd=folder)
        (folder / "outputs" / "kept" / "token.txt").write_text("hush-hush")
    parents, runs = split(folder)
    assert [parent.metrics["cells"] for parent in parents] == [2, 2]
    assert [sum(run.parent == parent.run_id for run in runs) for parent in parents] == [2, 2]
    assert [artifacts(folder, parent) for parent in parents] == [SUMMARY, SUMMARY]


def test_sweeps_folder_is_compared_as_its_latest_launch_left_it(folder: Path) -> None:
    fields = ("run", "-m", "dataset=folder", "dataset.root=data,more", "encoder@lexical=bm25_words", KEPT)
    ran(*fields, cwd=folder)
    shutil.rmtree(folder / "more")
    assert glyphrank(*fields, cwd=folder).returncode == 1
    found = json.loads(ran("compare", "outputs/kept", "--format", "json", cwd=folder).stdout)
    assert [run["name"] for run in found["runs"]] == ["kept/cell 0"]
    left_out = {note for note in found["notes"] if note.startswith("left out: ")}
    assert left_out == {"left out: kept/cell 1 has failed", "left out: cells of earlier sweeps in outputs/kept: 2"}


def test_cells_that_share_a_folder_keep_their_own_numbers(folder: Path) -> None:
    fields = ("lexical.k1=0.1,2.0", "hydra.sweep.subdir=${lexical.k1}")
    ran(*WORDS, *fields, cwd=folder)
    (parent,), cells = split(folder)
    (sweep,) = sweeps(folder)
    assert {path.name for path in sweep.iterdir() if path.is_dir()} == {"0.1", "2.0", "cells"}
    kept = json.loads((sweep / "comparison.json").read_text(encoding="utf-8"))["runs"]
    assert {run["identity"] for run in kept} == {cell.tags["identity"] for cell in cells}
    best = max(cells, key=lambda cell: cell.metrics["ndcg_at_10"])
    assert parent.metrics["ndcg_at_10"] == best.metrics["ndcg_at_10"]
    assert len({cell.tags["identity"] for cell in cells}) == 4


def test_failed_cells_count_where_the_outputs_are_swept(folder: Path) -> None:
    done = glyphrank(*WORDS[:-1], "encoder@lexical=bm25_words", "lexical.k1=-1", "paths.outputs=x,y", cwd=folder)
    assert done.returncode == 1
    (sweep,) = sweeps(folder)
    states = [json.loads(path.read_text(encoding="utf-8"))["state"] for path in sweep.glob("cells/*/[01].json")]
    assert states == ["failed", "failed"]


def test_sweep_without_cells_leaves_no_run_and_a_word(folder: Path) -> None:
    done = ran(*WORDS[:-1], "encoder@lexical=glob(nosuch*)", cwd=folder)
    assert "the sweep has no cells: nothing was run" in done.stderr
    with closing(sqlite3.connect(folder / "outputs" / "mlflow.db")) as store:
        assert store.execute("select lifecycle_stage from runs").fetchall() == [("deleted",)]


def test_parent_of_incomplete_cells_is_incomplete(folder: Path) -> None:
    (folder / "data" / "media").mkdir()
    (folder / "data" / "media" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    with (folder / "data" / "corpus.jsonl").open("a") as lines:
        lines.write(json.dumps({"id": "p9", "media": "broken.pdf", "page": 1}) + "\n")
    ran(*WORDS, cwd=folder)
    (parent,), cells = split(folder)
    assert {cell.tags["complete"] for cell in cells} == {"false"}
    assert parent.tags["complete"] == "false"
    assert parent.tags["incomplete"].startswith("cell 0: 1 of 4 items could not be read; cell 1: 1 of 4 items")
    assert "incomplete, with items that could not be read" in parent.tags["notes"]


@contextmanager
def begun(folder: Path, *fields: str) -> Iterator[subprocess.Popen[str]]:
    """A sweep whose plug-in has said that it began."""
    command = [sys.executable, "-m", "glyphrank", "run", "-m", *SLOW, "paths.outputs=outputs", *fields]
    paths = os.pathsep.join([str(folder / "own"), os.environ.get("PYTHONPATH", "")])
    surroundings, pipe = {**os.environ, "PYTHONPATH": paths}, subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, env=surroundings, stderr=pipe, stdout=pipe, text=True)
    try:
        deadline = time.monotonic() + 120
        while not (folder / "outputs" / "began").exists() and time.monotonic() < deadline:
            assert process.poll() is None, process.communicate()
            time.sleep(0.1)
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signal_in_a_cell_kills_cell_and_parent_and_the_finished_ones_are_compared(
    number: int, code: int, folder: Path
) -> None:  # case L05
    with begun(folder, "text.seconds=0,60") as process:
        os.kill(process.pid, number)
        sent = time.monotonic()
        said, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert time.monotonic() - sent < 15
    (parent,), cells = split(folder)
    assert (parent.status, [cell.status for cell in cells]) == ("KILLED", ["FINISHED", "KILLED"])
    assert [cell.parent for cell in cells] == [parent.run_id] * 2
    assert (parent.metrics["cells"], parent.metrics["failed_cells"]) == (2, 0)
    assert parent.tags["complete"] == "false"
    assert "comparison.md" in artifacts(folder, parent)
    assert "comparison: " in said


def test_signal_between_two_cells_kills_the_parent(folder: Path) -> None:  # case L05
    with begun(folder, "text.seconds=0,0", "+hydra.callbacks.pause._target_=slow_one.Pause") as process:
        os.kill(process.pid, signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 143, errors
    (parent,), (cell,) = split(folder)
    assert (parent.status, cell.status) == ("KILLED", "FINISHED")
    assert "comparison.md" in artifacts(folder, parent)
