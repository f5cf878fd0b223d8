from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.tracking.server import Server
from guarded import answering
from tracked_runs import runtime_in, start_in


def test_start_on_a_closed_port_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"http://kim:hush@127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ConfigError) as caught, Server("x", uri).start(start_in(tmp_path), runtime_in(tmp_path)):
        pass
    assert f"the MLflow store {uri.replace('kim:hush@', '')} cannot be used" in str(caught.value)
    assert "Start the server" in str(caught.value)
    assert "tracking=none" in str(caught.value)
    assert "hush" not in str(caught.value)


def test_start_on_a_server_that_never_answers_is_refused_within_seconds(tmp_path: Path) -> None:
    began = time.monotonic()
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        tracker = Server("x", f"http://127.0.0.1:{mute.getsockname()[1]}")
        with pytest.raises(ConfigError, match="timed out"), tracker.start(start_in(tmp_path), runtime_in(tmp_path)):
            pass
    assert time.monotonic() - began < 10


def test_start_on_a_database_host_that_does_not_listen_is_refused_within_seconds(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        uri = f"postgresql://kim:hush@127.0.0.1:{free.getsockname()[1]}/runs"
    began = time.monotonic()
    with (
        pytest.raises(ConfigError, match="refused") as caught,
        Server("x", uri).start(start_in(tmp_path), runtime_in(tmp_path)),
    ):
        pass
    assert "hush" not in str(caught.value)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("opted_out", ["true", "false", None])
@pytest.mark.parametrize("uri", ["./mlruns", "mlruns", "file:///tmp/x", "file:x"])
def test_uri_of_a_folder_is_answered_with_how_to_move_on(
    uri: str, opted_out: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case L10
    monkeypatch.chdir(tmp_path)
    if opted_out:
        monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", opted_out)
    with pytest.raises(ConfigError, match=r"tracking=local \(SQLite\)") as caught:
        Server("x", uri).start(start_in(tmp_path), runtime_in(tmp_path)).__enter__()
    assert repr(uri) in str(caught.value)
    assert "mlflow migrate-filestore --source " in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("uri", [None, "", " "])
def test_uri_that_is_not_given_is_refused_with_the_variable_to_set(uri: str | None) -> None:
    with pytest.raises(ValueError, match="wanted a tracking URI: set MLFLOW_TRACKING_URI"):
        Server("x", uri)


@pytest.mark.parametrize(
    ("uri", "wanted"),
    [
        *((uri, "names no file; wanted sqlite:///runs.db") for uri in ("sqlite://", "sqlite:///", "sqlite:", "sqlite")),
        *((uri, "names no file") for uri in ("sqlite:///:memory:", "sqlite://x.db", "sqlite+pysqlite:///x.db")),
        *((uri, "names no file") for uri in ("sqlite:///file:x?mode=memory", "sqlite:////")),
        *((uri, r"wanted http\(s\)://host:port") for uri in ("kim:hush@host:5000", "http:/kim:hush@host", "http://")),
        ("//kim:hush@host/x", r"tracking=local \(SQLite\)"),
        ("postgresql://kim:hush/y@host/db", "must be written %40"),
        ("postgresql://kim:hush@x@host/db", "must be written %40"),
        ("http://kim:hush@x/y@host", "must be written %40"),
    ],
)
def test_uri_of_another_form_is_refused_without_its_credentials(uri: str, wanted: str, tmp_path: Path) -> None:
    tracker = Server("x", uri)
    with pytest.raises(ConfigError, match=wanted) as caught:
        tracker.start(start_in(tmp_path), runtime_in(tmp_path)).__enter__()
    assert "hush" not in f"{caught.value} {tracker!r}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("answer", [b"{}", b'{"experiment": {}}', b'{"experiment": {"lifecycle_stage": "active"}}'])
def test_start_on_a_server_that_is_no_mlflow_says_so(answer: bytes, tmp_path: Path) -> None:
    with (
        answering(answer) as uri,
        pytest.raises(ConfigError, match="answers, but not as MLflow does: it names no experiment"),
        Server("x", uri).start(start_in(tmp_path), runtime_in(tmp_path)),
    ):
        pass


def test_start_on_a_server_that_names_no_run_is_refused(tmp_path: Path) -> None:
    experiment = b'{"experiment": {"experiment_id": "1", "lifecycle_stage": "active"}}'
    with (
        answering(experiment) as uri,
        pytest.raises(ConfigError, match="it names no run"),
        Server("x", uri).start(start_in(tmp_path), runtime_in(tmp_path)),
    ):
        pass


def test_start_on_a_server_that_sends_a_byte_now_and_then_is_refused_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    began = time.monotonic()
    with (
        answering(b"{" + b" " * 1000 + b"}", pause=0.2) as uri,
        pytest.raises(ConfigError, match="timed out: no complete answer within 4 s"),
        Server("x", uri).start(start_in(tmp_path), runtime_in(tmp_path)),
    ):
        pass
    assert time.monotonic() - began < 10


def test_relative_sqlite_uri_lies_in_the_folder_of_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # case L10
    with Server("x", "sqlite:///team.db").start(start_in(tmp_path), runtime_in(tmp_path / "outputs")):
        pass
    assert (tmp_path / "team.db").is_file()
    assert list((tmp_path / "elsewhere").iterdir()) == []
