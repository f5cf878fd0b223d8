"""Stores that cannot be used now: the run goes on, and is kept (cases L14, L15)."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from command import glyphrank, ran
from glyphrank.tracking import Tracker
from glyphrank.tracking.client import load_client
from glyphrank.tracking.origin import KIND, PARENT
from glyphrank.tracking.pending import send_pending
from glyphrank.tracking.server import Server
from guarded import Guard, answering
from tracked_runs import files_of, report_with, run_folder, runs_of, runtime_in, start_in

LIMITS = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "1", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
EXPERIMENT = b'{"experiment": {"experiment_id": "1", "lifecycle_stage": "active", "artifact_location": "s3://x"}}'


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run asks its store, also just after another failed; and no time is MLflow's own to be imported."""
    load_client("http://")
    monkeypatch.setattr("glyphrank.tracking.outage.PAUSE_SECONDS", 0)
    monkeypatch.setattr("glyphrank.tracking.outage._failures", {})


@contextmanager
def closed(scheme: str = "http") -> Iterator[str]:
    """A URI on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield f"{scheme}://kim:hush-hush@127.0.0.1:{free.getsockname()[1]}/runs"


@contextmanager
def mute() -> Iterator[str]:
    """A URI whose server takes requests and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://kim:hush-hush@127.0.0.1:{listening.getsockname()[1]}"


def goes_on(tracker: Tracker, folder: Path) -> float:
    """Seconds until a run is open, which is then logged and ends well, though its store cannot be used."""
    began = time.monotonic()
    with tracker.start(start_in(folder), runtime_in(folder / "outputs")) as run:
        opened = time.monotonic() - began
        assert (run.run_id, run.dashboard) == (None, None)
        run.log(report_with(), run_folder(folder), reused=False)
    return opened


def records(folder: Path) -> list[dict[str, object]]:
    return [json.loads(path.read_text()) for path in (folder / "outputs" / "pending").glob("*.json")]


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize(
    ("store", "cause", "seconds"),
    [
        (closed(), "refused", 3),
        (closed("postgresql"), "refused", 3),
        (mute(), "timed out", 10),
        (answering(b"{}"), "answers, but not as MLflow does: it names no experiment", 5),
        (answering(b'{"experiment": {"lifecycle_stage": "active"}}'), "it names no experiment", 5),
        (answering(EXPERIMENT), "it names no run", 5),
        (answering(b"<html>", status=500), "500", 5),
        (answering(b"{" + b" " * 1000 + b"}", pause=0.2), "timed out: no complete answer within 4 s", 10),
    ],
    ids=["closed", "database", "mute", "empty", "no id", "no run", "500", "dribbling"],
)
def test_run_whose_store_cannot_be_used_goes_on_at_once_and_is_kept(
    store: AbstractContextManager[str],
    cause: str,
    seconds: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # case L14
    if cause.startswith("timed out:"):
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    with store as uri:
        assert goes_on(Server("x", uri), tmp_path) < seconds
    (line,) = errors(caplog)
    assert line.startswith("낱말 1 is not in MLflow yet: ")
    assert cause in line
    line, _, advice = line.partition("\n")
    assert len(line) < 250
    assert line.endswith("the run goes on, and 'glyphrank sync' logs it later")
    assert "tracking=local" in advice or "it names no" in cause
    (record,) = records(tmp_path)
    assert (record["status"], record["experiment"]) == ("FINISHED", "x")
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"hush" not in kept + caplog.text.encode()  # case L15


def test_store_that_has_just_failed_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("glyphrank.tracking.outage.PAUSE_SECONDS", 30)
    with mute() as uri:
        goes_on(Server("x", uri), tmp_path / "1")
        assert goes_on(Server("x", uri), tmp_path / "2") < 2
    assert len(errors(caplog)) == 1
    assert "which failed just now" in caplog.text


def test_store_that_goes_mute_costs_its_seconds_once(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in LIMITS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("glyphrank.tracking.outage.PAUSE_SECONDS", 30)
    tracker, outputs = Server("muted", guard.uri), runtime_in(tmp_path / "outputs")
    with tracker.start(start_in(tmp_path), outputs) as parent, tracker.start(start_in(tmp_path), outputs) as run:
        guard.silent.set()
        run.log(report_with(), run_folder(tmp_path), reused=False)
        began = time.monotonic()
        parent.summarise({"cells": 1.0}, {}, [])
        goes_on(tracker, tmp_path / "next")
    sent = send_pending(tmp_path / "outputs")
    assert time.monotonic() - began < 2
    assert (sent.waiting, len(sent.troubles), len(records(tmp_path))) == (2, 1, 2)
    assert len(errors(caplog)) == 2
    monkeypatch.setattr("glyphrank.tracking.outage.PAUSE_SECONDS", 0)
    guard.silent.clear()
    assert send_pending(tmp_path / "outputs").logged == 2


def test_run_with_wrong_credentials_goes_on_and_they_are_named_nowhere(
    guard: Guard, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # case L15
    goes_on(Server("x", guard.uri.replace("hush-hush", "hush-wrong")), tmp_path)
    (line,) = errors(caplog)
    assert "401" in line
    assert "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD (neither is)" in line
    assert "Start the server" not in line
    (trouble,) = send_pending(tmp_path / "outputs").troubles
    assert "MLFLOW_TRACKING_PASSWORD (neither is)" in trouble
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"hush" not in kept + caplog.text.encode()


def test_run_that_was_kept_is_logged_once_when_its_server_is_back(
    guard: Guard, served: tuple[int, Path], tmp_path: Path
) -> None:  # case L14
    tracker = Server("back", guard.uri)
    guard.silent.set()
    goes_on(tracker, tmp_path)
    (record,) = records(tmp_path)
    assert send_pending(tmp_path / "outputs").waiting == 1
    guard.silent.clear()
    sent = send_pending(tmp_path / "outputs")
    assert (sent.logged, sent.waiting, sent.troubles) == (1, 0, ())
    assert send_pending(tmp_path / "outputs").logged == 0
    with tracker.start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
        run.log(report_with(), tmp_path / "run", reused=False)
    online, kept = runs_of(served[1], "back")
    assert (kept.info.start_time, kept.info.end_time) == (record["began"], record["ended"])
    assert (kept.info.status, kept.data.params, kept.data.metrics) == (
        "FINISHED",
        online.data.params,
        online.data.metrics,
    )
    assert kept.data.tags.keys() == online.data.tags.keys()
    assert {name for name, text in kept.data.tags.items() if text != online.data.tags[name]} == {"glyphrank.event"}
    assert [each.dataset.digest for each in kept.inputs.dataset_inputs] == ["f1" * 16]
    client = tracker_client(guard)
    early = {"config.yaml"}  # what a run on a server sends when it begins
    assert files_of(client, kept.info.run_id) | early == files_of(client, online.info.run_id)


def test_server_that_stops_answering_costs_neither_results_nor_minutes(
    guard: Guard,
    served: tuple[int, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # case L14
    for name, value in LIMITS.items():
        monkeypatch.setenv(name, value)
    folder = run_folder(tmp_path)
    with Server("silent", guard.uri).start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
        guard.silent.set()
        began = time.monotonic()
        run.log(report_with(), folder, reused=False)
        logged = time.monotonic()
    assert logged - began < 10
    assert time.monotonic() - logged < 10
    (line,) = errors(caplog)
    assert "was not logged in full" in line
    assert "hush" not in caplog.text
    assert [stored.info.status for stored in runs_of(served[1], "silent")] == ["RUNNING"]
    assert {name: os.environ.get(name) for name in LIMITS} == LIMITS
    guard.silent.clear()
    assert send_pending(tmp_path / "outputs").logged == 1
    (stored,) = runs_of(served[1], "silent")
    assert (stored.info.run_id, stored.info.status) == (run.run_id, "FINISHED")
    assert stored.data.tags["complete"] == "true"
    assert stored.data.metrics["ndcg_at_10"] == 0.75


def test_server_that_dribbles_after_the_start_costs_neither_results_nor_minutes(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, value in LIMITS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("glyphrank.tracking.run._END_SECONDS", 2)
    folder = run_folder(tmp_path)
    with Server("dribbling", guard.uri).start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
        guard.pause = 0.9
        began = time.monotonic()
        run.log(report_with(), folder, reused=False)
        logged = time.monotonic()
    assert logged - began < 15
    assert time.monotonic() - logged < 10
    (record,) = records(tmp_path)
    assert (record["run_id"], record["status"]) == (run.run_id, "FINISHED")


def test_server_that_dies_before_a_run_ends_has_its_status_later(
    guard: Guard, served: tuple[int, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in LIMITS.items():
        monkeypatch.setenv(name, value)
    ids = []

    def fail() -> None:
        with Server("end", guard.uri).start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
            ids.append(run.run_id)
            guard.silent.set()
            raise OSError("page 3")

    with pytest.raises(OSError, match="page 3"):
        fail()
    guard.silent.clear()
    assert send_pending(tmp_path / "outputs").logged == 1
    (stored,) = runs_of(served[1], "end")
    assert ([stored.info.run_id], stored.info.status) == (ids, "FAILED")
    assert stored.data.tags["error"] == "OSError: page 3"


def test_sweep_on_a_mute_server_ends_well_and_sync_logs_it_under_its_parent(
    guard: Guard, served: tuple[int, Path], tmp_path: Path
) -> None:  # case L14
    guard.silent.set()
    lexical = "encoder@lexical=bm25_words,bm25_ngrams"
    options = ("dataset.pages=4", "lexical.k1=1.3", "tracking.experiment=swept", "tracking=server")
    env = {"MLFLOW_TRACKING_URI": guard.uri, **LIMITS}
    done = ran("run", "-m", lexical, *options, cwd=tmp_path, env=env)
    assert done.stderr.count("is not in MLflow yet: the MLflow store http://127.0.0.1") == 1
    assert len(records(tmp_path)) == 3
    assert glyphrank("sync", cwd=tmp_path, env=env).returncode == 1
    guard.silent.clear()
    said = ran("sync", cwd=tmp_path, env=env)
    assert said.stdout.endswith("3 logged, 0 waiting, 0 closed\n")
    runs = {run.info.run_name.partition(" ")[0]: run for run in runs_of(served[1], "swept")}
    cells = [run for run in runs_of(served[1], "swept") if KIND not in run.data.tags]
    parent = runs["sweep"]
    assert [run.data.tags[PARENT] for run in cells] == [parent.info.run_id] * 2
    assert {run.data.params["lexical"] for run in cells} == {"bm25_words", "bm25_ngrams"}
    assert {run.data.params["lexical.k1"] for run in cells} == {"1.3"}
    assert "lexical.b" not in cells[0].data.params
    assert {run.info.status for run in [parent, *cells]} == {"FINISHED"}
    assert {run.data.tags["complete"] for run in [parent, *cells]} == {"true"}
    assert "comparison.md" in files_of(tracker_client(guard), parent.info.run_id)
    kept = b"".join(path.read_bytes() for place in (tmp_path, served[1]) for path in place.rglob("*") if path.is_file())
    assert b"hush" not in kept + f"{done} {said}".replace(guard.uri, "").encode()  # case L15


def tracker_client(guard: Guard) -> object:
    from glyphrank.tracking.client import connect

    return connect(guard.uri)
