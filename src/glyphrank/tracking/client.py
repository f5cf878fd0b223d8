"""MLflow's client: imported late, quiet, and with requests that end."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Client = Any
"""`mlflow.tracking.MlflowClient`, which is not imported before it is used (1.5 s)."""


def connect(uri: str) -> Client:
    """A client of the store at `uri`, which may hold credentials; nothing else is told of them.

    MLflow's telemetry is off unless a person set `MLFLOW_DISABLE_TELEMETRY`, and its log records go through the
    handlers of the program (and so through their filters) instead of its own.

    Raises:
        Exception: of many types, when the store is a database that cannot be opened. A server is not asked yet.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    first = "mlflow" not in sys.modules
    from mlflow.tracking import MlflowClient

    if first:
        _log_through_the_program()
    if not uri.startswith(("http:", "https:")):
        _import_sql_store()
    return MlflowClient(tracking_uri=uri)


@contextmanager
def bounded(seconds: int, retries: int, firm: bool = False) -> Iterator[None]:
    """Within this, a request to a server takes at most about `seconds` x (1 + `retries`) where it does not answer.

    MLflow waits up to 120 s and retries 7 times. It reads its settings from the environment at every request, so they
    are put there for the time of the block; what a person has set is left alone unless `firm`. MLflow's lines on the
    terminal, which would show the credentials of a URI, are off.
    """
    limits = {
        "MLFLOW_HTTP_REQUEST_TIMEOUT": str(seconds),
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": str(retries),
        "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
        "MLFLOW_HTTP_REQUEST_BACKOFF_JITTER": "0",
        "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER": "false",
    }
    wanted = {name: value for name, value in limits.items() if firm or name not in os.environ}
    wanted["MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"] = "true"
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _log_through_the_program() -> None:
    """MLflow gives its loggers a handler on the error stream and announces tables it makes; this undoes both."""
    for name in ("mlflow", "alembic"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        if "MLFLOW_LOGGING_LEVEL" not in os.environ:
            logger.setLevel(logging.WARNING)


def _import_sql_store() -> None:
    """MLflow's database store uses a loader strategy that SQLAlchemy 2.1 deprecates, and warns when imported."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*noload.*", category=DeprecationWarning)
        import mlflow.store.tracking.sqlalchemy_store  # noqa: F401
