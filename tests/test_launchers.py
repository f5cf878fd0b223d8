"""The presets of launchers stand alone, and Optuna looks for the primary metric."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import OmegaConf

from composing import CONF
from glyphrank.composition import register_resolvers

PRESETS = sorted(path.stem for path in (CONF / "hydra" / "launcher").glob("*.yaml"))
SCHEMAS = {
    "local_parallel": ("hydra_joblib_launcher", "JobLibLauncherConf"),
    "slurm": ("hydra_submitit_launcher", "SlurmQueueConf"),
    "slurm_local": ("hydra_submitit_launcher", "LocalQueueConf"),
}


def hydra_of(*overrides: str) -> Any:
    """Hydra's own node of the config that these overrides describe."""
    register_resolvers()
    with initialize_config_dir(str(CONF), version_base="1.3", job_name="glyphrank"):
        config = compose("config", list(overrides), return_hydra_config=True)
    return config.hydra


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_names_every_field_of_its_plug_in(preset: str) -> None:
    package, schema = SCHEMAS[preset]
    pytest.importorskip(f"hydra_plugins.{package}")
    known = getattr(import_module(f"hydra_plugins.{package}.config"), schema)
    given = yaml.safe_load((CONF / "hydra" / "launcher" / f"{preset}.yaml").read_text(encoding="utf-8"))
    assert set(given) == {field.name for field in fields(known)}
    assert given["_target_"] == known()._target_


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_keeps_what_it_makes_in_the_sweeps_folder(preset: str, tmp_path: Path) -> None:
    launcher = hydra_of(f"hydra/launcher={preset}", f"hydra.sweep.dir={tmp_path}/sweep").launcher
    OmegaConf.resolve(launcher)
    assert launcher.get("submitit_folder", f"{tmp_path}/sweep/.submitit/%j") == f"{tmp_path}/sweep/.submitit/%j"


@pytest.mark.parametrize(
    ("metric", "direction"), [("ndcg_at_10", "maximize"), ("median_rank", "minimize"), ("v2t/mean_rank", "minimize")]
)
def test_optuna_looks_for_the_better_end_of_the_primary_metric(metric: str, direction: str) -> None:
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    sweeper = hydra_of("hydra/sweeper=optuna", f"metrics.primary={metric}").sweeper
    assert (sweeper.direction, sweeper.max_failure_rate, sweeper.sampler.seed) == (direction, 1.0, 7)


def test_optuna_takes_other_samplers_and_a_direction_that_is_given() -> None:
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    sweeper = hydra_of(
        "hydra/sweeper=optuna", "hydra/sweeper/sampler=random", "hydra.sweeper.direction=minimize"
    ).sweeper
    assert (sweeper.direction, sweeper.sampler._target_) == ("minimize", "optuna.samplers.RandomSampler")


def test_sampler_asks_for_the_same_cells_again() -> None:
    optuna = pytest.importorskip("optuna")
    asked = []
    for _ in range(2):
        study = optuna.create_study(sampler=instantiate(hydra_of("hydra/sweeper=optuna").sweeper.sampler))
        asked.append([study.ask().suggest_uniform("k1", 0.5, 2.0) for _ in range(3)])
    assert asked[0] == asked[1]
