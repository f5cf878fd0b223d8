from __future__ import annotations

import logging
import math
import pickle
import socket
from pathlib import Path

import pytest
from hydra.core.utils import JobReturn, JobStatus
from omegaconf import DictConfig, OmegaConf

from glyphrank import job
from glyphrank.report.cells import CELLS, State, launch_folder, read_cells
from glyphrank.sweep import Sweep, concluding
from glyphrank.tracking.parents import remembered_sweep
from glyphrank.tracking.processes import own_process


def config_in(folder: Path, mode: str = "MULTIRUN", number: int = 0) -> DictConfig:
    """What Hydra tells its callbacks of a job."""
    hydra = {
        "mode": mode,
        "runtime": {"cwd": str(folder), "output_dir": str(folder / "sweep" / str(number))},
        "sweep": {"dir": "sweep"},
        "job": {"num": number},
        "overrides": {"task": ["lexical.k1=1.5", "text.api_key=hush-hush"], "hydra": []},
        "launcher": {"_target_": "hydra._internal.core_plugins.basic_launcher.BasicLauncher"},
        "sweeper": {"params": None},
    }
    config = OmegaConf.create({"hydra": hydra})
    assert isinstance(config, DictConfig)
    from hydra.types import RunMode

    config.hydra.mode = RunMode[mode]
    return config


def returned(value: object, status: JobStatus = JobStatus.COMPLETED) -> JobReturn:
    done = JobReturn(status=status)
    done.return_value = value
    return done


def test_cell_is_recorded_as_running_from_its_beginning_without_secrets(tmp_path: Path) -> None:  # case L15
    Sweep("a1").on_job_start(config_in(tmp_path, number=3))
    (cell,) = read_cells(tmp_path / "sweep", "a1")
    assert (cell.number, cell.folder, cell.state) == (3, "3", State.running)
    assert cell.overrides == ("lexical.k1=1.5", "text.api_key=<redacted>")


@pytest.mark.parametrize(
    ("done", "state"),
    [
        (returned(0.5), State.finished),
        (returned(0.0), State.finished),
        (returned(math.nan), State.failed),
        (returned(RuntimeError("no"), JobStatus.FAILED), State.failed),
    ],
)
def test_cell_is_recorded_as_what_became_of_it(done: JobReturn, state: State, tmp_path: Path) -> None:
    sweep = Sweep("a1")
    sweep.on_job_start(config_in(tmp_path))
    sweep.on_job_end(config_in(tmp_path), done)
    assert [cell.state for cell in read_cells(tmp_path / "sweep", "a1")] == [state]


def test_finished_cell_is_recorded_with_the_result_that_it_gave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = (0.5, job.Ended(tmp_path / "results" / "1a")), (math.nan, job.Ended(error="no api_key=hush-hush"))
    for number, (value, ended) in enumerate(outcomes):
        monkeypatch.setattr(job, "_ended", [ended])
        Sweep("a1").on_job_end(config_in(tmp_path, number=number), returned(value))
    finished, failed = read_cells(tmp_path / "sweep", "a1")
    assert (finished.result, finished.error) == (str(tmp_path / "results" / "1a"), "")
    assert (failed.result, failed.error) == ("", "no api_key=<redacted>")
    assert (failed.host, failed.process) == (socket.gethostname(), own_process())


def test_folder_that_is_made_of_overrides_is_recorded_without_secrets(tmp_path: Path) -> None:  # case L15
    config = config_in(tmp_path)
    subdir = "lexical.k1=1.5,text.api_key=hush-hush,tracking.uri=http:/kim:hush-hush@host"
    config.hydra.runtime.output_dir = str(tmp_path / "sweep" / subdir)
    Sweep("a1").on_job_start(config)
    (record,) = launch_folder(tmp_path / "sweep", "a1").iterdir()
    assert "lexical.k1=1.5" in record.read_text()
    assert "hush" not in record.read_text()


def test_worker_is_told_the_folder_of_the_launching_process(tmp_path: Path) -> None:
    with concluding():
        sweep = Sweep("told")
        sweep.on_multirun_start(config_in(tmp_path))
        cell = config_in(tmp_path)
        cell.hydra.sweep.dir = "another"  # as ${paths.outputs} in it makes it
        pickle.loads(pickle.dumps(sweep)).on_job_start(cell)
        assert len(read_cells(tmp_path / "sweep", "told")) == 1
        assert remembered_sweep("told") == tmp_path / "sweep"
    assert not (tmp_path / "another").exists()


def test_cells_of_which_no_record_came_back_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = config_in(tmp_path)
    config.hydra.launcher._target_ = "elsewhere.Launcher"
    with caplog.at_level(logging.WARNING), concluding():
        Sweep("a1").on_multirun_start(config)
    assert "nothing is known of the sweep's cells: no record of one lies in" in caplog.text


def test_cell_whose_end_could_not_be_recorded_has_not_failed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), concluding():
        sweep = Sweep("a1")
        sweep.on_multirun_start(config_in(tmp_path))
        sweep.on_job_start(config_in(tmp_path))
    assert "left out, for how they ended could not be recorded: cell 0" in caplog.text
    assert "cells failed" not in caplog.text


def test_sweep_without_cells_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), concluding():
        Sweep("a1").on_multirun_start(config_in(tmp_path))
    assert "the sweep has no cells: nothing was run" in caplog.text


def test_table_of_an_earlier_sweep_does_not_stay_in_the_folder_and_a_persons_files_do(tmp_path: Path) -> None:
    names = {"comparison.md", "comparison.csv", "comparison.json", "notes.md"}
    (tmp_path / "sweep").mkdir()
    for launch, left in (("a1", names), ("b2", {"notes.md"})):
        for name in names:
            (tmp_path / "sweep" / name).touch()
        with concluding():
            Sweep(launch).on_multirun_start(config_in(tmp_path))
        assert {path.name for path in (tmp_path / "sweep").iterdir()} == left | {CELLS}


def test_what_was_asked_for_is_kept_without_secrets(tmp_path: Path) -> None:  # case L15
    with concluding():
        Sweep("a1").on_multirun_start(config_in(tmp_path))
    kept = (launch_folder(tmp_path / "sweep", "a1") / "multirun.yaml").read_text()
    assert "lexical.k1=1.5" in kept
    assert "hush" not in kept


def test_cell_outside_the_sweeps_folder_is_found_by_its_whole_path(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    config.hydra.runtime.output_dir = str(tmp_path / "elsewhere")
    Sweep("a1").on_job_start(config)
    assert [cell.folder for cell in read_cells(tmp_path / "sweep", "a1")] == [str(tmp_path / "elsewhere")]


def test_single_run_leaves_no_record(tmp_path: Path) -> None:
    sweep = Sweep("a1")
    sweep.on_job_start(config_in(tmp_path, mode="RUN"))
    sweep.on_job_end(config_in(tmp_path, mode="RUN"), returned(0.5))
    assert list(tmp_path.iterdir()) == []


def test_callback_travels_to_a_worker(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Sweep("a1"))).on_job_start(config_in(tmp_path))
    assert len(read_cells(tmp_path / "sweep", "a1")) == 1


def test_sweep_that_nobody_concludes_is_not_begun(tmp_path: Path) -> None:
    Sweep("a1").on_multirun_start(config_in(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_concluding_without_a_sweep_lets_everything_through() -> None:
    with concluding():
        pass
    with pytest.raises(SystemExit), concluding():
        raise SystemExit(3)


def test_sweep_whose_folder_cannot_be_made_is_left_to_hydra(tmp_path: Path) -> None:
    (tmp_path / "sweep").write_text("a file")
    with concluding():
        Sweep("a1").on_multirun_start(config_in(tmp_path))
    assert (tmp_path / "sweep").read_text() == "a file"


def test_sweep_whose_store_cannot_be_built_goes_on_without_a_parent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.ERROR), concluding():
        Sweep("a1").on_multirun_start(config_in(tmp_path))  # a config without tracking and paths
    assert "no parent run" in caplog.text
    assert capsys.readouterr().out == ""
    assert [path.name for path in launch_folder(tmp_path / "sweep", "a1").iterdir()] == ["multirun.yaml"]


def test_record_that_cannot_be_written_does_not_end_the_cell(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / CELLS).write_text("a file")
    Sweep("a1").on_job_start(config_in(tmp_path))
    assert "may lack this cell" in caplog.text
