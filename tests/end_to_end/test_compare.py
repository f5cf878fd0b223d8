"""`glyphrank compare` on runs that the real command made: from the store, a sweep's folder and stored results."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from command import ran, refused

CELLS = ("bm25_words", "bm25_ngrams", "bm25_korean")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a sweep of three and then one of its cells ran."""
    folder = tmp_path_factory.mktemp("compare")
    ran("run", "-m", f"encoder@lexical={','.join(CELLS)}", cwd=folder)
    ran("run", "encoder@lexical=bm25_words", cwd=folder)
    return folder


def compared(folder: Path, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ran("compare", *arguments, "--format", "json", cwd=folder).stdout)
    return found


def test_without_arguments_all_runs_of_the_store_are_compared(folder: Path) -> None:
    found = compared(folder)
    assert {run["fields"]["lexical"] for run in found["runs"]} == set(CELLS)  # the repeated cell is one row
    assert found["best"] == found["baseline"] == found["runs"][0]["name"]
    assert {*found["runs"][0]["fields"]} == {"lexical"}
    assert (found["queries"], found["groups"]) == (80, 16)
    values = [run["values"][found["metric"]] for run in found["runs"]]
    assert values == sorted(values, reverse=True)


def test_numbers_are_those_of_the_reports_and_tests_stand_beside_them(folder: Path) -> None:
    found = compared(folder)
    reports = {path.parent.name: json.loads(path.read_text()) for path in folder.glob("outputs/results/*/report.json")}
    for run in found["runs"]:
        report = reports[run["identity"]]
        assert run["values"] == pytest.approx(report["metrics"], rel=1e-12)
        assert {name: pytest.approx(span) for name, span in report["intervals"].items()} == run["intervals"]
    words = next(run for run in found["runs"] if run["fields"]["lexical"] == "bm25_words")
    assert words["difference"] < 0
    assert words["difference_interval"][1] < 0
    assert words["p_value"] <= words["p_adjusted"] < 0.05
    assert words["improved"] + words["degraded"] + words["equal"] == 80
    assert not words["group"]


def test_a_sweeps_folder_a_result_and_a_run_id_give_the_same_numbers(folder: Path) -> None:
    whole = compared(folder)
    (sweep,) = folder.glob("outputs/sweeps/*/*")
    identities = [run["identity"][:8] for run in whole["runs"]]
    with sqlite3.connect(folder / "outputs" / "mlflow.db") as store:
        (parent,) = store.execute("select run_uuid from tags where key = 'kind' and value = 'sweep'").fetchone()
    for arguments in ([str(sweep)], identities, [parent[:10]]):
        found = compared(folder, *arguments)
        for one, other in zip(found["runs"], whole["runs"], strict=True):
            assert {**one, "name": ""} == {**other, "name": ""}


def test_all_that_lies_in_a_sweeps_folder_may_be_named(folder: Path) -> None:
    (sweep,) = folder.glob("outputs/sweeps/*/*")
    found = compared(folder, *map(str, sorted(sweep.iterdir())))
    assert {run["fields"]["lexical"] for run in found["runs"]} == set(CELLS)
    assert any(note.startswith("skipped, for they belong to a sweep") for note in found["notes"])


def test_the_sweeps_own_table_is_the_same(folder: Path) -> None:
    (sweep,) = folder.glob("outputs/sweeps/*/*")
    kept = json.loads((sweep / "comparison.json").read_text())
    assert [run["values"] for run in kept["runs"]] == [run["values"] for run in compared(folder)["runs"]]


def test_slices_baseline_and_metric_can_be_chosen(folder: Path) -> None:
    done = ran("compare", "--by", "language", "--metric", "mean_rank", "--format", "csv", cwd=folder)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["slice/language"] for row in rows] == ["en"] * 3 + ["ko"] * 3
    assert [float(row["mean_rank"]) for row in rows[3:]] == sorted(float(row["mean_rank"]) for row in rows[3:])
    assert [(row["queries"], row["rule"]) for row in rows[::3]] == [("40", "pessimistic")] * 2
    base = next(row["identity"] for row in rows if row["lexical"] == "bm25_words")
    found = compared(folder, "--baseline", base[:6], "--metric", "recall_at_1")
    assert next(run for run in found["runs"] if run["name"] == found["baseline"])["p_value"] is None


def test_other_evaluations_are_refused_and_allowed_on_common_queries(folder: Path) -> None:
    done = ran("run", "encoder@lexical=bm25_words", "dataset.pages=12", "tracking=none", cwd=folder)
    other = next(line.removeprefix("files: ") for line in done.stdout.splitlines() if line.startswith("files: "))
    (sweep,) = folder.glob("outputs/sweeps/*/*")
    told = refused("compare", str(sweep), other, cwd=folder)
    assert "the runs were not evaluated alike" in told
    assert "query sets: 80 queries" in told
    found = compared(folder, str(sweep), other, "--allow")
    assert 0 < found["queries"] < 80
    assert found["notes"][0].startswith("these runs were not evaluated alike")
    assert len(found["runs"]) == 4


def test_an_experiment_of_several_evaluations_has_a_table_for_each(folder: Path) -> None:
    ran("run", "-m", "dataset.pages=12,16", "encoder@lexical=bm25_words", "tracking.experiment=mixed", cwd=folder)
    found = compared(folder, "--experiment", "mixed")
    assert list(found["parts"]) == ["sample_pages (1 of 2)", "sample_pages (2 of 2)"]
    assert {len(part["runs"]) for part in found["parts"].values()} == {1}
    assert len({part["queries"] for part in found["parts"].values()}) == 2
    shown = ran("compare", "--experiment", "mixed", cwd=folder).stdout
    assert "sample_pages (2 of 2): nDCG@10 of 1 run" in shown
    assert "for they differ in query sets" in shown


def test_both_directions_of_clips_and_every_tie_rule(folder: Path) -> None:
    ran("run", "-m", "metrics=clips", "encoder@lexical=bm25_words,bm25_ngrams", "tracking.experiment=both", cwd=folder)
    found = compared(folder, "--experiment", "both", "--metric", "v2t/hit_rate_at_1", "--ties", "all")
    assert found["queries"] == 24  # items ask
    for run in found["runs"]:
        assert run["rules"]["pessimistic"] == run["values"]["v2t/hit_rate_at_1"]
        assert run["rules"]["pessimistic"] <= run["rules"]["optimistic"]
        assert "v2t/mean_rank" in run["intervals"]
