"""A tiny open_clip model and what it runs in, for the tests of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank.encoders.clip import OpenClip
from glyphrank.runtime import Runtime
from tiny_clip import tiny_encoder, write_tiny_clip


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_clip(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def encoder(folder: Path) -> OpenClip:
    return tiny_encoder(folder)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 4, 0, 60, 4, False, tmp_path, tmp_path / "cache")
