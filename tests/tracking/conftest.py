"""A real MLflow server for the tests of a module, and a guard before it that wants credentials."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from glyphrank.tracking.client import connect
from guarded import Guard
from served import serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """Port and folder of a real MLflow server, which keeps `mlflow.db` and `artifacts` there."""
    folder = tmp_path_factory.mktemp("served")
    with serving(folder) as port:
        yield port, folder


@pytest.fixture
def guard(served: tuple[int, Path]) -> Iterator[Guard]:
    with Guard(served[0], "kim", "hush-hush").listening() as listening:
        yield listening


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test lets this process hide is hidden in that test alone."""
    monkeypatch.setattr("glyphrank.known_secrets._known", set())


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with MLflow's tables, which take a second to make; for copies."""
    path = tmp_path_factory.mktemp("empty") / "mlflow.db"
    connect(f"sqlite:///{path}")
    return path
