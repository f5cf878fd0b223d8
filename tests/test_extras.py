"""What a launcher or sweeper lacks is told from what Hydra says of it."""

from __future__ import annotations

import shutil

import pytest

from glyphrank import extras
from glyphrank.errors import ConfigError
from glyphrank.extras import check_launcher, missing_extra

JOBLIB = "hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher"
SLURM = "hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher"


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any plug-in, and without Slurm."""
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)


@pytest.mark.parametrize(
    ("error", "extra"),
    [
        (RuntimeError(f"Unknown plugin class : '{JOBLIB}'"), "parallel"),
        (RuntimeError("In 'hydra/config': Could not find 'hydra/launcher/submitit_local'"), "slurm"),
        (RuntimeError("Could not override 'hydra/sweeper/sampler'."), "optuna"),
        (ModuleNotFoundError("No module named 'optuna'", name="optuna.distributions"), "optuna"),
    ],
)
@pytest.mark.usefixtures("nothing_here")
def test_extra_is_named_by_what_is_missing(error: Exception, extra: str) -> None:
    assert f"pip install 'glyphrank[{extra}]'" in str(missing_extra(error))


@pytest.mark.usefixtures("nothing_here")
def test_other_errors_name_no_extra() -> None:
    assert missing_extra(RuntimeError("Could not find 'hydra/launcher/jobib'")) is None
    assert missing_extra(ModuleNotFoundError("No module named 'mine'", name="mine")) is None


def test_nothing_is_missing_where_the_plug_in_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: object())
    assert missing_extra(RuntimeError("Could not find 'hydra/sweeper/sampler/tpee'")) is None
    check_launcher(JOBLIB)


@pytest.mark.usefixtures("nothing_here")
def test_launcher_that_cannot_work_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    check_launcher("hydra._internal.core_plugins.basic_launcher.BasicLauncher")
    with pytest.raises(ConfigError, match=r"hydra-joblib-launcher.*glyphrank\[parallel\]"):
        check_launcher(JOBLIB)
    monkeypatch.setattr(extras, "find_spec", lambda name: object())
    with pytest.raises(ConfigError, match="no command srun"):
        check_launcher(SLURM)
