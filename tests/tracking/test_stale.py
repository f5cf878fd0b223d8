from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.tracking.local import Local
from glyphrank.tracking.origin import EVENT, HOST, PROCESS
from glyphrank.tracking.processes import own_process
from glyphrank.tracking.stale import close_stale
from tracked_runs import client_of, runs_of, runtime_in, start_in

ROOT = Path(__file__).parents[2]
SCRIPT = """
import os, sys
from pathlib import Path
from glyphrank.tracking.local import Local
from tracked_runs import runtime_in, start_in
folder = Path(sys.argv[1])
run = Local("stale").start(start_in(folder), runtime_in(folder))
run.__enter__()
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def store(tmp_path: Path, empty_store: Path) -> str:
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")
    return str(tmp_path / "mlflow.db")


def running(folder: Path, name: str, **tags: str) -> str:
    """Id of a run that is RUNNING, of another program unless tags say otherwise."""
    client = client_of(folder)
    found = client.get_experiment_by_name("stale")
    experiment = found.experiment_id if found else client.create_experiment("stale")
    return str(client.create_run(experiment, run_name=name, tags=tags).info.run_id)


def ours(host: str, process: str, event: str = "e") -> dict[str, str]:
    return {EVENT: event, HOST: host, PROCESS: process}


def test_run_of_a_process_that_was_killed_is_closed_as_killed(store: str, tmp_path: Path) -> None:  # case L05
    paths = os.pathsep.join([str(ROOT / "tests" / "support"), str(ROOT / "src")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], env=environment, timeout=60, check=False)
    assert done.returncode == -9
    assert [run.info.status for run in runs_of(tmp_path, "stale")] == ["RUNNING"]
    (closed,) = close_stale(store)
    (stored,) = runs_of(tmp_path, "stale")
    assert (closed.run_id, closed.closed) == (stored.info.run_id, True)
    assert (stored.info.status, stored.info.end_time) == ("KILLED", None)
    assert stored.data.tags["error"] == "its process ended without a word"
    assert close_stale(store) == []


def test_run_that_goes_on_is_left_alone(store: str, tmp_path: Path) -> None:
    with Local("stale").start(start_in(tmp_path), runtime_in(tmp_path)):
        assert close_stale(store, socket.gethostname()) == []
        assert [run.info.status for run in runs_of(tmp_path, "stale")] == ["RUNNING"]


def test_run_of_another_machine_is_listed_and_closed_when_that_is_named(store: str, tmp_path: Path) -> None:
    running(tmp_path, "far", **ours("node7", own_process()))
    (listed,) = close_stale(store, "node8")
    assert (listed.name, listed.host, listed.closed) == ("far", "node7", False)
    assert [run.info.status for run in runs_of(tmp_path, "stale")] == ["RUNNING"]
    (closed,) = close_stale(store, "node7")
    assert closed == replace(listed, closed=True)
    assert [run.info.status for run in runs_of(tmp_path, "stale")] == ["KILLED"]


def test_runs_without_our_tags_and_those_still_to_be_sent_are_left_alone(store: str, tmp_path: Path) -> None:
    host = socket.gethostname()
    running(tmp_path, "of another program")
    running(tmp_path, "older", **{HOST: host})
    running(tmp_path, "waits", **ours(host, own_process().replace("started=", "started=1"), "w"))
    assert close_stale(store, host, leave={"w"}) == []
    assert {run.info.status for run in runs_of(tmp_path, "stale")} == {"RUNNING"}


def test_store_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no MLflow store"):
        close_stale(f"sqlite:///{tmp_path / 'nowhere.db'}")
