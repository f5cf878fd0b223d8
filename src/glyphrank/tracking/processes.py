"""Which process a run belongs to, told so that any other process of the machine can see whether it is still there."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from glyphrank.digests import digest_text

_PROC = Path("/proc")
_FIRST_NAMESPACE = "4026531836"
"""Linux gives the namespace of processes outside all containers this number, after every start of the machine."""


class Life(StrEnum):
    """What this process can tell of another; `unknown` of one on another machine or in another container."""

    alive = "alive"
    dead = "dead"
    unknown = "unknown"


def own_process() -> str:
    """This process as the tag `process` has it: its number, its start, and the machine's; fields may be empty.

    `pid=4711 started=93117 boot=... namespace=... machine=...`: a number alone is given to another process one day.
    """
    return " ".join(f"{name}={value}" for name, value in _described(os.getpid()).items())


def life_of(host: str, process: str) -> Life:
    """Whether a process lives, from the tags `host` and `process` of its run.

    Machines may share a name, so that one counts as ours only where its own number and its containers' agree too. One
    that was started anew since has none of its processes left.
    """
    given = dict(part.split("=", 1) for part in process.split() if "=" in part)
    own = _described(os.getpid())
    foreign = any(given.get(name) != own[name] for name in ("machine", "namespace"))
    if host != socket.gethostname() or foreign or not given.get("pid", "").isdecimal() or os.name != "posix":
        return Life.unknown
    if given.get("boot") != own["boot"]:
        sure = own["machine"] and own["namespace"] == _FIRST_NAMESPACE and given.get("boot")
        return Life.dead if sure else Life.unknown
    return _life_here(int(given["pid"]), given.get("started", ""))


def _life_here(pid: int, started: str) -> Life:
    if _PROC.joinpath("self").exists():
        return Life.alive if _started(pid) == started != "" else Life.dead
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return Life.dead
    except OSError:
        return Life.alive  # another person's
    return Life.alive


def _described(pid: int) -> dict[str, str]:
    namespace = ""
    with suppress(OSError):
        namespace = (_PROC / "self" / "ns" / "pid").readlink().name.partition("[")[2].rstrip("]")
    machine = _line(Path("/etc/machine-id"))
    return {
        "pid": str(pid),
        "started": _started(pid),
        "boot": _line(_PROC / "sys" / "kernel" / "random" / "boot_id"),
        "namespace": namespace,
        "machine": digest_text("glyphrank", machine)[:12] if machine else "",  # the number itself is confidential
    }


def _started(pid: int) -> str:
    """Clock ticks from the machine's start to the process's; empty where there is none, or only its remains."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in ("Z", "X") else fields[19]


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
