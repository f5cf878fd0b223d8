from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.report.cells import launch_folder
from glyphrank.tracking.local import Local
from glyphrank.tracking.origin import KIND, PARENT, SWEEP
from glyphrank.tracking.parents import PARENT_FILE, find_parent, remember_sweep, remembered_sweep, write_parent
from glyphrank.tracking.pending import send_pending
from tracked_runs import client_of, files_of, report_with, run_folder, runs_of, runtime_in, start_in

REFERENCE = {"store": "http://host:5000", "experiment": "team", "run_id": "ab" * 16}


@pytest.fixture(autouse=True)
def store(tmp_path: Path, empty_store: Path) -> None:
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")


def test_parent_that_was_written_is_found_by_cells_of_its_launch(tmp_path: Path) -> None:
    write_parent(tmp_path, "a1", REFERENCE)
    assert find_parent(tmp_path, "a1") == REFERENCE


def test_parents_of_two_launches_in_one_folder_stand_side_by_side(tmp_path: Path) -> None:
    other = {**REFERENCE, "run_id": "cd" * 16}
    write_parent(tmp_path, "a1", REFERENCE)
    write_parent(tmp_path, "b2", other)
    assert (find_parent(tmp_path, "a1"), find_parent(tmp_path, "b2")) == (REFERENCE, other)
    assert find_parent(tmp_path, "c3") == {}


def test_untracked_sweep_leaves_no_reference(tmp_path: Path) -> None:
    write_parent(tmp_path / "sweep", "a1", {})
    assert find_parent(tmp_path / "sweep", "a1") == {}
    assert not (tmp_path / "sweep").exists()


def test_process_remembers_the_folder_of_each_launch(tmp_path: Path) -> None:
    assert remembered_sweep("never told") is None
    remember_sweep("told in this test", tmp_path)
    assert remembered_sweep("told in this test") == tmp_path


def test_folder_without_a_parent_holds_none(tmp_path: Path) -> None:
    assert find_parent(tmp_path / "nowhere", "a1") == {}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"store": "s"}'])
def test_damaged_reference_costs_the_place_below_the_parent_alone(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    launch_folder(tmp_path, "a1").mkdir(parents=True)
    (launch_folder(tmp_path, "a1") / PARENT_FILE).write_text(text)
    assert find_parent(tmp_path, "a1") == {}
    assert "the run stands alone" in caplog.text


def test_run_stands_under_its_parent_in_the_same_experiment(tmp_path: Path) -> None:
    start = start_in(tmp_path)
    with Local("one").start(replace(start, name="above", sweep=True), runtime_in(tmp_path)) as above:
        with Local("one").start(replace(start, parent=above.reference), runtime_in(tmp_path)) as below:
            pass
        with Local("other").start(replace(start, parent=above.reference), runtime_in(tmp_path)):
            pass
    stored = {run.info.run_id: run.data for run in runs_of(tmp_path, "one")}
    assert stored[str(below.run_id)].tags[PARENT] == above.run_id
    assert PARENT not in stored[str(above.run_id)].tags
    (elsewhere,) = runs_of(tmp_path, "other")
    assert PARENT not in elsewhere.data.tags


def test_parent_of_another_store_is_none(tmp_path: Path) -> None:
    start = replace(start_in(tmp_path), parent={**REFERENCE, "experiment": "one"})
    with Local("one").start(start, runtime_in(tmp_path)):
        pass
    (alone,) = runs_of(tmp_path, "one")
    assert PARENT not in alone.data.tags


def test_run_below_a_parent_that_waits_joins_it_whichever_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, runtime = start_in(tmp_path), runtime_in(tmp_path)
    monkeypatch.setattr("mlflow.tracking.MlflowClient.create_run", _refuse)
    with Local("one").start(replace(start, name="above", sweep=True), runtime) as above:
        pass
    under = replace(start, parent=above.reference)
    assert str(above.reference["run_id"]).startswith("pending:")
    with Local("one").start(replace(under, name="waits too"), runtime):
        pass
    monkeypatch.undo()
    with Local("one").start(replace(under, name="before"), runtime):
        pass
    assert send_pending(tmp_path).logged == 2
    with Local("one").start(replace(under, name="after"), runtime):
        pass
    stored = {run.info.run_name: run for run in runs_of(tmp_path, "one")}
    parent = stored.pop("above")
    assert {name: run.data.tags[PARENT] for name, run in stored.items()} == dict.fromkeys(
        ("waits too", "before", "after"), parent.info.run_id
    )
    assert PARENT not in parent.data.tags


def test_parent_run_has_no_parameters_and_says_what_it_is(tmp_path: Path) -> None:
    with Local("one").start(replace(start_in(tmp_path), sweep=True), runtime_in(tmp_path)):
        pass
    (stored,) = runs_of(tmp_path, "one")
    assert stored.data.params == {}
    assert stored.data.tags[KIND] == SWEEP
    assert stored.data.tags["complete"] == "false"
    assert "log_error" not in stored.data.tags


@pytest.mark.parametrize("ended", [False, True])
def test_summary_goes_to_the_run_while_it_is_open_and_after(ended: bool, tmp_path: Path) -> None:
    table, figure, plan = tmp_path / "comparison.md", tmp_path / "figures" / "recall.png", tmp_path / "plan"
    for path in (table, figure, plan / "plan.md"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("| 0.5 |\n")
    numbers, tags = {"cells": 2.0, "v2t/median_rank": 3.0}, {"best_cell": "#1 text=갑", "complete": "true"}
    values = (numbers, tags, [table, figure, plan])
    with Local("one").start(replace(start_in(tmp_path), sweep=True), runtime_in(tmp_path)) as run:
        if not ended:
            run.summarise(*values)
    if ended:
        run.summarise(*values)
    (stored,) = runs_of(tmp_path, "one")
    assert stored.info.status == "FINISHED"
    assert stored.data.metrics == {"cells": 2.0, "v2t/median_rank": 3.0}
    assert (stored.data.tags["best_cell"], stored.data.tags["complete"]) == ("#1 text=갑", "true")
    assert files_of(client_of(tmp_path), stored.info.run_id) == {
        "comparison.md",
        "figures/recall.png",
        "plan/plan.md",
    }


def test_summary_that_a_store_cannot_take_in_full_is_not_complete(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Local("one").start(replace(start_in(tmp_path), sweep=True), runtime_in(tmp_path)) as run:
        run.summarise({"cells": 1.0}, {"complete": "true"}, [tmp_path / "nowhere.md"])
    (stored,) = runs_of(tmp_path, "one")
    assert (stored.info.status, stored.data.tags["complete"]) == ("FINISHED", "false")
    assert stored.data.metrics == {"cells": 1.0}
    assert f"there is no {tmp_path / 'nowhere.md'}" in caplog.text


def test_run_that_is_discarded_is_among_the_deleted_ones(tmp_path: Path) -> None:
    with Local("one").start(replace(start_in(tmp_path), sweep=True), runtime_in(tmp_path)) as run:
        pass
    run.discard()
    assert runs_of(tmp_path, "one") == []
    assert client_of(tmp_path).get_run(run.run_id).info.lifecycle_stage == "deleted"


def test_run_that_measures_is_of_no_kind(tmp_path: Path) -> None:
    with Local("one").start(start_in(tmp_path), runtime_in(tmp_path)) as run:
        run.log(report_with(), run_folder(tmp_path), reused=False)
    (stored,) = runs_of(tmp_path, "one")
    assert KIND not in stored.data.tags


def _refuse(*_: object, **__: object) -> None:
    raise OSError("no answer")
