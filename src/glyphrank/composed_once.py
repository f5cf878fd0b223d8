"""Cells composed once: a sweep's plan, Hydra's check of it and Hydra's launcher each ask for all of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

_ASKED = 3
"""How often each cell is asked for, after which it is let go."""


@dataclass
class _Composed:
    config: DictConfig
    left: int = _ASKED


@contextmanager
def composed_once() -> Iterator[None]:
    """Within this, Hydra composes the cell of the same overrides once, which is most of what a cached cell costs it.

    For launchers that run the cells in this very process: others hand Hydra's loader on, to compose in theirs.
    """
    loader = GlobalHydra.instance().config_loader()
    compose = loader.load_sweep_config
    known: dict[tuple[str, ...], _Composed] = {}

    def load_sweep_config(master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        asked = tuple(sweep_overrides)
        if asked not in known:
            known[asked] = _Composed(compose(master_config, sweep_overrides))
        found = known[asked]
        found.left -= 1
        if not found.left:
            del known[asked]
            return found.config
        return copy.deepcopy(found.config)

    loader.load_sweep_config = load_sweep_config  # type: ignore[method-assign]  # of this instance alone
    try:
        yield
    finally:
        loader.load_sweep_config = compose  # type: ignore[method-assign]
