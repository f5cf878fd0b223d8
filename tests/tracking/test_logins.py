"""A PostgreSQL that is named without a server before it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.tracking.client import connect, load_client
from glyphrank.tracking.existing import open_existing
from glyphrank.tracking.pending import send_pending
from glyphrank.tracking.server import Server
from glyphrank.tracking.uris import remember_uri
from postgres import DATABASE_PASSWORD, Database, database
from tracked_runs import report_with, run_folder, runtime_in, start_in

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def store() -> Iterator[Database]:
    pytest.importorskip("psycopg2")
    load_client("postgresql://")
    with database() as running:
        yield running


def uri_of(store: Database, password: str = DATABASE_PASSWORD, name: str = "") -> str:
    return f"postgresql+psycopg2://{store.user}:{password}@127.0.0.1:{store.port}/{name or store.name}"


@pytest.mark.parametrize(
    ("password", "name", "wanted"),
    [
        ("wrong-word", "", 'password authentication failed for user "mlflow"'),
        (DATABASE_PASSWORD, "nosuch", 'database "nosuch" does not exist'),
    ],
)
def test_database_that_refuses_is_told_in_its_own_words_at_once(
    password: str, name: str, wanted: str, store: Database, tmp_path: Path
) -> None:
    uri, began = uri_of(store, password, name), time.monotonic()
    with pytest.raises(ConfigError, match=wanted) as caught:
        Server("x", uri).start(start_in(tmp_path), runtime_in(tmp_path / "outputs")).__enter__()
    assert time.monotonic() - began < 2
    assert "createdb" in str(caught.value)
    assert "Background on this error" not in str(caught.value)
    assert password not in str(caught.value)
    with pytest.raises(ConfigError, match=wanted):
        open_existing(uri)
    assert not (tmp_path / "outputs" / "pending").exists()


def test_database_has_the_numbers_and_the_outputs_have_the_files(
    store: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:  # case L12
    monkeypatch.chdir(tmp_path)
    with Server("bare", uri_of(store)).start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
        run.log(report_with(), run_folder(tmp_path), reused=False)
    assert [path.name for path in (tmp_path / "outputs" / "mlartifacts").rglob("report.json")] == ["report.json"]
    assert not (tmp_path / "mlruns").exists()
    assert "a folder of this machine alone" in caplog.text
    assert "deploy/README.md" in caplog.text
    shown = f"postgresql+psycopg2://127.0.0.1:{store.port}/{store.name}"
    assert shlex.split(str(run.dashboard))[-3:] == ["ui", "--backend-store-uri", shown]
    assert DATABASE_PASSWORD not in caplog.text


def test_processes_that_begin_at_once_on_a_new_database_lose_nothing(
    store: Database, tmp_path: Path
) -> None:  # case L03
    psycopg2 = pytest.importorskip("psycopg2")
    plain = {"host": "127.0.0.1", "port": store.port, "user": store.user, "password": DATABASE_PASSWORD}
    with closing(psycopg2.connect(dbname=store.name, **plain)) as connection:
        connection.autocommit = True
        connection.cursor().execute("CREATE DATABASE cold")
    uri, outputs = uri_of(store, name="cold"), tmp_path / "outputs"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "support" / "cold_start.py"), str(outputs), "4", uri],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "support"), str(ROOT / "src")])},
        capture_output=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    remember_uri(uri)
    assert send_pending(outputs).waiting == 0  # a run that met another's making of the tables is sent now
    client = connect(uri)
    runs = client.search_runs([client.get_experiment_by_name("many").experiment_id])
    assert {run.data.params["lexical.k1"]: run.data.metrics["recall_at_1"] for run in runs} == {
        str(number): number / 100 for number in range(4)
    }
    assert [run.info.status for run in runs] == ["FINISHED"] * 4
