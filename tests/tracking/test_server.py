from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.tracking.server import Server
from guarded import Guard
from tracked_runs import client_of, report_with, run_folder, runs_of, runtime_in, start_in

LIMITS = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "1", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}


def test_run_on_a_server_is_finished_and_its_files_arrive(served: tuple[int, Path], tmp_path: Path) -> None:
    port, folder = served
    tracker = Server("team", f"http://127.0.0.1:{port}")
    with tracker.start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
        run.log(report_with(), run_folder(tmp_path), reused=False)
    (stored,) = runs_of(folder, "team")
    assert (stored.info.run_id, stored.info.status) == (run.run_id, "FINISHED")
    assert stored.data.metrics["ndcg_at_10"] == 0.75
    assert stored.data.params["lexical.k1"] == "1.2"
    assert stored.data.tags["complete"] == "true"
    assert {path.name for path in (folder / "artifacts").rglob("*") if path.is_file()} >= {
        "report.json",
        "overrides.yaml",
    }
    assert f"http://127.0.0.1:{port}/#/experiments/" in str(run.dashboard)


def test_start_warns_of_an_experiment_whose_files_would_stay_on_this_machine(
    served: tuple[int, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client_of(served[1]).create_experiment("here", artifact_location=(tmp_path / "files").as_uri())
    with Server("here", f"http://127.0.0.1:{served[0]}").start(start_in(tmp_path), runtime_in(tmp_path)):
        pass
    assert "keeps artifacts in" in caplog.text
    assert str(tmp_path / "files") in caplog.text


def test_credentials_in_the_uri_open_the_server_and_appear_nowhere(
    guard: Guard,
    served: tuple[int, Path],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:  # case L15
    config = {"tracking": {"uri": guard.uri, "experiment": "secret"}, "hub": {"token": "hush-hush"}}
    start = start_in(tmp_path, config, overrides=(f"tracking.uri={guard.uri}", "hub.token=hush-hush"))
    tracker = Server("guarded", guard.uri)
    folder = run_folder(tmp_path)

    def run_and_fail() -> None:
        with tracker.start(start, runtime_in(tmp_path / "outputs")) as run:
            run.log(report_with(), folder, reused=False)
            raise RuntimeError(f"no answer from {guard.uri}; {run.dashboard}")

    with caplog.at_level("DEBUG"), pytest.raises(RuntimeError, match="webbrowser"):
        run_and_fail()
    (stored,) = runs_of(served[1], "guarded")
    assert stored.info.status == "FAILED"
    assert stored.data.tags["complete"] == "true"
    without = guard.uri.replace("kim:hush-hush@", "")
    assert stored.data.tags["error"].startswith(f"RuntimeError: no answer from {without}; python3 -m webbrowser")
    assert "hush" not in stored.data.tags["error"]
    assert {"report.json", ".hydra/overrides.yaml"} <= {
        path.relative_to(served[1] / "artifacts").as_posix().split("/artifacts/")[-1]
        for path in (served[1] / "artifacts").rglob("*")
    }
    assert guard.refused == 0
    kept = b"".join(path.read_bytes() for path in served[1].rglob("*") if path.is_file())
    assert b"hush" not in kept
    assert "hush" not in caplog.text
    assert "hush" not in "".join([*capfd.readouterr(), repr(tracker)])


def test_start_with_wrong_credentials_is_refused_without_naming_them(guard: Guard, tmp_path: Path) -> None:  # case L15
    with (
        pytest.raises(ConfigError) as caught,
        Server("x", guard.uri.replace("hush-hush", "hush-wrong")).start(start_in(tmp_path), runtime_in(tmp_path)),
    ):
        pass
    assert "401" in str(caught.value)
    assert "127.0.0.1" in str(caught.value)
    assert "hush" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_server_that_stops_answering_costs_neither_results_nor_minutes(
    guard: Guard,
    served: tuple[int, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
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
    assert "was not logged in full" in caplog.text
    assert "could not be ended as FINISHED" in caplog.text
    assert "hush" not in caplog.text
    assert [stored.info.status for stored in runs_of(served[1], "silent")] == ["RUNNING"]
    assert {name: os.environ.get(name) for name in LIMITS} == LIMITS


def test_server_that_dribbles_after_the_start_costs_neither_results_nor_minutes(
    guard: Guard,
    served: tuple[int, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
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
    assert "was not logged in full" in caplog.text
    assert "could not be ended as FINISHED" in caplog.text


def test_later_cell_of_a_launch_goes_on_untracked_where_the_server_has_gone(
    guard: Guard, served: tuple[int, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tracker = Server("later", guard.uri)
    with tracker.start(start_in(tmp_path), runtime_in(tmp_path / "outputs")):
        pass
    guard.silent.set()
    began = time.monotonic()
    with tracker.start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
        assert (run.run_id, run.dashboard, run.reference) == (None, None, {})
        run.log(report_with(), tmp_path, reused=False)
    assert time.monotonic() - began < 10
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert line.startswith("낱말 1 is not tracked; its results lie on disk: the MLflow store http://127.0.0.1")
    assert "\n" not in line
    assert "hush" not in caplog.text
    assert [stored.info.status for stored in runs_of(served[1], "later")] == ["FINISHED"]
