"""Stores that failed a moment ago, as this process knows them: asked again, each would cost the same seconds again."""

from __future__ import annotations

import time
from dataclasses import dataclass

PAUSE_SECONDS = 30
"""How long a store that failed is left alone."""


@dataclass(frozen=True)
class _Failure:
    at: float
    cause: str
    mute: bool


_failures: dict[str, _Failure] = {}
"""Store -> its last failure since it last answered."""


def failed(store: str, cause: str) -> None:
    """Notes that a store failed just now.

    Args:
        cause: why, without secrets.
    """
    _failures[store] = _Failure(time.monotonic(), cause, "timed out" in cause)


def answered(store: str) -> None:
    """Notes that a store works."""
    _failures.pop(store, None)


def just_failed(store: str) -> str | None:
    """Why a store failed within the last half minute; None where it did not."""
    failure = _failures.get(store)
    return failure.cause if failure and time.monotonic() - failure.at < PAUSE_SECONDS else None


def is_mute(store: str) -> bool:
    """Whether a store took its time to fail, and has not answered since."""
    failure = _failures.get(store)
    return failure is not None and failure.mute


def limits(store: str) -> tuple[int, int]:
    """Seconds that a request may be silent, and how often it is tried again; less for a store that has been mute."""
    return (5, 0) if is_mute(store) else (20, 1)
