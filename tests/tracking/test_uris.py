from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.known_secrets import remember
from glyphrank.redaction import redact_text
from glyphrank.tracking.server import Server
from glyphrank.tracking.uris import full_uri, remember_environment, remember_uri, shown_uri
from tracked_runs import runtime_in, start_in


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
        ("http://kim:hush@host:5o00", "wanted http"),
        ("nosuch://kim:hush@host", "cannot be used: .*nosuch"),
    ],
)
def test_uri_of_another_form_is_refused_without_its_credentials(uri: str, wanted: str, tmp_path: Path) -> None:
    tracker = Server("x", uri)
    with pytest.raises(ConfigError, match=wanted) as caught:
        tracker.start(start_in(tmp_path), runtime_in(tmp_path)).__enter__()
    assert "hush" not in f"{caught.value} {tracker!r}"
    assert list(tmp_path.iterdir()) == []


def test_relative_sqlite_uri_lies_in_the_folder_of_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # case L10
    with Server("x", "sqlite:///team.db").start(start_in(tmp_path), runtime_in(tmp_path / "outputs")):
        pass
    assert (tmp_path / "team.db").is_file()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_uri_is_shown_alike_whatever_secrets_are_known() -> None:
    uri = "http://kim:sesame-street@sesame-street.example.org/x"
    before = shown_uri(uri)
    remember(["sesame-street"])
    assert shown_uri(uri) == before == "http://sesame-street.example.org/x"


@pytest.mark.parametrize("where", ["uri", "environment"])
def test_password_of_a_uri_is_hidden_as_it_is_written_and_as_it_is_meant(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # case L15
    uri = "postgresql://kim:hush%40hush@host/db"
    if where == "uri":
        remember_uri(uri)
    else:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
        monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "sesame-street")
        remember_environment()
        assert redact_text("the bare sesame-street") == "the bare <redacted>"
    assert redact_text("refused hush%40hush and hush@hush") == "refused <redacted> and <redacted>"


def test_full_uri_is_that_of_the_process_or_the_environment_for_the_same_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://kim:hush@one.example.org:5000")
    assert full_uri("http://one.example.org:5000") == "http://kim:hush@one.example.org:5000"
    assert full_uri("http://other.example.org:5000") == "http://other.example.org:5000"
    remember_uri("http://lee:hush@one.example.org:5000")
    assert full_uri("http://one.example.org:5000") == "http://lee:hush@one.example.org:5000"
