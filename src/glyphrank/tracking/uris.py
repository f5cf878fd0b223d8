"""URIs of stores: their form, and what may be shown of them."""

from __future__ import annotations

import os
import re
import shlex
import socket
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import parse_qsl, unquote, urlsplit

from glyphrank.errors import ConfigError
from glyphrank.known_secrets import remember
from glyphrank.redaction import is_secret, redact

_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
_OF_SQLITE = re.compile(r"sqlite(?:\+\w+)?:|sqlite$", re.IGNORECASE)
_OF_A_STORE = re.compile(r"databricks$|(?!file:)[a-z][a-z0-9+.-]*://[^\s/]", re.IGNORECASE)
_SECRETS = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")
_WANTED = "http(s)://host:port, postgresql://..., sqlite:////path.db or databricks"

_full: dict[str, str] = {}


def shown_uri(uri: str) -> str:
    """A URI without credentials, also one that is none; the same whatever secrets this process has met."""
    return str(redact(uri if "://" in uri else uri.rpartition("@")[2]))


def remember_uri(uri: str) -> None:
    """Lets this process find the URI by what is shown of it, and hides its secrets and the environment's."""
    _full[shown_uri(uri).rstrip("/")] = uri
    remember(_passwords(uri))
    remember_environment()


def remember_environment() -> None:
    """Hides in messages what MLflow's variables hold, whatever store is used: a component may repeat it."""
    remember(os.environ.get(name, "") for name in _SECRETS)
    remember(_passwords(os.environ.get("MLFLOW_TRACKING_URI", "").strip()))


def credentials_told() -> str:
    """What a person can set where a server refuses a request, and which of it is set."""
    given = {name: bool(os.environ.get(name)) for name in ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD")}
    found = [name for name, there in given.items() if there]
    told = "both are set" if len(found) == 2 else f"only {found[0]} is" if found else "neither is"
    more = ", MLFLOW_TRACKING_TOKEN is" if os.environ.get("MLFLOW_TRACKING_TOKEN") else ""
    return f"set {' and '.join(given)} ({told}{more})"


def full_uri(shown: str) -> str:
    """A URI with its credentials: this process's own, or MLFLOW_TRACKING_URI, where that is of the same store."""
    own = os.environ.get("MLFLOW_TRACKING_URI", "").strip().rstrip("/")
    return _full.get(shown.rstrip("/")) or (own if own and shown_uri(own) == shown else shown)


def check_form(uri: str, called: str = "tracking.uri") -> None:
    """Raises ConfigError for what is no URI of a store that is kept after the program has ended.

    Args:
        called: what a person gave it as.
    """
    if _OF_SQLITE.match(uri):
        path = uri.removeprefix("sqlite:///")
        if path == uri or not path.strip("/") or path.startswith((":memory:", "file:")):
            raise ConfigError(
                f"{called} is {shown_uri(uri)!r}, which names no file; wanted sqlite:///runs.db (in the folder of "
                "launch) or sqlite:////absolute/path/runs.db, or use tracking=local"
            )
    elif not _OF_A_STORE.match(uri) and (uri.startswith(("file:", "//", "/", ".", "~")) or ":" not in uri):
        raise ConfigError(_file_store_advice(shown_uri(uri), called))
    elif not _OF_A_STORE.match(uri):
        raise ConfigError(f"{called} is {shown_uri(uri)!r}; wanted {_WANTED}")
    else:
        _check_credentials(uri, called)
        try:
            _ = urlsplit(uri).port
        except ValueError as error:
            raise ConfigError(f"{called} is {shown_uri(uri)!r}: {error}; wanted {_WANTED}") from None


def check_host(uri: str) -> None:
    """Raises OSError where nobody listens: a database's driver would try for minutes; this takes seconds."""
    parts = urlsplit(uri)
    port = _PORTS.get(parts.scheme.partition("+")[0])
    if port is not None and parts.hostname:
        socket.create_connection((parts.hostname, parts.port or port), timeout=4).close()


def _passwords(uri: str) -> Iterator[str]:
    """The secrets in a URI, as they are written and as they are meant."""
    with suppress(ValueError):  # it is none, which another part says
        parts = urlsplit(uri)
        queries = parse_qsl(parts.query)
        for value in (parts.password or "", *(value for name, value in queries if is_secret(name))):
            yield from (value, unquote(value))


def _check_credentials(uri: str, called: str) -> None:
    """Drivers take an unescaped password apart and tell its pieces in their messages, as a host or a port."""
    authority, shown = (re.split(r"[/?#]", text.partition("://")[2])[0] for text in (uri, shown_uri(uri)))
    if authority.rpartition("@")[2] != shown or (authority.count("@") > 1 and not uri.startswith("http")):
        raise ConfigError(
            f"{called} ({shown_uri(uri)}): in a user's name or password @ / ? # must be written %40 %2F %3F %23"
        )


def _file_store_advice(uri: str, called: str) -> str:
    folder = uri.removeprefix("file://").removeprefix("file:")
    return (
        f"{called} is {uri!r}, a folder of files, which MLflow 3 no longer takes as a store. "
        "Use tracking=local (SQLite), or move the old runs into a database once and name that: "
        f"mlflow migrate-filestore --source {shlex.quote(folder)} --target sqlite:////absolute/path/mlflow.db"
    )
