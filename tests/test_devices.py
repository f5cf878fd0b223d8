"""Which device `runtime.device` means on this machine."""

from __future__ import annotations

import pytest

from glyphrank.devices import choose_device
from glyphrank.errors import ConfigError


def test_device_when_it_is_not_there() -> None:
    assert choose_device("cpu") == "cpu"
    with pytest.raises(ConfigError, match=r"runtime\.device is 'cuda:99'; this machine has cpu"):
        choose_device("cuda:99")


def test_device_when_it_is_left_open() -> None:
    import torch

    assert choose_device("auto") != "cpu" or not torch.cuda.is_available()
