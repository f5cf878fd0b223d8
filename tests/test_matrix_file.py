"""Files of score matrices: any type of real numbers, and files that are not what they should be."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.errors import DataError
from glyphrank.score_matrix import score_matrix
from matrices import fault_of, matrix_protocol, pairs_task, score_saved, wide_task
from tasks import make_task


@pytest.mark.parametrize("kind", ["<f2", "<f4", ">f4", "<f8", ">f8", "i1", "<i4", "<u8"])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_numbers_of_any_type_and_layout_are_read(kind: str, layout: str, tmp_path: Path) -> None:
    scores = np.array([[3, 1, 2], [2, 3, 1], [3, 2, 1]], dtype=kind, order="F" if layout == "F" else "C")
    metrics = score_saved(tmp_path, scores, pairs_task(3))["metrics"]
    assert (metrics["mean_rank"], metrics["v2t/mean_rank"]) == pytest.approx((5 / 3, (1.5 + 1 + 2.5) / 3))


@pytest.mark.parametrize(
    ("matrix", "found"),
    [
        (np.zeros((3, 2)), r"holds an array of shape \(3, 2\); wanted \(2, 3\).*it looks transposed: save S\.T"),
        (
            np.zeros((2, 4)),
            r"shape \(2, 4\); wanted \(2, 3\), a row for each query of tiny and a column for each item$",
        ),
        (np.zeros(6), r"shape \(6,\)"),
        (np.zeros(()), r"shape \(\)"),
        (np.zeros((2, 3, 1)), r"shape \(2, 3, 1\)"),
        (np.zeros((2, 3), dtype=complex), "holds complex numbers; wanted real numbers"),
        (np.zeros((2, 3), dtype=bool), "holds truth values"),
        (np.full((2, 3), "1"), "holds texts"),
        (np.zeros((2, 3), dtype="m8[s]"), r"holds the type timedelta64\[s\]"),
        (np.zeros((2, 3), dtype=[("a", "f4")]), "holds records"),
    ],
)
def test_another_array_is_refused(matrix: Any, found: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"s\.npy: .*{found}"):
        score_saved(tmp_path, matrix, wide_task(2, 3))


def test_scores_that_cannot_be_compared_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    scores = np.zeros((300, 3))
    scores[[7, 290], [2, 0]] = np.nan
    scores[5, 1] = np.inf
    task = wide_task(300, 3)
    task = make_task({q.id: q.text for q in task.queries}, dict.fromkeys(["v0", "v1", "v2"]), task.relevant)
    assert fault_of(tmp_path, scores, task) == (
        f"{tmp_path / 's.npy'}: NaN stands 2 times, first for query 'c7' and item 'v2' (row 7, column 2); +inf stands "
        "1 times, first for query 'c5' and item 'v1' (row 5, column 1); wanted numbers, and -inf for what was not "
        "retrieved"
    )


def test_a_bad_score_is_named_by_the_order_of_the_columns(tmp_path: Path) -> None:
    scores = np.eye(3)
    scores[0, 0] = np.nan
    assert "item 'v2' (row 0, column 0)" in fault_of(tmp_path, scores, pairs_task(3), "rand")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "no array of numbers as np.save writes it"),
        (b"query,item\n", "no array of numbers"),
        (pickle.dumps([[1.0]]), "no array of numbers"),
        (b"\x93NUMPY\x01\x00", "damaged or cut off"),
        (b"\x93NUMPY\x01\x00\x10\x00" + b"x" * 16, "damaged or cut off"),
        (b"PK\x03\x04 torn", "an archive of arrays"),
    ],
)
def test_a_file_that_is_no_array_is_refused(content: bytes, found: str, tmp_path: Path) -> None:
    path = tmp_path / "s.npy"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"s\.npy: .*{found}"):
        score_matrix(path, pairs_task(3), "test", matrix_protocol())


def test_an_array_that_was_cut_off_or_holds_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.npy"
    np.save(path, np.array([[{}, {}], [{}, {}]], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="no array of numbers"):
        score_matrix(path, pairs_task(2), "test", matrix_protocol())
    np.save(path, np.eye(3))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(DataError, match="damaged or cut off"):
        score_matrix(path, pairs_task(3), "test", matrix_protocol())


def test_an_archive_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", scores=np.eye(3))
    with pytest.raises(DataError, match=r"s\.npz: is an archive of arrays"):
        score_matrix(tmp_path / "s.npz", pairs_task(3), "test", matrix_protocol())
    for path in (tmp_path, tmp_path / "none.npy"):
        with pytest.raises(DataError, match="is no file; wanted an array"):
            score_matrix(path, pairs_task(3), "test", matrix_protocol())
