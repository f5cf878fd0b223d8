"""Cells that the plan, Hydra's check and its launcher ask for are composed once, and nobody gets another's changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import OmegaConf, open_dict

from glyphrank.composed_once import composed_once
from glyphrank.composition import config_folder, register_resolvers


@pytest.fixture
def loader() -> Iterator[Any]:
    register_resolvers()
    with initialize_config_dir(str(config_folder()), version_base="1.3", job_name="test"):
        yield GlobalHydra.instance().config_loader()


def test_cells_are_composed_once_in_three_and_each_is_its_askers_own(
    loader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    master = loader.load_configuration("config", [], run_mode=RunMode.MULTIRUN)
    compose, composed = loader.load_sweep_config, list[tuple[str, ...]]()

    def counting(config: Any, overrides: list[str]) -> Any:
        composed.append(tuple(overrides))
        return compose(config, overrides)

    monkeypatch.setattr(loader, "load_sweep_config", counting)
    wanted = OmegaConf.to_container(compose(master, ["lexical.k1=2"]))
    with composed_once():
        for _ in range(3):
            found = loader.load_sweep_config(master, ["lexical.k1=2"])
            assert OmegaConf.to_container(found) == wanted
            with open_dict(found):
                found.hydra.job.id = "changed"
                del found["lexical"]
        assert loader.load_sweep_config(master, ["lexical.k1=3"]).lexical.k1 == 3
        assert composed == [("lexical.k1=2",), ("lexical.k1=3",)]
        loader.load_sweep_config(master, ["lexical.k1=2"])  # a fourth time: it was let go
        assert len(composed) == 3
    assert loader.load_sweep_config is counting
