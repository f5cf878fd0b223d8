"""Workers of a launcher share the cores of the host, and end with the process that launched them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hydra.core.utils import JobReturn

from glyphrank import workers
from glyphrank.slurm_jobs import SlurmJobs
from glyphrank.workers import ending_workers, forget_given, leave_worker, removing_pickles, share_cores

JOBLIB = {"_target_": "hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher"}
LOCAL = {"_target_": "hydra_plugins.hydra_submitit_launcher.submitit_launcher.LocalLauncher"}
SLURM = {"_target_": "hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher"}


class EndedError(Exception):
    """What the handler of before raises."""


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with eight cores, whose environment says nothing of threads."""
    monkeypatch.setattr(workers, "_cores", lambda: 8)
    monkeypatch.setattr(os, "environ", {})


@pytest.fixture
def raising() -> Iterator[None]:
    """SIGTERM raises, as it does while a run is tracked."""

    def receive(number: int, frame: Any) -> None:
        raise EndedError

    before = signal.signal(signal.SIGTERM, receive)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("n_jobs", "cells", "at_once"), [(-1, 24, 8), (-2, 24, 7), (-1, 3, 3), (2, 24, 2), (4, 1, 1)])
@pytest.mark.usefixtures("eight_cores")
def test_joblib_starts_no_more_processes_than_there_are_cores_and_cells(n_jobs: int, cells: int, at_once: int) -> None:
    launcher = {**JOBLIB, "n_jobs": n_jobs}
    share_cores(launcher, cells)
    assert launcher["n_jobs"] == at_once
    assert "OMP_NUM_THREADS" not in os.environ  # joblib counts threads itself


@pytest.mark.parametrize(("cells", "threads"), [(3, "2"), (24, "1")])
@pytest.mark.usefixtures("eight_cores")
def test_cells_that_all_start_at_once_on_this_host_share_its_cores(cells: int, threads: str) -> None:
    share_cores(dict(LOCAL), cells)
    assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == threads


@pytest.mark.usefixtures("eight_cores")
def test_threads_that_a_person_set_and_jobs_of_a_cluster_are_left_alone() -> None:
    share_cores(dict(SLURM), 24)
    assert "OMP_NUM_THREADS" not in os.environ
    os.environ["OMP_NUM_THREADS"] = "5"
    share_cores(dict(LOCAL), 24)
    assert os.environ["OMP_NUM_THREADS"] == "5"


@pytest.mark.usefixtures("raising")
def test_signal_ends_workers_before_the_process_that_launched_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "GRACE", 0.5)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    plain = "import time; print(flush=True); time.sleep(60)"
    started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for code in (deaf, plain)]
    try:
        for process in started:
            assert process.stdout is not None
            process.stdout.readline()
        with ending_workers("JoblibLauncher", SlurmJobs.since_now(tmp_path)):
            with pytest.raises(EndedError):
                os.kill(os.getpid(), signal.SIGTERM)
            assert [process.wait(10) for process in started] == [-signal.SIGKILL, -signal.SIGTERM]
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.mark.usefixtures("raising")
def test_launcher_without_processes_changes_no_signal(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with ending_workers("BasicLauncher", SlurmJobs.since_now(tmp_path)):
        assert signal.getsignal(signal.SIGTERM) is before
    with ending_workers("JoblibLauncher", SlurmJobs.since_now(tmp_path)):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_processes_that_outlive_their_launcher_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_POLL", 0.1)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1)"]) as process:
        with pytest.raises(EndedError), ending_workers("LocalLauncher", SlurmJobs.since_now(tmp_path)):
            raise EndedError
        assert process.poll() == 0


@pytest.mark.parametrize(("number", "word"), [(signal.SIGTERM, "go on"), (signal.SIGINT, "cancelled")])
@pytest.mark.usefixtures("raising")
def test_jobs_of_slurm_are_cancelled_by_a_person_and_go_on_otherwise(
    number: int, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "scancel").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/cancelled\n')
    (tmp_path / "bin" / "scancel").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    (tmp_path / "jobs" / "11_0").mkdir(parents=True)  # of a former launch, which may go on
    with (
        ending_workers("SlurmLauncher", SlurmJobs.since_now(tmp_path / "jobs")),
        suppress(EndedError, KeyboardInterrupt),
    ):
        for name in ("12_0", "12_1", "12", "%j"):
            (tmp_path / "jobs" / name).mkdir()
        (tmp_path / "jobs" / "11_0" / "log").touch()
        os.kill(os.getpid(), number)
    assert word in caplog.text
    assert caplog.messages[0].endswith(" 12")
    assert (tmp_path / "cancelled").exists() == (number == signal.SIGINT)
    if number == signal.SIGINT:
        assert (tmp_path / "cancelled").read_text() == "12\n"


@pytest.mark.parametrize(
    ("error", "launcher", "queued", "left"),
    [
        (None, "SlurmLauncher", False, set()),
        (EndedError(), "SlurmLauncher", False, set()),
        (None, "SlurmLauncher", None, {"13_0_submitted.pkl"}),  # Slurm does not tell
        (KeyboardInterrupt(), "SlurmLauncher", False, {"13_0_submitted.pkl"}),  # nobody waits for it to tell
        (KeyboardInterrupt(), "LocalLauncher", None, set()),
    ],
)
def test_pickles_of_a_launch_are_removed_when_nobody_needs_them(
    error: BaseException | None,
    launcher: str,
    queued: bool | None,
    left: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # case L15
    monkeypatch.setattr(SlurmJobs, "are_left", lambda _: queued)
    former = tmp_path / "12_0" / "12_0_submitted.pkl"
    former.parent.mkdir()
    former.touch()
    with suppress(EndedError, KeyboardInterrupt), removing_pickles(SlurmJobs.since_now(tmp_path), launcher):
        (tmp_path / "13_0").mkdir()
        for name in ("13_0_submitted.pkl", "13_0_0_log.err"):
            (tmp_path / "13_0" / name).touch()
        if error is not None:
            raise error
    assert {path.name for path in tmp_path.rglob("*.*")} == {former.name, "13_0_0_log.err"} | left


def test_what_hydra_returns_keeps_what_was_given_outside_processes_of_submitit() -> None:
    done = JobReturn(overrides=["lexical.k1=1"])
    forget_given(done)
    assert done.overrides == ["lexical.k1=1"]


def test_process_that_is_no_worker_is_not_left() -> None:
    leave_worker(1)
