"""A real PostgreSQL of its own on this machine, and MLflow's server over it as `deploy/compose.yaml` starts it."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from served import wait_for

DEPLOY = Path(__file__).parents[2] / "deploy"
DATABASE_PASSWORD, ADMIN_PASSWORD = "pg-word-7Yq2mZ", "admin-word-4Kd9xW"
_PLACEHOLDER = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


@dataclass(frozen=True)
class Database:
    """A running server of databases, reached by name and password only."""

    port: int
    user: str
    name: str


def compose() -> dict[str, Any]:
    """The compose file as it stands."""
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return read


def filled(text: str, settings: Mapping[str, str]) -> str:
    """A text of the compose file with its variables, as compose fills them in."""

    def value(found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        if settings.get(name):
            return settings[name]
        assert kind == "-", f"{name} is not set, and compose would refuse: {rest}"
        return str(rest)

    return _PLACEHOLDER.sub(value, text)


def surroundings(service: Mapping[str, Any], settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of a service; what the file names without a value is passed through, or not set at all."""
    given: dict[str, str | None] = service["environment"]
    told = {name: settings.get(name) if text is None else filled(text, settings) for name, text in given.items()}
    return {name: text for name, text in told.items() if text is not None}


@contextmanager
def database() -> Iterator[Database]:
    """A cluster that is made and thrown away; the test is skipped where there is no PostgreSQL."""
    binaries = _binaries()
    owner = _owner()
    folder = Path(tempfile.mkdtemp(prefix="glyphrank-pg-"))
    try:
        secret = folder / "password"
        secret.write_text(DATABASE_PASSWORD)
        if owner:
            for path in (folder, secret):
                shutil.chown(path, owner, owner)
        create = [str(binaries / "initdb"), "-D", str(folder / "data"), "-U", "mlflow", "--auth=scram-sha-256"]
        create += ["--pwfile", str(secret), "--encoding=UTF8", "--no-locale", "--no-sync"]
        subprocess.run(create, check=True, capture_output=True, cwd=folder, user=owner, group=owner)
        with _running(binaries, folder, owner) as port:
            yield Database(port, "mlflow", "postgres")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def team_server(folder: Path, store: Database) -> Iterator[int]:
    """Port of an MLflow server that is started as the compose file says, with artifacts in `folder`."""
    port = _free_port()
    settings = {
        "ARTIFACTS": str(folder / "artifacts"),
        "ALLOWED_HOSTS": f"localhost:{port},127.0.0.1:{port}",
        "ALLOWED_ORIGINS": f"http://localhost:{port}",
        "DATABASE_PASSWORD": DATABASE_PASSWORD,
        "ADMIN_PASSWORD": ADMIN_PASSWORD,
        "SECRET_KEY": "for-tests-only",
    }
    service = compose()["services"]["server"]
    told = surroundings(service, settings)
    own = {"PGHOST": "127.0.0.1", "PGPORT": str(store.port), "PGDATABASE": store.name, "PGUSER": store.user}
    own["MLFLOW_AUTH_CONFIG_PATH"] = str(DEPLOY / "basic_auth.ini")
    command = [sys.executable, "-m", *(filled(word, settings) for word in service["command"])]
    here = {"--host": "127.0.0.1", "--port": str(port), "--workers": "1"}
    for option, value in here.items():
        (place,) = (place for place, word in enumerate(command) if word.startswith(f"{option}="))
        command[place] = f"{option}={value}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=folder, start_new_session=True, env={**os.environ, **told, **own}
        )
        try:
            wait_for(port, server, folder / "server.log")
            yield port
        finally:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.wait(timeout=20)


def _binaries() -> Path:
    """The newest PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("postgres")
    if not found and on_path is None:
        pytest.skip("PostgreSQL is not installed")
    return found[-1].parent if found else Path(str(on_path)).parent


def _owner() -> str | None:
    """Who runs the database: it refuses root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("PostgreSQL refuses to run as root, and there is no user postgres")


@contextmanager
def _running(binaries: Path, folder: Path, owner: str | None) -> Iterator[int]:
    port = _free_port()
    command = [str(binaries / "postgres"), "-D", str(folder / "data"), "-p", str(port), "-k", str(folder)]
    command += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
    log = folder / "postgres.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(command, stdout=stream, stderr=stream, cwd=folder, user=owner, group=owner)
        try:
            for _ in range(300):
                if b"ready to accept connections" in log.read_bytes():
                    break
                assert server.poll() is None, log.read_text(errors="replace")
                time.sleep(0.1)
            yield port
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            server.wait(timeout=20)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
