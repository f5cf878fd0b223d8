"""Sweeps on a real Slurm of one node, which this file starts and ends."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import glyphrank, ran
from held_cells import records
from shared_sweeps import CELLS, check_shared, runs_of, swept
from slow_cells import slow_cells

NODE = Path(__file__).parents[1] / "support" / "slurm_node.sh"
PRESET = ("hydra/launcher=slurm", "hydra.launcher.cpus_per_task=1")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands find the cluster."""
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    lacking = [name for name in ("sbatch", "slurmctld", "slurmd", "munged") if shutil.which(name, path=path) is None]
    if lacking or os.geteuid() != 0:
        pytest.skip(f"wanted root and Debian's slurmctld, slurmd, slurm-client and munge; missing: {lacking or 'root'}")
    folder = tmp_path_factory.mktemp("slurm")
    subprocess.run([NODE, "up", folder], check=True, timeout=60)
    yield {"SLURM_CONF": str(folder / "slurm.conf")}
    subprocess.run([NODE, "down", folder], check=True, timeout=60)


def test_jobs_of_slurm_read_every_clip_once_between_them(slurm: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("easyocr_en_models")
    left = swept(tmp_path, *PRESET, *CELLS, env=slurm)
    check_shared(left)
    assert list(tmp_path.glob("outputs/sweeps/*/*/.submitit/*/*_log.err"))


def test_preset_works_as_it_is(slurm: dict[str, str], tmp_path: Path) -> None:
    sweep = ("run", "-m", "hydra/launcher=slurm", "encoder@lexical=bm25_words,bm25_ngrams", "tracking=none")
    ran(*sweep, cwd=tmp_path, env=slurm)
    assert len(list(tmp_path.glob("outputs/sweeps/*/*/*/report.json"))) == 2
    assert list(tmp_path.glob("outputs/sweeps/*/*/comparison.md"))
    assert len(list(tmp_path.glob("outputs/sweeps/*/*/.submitit/*/*_log.err"))) == 2
    assert not list(tmp_path.rglob("*.pkl"))  # which hold what a person gave, secrets too: case L15


def test_job_that_dies_without_a_word_is_noticed_without_accounting(slurm: dict[str, str], tmp_path: Path) -> None:
    sweep = (*slow_cells(tmp_path), "text.seconds=-1,1", "hydra.sweep.dir=outputs/kept")
    done = glyphrank("run", "-m", *sweep, *PRESET, cwd=tmp_path, env=slurm, seconds=150)
    assert done.returncode == 1, done.stderr
    assert "sacct" not in done.stderr
    assert "glyphrank: 1 of the sweep's 2 cells failed:\n  cell 0: " in done.stderr
    assert [cell["state"] for cell in records(tmp_path / "outputs" / "kept")] == ["failed", "finished"]
    assert not list(tmp_path.rglob("*.pkl"))  # case L15
    assert (tmp_path / "outputs" / "kept" / "comparison.md").exists()
    assert sorted(status for status, _ in runs_of(tmp_path)) == ["FAILED", "FAILED", "FINISHED"]


def test_job_that_slurm_refuses_is_one_error(slurm: dict[str, str], tmp_path: Path) -> None:
    sweep = ("run", "-m", *PRESET, "hydra.launcher.partition=nowhere", "encoder@lexical=bm25_words,bm25_ngrams")
    done = glyphrank(*sweep, "tracking=none", cwd=tmp_path, env=slurm)
    assert done.returncode == 2, done.stderr
    assert "Slurm took no job: sbatch: error: invalid partition specified: nowhere" in done.stderr
    assert "Traceback" not in done.stderr
