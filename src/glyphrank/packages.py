"""Packages that are imported late, where they are used: one that is not here is a fault a person can mend."""

from __future__ import annotations

import importlib
from typing import Any

from glyphrank.errors import ConfigError


def import_package(module: str, distribution: str) -> Any:
    """The module of that name, imported now.

    Args:
        module: as it is imported, e.g. `cv2`.
        distribution: what brings it, e.g. `opencv-python-headless`.

    Raises:
        ConfigError: it is missing, or trips while it is imported (half installed, a library of the system missing,
            another version of a package it needs); the message says what to install.
    """
    try:
        return importlib.import_module(module)
    except Exception as error:  # a broken installation raises whatever it trips over
        raise ConfigError(
            f"the package {module!r} cannot be imported ({type(error).__name__}: {error}); pip install {distribution}, "
            f"or with --force-reinstall where it is here"
        ) from error
