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
from shared_sweeps import CELLS, check_shared, runs_of, swept

SLOW = """
import time
from dataclasses import dataclass

import numpy as np

from glyphrank.records import Encoded


@dataclass(frozen=True)
class Slow:
    seconds: float

    def encode_queries(self, texts, runtime):
        return self.encode_texts(texts, runtime)

    def encode_texts(self, texts, runtime):
        if self.seconds < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        (runtime.outputs / f"began-{self.seconds:g}").touch()
        time.sleep(self.seconds)
        return Encoded(np.array([[len(text), 1] for text in texts], dtype=np.float32), np.zeros(len(texts), dtype=bool))
"""


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
    slow = (*_slow(tmp_path), "text.seconds=60,61", f"hydra/launcher={launcher}")
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


def test_process_of_a_cell_that_dies_stops_no_other(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    sweep = (*_slow(tmp_path), "text.seconds=-1,5", "hydra/launcher=slurm_local", "tracking=none")
    done = glyphrank("run", "-m", *sweep, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (finished,) = tmp_path.glob("outputs/sweeps/*/*/*/report.json")
    assert finished.parent.name == "1"
    assert list(tmp_path.glob("outputs/sweeps/*/*/comparison.md"))


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


def _slow(folder: Path) -> tuple[str, ...]:
    """Puts the slow encoder into a folder; the options that choose it."""
    (folder / "own" / "encoder").mkdir(parents=True)
    (folder / "own" / "slow_one.py").write_text(SLOW)
    (folder / "own" / "encoder" / "slow.yaml").write_text("_target_: slow_one.Slow\nseconds: 0.0\n")
    return ("--config-dir", "own", "plugins=[slow_one]", "encoder@text=slow")


def _wait(condition: Callable[[], bool], process: subprocess.Popen[bytes] | None) -> None:
    until = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < until
        assert process is None or process.poll() is None
        time.sleep(0.1)


def _commands() -> str:
    return subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True, check=True).stdout
