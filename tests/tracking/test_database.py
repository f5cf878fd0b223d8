from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.tracking.local import Local
from glyphrank.tracking.pending import send_pending
from tracked_runs import client_of, files_of, runs_of, runtime_in, start_in

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of outputs that the tests of this file share."""
    return tmp_path_factory.mktemp("database")


def test_start_takes_no_lock_once_database_and_experiment_are_there(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Local("lock").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    monkeypatch.setattr("filelock.FileLock.acquire", lambda *_, **__: pytest.fail("the lock was taken"))
    with Local("lock").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    assert len(runs_of(outputs, "lock")) == 2


def test_start_goes_on_without_a_lock_where_there_are_none(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with Local("no locks").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    assert "going on without a lock" in caplog.text
    assert len(runs_of(outputs, "no locks")) == 1


def test_sixteen_processes_that_begin_on_a_new_path_lose_nothing(tmp_path: Path) -> None:  # case L03
    outputs = tmp_path / "outputs"
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "tests" / "support" / "cold_start.py"), str(outputs), "16"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "support"), str(ROOT / "src")])},
        capture_output=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert send_pending(outputs).waiting == 0  # a store that was too busy costs time, and no run
    runs, client = runs_of(outputs, "many"), client_of(outputs)
    assert {run.data.params["lexical.k1"]: run.data.metrics["recall_at_1"] for run in runs} == {
        str(number): number / 100 for number in range(16)
    }
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert {run.data.tags["complete"] for run in runs} == {"true"}
    assert len(runs) == 16
    for run in runs:
        assert files_of(client, run.info.run_id) == {"report.json", ".hydra/overrides.yaml"}
    with closing(sqlite3.connect(outputs / "mlflow.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchall() == [(1,)]


def test_database_whose_making_was_cut_short_is_made_anew(tmp_path: Path) -> None:  # case L03
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    (outputs / "mlflow.db").touch()
    for ending in ("new", "new-journal"):
        (outputs / f".mlflow.db.1234.{ending}").write_bytes(b"half")
    with Local("anew").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    assert [run.info.status for run in runs_of(outputs, "anew")] == ["FINISHED"]
    assert {path.name for path in outputs.iterdir()} == {"mlflow.db", "mlflow.db.lock"}
    (outputs / ".mlflow.db.1234.new-journal").write_bytes(b"half")
    with Local("another").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    assert {path.name for path in outputs.iterdir()} == {"mlflow.db", "mlflow.db.lock"}


def test_left_overs_that_may_be_in_the_making_stay_where_there_are_no_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    for name in ("1", "2"):
        (tmp_path / f".mlflow.db.{name}.new").write_bytes(b"half")
    os.utime(tmp_path / ".mlflow.db.2.new", (0, 0))
    with Local("anew").start(start_in(tmp_path), runtime_in(tmp_path)):
        pass
    assert {path.name for path in tmp_path.glob(".*")} == {".mlflow.db.1.new"}


def test_start_on_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with (
        pytest.raises(ConfigError, match=r"mlflow\.db is not an SQLite database .* move it away"),
        Local("glyphrank").start(start_in(tmp_path), runtime_in(tmp_path)),
    ):
        pass


def test_start_in_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(ConfigError, match=r"the folder cannot be made .* set paths\.outputs"),
        Local("glyphrank").start(start_in(tmp_path), runtime_in(tmp_path / "file" / "outputs")),
    ):
        pass


def test_start_in_a_folder_that_no_database_uri_can_name_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="cannot be named by a path"),
        Local("glyphrank").start(start_in(tmp_path), runtime_in(tmp_path / "100%")),
    ):
        pass


def test_start_in_a_deleted_experiment_is_refused(outputs: Path, tmp_path: Path) -> None:
    with Local("there").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    client = client_of(outputs)
    client.delete_experiment(client.create_experiment("deleted"))
    with (
        pytest.raises(
            ConfigError,
            match=r"'deleted' .* was deleted; .*MLFLOW_TRACKING_URI=sqlite:///.* mlflow experiments restore -x \d+$",
        ),
        Local("deleted").start(start_in(tmp_path), runtime_in(outputs)),
    ):
        pass


def test_start_beside_a_database_that_was_moved_warns_of_the_place_of_files(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # case L12
    with Local("moved").start(start_in(tmp_path), runtime_in(tmp_path / "before")):
        pass
    assert caplog.text == ""
    (tmp_path / "before").rename(tmp_path / "after")
    with Local("moved").start(start_in(tmp_path), runtime_in(tmp_path / "after")):
        pass
    assert f"{(tmp_path / 'before').as_uri()}/mlartifacts, not in" in caplog.text
