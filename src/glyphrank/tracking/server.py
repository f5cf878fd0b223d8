"""A store that many people share: an MLflow server, or a database."""

from __future__ import annotations

import logging
import shlex
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from glyphrank.errors import ConfigError
from glyphrank.records import Runtime
from glyphrank.redaction import redact_text
from glyphrank.tracking import TrackedRun
from glyphrank.tracking.client import Client, connect
from glyphrank.tracking.database import open_database
from glyphrank.tracking.run import open_run
from glyphrank.tracking.start import Start
from glyphrank.tracking.store import Store, check_experiment, make_experiment, opened

_log = logging.getLogger(__name__)
_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
_ADVICE = "Start the server (mlflow server --port 5000), correct tracking.uri, or use tracking=local or tracking=none."


@dataclass(frozen=True)
class Server:
    """Keeps runs where `uri` says: `http(s)://host:port`, `postgresql://...`, `sqlite:////path.db`, `databricks`.

    Attributes:
        experiment: MLflow's experiment, 1 to 500 characters; made if it is not there.
        uri: MLflow's tracking URI. Credentials in it are used to connect, and appear in no parameter, tag or message.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()

    experiment: str
    uri: str

    def __post_init__(self) -> None:
        check_experiment(self.experiment)

    def __repr__(self) -> str:
        return f"Server(experiment={self.experiment!r}, uri={redact_text(self.uri)!r})"

    def start(self, start: Start, runtime: Runtime) -> AbstractContextManager[TrackedRun]:
        """A run on the server; see `glyphrank.tracking.Tracker`."""
        return self._tracked(start)

    @contextmanager
    def _tracked(self, start: Start) -> Iterator[TrackedRun]:
        with open_run(self._open(start.launched_from), start) as run:
            yield run

    def _open(self, launched_from: Path) -> Store:
        scheme = urlsplit(self.uri).scheme
        if scheme == "sqlite":
            path = (launched_from / self.uri.removeprefix("sqlite:///")).absolute()
            return open_database(path, self.experiment, path.parent / "mlartifacts")
        if scheme in ("", "file") and self.uri != "databricks":
            raise ConfigError(_file_store_advice(self.uri))
        name = redact_text(self.uri)

        def open_it() -> Store:
            if scheme.partition("+")[0] in _PORTS:
                _check_host(self.uri, _PORTS[scheme.partition("+")[0]])
            client = connect(self.uri)
            experiment_id = make_experiment(client, self.experiment, name, None)
            _warn_of_local_artifacts(client, experiment_id, name)
            page = f"{name.rstrip('/')}/#/experiments/{experiment_id}"
            return Store(
                client, self.experiment, experiment_id, name, shlex.join(["python3", "-m", "webbrowser", page])
            )

        return opened(name, _ADVICE, open_it)


def _file_store_advice(uri: str) -> str:
    if not uri:
        return "tracking.uri is empty; wanted a tracking URI: set MLFLOW_TRACKING_URI, or use tracking=local"
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
