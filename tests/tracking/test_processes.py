from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from glyphrank.tracking.processes import Life, life_of, own_process

HOST = socket.gethostname()
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc here")  # noqa: PTH110


def changed(**fields: str) -> str:
    own = dict(part.split("=", 1) for part in own_process().split())
    return " ".join(f"{name}={value}" for name, value in {**own, **fields}.items())


def test_this_process_lives() -> None:
    assert life_of(HOST, own_process()) is Life.alive


@needs_proc
def test_process_that_has_ended_is_dead_also_where_its_parent_has_not_asked_yet() -> None:
    script = "from glyphrank.tracking.processes import own_process; print(own_process())"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        process = child.stdout.read().strip()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert life_of(HOST, process) is Life.dead
    assert life_of(HOST, process) is Life.dead


@needs_proc
def test_another_process_with_the_same_number_is_not_the_one_that_began() -> None:
    assert life_of(HOST, changed(started="1")) is Life.dead


def test_process_of_another_machine_is_unknown() -> None:
    assert life_of(f"not-{HOST}", own_process()) is Life.unknown


def test_process_of_a_machine_that_only_has_the_same_name_is_unknown() -> None:
    assert life_of(HOST, changed(machine="another", started="1")) is Life.unknown


def test_process_of_another_container_is_unknown() -> None:
    assert life_of(HOST, changed(namespace="4", started="1")) is Life.unknown


@pytest.mark.parametrize(
    ("namespace", "machine", "life"),
    [("4026531836", "m", Life.dead), ("4026531999", "m", Life.unknown), ("4026531836", "", Life.unknown)],
)
def test_process_from_before_a_restart_is_dead_where_the_machine_is_surely_the_same(
    namespace: str, machine: str, life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"pid": "7", "started": "9", "boot": "after", "namespace": namespace, "machine": machine}
    monkeypatch.setattr("glyphrank.tracking.processes._described", lambda pid: own)
    assert life_of(HOST, f"pid=7 started=9 boot=before namespace={namespace} machine={machine}") is life


@pytest.mark.parametrize("process", ["", "pid=", "pid=x y", "nonsense"])
def test_process_that_is_not_told_is_unknown(process: str) -> None:
    assert life_of(HOST, process) is Life.unknown
