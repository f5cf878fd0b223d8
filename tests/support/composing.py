"""Composes real configs in this process, as `glyphrank run` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, open_dict

from glyphrank.composition import config_folder, register_resolvers
from glyphrank.config import build
from glyphrank.run import Run
from glyphrank.tracking.start import Start

CONF = config_folder()
GROUPS = sorted(path.name for path in CONF.iterdir() if path.is_dir() and path.name not in ("hydra", "experiment"))
CHOICES = [(group, path.stem) for group in GROUPS for path in sorted((CONF / group).glob("*.yaml"))]


def composed(folder: Path, *overrides: str) -> DictConfig:
    """The task's config, with Hydra's own set as during a job whose launch and run folder is `folder`."""
    register_resolvers()
    with initialize_config_dir(str(CONF), version_base="1.3", job_name="glyphrank"):
        config = compose("config", [f"paths.outputs={folder}/outputs", *overrides], return_hydra_config=True)
    with open_dict(config):
        config.hydra.runtime.cwd = str(folder)
        config.hydra.runtime.output_dir = str(folder / "run")
        config.hydra.job.num = 0
        HydraConfig.instance().set_config(config)
        del config["hydra"]
    return config


def built(folder: Path, *overrides: str) -> tuple[Run, Start]:
    """The run that these overrides describe, and what a tracker is told of it."""
    return build(composed(folder, *overrides))


def filled(node: object, name: str = "") -> Any:
    """A node of a YAML with what it leaves open given as a person would."""
    if isinstance(node, dict):
        return {str(key): filled(value, str(key)) for key, value in node.items()}
    if isinstance(node, list):
        return [filled(value) for value in node]
    if str(node).startswith("${oc.env:"):
        return "http://127.0.0.1:5000"
    if node == "${frames.count}":
        return 4
    return ("0" * 40 if name == "revision" else "nowhere") if node == "???" else node
