"""The matrix of scores: rows in the order of the queries, columns in every published order of the items."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.errors import DataError
from glyphrank.records import IntArray, Item, Query, Scores, Task
from glyphrank.report.scores import copy_scores, orders_of, write_scores

ROWS = np.array([[0.5, -np.inf, 1.5], [0.25, 2.0, -1.0]], dtype=np.float32)


def task(queries: int, items: str, **orders: str) -> Task:
    """Items and orders of them as letters."""
    return Task(
        "t",
        tuple(Query(f"q{number}", "x") for number in range(queries)),
        tuple(Item(name, None, "x") for name in items),
        {"q0": {items[0]: 1.0}},
        "f",
        orders={name: tuple(order) for name, order in orders.items()},
    )


def test_blocks_stand_in_the_rows_of_their_queries(tmp_path: Path) -> None:
    write_scores(tmp_path, task(3, "abc"), [(np.array([2, 0]), ROWS), (np.array([1]), ROWS[:1])])
    found = np.load(tmp_path / "scores.npy", allow_pickle=False)
    assert found.dtype == np.float32
    assert found.tolist() == [ROWS[1].tolist(), ROWS[0].tolist(), ROWS[0].tolist()]
    assert [path.name for path in tmp_path.iterdir()] == ["scores.npy"]


def test_scores_of_a_fusion_are_kept_in_full(tmp_path: Path) -> None:
    """Rounded to float32 the two would be level."""
    near = np.array([[1 / 3, 1 / 3 + 1e-12]])
    write_scores(tmp_path, task(1, "ab"), [(np.array([0]), near)])
    assert np.load(tmp_path / "scores.npy").tolist() == near.tolist()


def test_every_published_order_has_a_file_with_its_columns(tmp_path: Path) -> None:
    """The form of TextVR's `textvr.npy`: S[x, y] = similarity of caption x and video y of that order."""
    ordered = task(2, "abc", rand="cab", other="abc")
    write_scores(tmp_path, ordered, [(np.array([0, 1]), ROWS)])
    (tmp_path / "own").mkdir()
    copy_scores(tmp_path, tmp_path / "own", orders_of(ordered))
    loaded = {path.name: np.load(path) for path in (tmp_path / "own").iterdir()}
    assert set(loaded) == {"scores.npy", "scores_rand.npy", "scores_other.npy"}
    assert loaded["scores_rand.npy"].tolist() == ROWS[:, [2, 0, 1]].tolist()
    assert loaded["scores_other.npy"].tolist() == loaded["scores.npy"].tolist() == ROWS.tolist()
    assert {matrix.dtype for matrix in loaded.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize("queries", [1, 255, 256, 257, 700])
def test_orders_of_many_queries_hold_every_row(tmp_path: Path, queries: int) -> None:
    rows = np.random.default_rng(2).standard_normal((queries, 5))
    ordered = task(queries, "abcde", rand="ecadb")
    write_scores(tmp_path, ordered, [(np.arange(queries), rows)])
    (tmp_path / "own").mkdir()
    copy_scores(tmp_path, tmp_path / "own", orders_of(ordered))
    assert np.load(tmp_path / "own" / "scores_rand.npy").tolist() == rows[:, [4, 2, 0, 3, 1]].tolist()


@given(st.permutations("abcdefg"))
def test_the_columns_of_an_order_are_those_of_its_items(order: list[str]) -> None:
    columns = orders_of(task(1, "abcdefg", rand="".join(order)))["scores_rand.npy"]
    assert ["abcdefg"[column] for column in columns] == order


def test_orders_compare_ids_in_nfc() -> None:  # case P04
    items = (Item("가", None, "x"), Item("b", None, "x"))
    order = ("b", unicodedata.normalize("NFD", "가"))
    named = Task("t", (Query("q", "x"),), items, {"q": {"b": 1.0}}, "f", orders={"rand": order})
    assert orders_of(named)["scores_rand.npy"].tolist() == [1, 0]


def test_a_copy_that_cannot_be_written_is_named(tmp_path: Path) -> None:  # case C04
    write_scores(tmp_path, task(2, "abc"), [(np.array([0, 1]), ROWS)])
    with pytest.raises(DataError, match=r"absent/scores\.npy: the scores cannot be written \(No such file"):
        copy_scores(tmp_path, tmp_path / "absent", {})


def test_scores_that_are_not_finished_leave_the_old_ones(tmp_path: Path) -> None:  # case C02
    (tmp_path / "scores.npy").write_bytes(b"old")

    def interrupted() -> Iterator[tuple[IntArray, Scores]]:
        yield np.array([0]), ROWS[:1]
        assert len(list(tmp_path.iterdir())) == 2  # the old one and one that is being written
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_scores(tmp_path, task(2, "abc"), interrupted())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"scores.npy": b"old"}


def test_a_folder_that_cannot_be_written_is_named_with_the_file(tmp_path: Path) -> None:  # case C04
    with pytest.raises(
        DataError, match=r"absent/scores\.npy: the scores cannot be written \(No such file.*save_scores"
    ):
        write_scores(tmp_path / "absent", task(2, "abc"), [(np.array([0, 1]), ROWS)])


def test_scores_that_cannot_take_their_place_are_an_error_with_the_file(tmp_path: Path) -> None:  # case C04
    (tmp_path / "scores.npy").mkdir()
    with pytest.raises(DataError, match=r"scores\.npy: the scores cannot be written \(Is a directory\)"):
        write_scores(tmp_path, task(2, "abc"), [(np.array([0, 1]), ROWS)])
    assert list(tmp_path.glob(".*")) == []


LIMITED = """
import resource, sys
from pathlib import Path
import numpy as np
from glyphrank.errors import DataError
from glyphrank.records import Item, Query, Task
from glyphrank.report.scores import write_scores

resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
for items in (2_000, 3_000):
    names = [f"p{item}" for item in range(items)]
    task = Task("t", tuple(Query(f"q{n}", "x") for n in range(100)), tuple(Item(n, None, "x") for n in names),
                {"q0": {"p0": 1.0}}, "f")
    try:
        write_scores(Path(sys.argv[1]), task, [(np.arange(100), np.ones((100, items), dtype=np.float32))])
        print("kept", items)
    except DataError as error:
        print(error)
"""


def test_a_disk_without_room_is_an_error_that_leaves_the_old_ones(tmp_path: Path) -> None:  # case C04
    command = [sys.executable, "-W", "error", "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    kept, message = done.stdout.splitlines()
    assert kept == "kept 2000"
    assert message == f"{tmp_path}/scores.npy: the scores cannot be written (File too large); save_scores=false"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scores.npy"]
    assert np.load(tmp_path / "scores.npy").shape == (100, 2000)


@pytest.mark.parametrize("system", [True, False])
def test_the_file_has_its_blocks_before_anything_is_written_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: bool
) -> None:  # case C04
    if not system:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)

    def blocks() -> Iterator[tuple[IntArray, Scores]]:
        yield np.array([0]), np.ones((1, 26))
        [file] = tmp_path.iterdir()
        assert file.stat().st_blocks * 512 >= file.stat().st_size > 1000 * 26 * 8
        yield np.arange(1, 1000), np.ones((999, 26))

    write_scores(tmp_path, task(1000, "abcdefghijklmnopqrstuvwxyz"), blocks())
    assert np.load(tmp_path / "scores.npy").sum() == 26_000
