"""Databases behind a URI: asked by their own driver first, since MLflow tries for minutes to open one that refuses."""

from __future__ import annotations

import shlex
import shutil
import sys
from urllib.parse import urlsplit

_SECONDS = 4
_TIMED = ("psycopg2", "psycopg", "pymysql", "mysqldb", "")
"""Drivers of PostgreSQL and MySQL that take `connect_timeout`; no name is SQLAlchemy's own choice."""


def is_database(uri: str) -> bool:
    """Whether a URI of a store names a database and no program that answers by HTTP."""
    return not uri.startswith(("http:", "https:", "databricks"))


def check_login(uri: str) -> None:
    """Raises what the driver says where the database does not let this client in (SQLAlchemy's errors)."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    dialect, _, driver = urlsplit(uri).scheme.partition("+")
    timed = dialect in ("postgresql", "mysql") and driver in _TIMED
    engine = create_engine(uri, poolclass=NullPool, connect_args={"connect_timeout": _SECONDS} if timed else {})
    try:
        engine.connect().close()
    finally:
        engine.dispose()


def dashboard_of(uri: str) -> str:
    """The shell command that shows a database, as `Store.dashboard`.

    Args:
        uri: of the database, without credentials.
    """
    mlflow = ["mlflow"] if shutil.which("mlflow") else [sys.executable, "-m", "mlflow"]
    return shlex.join([*mlflow, "ui", "--backend-store-uri", uri])
