from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from command import glyphrank
from glyphrank.sync_command import run_sync
from glyphrank.tracking.local import Local
from glyphrank.tracking.origin import EVENT, HOST, PROCESS
from glyphrank.tracking.processes import own_process
from glyphrank.tracking.server import Server
from tracked_runs import client_of, report_with, run_folder, runs_of, runtime_in, start_in


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MLFLOW_TRACKING_URI", "GLYPHRANK_OUTPUTS"):
        monkeypatch.delenv(name, raising=False)


def keep(folder: Path, tracker: Any, name: str = "one") -> None:
    start = replace(start_in(folder), name=name, off_host=True)
    with tracker.start(start, runtime_in(folder / "outputs")) as run:
        run.log(report_with(), run_folder(folder / name), reused=False)


def synced(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run_sync([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_sync_logs_what_waits_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(tmp_path, Local("pending"))
    done = glyphrank("sync", cwd=tmp_path)
    (stored,) = runs_of(tmp_path / "outputs", "pending")
    store = tmp_path / "outputs" / "mlflow.db"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"logged: one ({stored.info.run_id}) in {store}\n1 logged, 0 waiting, 0 closed\n"
    assert run_sync(["--outputs", str(tmp_path / "outputs")]) == 0
    assert capsys.readouterr().out == "0 logged, 0 waiting, 0 closed\n"


def test_sync_sends_to_several_stores_and_a_dead_one_keeps_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    keep(tmp_path, Local("pending"))
    keep(tmp_path, Server("team", "sqlite:///team.db"), "two")
    keep(tmp_path, Server("team", f"http://kim:hush-hush@127.0.0.1:{port}"), "three")
    code, done = synced(capsys, "--outputs", str(tmp_path / "outputs"))
    assert code == 1
    assert {run["name"]: Path(run["store"]).name for run in done["logged"]} == {"one": "mlflow.db", "two": "team.db"}
    assert done["waiting"] == 1
    (trouble,) = done["troubles"]
    assert f"the MLflow store http://127.0.0.1:{port} cannot be used" in trouble
    code, done = synced(capsys, "--outputs", str(tmp_path / "outputs"), "--store", f"sqlite:///{tmp_path / 'team.db'}")
    assert (code, done["waiting"]) == (0, 0)


def test_sync_closes_runs_of_dead_processes_and_names_those_of_other_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Local("stale").start(start_in(tmp_path), runtime_in(tmp_path)):
        pass
    client = client_of(tmp_path)
    experiment = client.get_experiment_by_name("stale").experiment_id
    dead = own_process().replace("started=", "started=1")
    for name, host in (("here", socket.gethostname()), ("far", "node7")):
        tags = {EVENT: name, HOST: host, PROCESS: dead}
        client.create_run(experiment, run_name=name, tags=tags)
    assert run_sync(["--outputs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "closed as KILLED: here (" in out
    assert "left RUNNING: far (" in out
    assert "--host node7 closes it" in out
    code, done = synced(capsys, "--outputs", str(tmp_path), "--host", "node7")
    assert (code, [run["name"] for run in done["closed"]], done["other_hosts"]) == (0, ["far"], [])
    assert sorted(run.info.status for run in runs_of(tmp_path, "stale")) == ["FINISHED", "KILLED", "KILLED"]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("--outputs", "nowhere"), "nowhere: there is no such folder"),
        (("--store", "file:///tmp/x"), "--store is 'file:"),
        (("--store", "http://kim:hush@host:5o00"), "--store is 'http://host:5o00'"),
        (("extra",), "unrecognized arguments"),
    ],
)
def test_sync_that_is_used_wrongly_says_how(
    arguments: tuple[str, ...],
    wanted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GLYPHRANK_OUTPUTS", str(tmp_path))
    assert run_sync(arguments) == 2
    out, err = capsys.readouterr()
    assert wanted in err
    assert "hush" not in err + out
    assert list(tmp_path.iterdir()) == []


def test_sync_leaves_alone_what_another_sync_sends_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(tmp_path, Local("pending"))
    (record,) = (tmp_path / "outputs" / "pending").glob("*.json")
    with FileLock(record.with_suffix(".lock")):
        assert run_sync(["--outputs", str(tmp_path / "outputs")]) == 0
    out = capsys.readouterr().out
    assert "left alone: one: another process is sending it" in out
    assert out.endswith("0 logged, 0 waiting, 0 closed, 1 left alone\n")


def test_sync_reports_a_place_of_records_that_is_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pending").touch()
    assert run_sync(["--outputs", str(tmp_path)]) == 1
    assert "pending cannot be read (Not a directory): no run can wait there" in capsys.readouterr().out


def test_sync_without_anything_to_do_makes_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_sync(["--outputs", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "0 logged, 0 waiting, 0 closed\n"
    assert list(tmp_path.iterdir()) == []
