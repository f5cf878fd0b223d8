"""The installed wheel composes every config, with no checkout in sight."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from composing import CHOICES, CONF

ROOT = CONF.parent
EXPERIMENTS = sorted(path.stem for path in (CONF / "experiment").glob("*.yaml"))
SLOTS = {"encoder": ("visual", "text", "lexical")}

COMPOSE = """
import json, sys
from hydra import compose, initialize_config_dir
from glyphrank.composition import config_folder, register_resolvers
register_resolvers()
assert "site-packages" in str(config_folder()), config_folder()
with initialize_config_dir(str(config_folder()), version_base="1.3"):
    for override in json.loads(sys.argv[1]):
        compose("config", [override], return_hydra_config=True)
        print("composed", override)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (built,) = folder.glob("glyphrank-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, which sees this one's packages through a `.pth`; its `bin` folder."""
    folder = tmp_path_factory.mktemp("new")
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--prefix", str(folder)]
    subprocess.run([*install, "--ignore-installed", str(wheel)], check=True, capture_output=True, text=True)
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def test_wheel_holds_every_choice_and_experiment_and_no_more(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("glyphrank/conf/")}
    choices = {f"glyphrank/conf/{path.relative_to(CONF).as_posix()}" for path in CONF.glob("*/*.yaml")}
    choices |= {f"glyphrank/conf/{path.relative_to(CONF).as_posix()}" for path in CONF.glob("hydra/*/*.yaml")}
    assert names == {"glyphrank/conf/config.yaml", *choices}
    assert len(choices) > 20


def test_installed_wheel_composes_every_choice_and_experiment(installed: Path, tmp_path: Path) -> None:
    overrides = [
        f"{group}@{slot}={choice}" if slot else f"{group}={choice}"
        for group, choice in CHOICES
        for slot in SLOTS.get(group, ("",))
    ] + [f"experiment={name}" for name in EXPERIMENTS]
    import json

    command = [str(installed / "python"), "-c", COMPOSE, json.dumps(overrides)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("composed ") == len(overrides)


def test_installed_command_runs_the_default_experiment_from_any_folder(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "glyphrank"), "run", "tracking=none"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "sample_pages: " in done.stdout
    assert (tmp_path / "outputs" / "results").is_dir()
    assert list(tmp_path.glob("outputs/runs/*/*/report.html"))  # whose template the wheel holds
