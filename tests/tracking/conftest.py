"""A real MLflow server for the tests of a module, and a guard before it that wants credentials."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
