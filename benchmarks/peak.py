"""Peak memory of this process and of the processes that it has started and that still run (Linux)."""

from __future__ import annotations

import os
from pathlib import Path


def peak_megabytes() -> float:
    """Sum of the largest resident sizes so far, in MB; children that have ended are not in it."""
    children = [
        child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return sum(_largest(process) for process in (str(os.getpid()), *children))


def _largest(process: str) -> float:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)
