from __future__ import annotations

import shutil
import socket
from dataclasses import replace
from pathlib import Path

from glyphrank.tracking.kept import read_record
from glyphrank.tracking.local import Local
from glyphrank.tracking.lost import discard_lost, fail_lost
from glyphrank.tracking.origin import EVENT, HOST, LAUNCH, PROCESS
from glyphrank.tracking.processes import own_process
from tracked_runs import client_of, runs_of, runtime_in, start_in

DEAD = own_process().replace("pid=", "pid=9")


def test_runs_of_a_launch_whose_processes_died_end_as_failed_and_no_others(tmp_path: Path, empty_store: Path) -> None:
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")
    client, host = client_of(tmp_path), socket.gethostname()
    experiment = client.create_experiment("lost")
    for name, launch, where, process in (
        ("dead", "a1", host, DEAD),
        ("of another", "b2", host, DEAD),
        ("alive", "a1", host, own_process()),
        ("on a node", "a1", "node7", "pid=5"),
        ("on another", "a1", "node8", "pid=5"),
    ):
        tags = {EVENT: name, LAUNCH: launch, HOST: where, PROCESS: process}
        client.create_run(experiment, run_name=name, tags=tags)
    reference = {"store": str(tmp_path / "mlflow.db"), "experiment": "lost", "run_id": "1"}
    fail_lost(reference, tmp_path, "a1", {("node7", "pid=5")}, "it died")
    found = {run.info.run_name: (run.info.status, run.data.tags.get("error")) for run in runs_of(tmp_path, "lost")}
    assert found.pop("dead") == found.pop("on a node") == ("FAILED", "it died")
    assert set(found.values()) == {("RUNNING", None)}


def test_kept_run_of_a_process_that_died_is_kept_as_failed(tmp_path: Path) -> None:
    start = replace(start_in(tmp_path), launch="a1", off_host=True)
    context = Local("lost").start(start, runtime_in(tmp_path))
    run = context.__enter__()
    event = run.reference["run_id"].partition(":")[2]
    fail_lost({}, tmp_path, "a1", {(socket.gethostname(), own_process())}, "it died")
    record, _ = read_record(tmp_path / "pending", event)
    assert (record.status, record.error, record.ended) == ("FAILED", "it died", None)
    context.__exit__(None, None, None)


def test_run_of_a_cell_that_runs_again_is_deleted_and_no_other(tmp_path: Path, empty_store: Path) -> None:  # case H02
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")
    client, host = client_of(tmp_path), socket.gethostname()
    experiment = client.create_experiment("lost")
    for name, launch, process, status in (
        ("superseded", "a1", DEAD, "RUNNING"),
        ("finished in that process before", "a1", DEAD, "FINISHED"),
        ("of another launch", "b2", DEAD, "RUNNING"),
        ("again", "a1", own_process(), "RUNNING"),
    ):
        tags = {EVENT: name, LAUNCH: launch, HOST: host, PROCESS: process}
        run = client.create_run(experiment, run_name=name, tags=tags)
        if status != "RUNNING":
            client.set_terminated(run.info.run_id, status=status)
    reference = {"store": str(tmp_path / "mlflow.db"), "experiment": "lost", "run_id": "1"}
    discard_lost(reference, tmp_path, "a1", {(host, DEAD)})
    found = {run.info.run_name for run in runs_of(tmp_path, "lost")}
    assert found == {"finished in that process before", "of another launch", "again"}
    fail_lost(reference, tmp_path, "a1", (), "it died")
    assert not [run for run in runs_of(tmp_path, "lost") if run.info.status == "FAILED"]


def test_kept_run_of_a_cell_that_runs_again_is_dropped(tmp_path: Path) -> None:
    context = Local("lost").start(replace(start_in(tmp_path), launch="a1", off_host=True), runtime_in(tmp_path))
    context.__enter__()
    assert list((tmp_path / "pending").glob("*.json"))
    discard_lost({}, tmp_path, "a1", {(socket.gethostname(), own_process())})
    assert not list((tmp_path / "pending").glob("*.json"))
    context.__exit__(None, None, None)


def test_store_that_is_not_there_raises_nothing(tmp_path: Path) -> None:
    fail_lost({"store": str(tmp_path / "no.db"), "experiment": "x", "run_id": "1"}, tmp_path, "a1", (), "it died")
