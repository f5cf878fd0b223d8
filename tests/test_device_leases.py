"""Processes of one host that run at once take different devices."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from glyphrank import device_leases, devices
from glyphrank.device_leases import DeviceLeases
from glyphrank.devices import choose_device, leases

TWO = ("GPU-a", "GPU-b")

HOLDER = """
import sys, time
from pathlib import Path
from glyphrank import devices
from glyphrank.device_leases import DeviceLeases
devices.cuda_devices = lambda: ("GPU-a", "GPU-b")
devices._LEASES = DeviceLeases(Path(sys.argv[1]))
print(devices.choose_device("auto"), flush=True)
time.sleep(120)
"""


@pytest.fixture
def two_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host with two CUDA devices; the folder of its leases."""
    monkeypatch.setattr(devices, "cuda_devices", lambda: TWO)
    monkeypatch.setattr(devices, "_LEASES", DeviceLeases(tmp_path / "leases"))
    monkeypatch.setattr(device_leases, "POLL", 0.02)
    return tmp_path / "leases"


@pytest.fixture
def holders(two_devices: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """Two processes that hold a device each, `GPU-a` first."""
    started: list[subprocess.Popen[str]] = []
    for device in ("cuda:0", "cuda:1"):
        command = [sys.executable, "-c", HOLDER, str(two_devices)]
        holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(holder)
        assert holder.stdout is not None
        assert holder.stdout.readline() == f"{device}\n"
    yield started
    for holder in started:
        holder.kill()
        holder.communicate()


def test_a_cell_keeps_its_device_until_its_end_and_gives_it_back(two_devices: Path) -> None:
    with leases():
        assert choose_device("auto") == choose_device("auto") == "cuda:0"
        other = DeviceLeases(two_devices)
        assert other.take(TWO) == 1
    third = DeviceLeases(two_devices)
    assert third.take(TWO) == 0
    other.release()
    with leases():
        assert choose_device("auto") == "cuda:1"
    third.release()
    with leases():
        assert choose_device("auto") == "cuda:1"  # where this process may still have a model


def test_a_device_that_is_named_or_alone_takes_no_lease(two_devices: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with leases():
        assert choose_device("cuda:1") == "cuda:1"
        assert choose_device("cuda") == "cuda:0"
        assert choose_device("cpu") == "cpu"
        monkeypatch.setattr(devices, "cuda_devices", lambda: TWO[:1])
        assert choose_device("auto") == "cuda:0"
    assert not two_devices.exists()


def test_threads_share_devices_out_and_wait_for_one_with_one_line(
    two_devices: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    holding: list[int] = []
    most, guard = 0, threading.Lock()

    def cell(number: int) -> None:
        nonlocal most
        lease = DeviceLeases(two_devices)
        device = lease.take(TWO)
        with guard:
            assert device not in holding
            holding.append(device)
            most = max(most, len(holding))
        threading.Event().wait(0.1)
        with guard:
            holding.remove(device)
        lease.release()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(cell, range(4)))
    assert most == 2
    waits = [record for record in caplog.records if "all 2 devices are held" in record.message]
    assert len(waits) == 2


def test_device_of_a_killed_process_is_free_again(
    two_devices: Path, holders: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    threading.Timer(0.2, lambda: os.kill(holders[1].pid, signal.SIGKILL)).start()
    with leases():
        assert choose_device("auto") == "cuda:1"
    monkeypatch.setattr(device_leases, "PATIENCE", 0.1)
    holders[1].wait()
    held = DeviceLeases(two_devices)
    assert held.take(TWO) == 1
    assert DeviceLeases(two_devices).take(TWO) in (0, 1)  # shared in the end, not waited for forever


def test_file_system_without_locks_gives_one_warning_and_a_device(
    two_devices: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Refused:
        def __init__(self, *arguments: object, **options: object) -> None: ...

        def acquire(self, timeout: float) -> None:
            raise OSError(38, "Function not implemented")

    monkeypatch.setattr("glyphrank.file_locks.FileLock", Refused)
    with leases():
        assert choose_device("auto") == choose_device("auto")
    assert [record.message.count("Function not implemented") for record in caplog.records] == [1]


def test_folder_of_leases_is_open_to_every_user(two_devices: Path) -> None:
    before = os.umask(0o077)
    try:
        lease = DeviceLeases(two_devices)
        lease.take(TWO)
    finally:
        os.umask(before)
    assert two_devices.stat().st_mode & 0o7777 == 0o777
    assert (two_devices / "GPU-a.lock").stat().st_mode & 0o777 == 0o666
    lease.release()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user reaches."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name) / "leases"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be another user")
def test_lock_file_of_another_user_is_no_hindrance(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_leases.logger, "warning", lambda *said: os._exit(9))

    def taken_by(user: int) -> int:
        child = os.fork()
        if child == 0:
            os.setuid(user)
            os._exit(DeviceLeases(open_folder).take(TWO))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    keeper = DeviceLeases(open_folder)
    assert keeper.take(("GPU-c",)) == 0  # the folder is of a third user
    assert [taken_by(user) for user in (65534, 65533, 65533)] == [0, 0, 0]
    holding = DeviceLeases(open_folder)
    assert holding.take(TWO) == 0
    assert taken_by(65534) == 1
    open_folder.chmod(0o1777)  # as an older version made it
    assert DeviceLeases(open_folder).take(("GPU-b",)) == 0
    assert open_folder.stat().st_mode & 0o7777 == 0o777
    holding.release()
    keeper.release()


def test_refused_lock_does_not_end_the_search(
    two_devices: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Partly(FileLock):
        def acquire(self, *arguments: Any, **options: Any) -> Any:
            if Path(self.lock_file).stem == "GPU-a":
                raise PermissionError(13, "Permission denied")
            return super().acquire(*arguments, **options)

    monkeypatch.setattr("glyphrank.file_locks.FileLock", Partly)
    first, second = DeviceLeases(two_devices), DeviceLeases(two_devices)
    assert first.take(TWO) == 1
    assert not caplog.records
    assert second.take(TWO) == 0
    assert [record.message.count("GPU-a may be shared with others") for record in caplog.records] == [1]
    first.release()


def test_devices_are_named_as_all_processes_of_the_host_name_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    class Properties:
        def __init__(self, number: int) -> None:
            self.uuid = f"11{number}/x"

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", Properties)
    assert devices.cuda_devices() == ("110_x", "111_x")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, GPU-7")
    assert devices.cuda_devices() == ("3", "GPU-7")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert devices.cuda_devices() == ("0", "1")
