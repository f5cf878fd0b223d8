from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.report.cells import CELLS, CellRecord, State, write_cell
from glyphrank.report.claims import Asked, claimed, latest_launch

ASKED = Asked(("k1=1,2",), {"lexical": {"k1": 1.5, "b": 0.75}})


def begin(sweep: Path) -> None:
    """Leaves the record of a cell, as one that began does."""
    write_cell(sweep, CellRecord("a1", 0.0, 0, "0", (), State.running))


def test_same_sweep_has_the_folder_one_launch_after_the_other(tmp_path: Path) -> None:  # case H03
    for launch in ("a1", "b2"):
        with claimed(tmp_path, launch, ASKED):
            begin(tmp_path)
            assert latest_launch(tmp_path) == launch
    assert {path.name for path in (tmp_path / CELLS).iterdir()} == {"a1", "sweep.json", "launching.json"}


def test_folder_is_one_launching_processes_while_it_runs(tmp_path: Path) -> None:  # case H03
    with claimed(tmp_path, "a1", ASKED), pytest.raises(ConfigError) as raised, claimed(tmp_path, "b2", ASKED):
        pass
    assert f"launched by process {os.getpid()} on {socket.gethostname()}; wait" in str(raised.value)
    assert latest_launch(tmp_path) == "a1"


def test_other_overrides_are_another_sweep(tmp_path: Path) -> None:  # case H03
    with claimed(tmp_path, "a1", ASKED):
        begin(tmp_path)
    other = Asked(("k1=2,1",), ASKED.config)
    with pytest.raises(ConfigError, match=r"it holds the sweep k1=1,2; choose"), claimed(tmp_path, "b2", other):
        pass
    assert latest_launch(tmp_path) == "a1"


def test_other_fields_are_another_sweep_and_named(tmp_path: Path) -> None:  # case H03
    with claimed(tmp_path, "a1", ASKED):
        begin(tmp_path)
    other = Asked(ASKED.overrides, {"lexical": {"k1": 1.5, "b": 0.5}, "text": None})
    with pytest.raises(ConfigError, match=r"differs in lexical\.b, text; choose"), claimed(tmp_path, "b2", other):
        pass


def test_sweep_of_which_no_cell_began_leaves_the_folder_to_any(tmp_path: Path) -> None:
    with claimed(tmp_path, "a1", ASKED):
        pass
    with claimed(tmp_path, "b2", Asked((), {})):
        begin(tmp_path)
    with pytest.raises(ConfigError, match="it holds the sweep without overrides"), claimed(tmp_path, "c3", ASKED):
        pass


def test_damaged_note_of_a_launch_holds_nobody_up_and_one_of_the_sweep_does(tmp_path: Path) -> None:
    with claimed(tmp_path, "a1", ASKED):
        begin(tmp_path)
    (tmp_path / CELLS / "launching.json").write_text(json.dumps(["no", "notes"]))
    assert latest_launch(tmp_path) == ""
    with claimed(tmp_path, "b2", ASKED):
        assert latest_launch(tmp_path) == "b2"
    (tmp_path / CELLS / "sweep.json").write_text("{")
    with pytest.raises(ConfigError, match="what sweep they belong to cannot be read"), claimed(tmp_path, "c3", ASKED):
        pass


def test_order_counts_of_what_is_swept_alone(tmp_path: Path) -> None:
    swept = ("k1=1,2", "b=0,1")
    with claimed(tmp_path, "a1", Asked((*swept, "x=1"), ASKED.config, swept)):
        begin(tmp_path)
    with claimed(tmp_path, "b2", Asked(("x=1", *swept), ASKED.config, swept)):
        pass
    other = Asked(("x=1", *swept[::-1]), ASKED.config, swept[::-1])
    with (
        pytest.raises(ConfigError, match="numbers its cells in this order: k1=1,2 b=0,1"),
        claimed(tmp_path, "c3", other),
    ):
        pass


def test_file_system_without_locks_gives_the_folder_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise NotImplementedError("no locks here")

    monkeypatch.setattr("glyphrank.shard_locks.FileLock.acquire", refuse)
    with claimed(tmp_path, "a1", ASKED), claimed(tmp_path, "b2", ASKED):
        assert latest_launch(tmp_path) == "b2"
    assert "no locks here" in caplog.text
