from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from glyphrank.tracking.interruptions import Interruptions, Killed
from glyphrank.tracking.local import Local
from tracked_runs import runs_of, runtime_in, start_in

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("interrupted")


@pytest.fixture(scope="module")
def outcomes(outputs: Path) -> Any:
    """What became of the processes of `support/interrupted.py`: exit code, words said, seconds after the signal."""
    with Local("first").start(start_in(outputs), runtime_in(outputs)):
        pass
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "support" / "interrupted.py"), str(outputs)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "support"), str(ROOT / "src")])},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """A signal that nobody takes fails the test instead of ending pytest; afterwards all is as it was."""

    def untaken(signum: int, frame: object) -> None:
        pytest.fail(f"signal {signum} reached the handler from before")

    before = {signum: signal.signal(signum, untaken) for signum in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for signum, handler in before.items():
        signal.signal(signum, handler)


@pytest.mark.parametrize(
    ("scenario", "code", "error"),
    [
        ("sigterm", 143, "Killed: killed by SIGTERM"),
        ("sighup", 129, "Killed: killed by SIGHUP"),
        ("sigint", 130, "KeyboardInterrupt: "),
    ],
)
def test_signal_ends_the_run_as_killed_and_the_program_with_its_code(
    scenario: str, code: int, error: str, outcomes: Any, outputs: Path
) -> None:  # case L05
    (stored,) = runs_of(outputs, scenario)
    assert stored.info.status == "KILLED"
    assert stored.data.tags["error"] == error
    assert stored.data.tags["complete"] == "false"
    assert outcomes[scenario]["code"] == code
    assert outcomes[scenario]["words"] == ["ready", "cleaned"]
    assert outcomes[scenario]["seconds"] < 10


def test_signal_while_the_run_is_created_leaves_no_run_open(outcomes: Any, outputs: Path) -> None:  # case L05
    assert [stored.info.status for stored in runs_of(outputs, "creating")] == ["KILLED"]
    assert outcomes["creating"]["code"] == 143
    assert outcomes["creating"]["words"] == ["creating"]


def test_signal_before_the_block_is_entered_leaves_no_run_open(outcomes: Any, outputs: Path) -> None:  # case L05
    assert [stored.info.status for stored in runs_of(outputs, "before")] == ["KILLED"]
    assert outcomes["before"]["code"] == 143


def test_signal_while_a_run_is_finished_waits_for_its_status(outcomes: Any, outputs: Path) -> None:  # case L05
    assert [stored.info.status for stored in runs_of(outputs, "ending")] == ["FINISHED"]
    assert outcomes["ending"]["code"] == 143


def test_second_signal_while_a_run_is_killed_waits_for_its_status(outcomes: Any, outputs: Path) -> None:  # case L05
    (stored,) = runs_of(outputs, "twice")
    assert stored.info.status == "KILLED"
    assert stored.data.tags["error"] == "Killed: killed by SIGTERM"
    assert outcomes["twice"]["code"] == 143


def test_forked_children_leave_the_run_of_their_parent_alone(outcomes: Any, outputs: Path) -> None:
    assert outcomes["children"]["words"] == ["leaves 0", "fails 1", f"waits {-signal.SIGTERM}", "RUNNING"]
    assert outcomes["children"]["code"] == 0
    assert [stored.info.status for stored in runs_of(outputs, "children")] == ["FINISHED"]


@pytest.mark.parametrize(
    ("leaving", "status"),
    [
        (SystemExit(0), "FAILED"),
        (SystemExit(None), "FAILED"),
        (SystemExit(143), "FAILED"),
        (SystemExit("stop"), "FAILED"),
        (Killed(signal.SIGTERM), "KILLED"),
        (KeyboardInterrupt(), "KILLED"),
    ],
)
def test_run_left_by_an_exit_is_killed_only_by_a_signal(leaving: BaseException, status: str, outputs: Path) -> None:
    name = f"left by {leaving!r}"
    with pytest.raises(type(leaving)), Local(name).start(start_in(outputs), runtime_in(outputs)):
        raise leaving
    (stored,) = runs_of(outputs, name)
    assert stored.info.status == status
    assert stored.data.tags["error"] == f"{type(leaving).__name__}: {leaving}"


def test_run_in_another_thread_needs_no_handlers(outputs: Path) -> None:
    def work() -> None:
        with Local("thread").start(start_in(outputs), runtime_in(outputs)):
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [stored.info.status for stored in runs_of(outputs, "thread")] == ["FINISHED"]


def test_watched_raises_for_a_signal_and_puts_handlers_back() -> None:
    before = [signal.getsignal(signum) for signum in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]
    with pytest.raises(Killed) as caught, Interruptions().watched():
        os.kill(os.getpid(), signal.SIGTERM)
    assert (caught.value.code, str(caught.value)) == (143, "killed by SIGTERM")
    assert [signal.getsignal(signum) for signum in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)] == before


def test_hold_keeps_the_first_signal_until_release() -> None:
    with Interruptions().watched() as interruptions:
        interruptions.hold()
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Killed, match="SIGHUP"):
            interruptions.release()


def test_hold_until_the_end_raises_there_even_when_the_block_fails() -> None:
    with pytest.raises(Killed, match="SIGTERM") as caught, Interruptions().watched() as interruptions:
        _fail_with_a_signal_held(interruptions)
    assert isinstance(caught.value.__context__, OSError)


def test_watched_leaves_a_signal_ignored_that_was_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Interruptions().watched():
        os.kill(os.getpid(), signal.SIGHUP)


def _fail_with_a_signal_held(interruptions: Interruptions) -> None:
    interruptions.hold()
    os.kill(os.getpid(), signal.SIGTERM)
    raise OSError("meanwhile")
