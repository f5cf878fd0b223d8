from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.report.cells import CELLS, CellRecord, State, read_cells, write_cell

RECORD = CellRecord("a1", 2, "2", ("lexical=단어", "fusion=weighted_sum"), State.finished)


def test_record_reads_back_as_it_was_written(tmp_path: Path) -> None:
    write_cell(tmp_path, RECORD)
    assert read_cells(tmp_path, "a1") == [RECORD]


def test_later_record_of_a_cell_replaces_the_earlier(tmp_path: Path) -> None:
    write_cell(tmp_path, replace(RECORD, state=State.running))
    write_cell(tmp_path, RECORD)
    assert [cell.state for cell in read_cells(tmp_path, "a1")] == [State.finished]


def test_cells_come_by_number_and_without_those_of_other_launches(tmp_path: Path) -> None:
    for number, launch in ((10, "a1"), (9, "a1"), (3, "b2")):
        write_cell(tmp_path, replace(RECORD, number=number, launch=launch))
    assert [cell.number for cell in read_cells(tmp_path, "a1")] == [9, 10]


def test_folder_without_cells_has_none(tmp_path: Path) -> None:
    assert read_cells(tmp_path, "a1") == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"overrides": [], "state": "lost"}'])
def test_damaged_record_is_left_out_with_a_warning(text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_cell(tmp_path, RECORD)
    (tmp_path / CELLS / "7.json").write_text(text)
    assert read_cells(tmp_path, "a1") == [RECORD]
    assert "7.json cannot be read" in caplog.text
