"""MLflow's client: imported late, quiet, and with requests that end."""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

Client = Any
"""`mlflow.tracking.MlflowClient`, which is not imported before it is used (1.5 s)."""


def connect(uri: str) -> Client:
    """A client of the store at `uri`, which may hold credentials; nothing else is told of them.

    Raises:
        Exception: of many types, when the store is a database that cannot be opened. A server is not asked yet.
    """
    client = load_client(uri)
    return client(tracking_uri=uri)


def load_client(uri: str) -> Callable[..., Client]:
    """The client's class; this imports MLflow, which may take long on a slow disk, and asks no store.

    MLflow's telemetry is off unless a person set `MLFLOW_DISABLE_TELEMETRY`, and its log records go through the
    handlers of the program (and so through their filters) instead of its own.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    first = "mlflow" not in sys.modules
    from mlflow.tracking import MlflowClient

    if first:
        _log_through_the_program()
    if not uri.startswith(("http:", "https:")):
        _import_sql_store()
    return MlflowClient  # type: ignore[no-any-return]


def in_time(seconds: float | None, work: Callable[[], T]) -> T:
    """What `work` returns, whatever a server does meanwhile: after `seconds` it is given up; None waits for ever.

    The work goes on in a thread of its own then, and what it still does is lost.

    Raises:
        TimeoutError: it took longer.
        Exception: what `work` raises.
    """
    if seconds is None:
        return work()
    results: list[T] = []
    errors: list[BaseException] = []

    def do() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again below, in the thread that waits
            errors.append(error)

    thread = threading.Thread(target=do, name="tracking", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"timed out: no complete answer within {seconds:g} s")
    return results[0]


@contextmanager
def bounded(seconds: int, retries: int, firm: bool = False) -> Iterator[float]:
    """Within this, a request to a server that sends nothing for `seconds` fails, and is tried again `retries` times.

    Yields the seconds that one request may then take. This bounds silence only: a server that sends a byte now and
    then keeps a request alive, and `in_time` is what ends that. Databases have limits of their own.

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
        yield _longest_request(seconds, retries)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _longest_request(seconds: int, retries: int) -> float:
    """From the settings that MLflow reads; from the arguments where a person's settings are no numbers."""
    try:
        wait, tries = (float(os.environ[f"MLFLOW_HTTP_REQUEST_{name}"]) for name in ("TIMEOUT", "MAX_RETRIES"))
    except ValueError:
        wait, tries = seconds, retries
    return wait * (1 + tries) + float(2**tries - 1)  # the second: MLflow's pauses


def _log_through_the_program() -> None:
    """MLflow gives its loggers a handler on the error stream and announces tables it makes; this undoes both."""
    for name in ("mlflow", "alembic"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        if "MLFLOW_LOGGING_LEVEL" not in os.environ:
            logger.setLevel(logging.WARNING)
    # It logs every failed statement with its traceback; the error itself reaches us and is told in a line.
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)


def _import_sql_store() -> None:
    """MLflow's database store uses a loader strategy that SQLAlchemy 2.1 deprecates, and warns when imported."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*noload.*", category=DeprecationWarning)
        import mlflow.store.tracking.sqlalchemy_store  # noqa: F401
