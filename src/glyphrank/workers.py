"""The processes in which a launcher runs a sweep's cells on this host: their share of the cores, and their end."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from types import FrameType
from typing import Any

from glyphrank.slurm_jobs import SlurmJobs

GRACE = 10.0
"""Seconds that cells have to end their runs in the store before their processes are killed."""
_POLL = 2.0
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")
_LISTING = ("ps", "-A", "-o", "pid=,ppid=,state=,args=")

logger = logging.getLogger("glyphrank")


def share_cores(launcher: MutableMapping[str, Any], cells: int) -> None:
    """Lets a launcher start no more processes than there are cells, and gives each its share of this host's cores.

    Threads of several processes that wait for one another on the same cores make reading scene text four times slower.
    What a person set is kept: a number of processes below the number of cells, variables of the environment.

    Args:
        launcher: node of the config, whose `n_jobs` is lowered where it has one; others are left alone, unless all of
            their cells start at once on this host.
        cells: how many the launcher is given at a time, at least 1.
    """
    kind, cores = _kind(launcher.get("_target_")), _cores()
    wanted = launcher.get("n_jobs")
    if kind == "JoblibLauncher" and isinstance(wanted, int) and wanted != 0:  # joblib says what is wrong with others
        at_once = wanted if wanted > 0 else max(cores + 1 + wanted, 1)
        launcher["n_jobs"] = min(at_once, cells)  # from which joblib counts the threads of each
    elif kind == "LocalLauncher":
        for name in _THREADS:
            os.environ.setdefault(name, str(max(cores // cells, 1)))


def threads_each(processes: int) -> dict[str, str]:
    """Variables that give each of several processes its share of the cores, but for those that a person set."""
    return {name: str(max(_cores() // processes, 1)) for name in _THREADS if name not in os.environ}


@contextmanager
def ending_workers(launcher: str, jobs: SlurmJobs) -> Iterator[None]:
    """While a launcher of processes on this host is at work, a signal that ends this process ends them first.

    Without that, joblib kills cells whose runs then stay open in the store, and submitit leaves them running. Cells get
    SIGTERM, `GRACE` seconds, and SIGKILL. Jobs of Slurm are cancelled by Ctrl-C only; otherwise, as where a terminal is
    lost, they go on, which is said, and their results wait for the sweep that is started again.

    submitit gives up at the first cell whose process died without a word. The others go on, and are waited for here.

    Args:
        launcher: name of the class of Hydra's launcher; with Hydra's own, which starts none, nothing happens.
        jobs: those of this launch, where it gives them to Slurm.
    """
    known = launcher in ("JoblibLauncher", "LocalLauncher", "SlurmLauncher")
    if not known or threading.current_thread() is not threading.main_thread():
        yield
        return
    own = os.getpid()
    previous = {number: signal.getsignal(number) for number in _numbers()}

    def receive(number: int, frame: FrameType | None) -> None:
        for signum in previous:
            signal.signal(signum, signal.SIG_IGN)  # a second Ctrl-C would leave them
        try:
            if os.getpid() == own and launcher == "SlurmLauncher":
                jobs.leave(cancel=number == signal.SIGINT)
            elif os.getpid() == own:
                _end(_descendants(own))
        finally:
            _install(previous)
        before = previous[number]
        if callable(before):
            before(number, frame)
        else:
            os.kill(os.getpid(), number)

    taken = {number: before for number, before in previous.items() if before not in (None, signal.SIG_IGN)}
    try:
        for number in taken:
            signal.signal(number, receive)
        yield
    except Exception:
        outlast(launcher, jobs)
        raise
    finally:
        _install(taken)


def outlast(launcher: str, jobs: SlurmJobs) -> None:
    """Waits for the processes or jobs that are left of a launcher that gave up."""
    said = False
    while jobs.are_left() if launcher == "SlurmLauncher" else launcher == "LocalLauncher" and _descendants(os.getpid()):
        if not said:
            logger.error("a cell's process ended without a word; waiting for the others")
            said = True
        time.sleep(_POLL)


def leave_worker(code: int) -> None:
    """Ends a launcher's worker whose cell was asked to end, before it is handed the next; elsewhere does nothing."""
    if not _is_worker():
        return
    logging.shutdown()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def forget_given(done: Any) -> None:
    """In a process of submitit's whose cell has ended: what a person gave, secrets too, is not written on its way back.

    Args:
        done: what Hydra returns of the cell, whose value and status stay.
    """
    if not _is_of_submitit():
        return
    from submitit import JobEnvironment

    done.cfg = done.hydra_cfg = done.overrides = None
    with suppress(OSError):
        JobEnvironment().paths.submitted_pickle.unlink()


@contextmanager
def removing_pickles(jobs: SlurmJobs, launcher: str) -> Iterator[None]:
    """Removes what was given to submitit's processes in this block and is left of those that died; secrets are in it.

    Jobs of Slurm that may go on keep theirs, and remove them when they end.

    Args:
        jobs: those of this launch; their folder is that of submitit's local processes too.
        launcher: name of the class of Hydra's launcher.
    """
    former = set(jobs.submitted.rglob("*.pkl"))
    interrupted = True
    try:
        yield
        interrupted = False
    except Exception:
        interrupted = False
        raise
    finally:
        if launcher != "SlurmLauncher" or (not interrupted and jobs.are_left() is False):
            for path in set(jobs.submitted.rglob("*.pkl")) - former:
                with suppress(OSError):
                    path.unlink()


class Orphan:
    """Lets a process of joblib's end when the one that launched it is gone: after the cell in hand, at once without.

    It would wait minutes for more cells, or take those that are in its queue, and keep its models in memory meanwhile.
    """

    def __init__(self, parent: int) -> None:
        self._parent = parent
        self._idle = threading.Event()
        self._watching = False

    def begin(self) -> None:
        """A cell begins, unless there is nobody any more to run it for."""
        self._idle.clear()
        self._leave_if_alone()
        if not self._watching and _is_of_joblib():
            self._watching = True
            threading.Thread(target=self._watch, name="orphan", daemon=True).start()

    def end(self) -> None:
        """A cell has ended, and its record is written."""
        self._leave_if_alone()
        self._idle.set()

    def _watch(self) -> None:
        while True:
            time.sleep(_POLL)
            if self._idle.is_set():
                self._leave_if_alone()

    def _leave_if_alone(self) -> None:
        if _is_of_joblib() and os.getppid() != self._parent:
            leave_worker(1)


@cache
def orphan_of(parent: int) -> Orphan:
    """The one of this process, whose cells each bring the number of the process that launched them."""
    return Orphan(parent)


def _is_of_joblib() -> bool:
    return multiprocessing.current_process().name.startswith("LokyProcess")


def _is_of_submitit() -> bool:
    specification = getattr(sys.modules["__main__"], "__spec__", None)
    return specification is not None and specification.name == "submitit.core._submit"


def _is_worker() -> bool:
    return _is_of_submitit() or _is_of_joblib()


def _kind(target: object) -> str:
    return str(target).rpartition(".")[2]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _numbers() -> list[int]:
    return [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]


def _install(handlers: MutableMapping[int, Any]) -> None:
    for number, handler in handlers.items():
        if handler is not None:
            signal.signal(number, handler)


def _end(processes: Sequence[int]) -> None:
    """Asks processes to end, waits for them, and kills those that do not."""
    _send(processes, signal.SIGTERM)
    until = time.monotonic() + GRACE
    while (left := [pid for pid in processes if _lives(pid)]) and time.monotonic() < until:
        time.sleep(0.05)
    _send(left, signal.SIGKILL)


def _send(processes: Sequence[int], number: int) -> None:
    for pid in processes:
        with suppress(OSError):
            os.kill(pid, number)


def _lives(pid: int) -> bool:
    """Whether it still runs; a child of this process that has ended is only waiting to be asked for its exit code."""
    return any(state[0] != "Z" for one, _, state, _ in _processes() if one == pid)


def _descendants(root: int) -> list[int]:
    """Processes that this one started, directly or not; those that clean up after the others end by themselves."""
    found, known = [root], _processes()
    for parent in found:
        found += [pid for pid, above, _, _ in known if above == parent]
    ignored = {pid for pid, _, state, command in known if "resource_tracker" in command or state[0] == "Z"}
    return [pid for pid in found[1:] if pid not in ignored]


def _processes() -> list[tuple[int, int, str, str]]:
    """Number, parent's number, state and command of every process of this host, but for the one that lists them."""
    try:
        listed = subprocess.run(_LISTING, capture_output=True, text=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    rows = (line.split(None, 3) for line in listed.splitlines())
    own = " ".join(_LISTING)
    return [(int(row[0]), int(row[1]), row[2], row[3]) for row in rows if len(row) == 4 and row[3] != own]
