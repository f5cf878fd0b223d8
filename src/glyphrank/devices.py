"""Where models run."""

from __future__ import annotations

from glyphrank.errors import ConfigError
from glyphrank.packages import import_package


def choose_device(name: str) -> str:
    """The device that `runtime.device` means here: `auto` takes a CUDA device, else Apple's, else the CPU.

    Raises:
        ConfigError: the name is unknown, or the device is not on this machine.
    """
    torch = import_package("torch", "torch")

    there = ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        there.append("mps")
    if name == "auto":
        return next((device for device in ("cuda:0", "mps") if device in there), "cpu")
    device = "cuda:0" if name == "cuda" else name
    if device not in there:
        raise ConfigError(
            f"runtime.device is {name!r}; this machine has {', '.join(there)}; wanted auto or one of them"
        )
    return device
