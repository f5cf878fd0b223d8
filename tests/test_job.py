from __future__ import annotations

import asyncio
import logging
import math
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import OmegaConf, open_dict, read_write

from command import corpus
from composing import composed
from glyphrank import job
from glyphrank.job import CellFailedError, RunFailedError
from glyphrank.report.cells import CellRecord, State, read_cells, write_cell
from glyphrank.tracking.interruptions import Killed
from glyphrank.tracking.processes import own_process


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a dataset of one item."""
    corpus(tmp_path / "data", [{"id": "p1", "text": "fox"}], [{"id": "q1", "text": "fox"}], ["q1\tp1\t1"])
    yield tmp_path
    HydraConfig.instance().cfg = None


def run(folder: Path, *overrides: str, sweeper: str | None = None) -> float:
    """What Hydra's jobs return: of a single run, or of a cell under a sweeper."""
    config = composed(folder, "dataset=folder", "dataset.root=data", "tracking=none", *overrides)
    hydra: Any = HydraConfig.get()
    with read_write(hydra), open_dict(hydra):
        if sweeper:
            hydra.mode = RunMode.MULTIRUN
            hydra.sweeper._target_ = sweeper
    OmegaConf.save(config, folder / "run" / ".hydra" / "config.yaml")
    return job.job(config)


def test_used_logged_and_kept_configuration_agree(folder: Path) -> None:  # case H08
    (folder / "run" / ".hydra").mkdir(parents=True)
    numbers = iter(range(1, 100))
    OmegaConf.register_new_resolver("counted", lambda: next(numbers) / 2, replace=True)
    run(folder, "lexical.k1=${counted:}")
    kept = [yaml.safe_load((folder / "run" / name).read_text()) for name in (".hydra/config.yaml", "config.yaml")]
    assert kept[0] == kept[1]
    assert kept[0]["lexical"]["k1"] == 0.5


def test_cell_whose_sweep_was_started_again_leaves_its_folder_to_its_successor(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case H03
    (folder / "run" / ".hydra").mkdir(parents=True)
    composed(folder)
    monkeypatch.setattr("glyphrank.tracking.parents._sweeps", {HydraConfig.get().callbacks["sweep"]["launch"]: folder})
    (folder / "cells").mkdir()
    (folder / "cells" / "launching.json").write_text('{"launch": "a later one"}')
    run(folder)
    assert not (folder / "run" / "report.json").exists()
    assert len(list(folder.glob("outputs/results/*/report.json"))) == 1


@pytest.mark.parametrize(("override", "code"), [("lexical.k1=often", 2), ("dataset.root=nowhere", 2)])
def test_failed_single_run_ends_the_command_with_its_code(override: str, code: int, folder: Path) -> None:
    (folder / "run" / ".hydra").mkdir(parents=True)
    with pytest.raises(RunFailedError) as raised:
        run(folder, override)
    assert raised.value.code == code


def test_failed_cell_returns_no_number_and_is_told_at_once(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:  # case H02
    (folder / "run" / ".hydra").mkdir(parents=True)
    with caplog.at_level(logging.ERROR):
        assert math.isnan(run(folder, "lexical.k1=often", sweeper="elsewhere.BasicSweeper"))
    assert "glyphrank: failed: paths.outputs=" in caplog.text
    assert "lexical.k1=often\n1 fault in the configuration:\n  lexical.k1: found 'often'" in caplog.text
    assert job.ended().error.startswith("1 fault in the configuration: lexical.k1: found 'often' (str), wanted ")


@pytest.mark.parametrize("error", [asyncio.CancelledError("no more"), GeneratorExit("no more"), SystemExit("no more")])
def test_component_that_raises_what_is_no_exception_fails_its_cell_alone(
    error: BaseException, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:  # case H02
    def fail(*_: object) -> None:
        raise error

    (folder / "run" / ".hydra").mkdir(parents=True)
    monkeypatch.setattr("glyphrank.pipeline.execute", fail)
    with caplog.at_level(logging.ERROR):
        assert math.isnan(run(folder, sweeper="elsewhere.BasicSweeper"))
    assert f"{type(error).__name__}: no more" in job.ended().error
    assert "glyphrank: failed: " in caplog.text


@pytest.mark.parametrize(
    ("error", "why"),
    [(KeyboardInterrupt(), "KeyboardInterrupt in the cell"), (Killed(signal.SIGTERM), "killed by SIGTERM")],
)
def test_cell_that_is_interrupted_says_so_in_its_record_before_its_process_ends(
    error: BaseException, why: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    (folder / "run" / ".hydra").mkdir(parents=True)
    composed(folder)
    launch = str(HydraConfig.get().callbacks["sweep"]["launch"])
    monkeypatch.setattr("glyphrank.tracking.parents._sweeps", {launch: folder})
    for number, process in enumerate((own_process(), "pid=5")):
        write_cell(folder, CellRecord(launch, 0.0, number, "0", (), State.running, process=process))
    monkeypatch.setattr("glyphrank.pipeline.execute", fail)
    with pytest.raises(type(error)):
        run(folder, sweeper="elsewhere.BasicSweeper")
    first, second = read_cells(folder, launch)
    assert (first.state, first.error) == (State.interrupted, why)
    assert second.state is State.running


def test_failed_cell_is_an_error_to_a_sweeper_that_counts_them(folder: Path) -> None:
    (folder / "run" / ".hydra").mkdir(parents=True)
    with pytest.raises(CellFailedError, match="1 fault in the configuration: lexical"):
        run(folder, "lexical.k1=often", sweeper="elsewhere.OptunaSweeper")
