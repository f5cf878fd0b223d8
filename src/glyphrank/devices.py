"""Where models run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from glyphrank.device_leases import DeviceLeases, lease_folder
from glyphrank.errors import ConfigError
from glyphrank.packages import import_package

_LEASES = DeviceLeases(lease_folder())


def choose_device(name: str) -> str:
    """The device that `runtime.device` means here: `auto` takes a CUDA device, else Apple's, else the CPU.

    With several CUDA devices `auto` takes one that no other process of this host took so, and this process keeps it
    until the block of `leases` ends; it waits while all are taken. A device that is named is simply used.

    Raises:
        ConfigError: the name is unknown, or the device is not on this machine.
    """
    torch = import_package("torch", "torch")

    cuda = cuda_devices()
    there = ["cpu", *(f"cuda:{number}" for number in range(len(cuda)))]
    if torch.backends.mps.is_available():
        there.append("mps")
    if name == "auto":
        if len(cuda) > 1:
            return f"cuda:{_LEASES.take(cuda)}"
        return next((device for device in ("cuda:0", "mps") if device in there), "cpu")
    device = "cuda:0" if name == "cuda" else name
    if device not in there:
        raise ConfigError(
            f"runtime.device is {name!r}; this machine has {', '.join(there)}; wanted auto or one of them"
        )
    return device


@contextmanager
def leases() -> Iterator[None]:
    """The block of one cell: a device that it took is free for others when the block ends."""
    try:
        yield
    finally:
        _LEASES.release()


def cuda_devices() -> tuple[str, ...]:
    """The CUDA devices that this process sees, in CUDA's order, by names that all processes of the host share."""
    torch = import_package("torch", "torch")

    count = torch.cuda.device_count()
    visible = [entry.strip() for entry in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if entry.strip()]
    given = visible if len(visible) >= count else [str(number) for number in range(count)]
    names = (_identifier(torch, number) or given[number] for number in range(count)) if count > 1 else ("0",) * count
    return tuple(re.sub(r"[^A-Za-z0-9-]", "_", name) for name in names)


def _identifier(torch: Any, number: int) -> str:
    """The identifier of the physical device, whatever CUDA_VISIBLE_DEVICES makes of the order; empty if not known."""
    try:
        return str(torch.cuda.get_device_properties(number).uuid)
    except (AttributeError, RuntimeError):
        return ""
