from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from clip_files import taking, write_clip
from glyphrank.errors import ConfigError
from glyphrank.media import processes
from glyphrank.media.decoder import Decoder, Look, Seen
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.processes import Answer, WorkerProcess
from glyphrank.records import Media
from strange_looks import Endless, acting, picture

pytestmark = pytest.mark.skipif(os.name != "posix", reason="media are decoded in the process itself here")
PREPARED = Look(taking(4), acting, True)
BOTH = Look(Endless(), None, True)


def outcomes(found: list[Seen | MediaError]) -> list[str]:
    return [item.fault.value if isinstance(item, MediaError) else "seen" for item in found]


@pytest.mark.parametrize(
    ("act", "fault"),
    [
        ("hang", MediaFault.too_slow),
        ("hang asleep", MediaFault.too_slow),
        ("kill", MediaFault.crashed),
        ("abort", MediaFault.crashed),
        ("eat", MediaFault.too_large),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_decoder_that_misbehaves_costs_its_item_alone(
    tmp_path: Path, act: str, fault: MediaFault, workers: int
) -> None:  # case V01
    acts = ["good", act, "good", "good", act, "good"]
    media = [picture(tmp_path, each, str(number)) for number, each in enumerate(acts)]
    with Decoder(workers, 1.5, 1) as decoder:
        found = list(decoder.run(media, PREPARED))
        assert outcomes(found) == ["seen", fault.value, "seen", "seen", fault.value, "seen"]
        assert str(found[4]).startswith("4.png: ")
        assert outcomes(list(decoder.run(media[2:4], PREPARED))) == ["seen", "seen"]


def test_the_message_names_the_limit_and_where_it_is_set(tmp_path: Path) -> None:
    media = [picture(tmp_path, act, act) for act in ("hang", "kill", "eat")]
    with Decoder(2, 1, 2) as decoder:
        slow, dead, large = map(str, decoder.run(media, PREPARED))
    assert slow == "hang.png: not decoded within 1 s (runtime.media_seconds)"
    assert dead == (
        "kill.png: the process that decoded it died (signal SIGKILL); "
        "perhaps it needed more than 2 GiB (runtime.media_memory)"
    )
    assert large == "eat.png: needs more memory than the 2 GiB that it may take (runtime.media_memory)"


def test_a_clip_that_is_never_sampled_ends_at_the_limit(tmp_path: Path) -> None:  # case V01
    media = [Media(write_clip(tmp_path / "a.mp4", 3), None, "a"), picture(tmp_path, "good", "b")]
    with Decoder(1, 1, 4) as decoder:
        assert outcomes(list(decoder.run(media, BOTH))) == ["too_slow", "seen"]


def test_the_time_of_an_item_begins_when_its_turn_comes(tmp_path: Path) -> None:
    media = [picture(tmp_path, "slow", str(number)) for number in range(6)]  # 0.4 s each, 2.4 s in all
    with Decoder(1, 1.6, 4) as decoder:
        assert outcomes(list(decoder.run(media, PREPARED))) == ["seen"] * 6


def test_a_consumer_that_takes_its_time_costs_no_item(tmp_path: Path) -> None:
    media = [picture(tmp_path, "good", str(number)) for number in range(4)]
    with Decoder(1, 1, 4) as decoder:
        run = decoder.run(media, PREPARED)
        found = [next(run)]
        time.sleep(2.5)
        assert outcomes(found + list(run)) == ["seen"] * 4


def test_a_run_that_was_left_with_a_hanging_item_does_not_hold_up_the_next(tmp_path: Path) -> None:
    media = [picture(tmp_path, act, str(number)) for number, act in enumerate(["good", "hang", "good"])]
    with Decoder(1, 1.5, 4) as decoder:
        left = decoder.run(media, PREPARED)
        next(left)
        time.sleep(0.3)
        del left
        assert outcomes(list(decoder.run(media[::2], PREPARED))) == ["seen", "seen"]


def alive(number: str) -> bool:
    """Whether any of its threads is: what it has open is closed with the last of them."""
    try:
        if len(list(Path(f"/proc/{number}/task").iterdir())) > 1:
            return True
        return "Z" not in Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def children_of(number: int) -> list[str]:
    names: list[str] = []
    for task in Path(f"/proc/{number}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            names += (task / "children").read_text().split()
    return names


ENDLESS = """
import sys
from pathlib import Path
from glyphrank.media.decoder import Decoder, Look
from glyphrank.media.sampling import Middles
from glyphrank.records import Media
from strange_looks import acting
with Decoder(2, 100, 4) as decoder:
    media = [Media(Path(path), None, "") for path in sys.argv[1:]]
    run = decoder.run(media, Look(Middles(1, 100, 10**6), acting, True))
    next(run)
    print("one is seen", flush=True)
    list(run)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the children of a process are found in /proc")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_processes_end_with_their_parent_however_it_ends(tmp_path: Path, ending: signal.Signals) -> None:
    media = [picture(tmp_path, act, act) for act in ("good", "hang asleep", "hang")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", ENDLESS, *(str(item.path) for item in media)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, process_group=0
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"one is seen\n"
        assert wait_for(lambda: len(children_of(parent.pid)) == 2, 10)
        children = children_of(parent.pid)
        os.killpg(parent.pid, ending)
    assert parent.returncode != 0
    assert wait_for(lambda: not any(map(alive, children)), 10)


def test_an_interrupt_of_the_terminal_reaches_no_worker(tmp_path: Path) -> None:
    media = [picture(tmp_path, "good", str(number)) for number in range(3)]
    with Decoder(1, 30, 4) as decoder:
        list(decoder.run(media, PREPARED))
        (child,) = children_of(os.getpid())
        os.kill(int(child), signal.SIGINT)
        assert outcomes(list(decoder.run(media, PREPARED))) == ["seen"] * 3
        assert children_of(os.getpid()) == [child]


def test_no_process_is_left_when_the_decoder_is_closed(tmp_path: Path) -> None:
    media = [picture(tmp_path, act, act) for act in ("good", "hang")]
    with Decoder(2, 100, 4) as decoder:
        run = decoder.run(media, PREPARED)
        next(run)
        assert len(children_of(os.getpid())) == 2
    assert children_of(os.getpid()) == []


def test_a_worker_killed_while_it_waits_costs_no_item(tmp_path: Path) -> None:
    media = [picture(tmp_path, "good", str(number)) for number in range(4)]
    with Decoder(1, 30, 4) as decoder:
        for _ in range(3):
            assert outcomes(list(decoder.run(media, PREPARED))) == ["seen"] * 4
            (child,) = children_of(os.getpid())
            os.kill(int(child), signal.SIGKILL)
            assert wait_for(partial(is_gone, child), 5)


WIDE = 2000
"""A picture as wide as that is larger than what the system keeps of a message."""


def large(folder: Path, count: int) -> list[Media]:
    for number in range(count):
        Image.new("RGB", (WIDE, WIDE // 2)).save(folder / f"{number}.png")
    return [Media(folder / f"{number}.png", None, str(number)) for number in range(count)]


def is_gone(child: str) -> bool:
    return not alive(child)


def stop(child: str) -> None:
    os.kill(int(child), signal.SIGSTOP)
    assert wait_for(lambda: "T" in Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0], 5)


@pytest.mark.skipif(sys.platform != "linux", reason="the children of a process are found in /proc")
def test_a_worker_that_stops_while_it_sends_costs_its_item_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case V01
    def stopped_once(process: WorkerProcess) -> Answer | None:
        if process.task is not None and not stopped:  # the answer is larger than what the system keeps for us
            stopped.append(str(process._process.pid))
            stop(stopped[0])
        return receive(process)

    stopped: list[str] = []
    receive = WorkerProcess.receive
    monkeypatch.setattr(WorkerProcess, "receive", stopped_once)
    media = large(tmp_path, 3)
    with Decoder(1, 1.5, 4) as decoder:
        found = list(decoder.run(media, Look(taking(1, long_side=WIDE), None, True)))
    assert outcomes(found) == ["too_slow", "seen", "seen"]
    assert not alive(stopped[0])


@pytest.mark.skipif(sys.platform != "linux", reason="the children of a process are found in /proc")
def test_a_worker_that_stops_while_it_waits_costs_no_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_SECONDS_TO_SEND", 0.5)
    media = large(tmp_path, 2)
    heavy = partial(np.maximum, np.zeros((WIDE // 2, WIDE, 3), dtype=np.uint8))  # and so is the message with it
    with Decoder(1, 30, 4) as decoder:
        list(decoder.run(media, PREPARED))
        (child,) = children_of(os.getpid())
        stop(child)
        found = list(decoder.run(media, Look(taking(1, long_side=WIDE), heavy, True)))
        assert outcomes(found) == ["seen", "seen"]
        assert not alive(child)


def test_workers_that_cannot_start_are_reported_and_not_tried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    reason = r"3 processes in a row that were to decode media did not start \(exit code 1\)"
    with Decoder(2, 1, 4) as decoder, pytest.raises(ConfigError, match=reason):
        list(decoder.run([picture(tmp_path, "good", "a")], PREPARED))


def test_a_worker_that_dies_while_it_starts_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_fails = tmp_path / "python"
    first_fails.write_text(
        f'#!/bin/sh\n[ -e {tmp_path}/tried ] || {{ touch {tmp_path}/tried; kill -9 $$; }}\nexec {sys.executable} "$@"\n'
    )
    first_fails.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(first_fails))
    with Decoder(1, 30, 4) as decoder:
        assert outcomes(list(decoder.run([picture(tmp_path, "good", "a")], PREPARED))) == ["seen"]
