"""An SQLite file as MLflow's store: made once, whole or not at all, however many processes begin at the same time."""

from __future__ import annotations

import glob
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from glyphrank.errors import ConfigError
from glyphrank.tracking.client import Client, connect
from glyphrank.tracking.logins import dashboard_of
from glyphrank.tracking.store import Store, find_experiment, make_experiment, opened

_log = logging.getLogger(__name__)
_LOCK_SECONDS = 60
_LEFT_OVER_SECONDS = 600
_ELSEWHERE = "set paths.outputs, or GLYPHRANK_OUTPUTS"


def open_database(path: Path, experiment: str, artifacts: Path) -> Store:
    """The store in an SQLite file, which is created with the experiment if it is not there.

    MLflow makes its schema in many steps, and two processes at once, or one that is killed, leave it broken for good.
    So it is made under another name in the same folder and moved to its place when it is whole, under a lock; a run
    that finds database and experiment takes no lock.

    Args:
        path: absolute path of the file.
        experiment: name of MLflow's experiment.
        artifacts: absolute folder for the files of its runs.

    Raises:
        ConfigError: the file cannot be made, or is not a store of this MLflow.
    """
    if {"%", "?"} & set(str(path)):
        raise ConfigError(f"{path}: a database cannot be named by a path with '%' or '?'; {_ELSEWHERE}")
    uri = f"sqlite:///{path}"

    def open_it() -> Store:
        if not _exists(path):
            with _locked(path):
                _create(path)
        _check(path)
        client = connect(uri)
        experiment_id = find_experiment(client, experiment, str(path))
        if experiment_id is None:
            with _locked(path):
                experiment_id = make_experiment(client, experiment, str(path), artifacts.as_uri())
        _warn_of_other_artifacts(client, experiment_id, artifacts)
        return Store(client, experiment, experiment_id, str(path), dashboard_of(uri), remote=False)

    advice = "Move the file away or choose another folder with paths.outputs=..., or tracking=none."
    return opened(str(path), advice, open_it, remote=False)


def _exists(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _create(path: Path) -> None:
    """Makes the database under another name and links it to `path`, unless that is there."""
    if _exists(path):
        return
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        new.touch()
        connect(f"sqlite:///{new}")
        if not _exists(path):
            path.unlink(missing_ok=True)  # an empty file, left by a process that was ended too early
        _move(new, path)
    except Exception as error:
        if _exists(path):  # by another process, which may have tidied this one's file away
            _log.debug("%s was made by another process (%s)", path, error)
        elif isinstance(error, OSError):
            raise ConfigError(f"{path} cannot be made ({error.strerror or error}); {_ELSEWHERE}") from error
        else:
            raise
    finally:
        _remove(path, f".{glob.escape(path.name)}.{os.getpid()}.new*", 0)


def _remove(path: Path, pattern: str, age: float) -> None:
    """Removes files beside `path` that are older than `age` seconds."""
    for found in path.parent.glob(pattern):
        with suppress(OSError):
            if time.time() - found.stat().st_mtime >= age:
                found.unlink()


def _move(new: Path, path: Path) -> None:
    """A link is refused where the name exists, so that even without a lock no database replaces another."""
    try:
        os.link(new, path)
    except FileExistsError:
        _log.debug("%s was made by another process", path)
    except OSError:  # a file system without links
        new.replace(path)


def _check(path: Path) -> None:
    """MLflow tries for minutes to open a file that is no database; this says so at once."""
    try:
        with closing(sqlite3.connect(path, timeout=5)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise ConfigError(f"the MLflow store {path} cannot be opened: {error}; is the folder writable?") from error
    except sqlite3.DatabaseError as error:
        raise ConfigError(
            f"{path} is not an SQLite database ({error}); move it away, a new one will be made"
        ) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds the lock beside the database; where the file system has none, or it stays taken, goes on without.

    What killed processes were making is removed: whoever has the lock knows that nobody is at it, and without it a
    young file may still be in the making.
    """
    from filelock import Timeout

    from glyphrank.file_locks import file_lock

    lock = file_lock(Path(f"{path}.lock"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path.parent}: the folder cannot be made ({error.strerror}); {_ELSEWHERE}") from error
    age = 0
    try:
        lock.acquire(timeout=_LOCK_SECONDS)
    except (OSError, NotImplementedError, Timeout) as error:
        _log.warning("%s cannot be locked (%s); going on without a lock", lock.lock_file, error)
        age = _LEFT_OVER_SECONDS
    try:
        _remove(path, f".{glob.escape(path.name)}.*.new*", age)
        yield
    finally:
        lock.release()


def _warn_of_other_artifacts(client: Client, experiment_id: str, artifacts: Path) -> None:
    """An experiment keeps the absolute folder it was made with, also when the database is moved."""
    location = client.get_experiment(experiment_id).artifact_location
    if location != artifacts.as_uri():
        _log.warning(
            "this experiment keeps the files of its runs in %s, not in %s; choose a new one with tracking.experiment",
            location,
            artifacts.as_uri(),
        )
