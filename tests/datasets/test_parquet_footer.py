"""Footers of parquet files: what they say of nulls, and that damaged ones end another process than this one."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from glyphrank.datasets import parquet_footer
from glyphrank.datasets.parquet_footer import Footers, Group
from glyphrank.errors import DataError
from odd_files import odd_file
from parquet_damage import break_footer, write_encrypted
from parquet_files import png, write_pictures

PICTURES = [{"bytes": png("red"), "path": "a.png"}, None, {"bytes": None, "path": "b.png"}, {"bytes": b"", "path": ""}]


def fault(footers: Footers, path: Path) -> str:
    with pytest.raises(DataError) as caught:
        footers.groups(path)
    return str(caught.value)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What each process that is started gets on its standard input."""
    asked: list[bytes] = []
    real = subprocess.run

    def noted(*arguments: Any, **options: Any) -> Any:
        asked.append(options["input"])
        return real(*arguments, **options)

    monkeypatch.setattr(subprocess, "run", noted)
    return asked


def test_rows_and_nulls_are_told_for_each_row_group_and_column(tmp_path: Path) -> None:
    path = write_pictures(tmp_path / "a.parquet", PICTURES)
    assert Footers().groups(path) == [
        Group(3, {"id": 0, "image.bytes": 2, "image.path": 1}),
        Group(1, {"id": 0, "image.bytes": 0, "image.path": 0}),
    ]
    pq.write_table(pa.table({"id": ["a", None]}), path, write_statistics=False)
    assert Footers().groups(path) == [Group(2, {"id": None})]
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), path)
    assert sum(group.rows for group in Footers().groups(path)) == 0


def test_the_files_of_a_table_are_read_by_one_process(tmp_path: Path, started: list[bytes]) -> None:
    paths = [write_pictures(tmp_path / f"corpus-0000{number}-of-00003.parquet", PICTURES) for number in range(3)]
    write_pictures(tmp_path / "queries.parquet", PICTURES)
    odd_file(tmp_path / "corpus-00009-of-00003.parquet", "a named pipe")
    footers = Footers()
    assert [len(footers.groups(path)) for path in (*paths, *paths)] == [2] * 6
    assert len(started) == 1
    assert b"queries" not in started[0]


def test_a_damaged_footer_is_named_and_the_files_beside_it_are_read(tmp_path: Path, started: list[bytes]) -> None:
    paths = [write_pictures(tmp_path / f"{number}.parquet", PICTURES) for number in range(4)]
    break_footer(paths[1])
    paths[2].write_bytes(paths[2].read_bytes()[:-20])
    footers = Footers()
    assert len(footers.groups(paths[0])) == 2
    why = "the parquet file's footer is damaged (ColumnMetaData type does not match"
    assert fault(footers, paths[1]).startswith(f"{paths[1]}: {why}")
    assert fault(footers, paths[1]).endswith("); fetch it again")
    assert fault(footers, paths[2]).startswith(f"{paths[2]}: the parquet file's footer is damaged (ArrowInvalid: ")
    assert len(footers.groups(paths[3])) == 2
    assert len(started) == 2


def test_an_encrypted_column_is_said_to_be_encrypted(tmp_path: Path) -> None:
    table = pq.read_table(write_pictures(tmp_path / "a.parquet", PICTURES))
    path = write_encrypted(tmp_path / "b.parquet", table, "image.bytes", plain_footer=True)
    assert fault(Footers(), path) == (
        f"{path}: the parquet file is encrypted (Cannot decrypt ColumnMetadata. FileDecryption is not setup correctly)"
        "; wanted one that is not"
    )


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (
            f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})",
            "footer is damaged (signal SIGKILL); fetch it again",
        ),
        ("import sys; sys.exit(3)", "footer cannot be read (exit code 3)"),
        ("import none_such", "footer cannot be read (ModuleNotFoundError: No module named 'none_such')"),
        ("print('[[1', end='')", "footer cannot be read (exit code 0)"),
        ("import time; time.sleep(60)", "footer cannot be read (not within 1 s)"),
    ],
)
def test_a_process_that_ends_without_an_answer_is_a_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    monkeypatch.setattr(parquet_footer, "_START", program)
    monkeypatch.setattr(parquet_footer, "_SECONDS", 1.0)
    assert fault(Footers(), tmp_path / "a.parquet") == f"{tmp_path}/a.parquet: the parquet file's {why}"


def test_a_python_that_cannot_be_started_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    assert "footer cannot be read (no process can be started: No such file" in fault(Footers(), tmp_path / "a.parquet")


def test_nothing_reaches_the_terminal_and_it_costs_about_a_second(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = break_footer(write_pictures(tmp_path / "a.parquet", PICTURES))
    start = time.perf_counter()
    fault(Footers(), path)
    assert time.perf_counter() - start < 10  # about 0.5 s where nothing else runs
    assert capfd.readouterr() == ("", "")
