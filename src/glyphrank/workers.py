"""The processes in which a launcher runs a sweep's cells on this host: their share of the cores, and their end."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

GRACE = 10.0
"""Seconds that cells have to end their runs in the store before their processes are killed."""
_POLL = 2.0
_ATTEMPTS = 60
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")
_LISTING = ("ps", "-A", "-o", "pid=,ppid=,state=,args=")
_JOB = re.compile(r"\d+_\d+")

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


@contextmanager
def ending_workers(launcher: str, submitted: Path) -> Iterator[None]:
    """While a launcher of processes on this host is at work, a signal that ends this process ends them first.

    Without that, joblib kills cells whose runs then stay open in the store, and submitit leaves them running. Cells get
    SIGTERM, `GRACE` seconds, and SIGKILL. Jobs of Slurm are cancelled by Ctrl-C only; otherwise, as where a terminal is
    lost, they go on, which is said, and their results wait for the sweep that is started again.

    submitit gives up at the first cell whose process died without a word. The others go on, and are waited for here.

    Args:
        launcher: name of the class of Hydra's launcher; with Hydra's own, which starts none, nothing happens.
        submitted: folder in which submitit keeps its jobs, `<sweep>/.submitit`.
    """
    known = launcher in ("JoblibLauncher", "LocalLauncher", "SlurmLauncher")
    if not known or threading.current_thread() is not threading.main_thread():
        yield
        return
    began, own = time.time(), os.getpid()
    previous = {number: signal.getsignal(number) for number in _numbers()}

    def receive(number: int, frame: FrameType | None) -> None:
        for signum in previous:
            signal.signal(signum, signal.SIG_IGN)  # a second Ctrl-C would leave them
        try:
            if os.getpid() == own and launcher == "SlurmLauncher":
                _leave_jobs(submitted, began, cancel=number == signal.SIGINT)
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
        _outlast(launcher, submitted, began)
        raise
    finally:
        _install(taken)


def leave_worker(code: int) -> None:
    """Ends a launcher's worker whose cell was asked to end, before it is handed the next; elsewhere does nothing."""
    if not _is_worker():
        return
    logging.shutdown()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _is_worker() -> bool:
    specification = getattr(sys.modules["__main__"], "__spec__", None)
    of_submitit = specification is not None and specification.name == "submitit.core._submit"
    return of_submitit or multiprocessing.current_process().name.startswith("LokyProcess")


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


def _leave_jobs(submitted: Path, began: float, cancel: bool) -> None:
    """Cancels the jobs that this launch gave to Slurm, or says how."""
    arrays = _arrays(submitted, began)
    shown = " ".join(arrays)
    if arrays and cancel and _cancelled(arrays):
        logger.warning("the sweep's jobs in Slurm were cancelled: %s", shown)
    elif arrays:
        logger.warning("the sweep's jobs in Slurm go on, and their results are kept; to end them: scancel %s", shown)


def _arrays(submitted: Path, began: float) -> list[str]:
    """Slurm's numbers of the arrays of jobs that were submitted since a time."""
    try:
        folders = [path for path in submitted.iterdir() if _JOB.fullmatch(path.name)]
        return sorted({path.name.partition("_")[0] for path in folders if path.stat().st_mtime >= began - 1})
    except OSError:
        return []


def _cancelled(arrays: Sequence[str]) -> bool:
    try:
        subprocess.run(["scancel", *arrays], capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _outlast(launcher: str, submitted: Path, began: float) -> None:
    """Waits for the processes or jobs that are left."""
    arrays = _arrays(submitted, began) if launcher == "SlurmLauncher" else []
    said = False
    while _queued(arrays) if arrays else launcher == "LocalLauncher" and _descendants(os.getpid()):
        if not said:
            logger.error("a cell's process ended without a word; waiting for the others")
            said = True
        time.sleep(_POLL)


def _queued(arrays: Sequence[str]) -> bool:
    """Whether jobs wait or run; a Slurm that does not answer is asked again, one that knows none of them has none."""
    command = ["squeue", "--noheader", f"--jobs={','.join(arrays)}"]
    for _ in range(_ATTEMPTS):
        with suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode == 0 or "Invalid job id" in done.stderr:
                return bool(done.stdout.strip())
        time.sleep(_POLL)
    return False
