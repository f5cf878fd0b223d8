from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from glyphrank.tracking import TrackedRun
from glyphrank.tracking.local import Local
from glyphrank.tracking.origin import EVENT
from glyphrank.tracking.pending import send_pending
from glyphrank.tracking.processes import own_process
from glyphrank.tracking.server import Server
from glyphrank.tracking.start import Start
from tracked_runs import client_of, files_of, report_with, run_folder, runs_of, runtime_in, start_in

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, empty_store: Path) -> Path:
    """The store of `tmp_path/outputs`."""
    path = tmp_path / "outputs" / "mlflow.db"
    path.parent.mkdir()
    shutil.copyfile(empty_store, path)
    return path


def keep(folder: Path, name: str = "one", experiment: str = "pending", **fields: Any) -> TrackedRun:
    """A run off the host, whose store is a file here: it is kept in `folder/outputs`."""
    start = replace(start_in(folder), name=name, off_host=True, **fields)
    with Local(experiment).start(start, runtime_in(folder / "outputs")) as run:
        run.log(report_with(metrics={"Recall@1": 0.5}), run_folder(folder / name), reused=False)
    return run


def record_of(folder: Path) -> Path:
    (path,) = (folder / "outputs" / "pending").glob("*.json")
    return path


def pending(folder: Path) -> set[str]:
    return {path.name for path in (folder / "outputs" / "pending").iterdir()}


@pytest.mark.parametrize("server", [False, True])
def test_run_off_the_host_never_opens_a_store_that_is_a_file(
    server: bool, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.unlink()
    monkeypatch.setattr("glyphrank.tracking.places.open_database", lambda *_: pytest.fail("the store was opened"))
    tracker = Server("pending", "sqlite:///team.db") if server else Local("pending")
    with tracker.start(replace(start_in(tmp_path), off_host=True), runtime_in(tmp_path / "outputs")) as run:
        run.log(report_with(), run_folder(tmp_path), reused=False)
    assert str(run.reference["run_id"]).startswith("pending:")
    assert not list(tmp_path.rglob("*.db"))
    monkeypatch.undo()
    assert send_pending(tmp_path / "outputs").logged == 1
    assert [path.name for path in tmp_path.rglob("*.db")] == ["team.db" if server else "mlflow.db"]


def test_run_that_was_kept_comes_out_as_one_that_was_not(tmp_path: Path) -> None:
    keep(tmp_path)
    stored = json.loads(record_of(tmp_path).read_text(encoding="utf-8"))
    sent = send_pending(tmp_path / "outputs")
    with Local("pending").start(replace(start_in(tmp_path), name="one"), runtime_in(tmp_path / "outputs")) as run:
        run.log(report_with(metrics={"Recall@1": 0.5}), tmp_path / "one" / "run", reused=False)
    online, kept = runs_of(tmp_path / "outputs", "pending")
    assert (kept.info.start_time, kept.info.end_time) == (stored["began"], stored["ended"])
    assert (kept.info.status, kept.info.run_name) == (online.info.status, online.info.run_name)
    assert (kept.data.params, kept.data.metrics) == (online.data.params, online.data.metrics)
    tags, others = kept.data.tags, online.data.tags
    assert tags.keys() == others.keys()
    assert {name for name in tags if tags[name] != others[name]} == {EVENT}
    client = client_of(tmp_path / "outputs")
    names = {"metric_names.json", "report.json", ".hydra/overrides.yaml"}
    assert files_of(client, kept.info.run_id) == files_of(client, online.info.run_id) == names
    assert kept.inputs.dataset_inputs[0].dataset.digest == online.inputs.dataset_inputs[0].dataset.digest
    assert (sent.logged, sent.waiting, sent.troubles, pending(tmp_path)) == (1, 0, (), set())
    assert sent.runs[0]["run_id"] == kept.info.run_id


def test_record_holds_no_secret_and_neither_do_the_files_beside_it(tmp_path: Path) -> None:  # case L15
    config = {"api": {"token": "hush-hush"}, "uri": "http://kim:hush-hush@host"}
    keep(
        tmp_path, config=config, named=("api", "uri"), overrides=("api.token=hush-hush",), tags={"a": "token=hush-hush"}
    )
    assert json.loads(record_of(tmp_path).read_text())["parameters"]["uri"] == "http://host"
    places = (tmp_path / "outputs" / "pending").rglob("*")
    assert b"hush" not in b"".join(path.read_bytes() for path in places if path.is_file())


def test_files_are_those_of_the_run_though_another_has_its_folder_now(tmp_path: Path) -> None:
    keep(tmp_path)
    (tmp_path / "one" / "run" / "report.json").write_text("of another run")
    send_pending(tmp_path / "outputs")
    ((path),) = (tmp_path / "outputs" / "mlartifacts").rglob("report.json")
    assert path.read_text() == '{"metrics": {}}'


def test_torn_file_keeps_its_run_where_it_is_nowhere_whole(tmp_path: Path) -> None:
    keep(tmp_path)
    (copy,) = (tmp_path / "outputs" / "pending").glob("*/report.json")
    copy.write_text("{")
    text = (tmp_path / "one" / "run" / "report.json").read_text()
    (tmp_path / "one" / "run" / "report.json").write_text("of another run")
    sent = send_pending(tmp_path / "outputs")
    assert (sent.logged, sent.waiting) == (0, 1)
    assert "are not whole, and neither are those that they were copied from: report.json" in sent.troubles[0]
    (tmp_path / "one" / "run" / "report.json").write_text(text)
    assert send_pending(tmp_path / "outputs").logged == 1
    ((path),) = (tmp_path / "outputs" / "mlartifacts").rglob("report.json")
    assert path.read_text() == text
    assert pending(tmp_path) == set()


def test_end_that_the_store_heard_of_stays_where_the_record_does_not_know_it(tmp_path: Path) -> None:
    keep(tmp_path)
    text = record_of(tmp_path).read_text(encoding="utf-8")
    send_pending(tmp_path / "outputs")
    record = {**json.loads(text), "status": "RUNNING", "ended": None, "files": {}}
    record["tags"] |= {"host": "node7", "process": "pid=1"}
    (tmp_path / "outputs" / "pending" / f"{record['event']}.json").write_text(json.dumps(record))
    assert send_pending(tmp_path / "outputs", host="node7").logged == 1
    (stored,) = runs_of(tmp_path / "outputs", "pending")
    assert (stored.info.status, stored.data.tags.get("error")) == ("FINISHED", None)


@pytest.mark.parametrize("step", ["log_batch", "log_inputs", "log_text", "log_artifacts", "set_terminated"])
def test_sending_that_is_cut_short_goes_on_with_the_same_run(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no answer")

    keep(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(f"mlflow.tracking.MlflowClient.{step}", refuse)
        sent = send_pending(tmp_path / "outputs")
    assert (sent.logged, sent.waiting, sent.troubles) == (0, 1, ("one: no answer",))
    assert record_of(tmp_path).is_file()
    (begun,) = runs_of(tmp_path / "outputs", "pending")
    assert send_pending(tmp_path / "outputs").logged == 1
    (stored,) = runs_of(tmp_path / "outputs", "pending")
    assert stored.info.run_id == begun.info.run_id
    assert (stored.info.status, stored.data.tags["complete"]) == ("FINISHED", "true")
    history = client_of(tmp_path / "outputs").get_metric_history(stored.info.run_id, "Recall_0x40_1")
    assert [metric.value for metric in history] == [0.5]


def test_record_that_another_process_sends_waits(tmp_path: Path) -> None:
    keep(tmp_path)
    with FileLock(record_of(tmp_path).with_suffix(".lock")):
        sent = send_pending(tmp_path / "outputs")
    assert (sent.logged, sent.waiting, sent.troubles) == (0, 0, ())
    assert sent.busy == ("one: another process is sending it",)
    assert send_pending(tmp_path / "outputs").logged == 1


def test_two_that_send_at_once_without_locks_leave_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow.tracking

    create = mlflow.tracking.MlflowClient.create_run

    def twice(*arguments: Any, **options: Any) -> Any:
        return max(create(*arguments, **options), create(*arguments, **options), key=lambda run: run.info.run_id)

    keep(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("mlflow.tracking.MlflowClient.create_run", twice)
        sent = send_pending(tmp_path / "outputs")
    assert (sent.logged, sent.waiting) == (0, 1)  # the other's may not be whole yet
    assert send_pending(tmp_path / "outputs").logged == 1
    (stored,) = runs_of(tmp_path / "outputs", "pending")
    assert stored.data.tags["complete"] == "true"


def test_run_that_was_deleted_in_the_store_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("glyphrank.tracking.pending.settle", lambda *_: False)
        assert send_pending(tmp_path / "outputs").waiting == 1
    (stored,) = runs_of(tmp_path / "outputs", "pending")
    client_of(tmp_path / "outputs").delete_run(stored.info.run_id)
    sent = send_pending(tmp_path / "outputs")
    assert (sent.waiting, sent.runs[0]["run_id"]) == (0, "")
    assert runs_of(tmp_path / "outputs", "pending") == []


def test_run_of_another_launch_is_left_where_one_is_named(tmp_path: Path) -> None:
    keep(tmp_path, launch="a1")
    assert send_pending(tmp_path / "outputs", "b2").logged == 0
    assert send_pending(tmp_path / "outputs", "a1").logged == 1


def test_run_of_another_store_is_left_where_one_is_named(tmp_path: Path) -> None:
    keep(tmp_path)
    sent = send_pending(tmp_path / "outputs", store="http://host:5000")
    assert (sent.logged, sent.waiting) == (0, 0)
    assert send_pending(tmp_path / "outputs", store="sqlite:///other.db").logged == 0
    assert send_pending(tmp_path / "outputs", store=f"sqlite:///{tmp_path / 'outputs' / 'mlflow.db'}").logged == 1


def test_outputs_that_were_moved_are_sent_to_the_store_that_lies_there_now(tmp_path: Path) -> None:
    keep(tmp_path)
    (tmp_path / "outputs").rename(tmp_path / "moved")
    assert send_pending(tmp_path / "moved").logged == 1
    assert len(runs_of(tmp_path / "moved", "pending")) == 1


def test_folder_without_anything_that_waits_has_nothing_to_send(tmp_path: Path) -> None:
    assert send_pending(tmp_path) == send_pending(tmp_path / "nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["outputs"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"event": "a"}'])
def test_damaged_record_waits_and_stops_no_other(text: str, tmp_path: Path) -> None:
    keep(tmp_path)
    (tmp_path / "outputs" / "pending" / "damaged.json").write_text(text)
    sent = send_pending(tmp_path / "outputs")
    assert (sent.logged, sent.waiting) == (1, 1)
    assert "damaged.json cannot be read as a waiting run" in sent.troubles[0]


def test_run_of_a_killed_process_is_logged_as_killed(tmp_path: Path) -> None:  # case L05
    script = (
        "import os, sys; from dataclasses import replace; from pathlib import Path; from glyphrank.tracking.local "
        "import Local; from tracked_runs import *; folder = Path(sys.argv[1]); "
        "run = Local('pending').start(replace(start_in(folder), off_host=True), runtime_in(folder / 'outputs')); "
        "run.__enter__().log(report_with(), run_folder(folder), False); os.kill(os.getpid(), 9)"
    )
    paths = os.pathsep.join([str(ROOT / "tests" / "support"), str(ROOT / "src")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], env=environment, timeout=60, check=False)
    assert done.returncode == -9
    assert json.loads(record_of(tmp_path).read_text())["status"] == "RUNNING"
    assert send_pending(tmp_path / "outputs").logged == 1
    (stored,) = runs_of(tmp_path / "outputs", "pending")
    assert (stored.info.status, stored.info.end_time) == ("KILLED", None)
    assert stored.data.tags["error"] == "its process ended without a word"
    assert stored.data.metrics["ndcg_at_10"] == 0.75


def test_run_that_goes_on_waits_and_one_of_another_machine_until_that_is_named(tmp_path: Path) -> None:
    start, outputs = replace(start_in(tmp_path), off_host=True), tmp_path / "outputs"
    with Local("pending").start(start, runtime_in(outputs)):
        path = record_of(tmp_path)
        sent = send_pending(outputs)
        assert (sent.logged, sent.waiting, sent.troubles) == (0, 1, ())
        text = path.read_text(encoding="utf-8")
    parents = own_process().replace(f"pid={os.getpid()}", f"pid={os.getppid()}")
    started = (Path("/proc") / str(os.getppid()) / "stat").read_text().rpartition(")")[2].split()[19]
    parents = re.sub(r"started=\d+", f"started={started}", parents)
    path.write_text(text.replace(own_process(), parents), encoding="utf-8")
    sent = send_pending(outputs)
    assert (sent.waiting, sent.troubles, sent.busy) == (0, (), ("낱말 1: it is still running",))
    path.write_text(text.replace(f'"host": "{socket.gethostname()}"', '"host": "node7"'), encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace("pid=", "pid=1"), encoding="utf-8")
    (trouble,) = send_pending(outputs).troubles
    assert "it may still be running on node7" in trouble
    assert "--host node7" in trouble
    assert send_pending(outputs, host="node7").logged == 1
    assert [run.info.status for run in runs_of(outputs, "pending")] == ["KILLED"]


def test_summary_told_after_the_end_is_sent_too_also_when_the_rest_has_been(tmp_path: Path) -> None:
    start, table = replace(start_in(tmp_path), off_host=True, sweep=True), tmp_path / "comparison.md"
    table.write_text("| 0.5 |")
    with Local("pending").start(start, runtime_in(tmp_path / "outputs")) as run:
        pass
    assert send_pending(tmp_path / "outputs").logged == 1
    run.summarise({"cells": 2.0}, {"complete": "true"}, [table])
    assert send_pending(tmp_path / "outputs").logged == 1
    (stored,) = runs_of(tmp_path / "outputs", "pending")
    assert (stored.data.metrics, stored.data.tags["complete"]) == ({"cells": 2.0}, "true")
    assert files_of(client_of(tmp_path / "outputs"), stored.info.run_id) == {"comparison.md"}
    run.discard()
    assert pending(tmp_path) == set()


def test_run_that_is_discarded_waits_no_more(tmp_path: Path) -> None:
    keep(tmp_path).discard()
    assert pending(tmp_path) == set()


def test_run_that_cannot_even_be_kept_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "outputs" / "pending").touch()
    keep(tmp_path)
    assert caplog.text.count("could not be kept in") == 1
    (trouble,) = send_pending(tmp_path / "outputs").troubles
    assert "pending cannot be read (Not a directory)" in trouble


def test_result_is_told_where_its_run_stands_now(tmp_path: Path) -> None:
    result = tmp_path / "outputs" / "results" / report_with().identity
    result.mkdir(parents=True)
    keep(tmp_path)
    send_pending(tmp_path / "outputs")
    (stored,) = runs_of(tmp_path / "outputs", "pending")
    entry = json.loads((result / "runs.jsonl").read_text(encoding="utf-8"))
    assert (entry["run_id"], entry["experiment"]) == (stored.info.run_id, "pending")


def test_store_that_can_never_be_used_keeps_its_runs_and_stops_no_other(tmp_path: Path) -> None:
    keep(tmp_path, "one", "deleted")
    keep(tmp_path, "two", "pending")
    with Local("deleted").start(start_in(tmp_path), runtime_in(tmp_path / "outputs")):
        pass
    client = client_of(tmp_path / "outputs")
    client.delete_experiment(client.get_experiment_by_name("deleted").experiment_id)
    sent = send_pending(tmp_path / "outputs")
    assert (sent.logged, sent.waiting) == (1, 1)
    assert "the experiment 'deleted'" in sent.troubles[0]


def test_start_off_the_host_with_a_server_is_as_any(tmp_path: Path) -> None:
    start: Start = replace(start_in(tmp_path), off_host=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{free.getsockname()[1]}"
    with Server("pending", uri).start(start, runtime_in(tmp_path / "outputs")):
        pass
    assert "refused" in json.loads(record_of(tmp_path).read_text())["cause"]


def test_run_of_this_process_whose_end_could_not_be_kept_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    start = replace(start_in(tmp_path), name="one", off_host=True)
    with Local("pending").start(start, runtime_in(tmp_path / "outputs")):
        monkeypatch.setattr("glyphrank.tracking.kept.Keeper._replace", full)
    assert "one is not in MLflow, and could not be kept" in caplog.text
    sent = send_pending(tmp_path / "outputs")
    assert (sent.logged, sent.waiting, sent.unended, sent.troubles) == (0, 1, 1, ())
