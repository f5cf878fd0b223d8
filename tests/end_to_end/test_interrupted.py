"""A run that is stopped ends in the store, and what it finished is kept."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command import corpus

MODULE = '''
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Slow:
    """Says that it began, then takes its time."""

    seconds: float

    def encode_queries(self, texts, runtime):
        raise RuntimeError("never reached")

    def encode_texts(self, texts, runtime):
        (runtime.outputs / "began").touch()
        time.sleep(self.seconds)
        raise RuntimeError("slept through")
'''


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_run_that_is_told_to_stop_stands_killed_in_the_store(
    number: int, code: int, tmp_path: Path
) -> None:  # case L05
    (tmp_path / "own" / "encoder").mkdir(parents=True)
    (tmp_path / "own" / "slow_one.py").write_text(MODULE)
    (tmp_path / "own" / "encoder" / "slow.yaml").write_text("_target_: slow_one.Slow\nseconds: 60.0\n")
    corpus(tmp_path / "data", [{"id": "p1", "text": "first"}], [{"id": "q1", "text": "first"}], ["q1\tp1\t1"])
    choices = [
        "dataset=folder",
        "dataset.root=data",
        "encoder@text=slow",
        "plugins=[slow_one]",
        "paths.outputs=outputs",
    ]
    command = [sys.executable, "-m", "glyphrank", "run", "--config-dir", "own", *choices]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "outputs" / "began").exists() and time.monotonic() < deadline:
            assert process.poll() is None, process.communicate()
            time.sleep(0.1)
        os.kill(process.pid, number)
        sent = time.monotonic()
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert time.monotonic() - sent < 10
    with sqlite3.connect(tmp_path / "outputs" / "mlflow.db") as store:
        assert store.execute("select status from runs").fetchall() == [("KILLED",)]
