from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glyphrank.errors import ConfigError
from glyphrank.report.results import COMPARED
from glyphrank.tracking import TrackedRun, Tracker
from glyphrank.tracking.existing import local_store, shown_store
from glyphrank.tracking.local import Local
from glyphrank.tracking.reading import Fetched, fetch
from glyphrank.tracking.server import Server
from guarded import Guard
from tracked_runs import client_of, report_with, runtime_in, start_in


def log(tracker: Tracker, folder: Path, name: str, **how: Any) -> TrackedRun:
    """A finished run whose three files hold its name; `how` has fields of Start, or `files`, those that it has."""
    files = how.pop("files", COMPARED)
    assert isinstance(files, tuple)
    place = folder / "made" / name
    place.mkdir(parents=True, exist_ok=True)
    for file in (*files, "run.trec"):
        (place / file).write_text(f"{file} of {name}", encoding="utf-8")
    start = replace(start_in(folder), name=name, **how)
    with tracker.start(start, runtime_in(folder)) as run:
        if not start.sweep:
            run.log(report_with(), place, reused=name == "again")
    return run


def fail(tracker: Tracker, folder: Path) -> None:
    with tracker.start(replace(start_in(folder), name="failed"), runtime_in(folder)):
        raise OSError("on purpose")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reading") / "out puts 한글#1"


@pytest.fixture(scope="module")
def logged(outputs: Path) -> Mapping[str, TrackedRun]:
    """Runs of a local store: `one` and `again` alone, a sweep of two, one of an older version, one that failed."""
    tracker = Local("glyphrank")
    runs = {name: log(tracker, outputs, name) for name in ("one", "again")}
    runs["sweep"] = log(tracker, outputs, "sweep", sweep=True)
    for name in ("cell 0", "cell 1"):
        runs[name] = log(tracker, outputs, name, parent=runs["sweep"].reference)
    runs["older"] = log(tracker, outputs, "older", files=("report.json",))
    with pytest.raises(OSError, match="on purpose"):
        fail(tracker, outputs)
    runs["elsewhere"] = log(Local("elsewhere"), outputs, "elsewhere")
    return runs


def names(found: list[Fetched]) -> list[str]:
    return [run.name for run in found]


def test_experiment_gives_all_of_its_runs_oldest_first_with_why_some_have_no_files(
    logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path
) -> None:
    found = fetch(local_store(outputs), tmp_path, experiment="glyphrank")
    assert names(found) == ["one", "again", "sweep", "cell 0", "cell 1", "older", "failed"]
    assert {run.name: run.lacks for run in found if run.lacks} == {
        "sweep": "it is the parent run of a sweep and has no numbers of its own",
        "older": "it has no queries.csv, ranks.csv; an older version of glyphrank, or another program, logged it",
        "failed": "it is FAILED",
    }
    assert all((run.folder is None) == bool(run.lacks) for run in found)


def test_run_comes_with_its_tags_and_with_three_of_its_files(
    logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path
) -> None:
    (run,) = fetch(local_store(outputs), tmp_path, runs=[str(logged["again"].run_id)])
    assert run.run_id == logged["again"].run_id
    assert (run.tags["complete"], run.tags["reused"], run.tags["identity"]) == ("true", "true", "1d" * 16)
    assert run.folder is not None
    assert {path.name: path.read_text() for path in run.folder.iterdir()} == {
        name: f"{name} of again" for name in COMPARED
    }
    assert run.folder.is_relative_to(tmp_path)


def test_further_files_come_where_a_run_has_them(
    logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path
) -> None:
    asked = [str(logged["one"].run_id)]
    (run,) = fetch(local_store(outputs), tmp_path, runs=asked, further=("run.trec", "nowhere.json"))
    assert run.folder is not None
    assert {path.name for path in run.folder.iterdir()} == {*COMPARED, "run.trec"}


def test_beginning_of_an_id_is_enough_in_any_experiment(
    logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path
) -> None:
    asked = [str(logged["elsewhere"].run_id)[:12], str(logged["one"].run_id)[:12], str(logged["one"].run_id)]
    assert names(fetch(local_store(outputs), tmp_path, runs=asked)) == ["one", "elsewhere"]


def test_parent_run_stands_for_its_cells(logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path) -> None:
    found = fetch(local_store(outputs), tmp_path, runs=[str(logged["sweep"].run_id)])
    assert names(found) == ["cell 0", "cell 1"]


def test_parent_run_without_cells_is_told_as_what_it_is(outputs: Path, tmp_path: Path) -> None:
    alone = log(Local("alone"), outputs, "alone", sweep=True)
    (found,) = fetch(local_store(outputs), tmp_path, runs=[str(alone.run_id)])
    assert (found.run_id, found.folder) == (alone.run_id, None)


def test_beginning_that_fits_several_runs_is_refused_with_all_of_them(outputs: Path, tmp_path: Path) -> None:
    tracker = Local("alike")
    first, second = (log(tracker, outputs, name) for name in ("first", "second"))
    with sqlite3.connect(outputs / "mlflow.db") as store:
        store.execute("pragma foreign_keys = off")
        for run, new in ((first, "abcdef" + "0" * 26), (second, "abcdef" + "1" * 26)):
            store.execute("update runs set run_uuid = ? where run_uuid = ?", (new, run.run_id))
    with pytest.raises(ConfigError, match=r"'abcdef' begins the ids of 2 runs in .*abcdef1+ \(second\)"):
        fetch(local_store(outputs), tmp_path, runs=["abcdef"])


@pytest.mark.parametrize("text", ["abc", "", "latest", "%%%%%%", "abcdef' or 1", "ABCDEF"])
def test_what_is_no_beginning_of_an_id_is_refused(
    text: str, logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="wanted a run's id or at least its first 6 characters"):
        fetch(local_store(outputs), tmp_path, runs=[text])


def test_run_that_is_not_there_is_refused_with_the_latest_ones(
    logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"has no run 'ffffffffff'; the latest runs that it has: \w{32} \("):
        fetch(local_store(outputs), tmp_path, runs=["ffffffffff"])


def test_experiment_that_is_not_there_is_refused_with_those_that_are_and_not_made(
    logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"has no experiment 'nosuch'.*: .*elsewhere, glyphrank"):
        fetch(local_store(outputs), tmp_path, experiment="nosuch")
    assert client_of(outputs).get_experiment_by_name("nosuch") is None


def test_store_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no MLflow store .*mlflow\.db"):
        fetch(local_store(tmp_path / "nowhere"), tmp_path, experiment="glyphrank")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "create table other (x)"])
def test_database_that_is_no_store_is_refused_and_left_as_it_is(content: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("vacuum")
        database.execute(content)
    database.close()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(ConfigError, match="none of its tables"):
        fetch(f"sqlite:///{tmp_path / 'other.db'}", tmp_path, experiment="glyphrank")
    assert (tmp_path / "other.db").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["other.db"]


def test_store_of_another_version_is_not_brought_up_to_date(
    logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path
) -> None:
    shutil.copyfile(outputs / "mlflow.db", tmp_path / "mlflow.db")
    with sqlite3.connect(tmp_path / "mlflow.db") as store:
        store.execute("drop table inputs")
    store.close()
    before = (tmp_path / "mlflow.db").read_bytes()
    with pytest.raises(ConfigError, match="another version of MLflow: it lacks inputs"):
        fetch(str(tmp_path / "mlflow.db"), tmp_path, experiment="glyphrank")
    assert (tmp_path / "mlflow.db").read_bytes() == before


def test_store_that_another_program_holds_is_told_as_that(
    outputs: Path, logged: Mapping[str, TrackedRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copyfile(outputs / "mlflow.db", tmp_path / "mlflow.db")
    monkeypatch.setattr("glyphrank.tracking.existing.sqlite3.connect", without_patience(sqlite3.connect))
    with closing(sqlite3.connect(tmp_path / "mlflow.db", isolation_level=None)) as holder:
        holder.execute("begin exclusive")
        with pytest.raises(ConfigError, match=r"database is locked\nAnother program holds it; try again") as caught:
            fetch(str(tmp_path / "mlflow.db"), tmp_path, experiment="glyphrank")
    assert "--store" not in str(caught.value)


def without_patience(connect: Callable[..., sqlite3.Connection]) -> Callable[..., sqlite3.Connection]:
    """Connections that wait for no lock."""
    return lambda *arguments, **how: connect(*arguments, **{**how, "timeout": 0})


@pytest.mark.parametrize(
    ("store", "shown"),
    [
        ("http://kim:hush-hush@host:5000", "http://host:5000"),
        ("sqlite:////data/mlflow.db", "/data/mlflow.db"),
        ("databricks", "databricks"),
    ],
)
def test_store_is_called_by_its_place_without_credentials(store: str, shown: str) -> None:  # case L15
    assert shown_store(store) == shown


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("no database " * 100)
    with pytest.raises(ConfigError, match="cannot be used"):
        fetch(local_store(tmp_path), tmp_path, experiment="glyphrank")


def test_fetching_changes_nothing_in_the_store(logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path) -> None:
    def state() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in outputs.rglob("*") if path.is_file()}

    before = state()
    fetch(local_store(outputs), tmp_path, experiment="glyphrank")
    assert state() == before


def test_run_whose_files_were_moved_away_says_where_they_were(outputs: Path, tmp_path: Path) -> None:
    run = log(Local("moved"), outputs, "moved")
    shutil.rmtree(outputs / "mlartifacts" / str(run.run_id))
    (found,) = fetch(local_store(outputs), tmp_path, experiment="moved")
    assert found.folder is None
    assert found.lacks.startswith("it has no files in file:")


def test_path_of_a_database_is_a_store(logged: Mapping[str, TrackedRun], outputs: Path, tmp_path: Path) -> None:
    assert names(fetch(str(outputs / "mlflow.db"), tmp_path, experiment="elsewhere")) == ["elsewhere"]


@pytest.mark.parametrize("store", ["./mlruns", "sqlite://", "nonsense:x"])
def test_store_of_another_form_is_refused(store: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the store is"):
        fetch(store, tmp_path, experiment="glyphrank")


@pytest.mark.parametrize("kind", ["http", "postgresql"])
def test_store_that_does_not_listen_is_refused_within_seconds_without_credentials(kind: str, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"{kind}://kim:hush-hush@127.0.0.1:{free.getsockname()[1]}"
    began = time.monotonic()
    with pytest.raises(ConfigError, match=r"cannot be used|cannot be read") as caught:
        fetch(uri, tmp_path, experiment="glyphrank")
    assert time.monotonic() - began < 60
    assert "hush" not in str(caught.value)


def test_files_come_from_a_server_and_no_credentials_are_shown(
    guard: Guard,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:  # case L15
    tracker = Server("team", guard.uri)
    parent = log(tracker, tmp_path, "sweep", sweep=True)
    cells = [log(tracker, tmp_path, name, parent=parent.reference) for name in ("cell 0", "cell 1")]
    into = tmp_path / "into"
    into.mkdir()
    with caplog.at_level("DEBUG"):
        found = fetch(guard.uri, into, experiment="team")
        below = fetch(guard.uri, into, runs=[str(parent.run_id)[:8]])
    assert names(found) == ["sweep", "cell 0", "cell 1"]
    assert [run.run_id for run in below] == [cell.run_id for cell in cells]
    assert all(run.folder and (run.folder / "ranks.csv").read_text().startswith("ranks.csv of") for run in below)
    assert guard.refused == 0
    assert "hush" not in "".join([repr(found), caplog.text, *capfd.readouterr()])


def test_server_with_other_credentials_refuses_without_naming_them(guard: Guard, tmp_path: Path) -> None:  # case L15
    with pytest.raises(ConfigError, match="401") as caught:
        fetch(guard.uri.replace("hush-hush", "hush-wrong"), tmp_path, experiment="team")
    assert "hush" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_server_that_stops_answering_ends_the_reading(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "1", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"}
    for name, value in limits.items():
        monkeypatch.setenv(name, value)
    guard.silent.set()
    began = time.monotonic()
    with pytest.raises(ConfigError, match=r"cannot be (used|read)") as caught:
        fetch(guard.uri, tmp_path, experiment="team")
    assert time.monotonic() - began < 20
    assert "hush" not in str(caught.value)
    assert {name: os.environ.get(name) for name in limits} == limits
