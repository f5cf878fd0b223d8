"""Versions of packages are what is installed now."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from glyphrank.versions import installed_version


@pytest.mark.parametrize("package", ["numpy", "torch", "hydra-core", "mlflow", "open_clip_torch"])
def test_a_version_is_that_of_the_standard_library(package: str) -> None:
    assert installed_version(package) == importlib.metadata.version(package)


def test_a_package_that_is_not_installed_has_no_version() -> None:
    assert installed_version("no-such-package-here") is None


def test_a_package_that_is_replaced_has_its_new_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for version in ("1.0", "2.0", "1.0"):
        notes = tmp_path / "replaced_package-1.0.dist-info" / "METADATA"
        notes.parent.mkdir(exist_ok=True)
        notes.write_text(f"Metadata-Version: 2.1\nName: replaced-package\nVersion: {version}\n\nVersion: 9\n")
        assert installed_version("replaced-package") == version


def test_a_package_without_a_version_in_its_notes_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    notes = tmp_path / "nameless_package-1.0.dist-info" / "METADATA"
    notes.parent.mkdir()
    notes.write_text("Metadata-Version: 2.1\nName: nameless-package\n")
    assert installed_version("nameless-package") is None
