"""A store that must be there already: opened for reading, and neither made nor brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from glyphrank.errors import ConfigError
from glyphrank.tracking.client import Client, connect, load_client
from glyphrank.tracking.store import opened
from glyphrank.tracking.uris import check_form, check_host, remember_uri, shown_uri

_SQLITE = "sqlite:///"
_ADVICE = "Is it the right one? See --store, --outputs and MLFLOW_TRACKING_URI."


@dataclass(frozen=True)
class Existing:
    """An open store.

    Attributes:
        name: as `shown_store` calls it, for messages.
        remote: whether requests go to another program, which may never finish its answer.
    """

    client: Client
    name: str
    remote: bool


def local_store(outputs: Path) -> str:
    """URI of the store that `tracking=local` keeps in a folder of outputs."""
    return f"{_SQLITE}{outputs.absolute() / 'mlflow.db'}"


def shown_store(store: str) -> str:
    """What a store is called: its URI without credentials, or the path of its file."""
    uri = _uri(store)
    return str(Path(uri.removeprefix(_SQLITE)).absolute()) if uri.startswith("sqlite") else shown_uri(uri)


def open_existing(store: str) -> Existing:
    """Opens a store for reading.

    Args:
        store: MLflow's tracking URI, or the path of an SQLite file.

    Raises:
        ConfigError: it is not there, is of another version of MLflow, or does not answer; no credentials are told.
    """
    uri, name = _uri(store), shown_store(store)
    check_form(uri, "the store")
    if not uri.startswith("sqlite"):
        remember_uri(uri)

        def open_it() -> Client:
            check_host(uri)
            if not uri.startswith(("http:", "https:", "databricks")):
                _check_tables(uri, name)
            return connect(uri)

        load_client(uri)
        return Existing(opened(name, _ADVICE, open_it, remote=True), name, remote=True)
    path = Path(name)
    if not path.is_file():
        raise ConfigError(f"there is no MLflow store {path}; run an experiment first, or name another store")
    if {"%", "?"} & set(str(path)):
        raise ConfigError(f"{path}: a database cannot be named by a path with '%' or '?'; move it")
    load_client(uri)

    def open_file() -> Client:
        _check_tables("sqlite://", name, lambda: sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True))
        return connect(f"{_SQLITE}{path}")

    return Existing(opened(name, _ADVICE, open_file, remote=False), name, remote=False)


def _uri(store: str) -> str:
    """The URI that a text means: itself, or that of a file."""
    text = store.strip()
    return f"{_SQLITE}{text}" if ":" not in text and Path(text).is_file() else text


def _check_tables(uri: str, name: str, connection: Callable[[], sqlite3.Connection] | None = None) -> None:
    """MLflow would make the tables that a database lacks, in an empty one and in one of an older MLflow."""
    from mlflow.store.db.base_sql_model import Base
    from sqlalchemy import create_engine, inspect

    engine = create_engine(uri, creator=connection) if connection else create_engine(uri)
    try:
        there = set(inspect(engine).get_table_names())
    finally:
        engine.dispose()
    wanted = set(Base.metadata.tables)
    if not there & wanted:
        raise ConfigError(f"{name} is no MLflow store: it has none of its tables; name another store")
    if not there >= wanted:
        raise ConfigError(
            f"{name} is of another version of MLflow: it lacks {', '.join(sorted(wanted - there))}; "
            "back it up and run 'mlflow db upgrade URI'"
        )
