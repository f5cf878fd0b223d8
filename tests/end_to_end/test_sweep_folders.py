"""A sweep's folder is one sweep's; paths are meant from the folder of launch; edited files stop cells, or do not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import glyphrank
from command import ran, refused
from glyphrank.composition import config_folder
from held_cells import OPTIONS, begun, install, records, tracked, worked

KEPT = "hydra.sweep.dir=outputs/kept"
SWEEP = (*OPTIONS, "encoder@lexical=none", "text.number=0,1")
STANDING_CLOCK = """
import hydra.core.utils as utils
from datetime import datetime


class Still(datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2031, 5, 6, 7, 8, 9)


utils.datetime = Still
"""


def test_folder_of_another_sweep_is_refused_before_anything_is_written(tmp_path: Path) -> None:  # case H03
    folder = install(tmp_path)
    ran("run", "-m", *SWEEP, KEPT, cwd=folder)
    kept = folder / "outputs" / "kept"
    before = {path: path.stat().st_mtime_ns for path in kept.rglob("*") if path.is_file()}
    said = refused("run", "-m", *SWEEP[:-1], "text.number=1,2", KEPT, cwd=folder)
    assert "belongs to another sweep: it holds the sweep dataset=folder dataset.root=data encoder@text=held " in said
    assert "choose another folder with hydra.sweep.dir=FOLDER" in said
    (folder / "own" / "encoder" / "held.yaml").write_text("_target_: held_cells.Held\nnumber: 7\n")
    assert "the configuration of its sweep differs in text.number;" in refused("run", "-m", *SWEEP, KEPT, cwd=folder)
    assert {path: path.stat().st_mtime_ns for path in kept.rglob("*") if path.is_file()} == before


def test_store_that_no_cell_could_use_is_told_once_before_anything_is_copied_or_run(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    sweep = ("run", "-m", "lexical.k1=1,2", "paths.outputs=o%p", "launch.snapshot=true", "hydra.sweep.dir=kept")
    said = refused(*sweep, "--config-dir", "own", cwd=tmp_path)  # an option behind overrides is one all the same
    assert said.startswith(f"glyphrank: {tmp_path}/o%p/mlflow.db: a database cannot be named by a path with '%'")
    assert said.count("\n") == 1
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("several", [False, True])
def test_launches_of_the_same_second_have_folders_of_their_own(several: bool, tmp_path: Path) -> None:  # case H04
    (tmp_path / "still").mkdir()
    (tmp_path / "still" / "sitecustomize.py").write_text(STANDING_CLOCK)
    paths = os.pathsep.join([str(tmp_path / "still"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "glyphrank", "run", "tracking=none", *(["-m", "lexical.k1=1"] if several else [])]
    surroundings = {**os.environ, "PYTHONPATH": paths, "GLYPHRANK_OUTPUTS": "outputs"}
    both = [
        subprocess.Popen(command, cwd=tmp_path, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in both:
        assert process.wait(100) == 0, process.communicate()
        process.communicate()
    first, second = (tmp_path / "outputs" / ("sweeps" if several else "runs") / "2031-05-06").iterdir()
    assert {folder.name.rpartition("-")[0] for folder in (first, second)} == {"07-08-09"}
    for folder in (first, second):
        assert len(list(folder.rglob("report.json"))) == 1
        assert len(list(folder.rglob("glyphrank.log"))) == 1


def test_relative_paths_mean_the_folder_of_launch_whatever_the_working_folder_of_a_cell(
    tmp_path: Path,
) -> None:  # case H06
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    folder = install(tmp_path)
    (folder / "below").mkdir()
    workers = ("hydra/launcher=local_parallel", "hydra.launcher.n_jobs=2")
    ran("run", "-m", *SWEEP, "hydra.job.chdir=true", *workers, cwd=folder)
    elsewhere = ("--config-dir", "../own", *SWEEP[2:4], "dataset.root=../data", *SWEEP[5:], "hydra.job.chdir=true")
    ran("run", "-m", *elsewhere, cwd=folder / "below", env={"GLYPHRANK_OUTPUTS": "../outputs"})
    assert [path.parent for path in folder.rglob("mlflow.db")] == [folder / "outputs"]
    assert len([run for run in tracked(folder) if run["status"] == "FINISHED"]) == 6
    assert worked(folder) == {0: 1, 1: 1}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of the package alone, which may be edited."""
    place = tmp_path / "checkout"
    shutil.copytree(
        Path(glyphrank.__file__).parent, place / "src" / "glyphrank", ignore=shutil.ignore_patterns("__py*")
    )
    shutil.copytree(config_folder(), place / "conf")
    return place


def edit(folder: Path, checkout: Path) -> None:
    """Changes a choice, the plug-in and a module, and adds a choice."""
    for path in (folder / "own" / "encoder" / "held.yaml", folder / "own" / "held_cells.py"):
        path.write_text("is broken: [\n")
    (checkout / "src" / "glyphrank" / "pipeline.py").write_text("raise RuntimeError('half edited')\n")
    (checkout / "conf" / "encoder" / "further.yaml").write_text("_target_: nowhere.Further\n")
    (folder / "outputs" / "go").touch()


def test_cell_stops_where_files_are_edited_while_the_sweep_runs(tmp_path: Path, checkout: Path) -> None:
    folder = install(tmp_path, hold=0)
    with begun(folder, *SWEEP, KEPT, python_path=str(checkout / "src")) as process:
        (folder / "own" / "encoder" / "held.yaml").write_text("_target_: held_cells.Held\nnumber: 8\n")
        (checkout / "conf" / "encoder" / "further.yaml").write_text("_target_: nowhere.Further\n")
        (checkout / "conf" / "encoder" / "minilm.yaml").unlink()
        (folder / "outputs" / "go").touch()
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 1, errors
    first, second = records(folder / "outputs" / "kept")
    assert (first["state"], second["state"]) == ("finished", "failed")
    assert second["error"].startswith("3 files differ from the launch of this sweep: ")
    for name, what in (("held.yaml", "changed"), ("further.yaml", "added"), ("minilm.yaml", "missing")):
        assert f"{name} ({what})" in second["error"]
    assert "launch.snapshot=true" in errors


def test_sweep_that_runs_from_a_snapshot_heeds_no_edits_in_its_workers_either(tmp_path: Path, checkout: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    folder = install(tmp_path, hold=0)
    workers = ("hydra/launcher=local_parallel", "hydra.launcher.n_jobs=2", "hydra.launcher.pre_dispatch=1")
    with begun(folder, *SWEEP, KEPT, *workers, "launch.snapshot=true", python_path=str(checkout / "src")) as process:
        edit(folder, checkout)
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    kept = folder / "outputs" / "kept"
    assert [record["state"] for record in records(kept)] == ["finished"] * 2
    assert worked(folder) == {0: 1, 1: 1}
    results = {path.name for path in (folder / "outputs" / "results").iterdir()}
    shutil.rmtree(folder / "own")
    (tmp_path / "again").mkdir()
    again = install(tmp_path / "again")
    ran("run", "-m", *SWEEP, KEPT, cwd=again, env={"PYTHONPATH": os.environ.get("PYTHONPATH", "")})
    assert {path.name for path in (again / "outputs" / "results").iterdir()} == results
