from __future__ import annotations

from dataclasses import replace
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


@pytest.mark.parametrize("scheme", ["file://", ""])
def test_start_warns_of_an_experiment_whose_files_would_stay_on_this_machine(
    scheme: str, served: tuple[int, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # case L12
    (port, folder), name, files = served, f"here {scheme}", tmp_path / "files"
    client_of(folder).create_experiment(name, artifact_location=f"{scheme}{files}")
    with Server(name, f"http://127.0.0.1:{port}").start(start_in(tmp_path), runtime_in(tmp_path)) as run:
        (line,) = caplog.messages  # before anything is worked on
        assert f"http://127.0.0.1:{port} keeps artifacts in " in line
        assert str(files) in line
        assert "start the server with --serve-artifacts and a new experiment" in line
        run.log(report_with(), run_folder(tmp_path), reused=False)
    assert (files / str(run.run_id) / "artifacts" / "report.json").is_file()  # by the client, past the server
    assert not (folder / "artifacts").exists() or not list((folder / "artifacts").rglob(str(run.run_id)))
    (stored,) = runs_of(folder, name)
    assert (stored.info.status, stored.data.tags["complete"]) == ("FINISHED", "true")


def test_start_on_a_server_that_takes_files_itself_warns_of_nothing(
    served: tuple[int, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # case L12
    with Server("proxied", f"http://127.0.0.1:{served[0]}").start(start_in(tmp_path), runtime_in(tmp_path)):
        pass
    assert caplog.text == ""
    assert not (tmp_path / "mlartifacts").exists()


def test_a_single_run_tells_at_its_start_that_files_cannot_go_where_the_server_says(
    served: tuple[int, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # case L12
    client_of(served[1]).create_experiment("gone", artifact_location="file:///proc/of-another-machine")
    tracker = Server("gone", f"http://127.0.0.1:{served[0]}")
    with tracker.start(start_in(tmp_path), runtime_in(tmp_path / "outputs")):
        assert "was not logged in full" in caplog.messages[1]


def test_the_configuration_of_a_single_run_is_on_the_server_while_it_runs(
    served: tuple[int, Path], tmp_path: Path
) -> None:
    config = {"lexical": {"k1": 1.5}, "hub": {"token": "hush-hush"}}
    tracker = Server("early", f"http://127.0.0.1:{served[0]}")
    with tracker.start(start_in(tmp_path, config), runtime_in(tmp_path)) as run:
        (early,) = served[1].rglob(f"{run.run_id}/artifacts/config.yaml")
        assert early.read_text() == "lexical:\n  k1: 1.5\nhub:\n  token: <redacted>\n"


def test_sweep_tells_before_its_cells_that_files_cannot_go_where_the_server_says(
    served: tuple[int, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # case L12
    client_of(served[1]).create_experiment("away", artifact_location="file:///proc/of-another-machine")
    (tmp_path / "plan.md").write_text("| 1 |")
    tracker = Server("away", f"http://127.0.0.1:{served[0]}")
    with tracker.start(replace(start_in(tmp_path), sweep=True), runtime_in(tmp_path / "outputs")) as parent:
        parent.summarise({}, {}, [tmp_path / "plan.md"])  # as a sweep does when it begins
        assert "keeps artifacts in file:///proc/of-another-machine" in caplog.messages[0]
        assert "was not logged in full" in caplog.messages[1]
        with tracker.start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
            run.log(report_with(), run_folder(tmp_path), reused=False)
    cell = {each.info.run_id: each for each in runs_of(served[1], "away")}[str(run.run_id)]
    assert (cell.info.status, cell.data.metrics["ndcg_at_10"], cell.data.tags["complete"]) == (
        "FINISHED",
        0.75,
        "false",
    )
    assert len(list((tmp_path / "outputs" / "pending").glob("*.json"))) == 2
    assert len(list((tmp_path / "outputs" / "pending").rglob("report.json"))) == 1


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
