"""Real processes on one cache: killed ones are resumed, and those that start together share the work.

Run as a script, this file is such a process; its arguments are those of `run`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from capitals import TEXTS, Upper, digest, stage
from glyphrank.cache import remember

WANTED = [text.upper() for text in TEXTS]


def start(
    root: Path, calls: Path, pause: float = 0.0, stuck_after: int = 1000, texts: Sequence[str] = TEXTS
) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, str(root), str(calls), str(pause), str(stuck_after), json.dumps(texts)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def outcome(process: subprocess.Popen[str]) -> dict[str, object]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = json.loads(out)
    assert isinstance(found, dict)
    return found


def lines(calls: Path) -> list[str]:
    return calls.read_text().splitlines() if calls.exists() else []


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.002)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)


@pytest.mark.parametrize("worked", [1, 30, 120])
def test_a_process_killed_at_work_is_resumed(tmp_path: Path, worked: int) -> None:  # case C02
    root, calls = tmp_path / "cache", tmp_path / "calls"
    process = start(root, calls, pause=0.005)
    wait_for(lambda: len(lines(calls)) >= worked, process)
    kill(process)
    before = len(lines(calls))
    again = Upper()
    found = again(stage(root), TEXTS)
    assert found.values == WANTED
    assert found.damaged == 0
    assert len(again.seen) <= 200 - before + 8  # at most one shard is lost
    assert again.seen == TEXTS[200 - len(again.seen) :]


@pytest.mark.parametrize("worked", [1, 60])
def test_a_process_killed_while_it_writes_leaves_nothing_that_is_read(tmp_path: Path, worked: int) -> None:  # case C02
    root, calls = tmp_path / "cache", tmp_path / "calls"
    process = start(root, calls, stuck_after=worked)
    wait_for(lambda: len(lines(calls)) >= worked and any(stage(root).folder.glob(".*zst*.tmp")), process)
    kill(process)
    halves = list(stage(root).folder.glob(".*.tmp"))
    found = Upper()(stage(root), TEXTS)
    assert halves
    assert (found.values, found.damaged) == (WANTED, 0)


@pytest.mark.parametrize("count", [2, 4])
def test_processes_that_start_together_share_the_work(tmp_path: Path, count: int) -> None:
    root, calls = tmp_path / "cache", tmp_path / "calls"
    processes = [start(root, calls, pause=0.02) for _ in range(count)]
    found = [outcome(process) for process in processes]
    assert [each["values"] for each in found] == [WANTED] * count
    assert Counter(lines(calls)) == dict.fromkeys(TEXTS, 1)
    worked = [int(str(each["worked"])) for each in found]
    assert sum(worked) == 200
    assert max(worked) < 200
    assert not any((stage(root).folder / "locks").iterdir())


def test_the_work_of_a_process_that_died_is_taken_over(tmp_path: Path) -> None:
    root, calls = tmp_path / "cache", tmp_path / "calls"
    holder = start(root, tmp_path / "calls of the holder", pause=60)
    wait_for(lambda: bool(lines(tmp_path / "calls of the holder")), holder)
    heir = start(root, calls)
    wait_for(lambda: len(lines(calls)) > 180, heir)
    time.sleep(0.3)
    assert heir.poll() is None  # all is done but the shard that the holder sits on
    kill(holder)
    assert outcome(heir)["values"] == WANTED
    assert Counter(lines(calls)) == dict.fromkeys(TEXTS, 1)


def test_nobody_waits_for_what_another_process_failed_at(tmp_path: Path) -> None:
    root, calls = tmp_path / "cache", tmp_path / "calls"
    texts = [f"bad {number}" for number in range(40)]
    processes = [start(root, calls, pause=0.01, texts=texts) for _ in range(2)]
    for process in processes:
        assert outcome(process)["values"] == [None] * 40
    assert Counter(lines(calls)).keys() == set(texts)


def run(root: Path, calls: Path, pause: float, stuck_after: int, texts: Sequence[str]) -> None:
    """Turns texts into capitals and says what came of it.

    Writes a line into `calls` and takes `pause` seconds for each text; the first write after `stuck_after` texts
    never ends.
    """

    def work(positions: Sequence[int]) -> list[str | None]:
        given = [texts[position] for position in positions]
        for text in given:
            with calls.open("a") as stream:
                stream.write(text + "\n")
            time.sleep(pause)
        return [None if text.startswith("bad") else text.upper() for text in given]

    to_the_disk = os.fsync

    def fsync(fd: Any) -> None:
        time.sleep(600 if len(lines(calls)) >= stuck_after else 0)
        to_the_disk(fd)

    os.fsync = fsync
    found = remember(stage(root), [digest(text) for text in texts], work)
    json.dump({"values": found.values, "worked": found.worked}, sys.stdout)


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), json.loads(sys.argv[5]))
