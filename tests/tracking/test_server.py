from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank.tracking.server import Server
from guarded import Guard
from tracked_runs import client_of, report_with, run_folder, runs_of, runtime_in, start_in


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


def test_credentials_of_the_environment_open_the_server_and_appear_nowhere(
    guard: Guard,
    served: tuple[int, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # case L15
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "kim")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "hush-hush")
    tracker, folder = Server("environment", guard.uri.replace("kim:hush-hush@", "")), run_folder(tmp_path)

    def run_and_fail() -> None:
        with tracker.start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
            run.log(report_with(tags={"odd": "the bare hush-hush"}), folder, reused=False)
            raise RuntimeError("refused hush-hush")

    with caplog.at_level("DEBUG"), pytest.raises(RuntimeError, match="refused"):
        run_and_fail()
    (stored,) = runs_of(served[1], "environment")
    assert (stored.info.status, stored.data.tags["complete"]) == ("FAILED", "true")
    assert stored.data.tags["error"] == "RuntimeError: refused <redacted>"
    assert stored.data.tags["odd"] == "the bare <redacted>"
    guard.silent.set()
    with tracker.start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
        run.log(report_with(), folder, reused=False)
    assert (run.run_id, guard.refused) == (None, 0)
    kept = [path for place in (tmp_path, served[1]) for path in place.rglob("*") if path.is_file()]
    assert b"hush" not in b"".join(path.read_bytes() for path in kept) + caplog.text.encode()
