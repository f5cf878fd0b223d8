"""An open store: a client, and the experiment that runs are put into."""

from __future__ import annotations

import logging
import re
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from glyphrank.errors import ConfigError
from glyphrank.redaction import redact_text
from glyphrank.tracking.client import Client, bounded, in_time
from glyphrank.tracking.outage import is_mute
from glyphrank.tracking.uris import credentials_told

_log = logging.getLogger(__name__)
_ATTEMPTS = 4
_HELD = "Another program holds it; try again when that has ended."

_OF_HTTP = re.compile(
    r"""failed with exception HTTPS?ConnectionPool\([^)]*\): (?:.*\(Caused by \w+\(["']?(?:HTTPS?\w*\([^)]*\): )?"""
    r"""(?P<why>.*?)["']?\)\)$|(?P<own>.*))""",
    re.DOTALL,
)
"""How MLflow tells that a request failed: `why`, within three layers of names and addresses, or `own` words."""
_AUTOFLUSH = re.compile(r"^\(raised as a result of Query-invoked autoflush[^)]*\)\s*")
_OF_A_DRIVER = re.compile(r"^\((?:\w+\.)+\w+\) |\s*\(Background on this error at: \S+\)$")
"""What SQLAlchemy puts around the words of a database's driver."""
_REFUSED = re.compile(
    r"password authentication failed|no password supplied|no pg_hba\.conf entry|Access denied for user"
    r"|(?:database|role) \S+ does not exist|Unknown database",
)
"""What databases say to a client that will never get in as it is."""
_NO_ENTRY = re.compile(r"error code 40[13]\b|\b40[13] Client Error|\b(?:PERMISSION_DENIED|UNAUTHENTICATED)\b")
_OTHER_ENTRY = re.compile(r"host header|cross-origin", re.IGNORECASE)
"""What a server refuses whoever asks; see deploy/README.md."""
_MADE_ELSEWHERE = re.compile(r"pg_type_typname_nsp_index|already exists")
"""What a new database says while another process makes its tables."""
_NEVER_USABLE = ("NoSuchModuleError", "ArgumentError", "UnsupportedModelRegistryStoreURIException")
"""Errors of SQLAlchemy and MLflow that say that there is no such kind of store, which waiting does not mend."""

T = TypeVar("T")


class StoreDownError(ConfigError):
    """A store that cannot be used now and may be again without any change of ours: dead, slow, busy, or refusing."""


@dataclass(frozen=True)
class Store:
    """Where runs are created.

    Attributes:
        experiment: the experiment's name.
        name: the store's URI without credentials, for messages.
        dashboard: the shell command that shows the experiment.
        remote: whether requests go to another program, which may never finish its answer.
    """

    client: Client
    experiment: str
    experiment_id: str
    name: str
    dashboard: str
    remote: bool

    def in_time(self, seconds: float, work: Callable[[], T]) -> T:
        """What `work` returns; a remote store is given up after `seconds` (`client.in_time`), a file never."""
        return in_time(seconds if self.remote else None, work)


def check_experiment(name: str) -> None:
    """Raises ValueError for what MLflow does not take as the name of an experiment."""
    if not name.strip() or len(name) > 500:
        raise ValueError(f"experiment is {name!r}; wanted a name of 1 to 500 characters")


def find_experiment(client: Client, name: str, store: str) -> str | None:
    """Id of the experiment, None when there is none yet.

    Raises:
        ConfigError: it was deleted (MLflow keeps the name taken and refuses new runs).
        StoreDownError: who answers is no MLflow.
        MlflowException: the store does not answer.
    """
    found = client.get_experiment_by_name(name)
    if found is None:
        return None
    if found.lifecycle_stage == "deleted":
        uri = f"sqlite:///{store}" if store.startswith("/") else store
        raise ConfigError(
            f"the experiment {name!r} in {store} was deleted; choose another with tracking.experiment=NAME, or restore "
            f"it: MLFLOW_TRACKING_URI={shlex.quote(uri)} mlflow experiments restore -x {found.experiment_id}"
        )
    return named(found.experiment_id, store, "experiment")


def named(given: object, store: str, what: str) -> str:
    """The id that a store gave; MLflow's client takes any JSON for an answer and leaves the id empty then.

    Raises:
        StoreDownError: it gave none.
    """
    if not given:
        raise StoreDownError(f"{store} answers, but not as MLflow does: it names no {what}; check tracking.uri")
    return str(given)


def make_experiment(client: Client, name: str, store: str, artifacts: str | None) -> str:
    """Id of the experiment, created unless it exists; another process may create it at the same moment.

    Args:
        client: of the store.
        name: the experiment's.
        store: the store's name for messages.
        artifacts: URI under which its files go; None leaves that to the server.
    """
    from mlflow.exceptions import MlflowException

    found = find_experiment(client, name, store)
    if found is not None:
        return found
    try:
        return named(client.create_experiment(name, artifact_location=artifacts), store, "experiment")
    except MlflowException:
        created_elsewhere = find_experiment(client, name, store)
        if created_elsewhere is None:
            raise
        return created_elsewhere


def opened(store: str, advice: str, work: Callable[[], T], remote: bool) -> T:
    """What `work` returns from a store that is being opened; about 16 s where a remote store does not finish it.

    Half of that where it has been mute before.

    A store that is busy for a moment is asked again.

    Args:
        store: its name for messages.
        advice: what a person can do where it fails for another reason than that another program holds it.
        work: at most four requests of a few seconds each.
        remote: as in `Store`; work on a file is not timed, since it may wait for a lock.

    Raises:
        StoreDownError: the store cannot be used; the message holds the cause and the advice, and no credentials.
        ConfigError: as `work` raises it, or no store of this kind can ever be used here.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with bounded(seconds=2 if is_mute(store) else 4, retries=0) as longest:
                return in_time(4 * longest if remote else None, work)
        except ConfigError:
            raise
        except Exception as error:  # databases, drivers and servers each have their own types
            held, made = "locked" in str(error), bool(_MADE_ELSEWHERE.search(str(error)))
            if attempt < _ATTEMPTS and (held or made):
                _log.debug("%s is busy; asked again", store)
                time.sleep(1 if made else 0.2 * attempt)
                continue
            # the cause is cut off, since its own text may hold the credentials
            cause = cause_of(error)
            if isinstance(error, ImportError):
                advice = "Name a driver that is installed in tracking.uri, such as postgresql+psycopg2://."
            told = f"\n{_HELD}" if held else "" if _NO_ENTRY.search(cause) else f"\n{advice}"
            kind = ConfigError if _never_usable(error) else StoreDownError
            raise kind(f"the MLflow store {store} cannot be used: {cause}{told}") from None
    raise StoreDownError(f"the MLflow store {store} is busy\n{_HELD}")


def _never_usable(error: Exception) -> bool:
    """Whether waiting mends nothing: no such kind of store, or a database that refuses this client by its words."""
    database = type(error).__name__ in ("OperationalError", "ProgrammingError", "InterfaceError", "DatabaseError")
    if database and _REFUSED.search(str(error)):
        return True
    return isinstance(error, ImportError) or type(error).__name__ in _NEVER_USABLE


def is_outage(error: BaseException) -> bool:
    """Whether a store cannot be reached, or does not answer, so that whatever else it is asked would fail alike."""
    if isinstance(error, ConnectionError | TimeoutError) or "timed out" in str(error):
        return True
    found = _OF_HTTP.search(str(error))
    return bool(found and found["why"]) or type(error).__name__ in ("OperationalError", "InterfaceError")


def cause_of(error: BaseException) -> str:
    """What a store's error says, without the SQL statement, the layers of an HTTP client's words, and secrets.

    Where a server refuses who asks, it also says what to set.
    """
    told = _AUTOFLUSH.sub("", str(error)).partition("\n[SQL:")[0].strip() or type(error).__name__
    if found := _OF_HTTP.search(told):
        told = found["why"] or found["own"]
    told = _OF_A_DRIVER.sub("", _OF_A_DRIVER.sub("", told))
    refused = _NO_ENTRY.search(told) and not _OTHER_ENTRY.search(told)
    return redact_text(told)[:600] + (f"; {credentials_told()}" if refused else "")
