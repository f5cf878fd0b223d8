"""Cells that fail stop no other, and a sweep that is killed goes on with what is missing."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from command import glyphrank, ran, refused
from held_cells import OPTIONS, begun, install, records, tracked, wait_for, worked

KEPT = "hydra.sweep.dir=outputs/kept"
SWEEP = (*OPTIONS, "encoder@lexical=none", "text.number=0,1,2,3", KEPT)
PARALLEL = ("hydra/launcher=local_parallel", "hydra.launcher.n_jobs=2")


def test_sweep_that_was_killed_runs_only_what_is_missing(tmp_path: Path) -> None:  # cases H03, C02
    folder = install(tmp_path, hold=2)
    with begun(folder, *SWEEP) as process:
        said = refused("run", "-m", *SWEEP, cwd=folder)  # the same sweep, while it runs
        assert f"launched by process {process.pid} on {socket.gethostname()}" in said
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert [record["state"] for record in records(folder / "outputs" / "kept")] == ["finished", "finished", "running"]
    (folder / "outputs" / "go").touch()
    done = ran("run", "-m", *SWEEP, "runtime.batch_size=1", cwd=folder)  # how it runs is no part of what it is
    assert done.stderr.count("nothing is recomputed") == 2
    times = worked(folder)
    assert (times[0], times[1]) == (1, 1)
    assert [record["state"] for record in records(folder / "outputs" / "kept")] == ["finished"] * 4
    parents = [run for run in tracked(folder) if run.get("kind") == "sweep"]
    cells = [run for run in tracked(folder) if run.get("mlflow.parentRunId") == parents[-1]["run_id"]]
    assert [(cell["status"], cell["reused"]) for cell in cells] == [("FINISHED", "true")] * 2 + [
        ("FINISHED", "false")
    ] * 2


def test_worker_that_is_killed_is_told_and_its_cell_made_by_another_launcher(tmp_path: Path) -> None:  # case H02
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    folder = install(tmp_path, hold=2)
    with begun(folder, *SWEEP, *PARALLEL) as process:
        kept = folder / "outputs" / "kept"
        wait_for(lambda: [cell["state"] for cell in records(kept)].count("finished") == 3)
        first = (folder / "outputs" / "began").read_text()
        os.kill(int(first), signal.SIGKILL)
        wait_for(lambda: (folder / "outputs" / "began").read_text() not in (first, ""))  # it is run again, once
        os.kill(int((folder / "outputs" / "began").read_text()), signal.SIGKILL)
        said, errors = process.communicate(timeout=60)
        assert process.returncode == 1, errors
    assert "a cell's process ended without a word; run again, in other processes: cell 2\n" in errors
    assert "glyphrank: 1 of the sweep's 4 cells failed:\n  cell 2: " in errors
    assert "\n    its process was killed, or ran out of memory or time\n" in errors
    assert "Traceback" not in errors
    assert "comparison: " in said
    (folder / "outputs" / "go").touch()
    before = worked(folder)
    done = ran("run", "-m", *SWEEP, cwd=folder)
    assert done.stderr.count("nothing is recomputed") == 3
    assert worked(folder) - before == {2: 1}


@pytest.mark.parametrize("launcher", [(), PARALLEL])
def test_failed_cells_stop_no_other_and_are_listed_at_the_end(
    launcher: tuple[str, ...], tmp_path: Path
) -> None:  # case H02
    if launcher:
        pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    folder = install(tmp_path)
    fields = ("encoder@lexical=none", "text.number=-1,0,x,1", "hydra.sweeper.max_batch_size=1", KEPT)
    done = glyphrank("run", "-m", *OPTIONS, *fields, *launcher, cwd=folder)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("glyphrank: failed: plugins=[held_cells] ") == 2
    listed = done.stderr[done.stderr.index("glyphrank: 2 of the sweep's 4 cells failed:") :].splitlines()
    assert [line.split(": ")[0] for line in listed[1::2]] == ["  cell 0", "  cell 2"]
    assert listed[1].endswith("text.number=-1")
    assert listed[2] == "    RuntimeError: there is no going back"
    assert listed[4].startswith("    1 fault in the configuration: text.number: found 'x' (str), wanted ")
    states = [record["state"] for record in records(folder / "outputs" / "kept")]
    assert states == ["failed", "finished", "failed", "finished"]
    parent, *cells = sorted(tracked(folder), key=lambda run: run.get("kind") != "sweep")
    assert parent["status"] == "FAILED"
    assert sorted(cell["status"] for cell in cells) == ["FAILED", "FAILED", "FINISHED", "FINISHED"]
    errors = sorted(cell["error"] for cell in cells if cell["status"] == "FAILED")
    assert "wanted a valid integer" in errors[0]
    assert "there is no going back" in errors[1]
    assert "glyphrank: failed" in (folder / "outputs" / "kept" / "0" / "glyphrank.log").read_text()


def test_failed_trial_of_optuna_stops_no_other(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    folder = install(tmp_path)
    fields = ("encoder@lexical=none", "text.number=choice(-1,0)", "hydra/sweeper=optuna")
    trials = ("hydra/sweeper/sampler=grid", "hydra.sweeper.n_trials=2", KEPT)
    done = glyphrank("run", "-m", *OPTIONS, *fields, *trials, cwd=folder)
    assert done.returncode == 1, done.stderr
    assert sorted(record["state"] for record in records(folder / "outputs" / "kept")) == ["failed", "finished"]
    assert "glyphrank: 1 of the sweep's 2 cells failed:" in done.stderr
