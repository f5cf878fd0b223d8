"""A store that many people share: an MLflow server, or a database."""

from __future__ import annotations

import logging
import re
import shlex
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from glyphrank.errors import ConfigError
from glyphrank.redaction import redact_text
from glyphrank.runtime import Runtime
from glyphrank.tracking import TrackedRun
from glyphrank.tracking.client import Client, connect, load_client
from glyphrank.tracking.database import open_database
from glyphrank.tracking.run import open_run
from glyphrank.tracking.start import Start
from glyphrank.tracking.store import Store, check_experiment, make_experiment, opened

_log = logging.getLogger(__name__)
_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
_OF_SQLITE = re.compile(r"sqlite(?:\+\w+)?:|sqlite$", re.IGNORECASE)
_OF_A_STORE = re.compile(r"databricks$|(?!file:)[a-z][a-z0-9+.-]*://[^\s/]", re.IGNORECASE)
_WANTED = "http(s)://host:port, postgresql://..., sqlite:////path.db or databricks"
_ADVICE = "Start the server (mlflow server --port 5000), correct tracking.uri, or use tracking=local or tracking=none."


@dataclass(frozen=True)
class Server:
    """Keeps runs where `uri` says: `http(s)://host:port`, `postgresql://...`, `sqlite:////path.db`, `databricks`.

    Attributes:
        experiment: MLflow's experiment, 1 to 500 characters; made if it is not there.
        uri: MLflow's tracking URI; None, where MLFLOW_TRACKING_URI is not set, is refused. Credentials in it are used
            to connect, and appear in no parameter, tag or message.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()

    experiment: str
    uri: str | None

    def __post_init__(self) -> None:
        check_experiment(self.experiment)
        if not (self.uri or "").strip():
            raise ValueError(
                f"uri is {self.uri!r}; wanted a tracking URI: set MLFLOW_TRACKING_URI, or use tracking=local"
            )

    def __repr__(self) -> str:
        return f"Server(experiment={self.experiment!r}, uri={_shown(self.uri or '')!r})"

    def start(self, start: Start, runtime: Runtime) -> AbstractContextManager[TrackedRun]:
        """A run on the server; see `glyphrank.tracking.Tracker`."""
        return self._tracked(start)

    @contextmanager
    def _tracked(self, start: Start) -> Iterator[TrackedRun]:
        place = f"{start.launched_from} {self.uri} {self.experiment}"
        with open_run(place, partial(self._open, start.launched_from), start) as run:
            yield run

    def _open(self, launched_from: Path) -> Store:
        uri = (self.uri or "").strip()
        _check_form(uri)
        if uri.startswith("sqlite"):
            path = (launched_from / uri.removeprefix("sqlite:///")).absolute()
            return open_database(path, self.experiment, path.parent / "mlartifacts")
        name, kind = _shown(uri), urlsplit(uri).scheme.partition("+")[0]

        def open_it() -> Store:
            if kind in _PORTS:
                _check_host(uri, _PORTS[kind])
            client = connect(uri)
            experiment_id = make_experiment(client, self.experiment, name, None)
            _warn_of_local_artifacts(client, experiment_id, name)
            page = f"{name.rstrip('/')}/#/experiments/{experiment_id}"
            show = shlex.join(["python3", "-m", "webbrowser", page])
            return Store(client, self.experiment, experiment_id, name, show, remote=True)

        load_client(uri)
        return opened(name, _ADVICE, open_it, remote=True)


def _shown(uri: str) -> str:
    """A URI without credentials, also one that is none."""
    return redact_text(uri) if "://" in uri else redact_text(uri.rpartition("@")[2])


def _check_form(uri: str) -> None:
    """Raises ConfigError for what is no URI of a store that is kept after the program has ended."""
    if _OF_SQLITE.match(uri):
        path = uri.removeprefix("sqlite:///")
        if path == uri or not path.strip("/") or path.startswith((":memory:", "file:")):
            raise ConfigError(
                f"tracking.uri is {_shown(uri)!r}, which names no file; wanted sqlite:///runs.db (in the folder of "
                "launch) or sqlite:////absolute/path/runs.db, or use tracking=local"
            )
    elif not _OF_A_STORE.match(uri) and (uri.startswith(("file:", "//", "/", ".", "~")) or ":" not in uri):
        raise ConfigError(_file_store_advice(_shown(uri)))
    elif not _OF_A_STORE.match(uri):
        raise ConfigError(f"tracking.uri is {_shown(uri)!r}; wanted {_WANTED}")
    else:
        _check_credentials(uri)


def _check_credentials(uri: str) -> None:
    """Drivers take an unescaped password apart and tell its pieces in their messages, as a host or a port."""
    authority, shown = (re.split(r"[/?#]", text.partition("://")[2])[0] for text in (uri, _shown(uri)))
    if authority.rpartition("@")[2] != shown or (authority.count("@") > 1 and not uri.startswith("http")):
        raise ConfigError(
            f"tracking.uri ({_shown(uri)}): in a user's name or password @ / ? # must be written %40 %2F %3F %23"
        )


def _file_store_advice(uri: str) -> str:
    folder = uri.removeprefix("file://").removeprefix("file:")
    return (
        f"tracking.uri is {uri!r}, a folder of files, which MLflow 3 no longer takes as a store. "
        "Use tracking=local (SQLite), or move the old runs into a database once and name that: "
        f"mlflow migrate-filestore --source {shlex.quote(folder)} --target sqlite:////absolute/path/mlflow.db"
    )


def _check_host(uri: str, port: int) -> None:
    """A database's driver tries for minutes where nobody listens; this takes seconds."""
    parts = urlsplit(uri)
    if parts.hostname:
        socket.create_connection((parts.hostname, parts.port or port), timeout=4).close()


def _warn_of_local_artifacts(client: Client, experiment_id: str, name: str) -> None:
    """A server without an artifact store of its own hands out a path, which each client takes as one of its own."""
    location = str(client.get_experiment(experiment_id).artifact_location)
    if name.startswith("http") and urlsplit(location).scheme in ("", "file"):
        _log.warning(
            "%s keeps artifacts in %s, a path of this machine as well as of the server's: unless both are one, the "
            "dashboard will not show them; start the server with --serve-artifacts and a new experiment",
            name,
            location,
        )
