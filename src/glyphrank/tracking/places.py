"""Where runs go, before any store is asked: what the place is called, and how it is opened."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from glyphrank.tracking.client import Client, connect, load_client
from glyphrank.tracking.database import open_database
from glyphrank.tracking.kept import PENDING, Kind, Record
from glyphrank.tracking.logins import check_login, dashboard_of, is_database
from glyphrank.tracking.store import Store, StoreDownError, make_experiment, opened
from glyphrank.tracking.uris import check_form, check_host, full_uri, remember_environment, remember_uri, shown_uri

_log = logging.getLogger(__name__)
_SQLITE = "sqlite:///"
T = TypeVar("T")

_stores: dict[tuple[Kind, str, str], tuple[Store, object]] = {}
"""Open stores of this process, each with its place's stamp."""
_ADVICE = "Start the server (mlflow server --port 5000), correct tracking.uri, or use tracking=local or tracking=none."
_DATABASE_ADVICE = (
    "Is it running, are its name and the user's password right (PGPASSWORD, or in tracking.uri)? createdb makes one. "
    "Or use tracking=local or tracking=none."
)


@dataclass(frozen=True)
class Place:
    """A store and an experiment in it.

    Attributes:
        store: as `Store.name` will be.
        pending: the folder where its runs wait while it cannot be used.
        open: opens it; a ConfigError where it can never be used, a StoreDownError where it cannot now.
        stamp: what differs when it is another than before under the same name: other credentials, another file.
    """

    kind: Kind
    store: str
    experiment: str
    pending: Path
    open: Callable[[], Store]
    stamp: Callable[[], object]


def with_store(place: Place, work: Callable[[Store], T]) -> T:
    """What `work` does with the open store; a process opens it once for all its runs, and anew after a failure.

    A file is opened anew at once; a server may have done what it did not answer, so that its failure is told.

    Raises:
        ConfigError: as `Place.open` raises it.
        StoreDownError: as `Place.open` or `work` raises it.
    """
    key, stamp = (place.kind, place.store, place.experiment), place.stamp()
    store, before = _stores.pop(key, (None, None))
    if store is not None and stamp == before:
        try:
            done = work(store)
        except StoreDownError as error:
            if store.remote:
                raise
            _log.debug("%s is opened anew (%s)", place.store, error)
        else:
            _stores[key] = (store, stamp)
            return done
    store = place.open()
    done = work(store)
    _stores[key] = (store, place.stamp())
    return done


def local_place(outputs: Path, experiment: str) -> Place:
    """The SQLite file in a folder of outputs, with the runs' files beside it."""
    remember_environment()
    outputs = outputs.absolute()
    path = outputs / "mlflow.db"
    return Place(
        Kind.local,
        str(path),
        experiment,
        outputs / PENDING,
        lambda: open_database(path, experiment, outputs / "mlartifacts"),
        lambda: _file_stamp(path),
    )


def remote_place(uri: str, experiment: str, launched_from: Path, outputs: Path) -> Place:
    """What a tracking URI names: a server, a database, or an SQLite file (relative to the folder of launch).

    Raises:
        ConfigError: it is no URI of a store that is kept.
    """
    uri = uri.strip().rstrip("/") if uri.strip().startswith("http") else uri.strip()
    check_form(uri)
    pending = outputs.absolute() / PENDING
    remember_uri(uri)
    if uri.startswith("sqlite"):
        path = (launched_from / uri.removeprefix(_SQLITE)).absolute()
        artifacts = path.parent / "mlartifacts"
        return Place(
            Kind.file,
            str(path),
            experiment,
            pending,
            lambda: open_database(path, experiment, artifacts),
            lambda: _file_stamp(path),
        )
    artifacts = outputs.absolute() / "mlartifacts"
    return Place(
        Kind.server,
        shown_uri(uri),
        experiment,
        pending,
        lambda: _open_database(uri, experiment, artifacts) if is_database(uri) else _open_server(uri, experiment),
        lambda: uri,
    )


def place_of(record: Record, outputs: Path, uri: str | None = None) -> Place:
    """Where a kept run goes.

    Args:
        outputs: the folder in which it waits; a store of that folder's own is the one that lies there today.
        uri: of the record's store, with credentials; None: as this process or its environment knows it.

    Raises:
        ConfigError: the URI is none.
    """
    if record.kind is Kind.local:
        return local_place(outputs, record.experiment)
    known = f"{_SQLITE}{record.store}" if record.kind is Kind.file else uri or full_uri(record.store)
    return remote_place(known, record.experiment, outputs, outputs)


def _file_stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _open_server(uri: str, experiment: str) -> Store:
    name = shown_uri(uri)

    def open_it() -> Store:
        client = connect(uri)
        experiment_id = make_experiment(client, experiment, name, None)
        _warn_of_local_artifacts(client, experiment_id, name)
        page = f"{name.rstrip('/')}/#/experiments/{experiment_id}"
        show = shlex.join(["python3", "-m", "webbrowser", page])
        return Store(client, experiment, experiment_id, name, show, remote=True)

    load_client(uri)
    return opened(name, _ADVICE, open_it, remote=True)


def _open_database(uri: str, experiment: str, artifacts: Path) -> Store:
    """A database takes the numbers of runs and no files: those of a new experiment go to the outputs of this machine.

    MLflow itself would put them into `./mlruns` of the folder of launch.
    """
    name = shown_uri(uri)

    def open_it() -> Store:
        check_host(uri)
        check_login(uri)
        client = connect(uri)
        experiment_id = make_experiment(client, experiment, name, artifacts.as_uri())
        location = _local_artifacts(client, experiment_id)
        if location is not None:
            _log.warning(
                "%s takes the numbers of runs; their files stay in %s, a folder of this machine alone. A server over "
                "the database keeps both for everybody: see deploy/README.md, and choose a new tracking.experiment",
                name,
                location,
            )
        return Store(client, experiment, experiment_id, name, dashboard_of(name), remote=True)

    load_client(uri)
    return opened(name, _DATABASE_ADVICE, open_it, remote=True)


def _warn_of_local_artifacts(client: Client, experiment_id: str, name: str) -> None:
    """A server without an artifact store of its own hands out a path, which each client takes as one of its own."""
    location = _local_artifacts(client, experiment_id)
    if location is not None:
        _log.warning(
            "%s keeps artifacts in %s, a path of this machine as well as of the server's: unless both are one, the "
            "dashboard will not show them; start the server with --serve-artifacts and a new experiment",
            name,
            location,
        )


def _local_artifacts(client: Client, experiment_id: str) -> str | None:
    """Where the files of an experiment go, where that is a folder of the machine that asks."""
    location = str(client.get_experiment(experiment_id).artifact_location)
    return location if urlsplit(location).scheme in ("", "file") else None
