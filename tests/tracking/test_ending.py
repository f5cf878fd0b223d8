from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from glyphrank.tracking.ending import EndedOnce
from glyphrank.tracking.interruptions import Killed


class Run(EndedOnce):
    """Remembers how it ended."""

    ended = ("", "")

    def finish(self, status: str, why: str) -> None:
        self.ended = (status, why)


@contextmanager
def opened(run: Run) -> Iterator[Run]:
    """As `open_run` has it."""
    error: BaseException | None = None
    try:
        yield run
    except BaseException as caught:
        error = caught
        raise
    finally:
        run.end(error)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("no"), "FAILED"),
        (SystemExit("no"), "FAILED"),
        (GeneratorExit("no"), "FAILED"),  # of a component: nobody asked the run to end
        (asyncio.CancelledError("no"), "FAILED"),
        (KeyboardInterrupt("no"), "KILLED"),
    ],
)
def test_what_a_component_raises_fails_the_run_but_for_ctrl_c(error: BaseException, status: str) -> None:
    run = Run()
    with suppress(BaseException), opened(run):
        raise error
    assert run.ended == (status, f"{type(error).__name__}: no")


def test_signal_kills_the_run() -> None:
    run = Run()
    with suppress(Killed), opened(run):
        raise Killed(signal.SIGTERM)
    assert run.ended == ("KILLED", "Killed: killed by SIGTERM")


def test_run_that_nobody_left_is_killed() -> None:
    run, other = Run(), Run()
    run._end_at_exit()
    assert run.ended == ("KILLED", "GeneratorExit: the program ended without leaving the run")
    context = opened(other)
    context.__enter__()
    del context  # which closes its generator
    assert other.ended == ("KILLED", "GeneratorExit: ")
