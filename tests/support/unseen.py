"""Frames that must not be asked for."""

from __future__ import annotations

from glyphrank.records import Frames


def unseen() -> Frames:
    """What an engine that reads texts never calls."""
    raise AssertionError("the frames were decoded")
