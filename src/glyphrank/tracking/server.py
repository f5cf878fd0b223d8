"""A store that many people share: an MLflow server, or a database."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from glyphrank.runtime import Runtime
from glyphrank.tracking import TrackedRun
from glyphrank.tracking.client import Client, connect, load_client
from glyphrank.tracking.database import open_database
from glyphrank.tracking.run import open_run
from glyphrank.tracking.start import Start
from glyphrank.tracking.store import Store, check_experiment, make_experiment, opened
from glyphrank.tracking.uris import check_form, check_host, shown_uri

_log = logging.getLogger(__name__)
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
        return f"Server(experiment={self.experiment!r}, uri={shown_uri(self.uri or '')!r})"

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
        check_form(uri)
        if uri.startswith("sqlite"):
            path = (launched_from / uri.removeprefix("sqlite:///")).absolute()
            return open_database(path, self.experiment, path.parent / "mlartifacts")
        name = shown_uri(uri)

        def open_it() -> Store:
            check_host(uri)
            client = connect(uri)
            experiment_id = make_experiment(client, self.experiment, name, None)
            _warn_of_local_artifacts(client, experiment_id, name)
            page = f"{name.rstrip('/')}/#/experiments/{experiment_id}"
            show = shlex.join(["python3", "-m", "webbrowser", page])
            return Store(client, self.experiment, experiment_id, name, show, remote=True)

        load_client(uri)
        return opened(name, _ADVICE, open_it, remote=True)


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
