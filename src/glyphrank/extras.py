"""What a launcher or sweeper lacks on this machine: an extra of glyphrank, or Slurm."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.util import find_spec

from glyphrank.errors import ConfigError


@dataclass(frozen=True)
class _Extra:
    """An optional part of glyphrank.

    Attributes:
        name: as in `glyphrank[NAME]`.
        distribution: of the plug-in that it brings.
        package: of the plug-in, inside `hydra_plugins`.
        engine: what the plug-in runs on, as it is imported.
        choices: of Hydra's own groups, that come with the plug-in.
    """

    name: str
    distribution: str
    package: str
    engine: str
    choices: tuple[str, ...]

    @property
    def is_here(self) -> bool:
        """Whether plug-in and engine can be imported; this imports neither."""
        try:
            return None not in (find_spec(f"hydra_plugins.{self.package}"), find_spec(self.engine))
        except ImportError:  # no plug-in at all
            return False

    @property
    def wanted(self) -> str:
        """What to say where it is not here."""
        return (
            f"this launcher or sweeper needs the package {self.distribution}, which is not installed; wanted the extra "
            f"{self.name!r}: pip install 'glyphrank[{self.name}]'"
        )


_EXTRAS = (
    _Extra("parallel", "hydra-joblib-launcher", "hydra_joblib_launcher", "joblib", ("launcher/joblib",)),
    _Extra(
        *("slurm", "hydra-submitit-launcher", "hydra_submitit_launcher", "submitit"),
        ("launcher/submitit_local", "launcher/submitit_slurm"),
    ),
    _Extra("optuna", "hydra-optuna-sweeper", "hydra_optuna_sweeper", "optuna", ("sweeper/optuna", "sweeper/sampler")),
)
_NO_SLURM = "Slurm is not here: no command srun; wanted a machine that submits jobs, or hydra/launcher=slurm_local"


def check_launcher(target: str) -> None:
    """Looks whether a launcher can work here, before anything is made for its cells.

    Args:
        target: class of Hydra's launcher or sweeper, as its config names it.

    Raises:
        ConfigError: its extra is not installed, or its cluster is not here.
    """
    for extra in _EXTRAS:
        if extra.package in target.split(".") and not extra.is_here:
            raise ConfigError(extra.wanted)
    if target.endswith(".SlurmLauncher") and shutil.which("srun") is None:
        raise ConfigError(_NO_SLURM)


def missing_extra(error: BaseException) -> str | None:
    """What to mend where an error means that a launcher's or sweeper's plug-in, or Slurm, is not here; else None.

    Args:
        error: as it was raised while Hydra composed the config, or a sweep began.
    """
    if type(error).__module__.startswith("submitit.") and type(error).__name__ == "FailedJobError":
        said = [line.strip() for line in str(error).splitlines() if line.strip()]
        return f"Slurm took no job: {'; '.join(said)}; check the fields of hydra.launcher"
    if isinstance(error, RuntimeError) and "are you indeed on a slurm cluster" in str(error):
        return _NO_SLURM
    message = f"{error} {error.__cause__ or ''}"
    for extra in _EXTRAS:
        asked = any(f"'hydra/{choice}'" in message for choice in extra.choices)
        lacks = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == extra.engine
        if (asked or extra.package in message or lacks) and not extra.is_here:
            return extra.wanted
    return None
