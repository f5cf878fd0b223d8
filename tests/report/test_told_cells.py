from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from glyphrank.report import told_cells
from glyphrank.report.cells import CellRecord, State, write_cell
from glyphrank.report.told_cells import failures_told


def test_cell_that_fails_elsewhere_is_told_once_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:  # case H02
    monkeypatch.setattr(told_cells, "_SECONDS", 0.01)
    with caplog.at_level(logging.ERROR), failures_told(tmp_path, "a1"):
        for number, state in enumerate((State.failed, State.finished, State.failed)):
            write_cell(tmp_path, CellRecord("a1", 0.0, number, str(number), ("k1=1",), state, error="no room"))
            time.sleep(0.1)
    assert [record.message for record in caplog.records] == [
        "glyphrank: cell 0 failed: k1=1\nno room",
        "glyphrank: cell 2 failed: k1=1\nno room",
    ]
