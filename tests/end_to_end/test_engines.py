"""Launchers on this machine, Optuna, and what is said where an extra is not installed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from command import glyphrank
from held_cells import records
from shared_sweeps import CELLS, check_shared, runs_of, swept
from slow_cells import slow_cells


@pytest.mark.parametrize(("launcher", "package"), [("local_parallel", "joblib"), ("slurm_local", "submitit")])
def test_cells_that_run_at_once_read_every_clip_once_between_them(
    launcher: str, package: str, tmp_path: Path
) -> None:  # cases H02, L03
    pytest.importorskip(f"hydra_plugins.hydra_{package}_launcher")
    pytest.importorskip("easyocr_en_models")
    check_shared(swept(tmp_path, f"hydra/launcher={launcher}", *CELLS))


@pytest.mark.parametrize(
    ("launcher", "package", "number"),
    [("local_parallel", "joblib", signal.SIGTERM), ("slurm_local", "submitit", signal.SIGINT)],
)
def test_signal_to_the_launching_process_ends_its_workers_and_their_runs(
    launcher: str, package: str, number: int, tmp_path: Path
) -> None:  # case L05
    pytest.importorskip(f"hydra_plugins.hydra_{package}_launcher")
    slow = (*slow_cells(tmp_path), "text.seconds=60,61", f"hydra/launcher={launcher}")
    command = [sys.executable, "-m", "glyphrank", "run", "-m", *slow]
    paths = os.pathsep.join([str(tmp_path / "own"), os.environ.get("PYTHONPATH", "")])
    surroundings = {**os.environ, "PYTHONPATH": paths, "GLYPHRANK_OUTPUTS": str(tmp_path / "outputs")}
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(command, cwd=tmp_path, env=surroundings, stdout=said, stderr=said)
    try:
        _wait(lambda: len(list(tmp_path.glob("outputs/began-*"))) == 2, process)
        process.send_signal(number)
        assert process.wait(timeout=60) == 128 + number, (tmp_path / "said").read_text()
        _wait(lambda: str(tmp_path) not in _commands(), None)
    finally:
        process.kill()
    assert [status for status, _ in runs_of(tmp_path)] == ["KILLED"] * 3
    (sweep,) = tmp_path.glob("outputs/sweeps/*/*")
    assert [cell["state"] for cell in records(sweep)] == ["interrupted"] * 2


@pytest.mark.parametrize(("launcher", "package"), [("local_parallel", "joblib"), ("slurm_local", "submitit")])
def test_process_of_a_cell_that_dies_stops_no_other(launcher: str, package: str, tmp_path: Path) -> None:  # case H02
    pytest.importorskip(f"hydra_plugins.hydra_{package}_launcher")
    batches = ("text.seconds=1,-1,0", "hydra.sweeper.max_batch_size=2", "hydra.sweep.dir=outputs/kept")
    done = glyphrank("run", "-m", *slow_cells(tmp_path), *batches, f"hydra/launcher={launcher}", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "glyphrank: 1 of the sweep's 3 cells failed:\n  cell 1: " in done.stderr
    cells = records(tmp_path / "outputs" / "kept")
    assert [cell["state"] for cell in cells] == ["finished", "failed", "finished"]
    assert cells[1]["error"] == "its process was killed, or ran out of memory or time"
    assert "'cell 0', 'cell 2'" in (tmp_path / "outputs" / "kept" / "comparison.md").read_text()
    times = len((tmp_path / "outputs" / "began--1").read_text().splitlines())
    assert times == (2 if launcher == "local_parallel" else 1)
    assert sorted(status for status, _ in runs_of(tmp_path)) == ["FAILED"] * 2 + ["FINISHED"] * 2  # a child a cell


def test_processes_of_joblib_leave_when_the_one_that_launched_them_was_killed(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    slow = (*slow_cells(tmp_path), "text.seconds=6,7,8", "tracking=none", "hydra.sweep.dir=outputs/kept")
    workers = ("hydra/launcher=local_parallel", "hydra.launcher.n_jobs=2")
    command = [sys.executable, "-m", "glyphrank", "run", "-m", *slow, *workers]
    surroundings = {**os.environ, "GLYPHRANK_OUTPUTS": str(tmp_path / "outputs")}
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(command, cwd=tmp_path, env=surroundings, stdout=said, stderr=said)
    try:
        _wait(lambda: len(list(tmp_path.glob("outputs/began-*"))) == 2, process)
    finally:
        process.kill()
        process.wait()
    pids = [int(path.read_text()) for path in tmp_path.glob("outputs/began-*")]
    _wait(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), None)
    assert [cell["state"] for cell in records(tmp_path / "outputs" / "kept")] == ["finished"] * 2


def test_optuna_looks_for_the_best_primary_metric_and_survives_cells_that_fail(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    search = ("hydra/sweeper=optuna", "hydra.sweeper.n_trials=5", "metrics.primary=mean_rank", "tracking=none")
    done = glyphrank("run", "-m", *search, "lexical.k1=choice(-1,0.0,1.5)", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (folder,) = tmp_path.glob("outputs/sweeps/*/*")
    found = yaml.safe_load((folder / "optimization_results.yaml").read_text())
    ranks = [json.loads(path.read_text())["metrics"]["mean_rank"] for path in folder.glob("*/report.json")]
    assert len(list(folder.glob("*/glyphrank.log"))) == 5 > len(ranks)
    assert len(set(ranks)) == 2
    assert found["best_value"] == min(ranks)


@pytest.mark.parametrize(
    ("override", "extra"),
    [
        ("hydra/launcher=local_parallel", "parallel"),
        ("hydra/launcher=joblib", "parallel"),
        ("hydra/launcher=slurm", "slurm"),
        ("hydra/sweeper=optuna", "optuna"),
    ],
)
def test_extra_that_is_not_installed_is_one_error_that_names_it(override: str, extra: str, tmp_path: Path) -> None:
    (tmp_path / "none" / "hydra_plugins").mkdir(parents=True)
    (tmp_path / "none" / "hydra_plugins" / "__init__.py").touch()  # hides the plug-ins that are installed
    paths = os.pathsep.join([str(tmp_path / "none"), os.environ.get("PYTHONPATH", "")])
    sweep = ("run", "-m", override, "encoder@lexical=bm25_words,bm25_ngrams")
    done = glyphrank(*sweep, cwd=tmp_path, env={"PYTHONPATH": paths})
    assert done.returncode == 2, done.stderr
    assert f"pip install 'glyphrank[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(re.findall(r"^glyphrank: ", done.stderr, re.MULTILINE)) == 1
    store = tmp_path / "outputs" / "mlflow.db"
    assert not store.exists() or runs_of(tmp_path) == []


def test_slurm_that_is_not_here_is_one_error(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    sweep = ("run", "-m", "hydra/launcher=slurm", "tracking=none", "encoder@lexical=bm25_words,bm25_ngrams")
    done = glyphrank(*sweep, cwd=tmp_path, env={"PATH": str(tmp_path)})
    assert done.returncode == 2, done.stderr
    assert "Slurm" in done.stderr
    assert "Traceback" not in done.stderr


def _wait(condition: Callable[[], bool], process: subprocess.Popen[bytes] | None) -> None:
    until = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < until
        assert process is None or process.poll() is None
        time.sleep(0.1)


def _commands() -> str:
    return subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True, check=True).stdout
