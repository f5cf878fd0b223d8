"""`glyphrank compare`: how runs are found, what is left out, and how the command ends."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from finished_runs import from_ranks, kept
from glyphrank.compare_command import run_compare
from glyphrank.errors import ConfigError
from glyphrank.report.finished import Finished
from glyphrank.ties import TieRule
from glyphrank.tracking import reading
from glyphrank.tracking.reading import Fetched

GOOD = from_ranks("good", [1] * 12)
POOR = from_ranks("poor", [9] * 11 + [1])
Printed = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of launch: results of two runs in `outputs/results`, a sweep of both in `sweep`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GLYPHRANK_OUTPUTS", raising=False)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    for cell, run in ((2, POOR), (10, GOOD)):
        stored = kept(run, tmp_path / "outputs" / "results")
        shutil.copytree(stored, tmp_path / "sweep" / str(cell))
    return tmp_path


def result_of(run: Finished) -> Path:
    return Path("outputs", "results", run.report.identity)


def as_json(printed: Printed, *arguments: str) -> dict[str, object]:
    assert run_compare([*arguments, "--format", "json"]) == 0
    found: dict[str, object] = json.loads(printed.readouterr().out)
    return found


def names(found: dict[str, object]) -> list[str]:
    runs = found["runs"]
    assert isinstance(runs, list)
    return [run["name"] for run in runs]


def message(printed: Printed, *arguments: str) -> str:
    """Of a command that cannot be carried out: one message and nothing on standard output."""
    assert run_compare(arguments) == 2
    captured = printed.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err


def in_store(monkeypatch: pytest.MonkeyPatch, *runs: Fetched) -> list[tuple[str, str | None, Sequence[str]]]:
    """Has the store hold these runs; returns what it is asked for."""
    asked: list[tuple[str, str | None, Sequence[str]]] = []

    def fetch(store: str, into: Path, experiment: str | None = None, ids: Sequence[str] = ()) -> list[Fetched]:
        assert into.is_dir()
        asked.append((store, experiment, ids))
        return [run for run in runs if not ids or any(run.run_id.startswith(text) for text in ids)]

    monkeypatch.setattr(reading, "fetch", fetch)
    return asked


def stored(name: str, run: Finished | None, lacks: str = "", **tags: str) -> Fetched:
    folder = None if run is None else result_of(run).absolute()
    return Fetched(f"{ord(name[0]):032x}", name, tags, folder, lacks)


def test_folders_of_results_and_of_sweeps_are_compared(capsys: Printed) -> None:
    assert names(as_json(capsys, "sweep")) == ["sweep/10", "sweep/2"]
    assert names(as_json(capsys, str(result_of(GOOD)), "sweep/2")) == [GOOD.report.identity[:12], "2"]


def test_the_beginning_of_an_identity_is_enough(capsys: Printed) -> None:
    found = as_json(capsys, GOOD.report.identity[:6], POOR.report.identity)
    assert names(found) == [GOOD.report.identity[:12], POOR.report.identity[:12]]


def test_outputs_may_lie_elsewhere(folder: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.move(folder / "outputs", folder / "elsewhere")
    assert names(as_json(capsys, GOOD.report.identity[:6], "--outputs", "elsewhere")) == [GOOD.report.identity[:12]]
    monkeypatch.setenv("GLYPHRANK_OUTPUTS", "elsewhere")
    assert names(as_json(capsys, GOOD.report.identity[:6])) == [GOOD.report.identity[:12]]


def test_a_beginning_of_several_identities_names_them(folder: Path, capsys: Printed) -> None:
    first, second = (replace(run.report, identity=f"abcdef{number}") for number, run in enumerate((GOOD, POOR)))
    for report in (first, second):
        kept(replace(GOOD, report=report), folder / "outputs" / "results")
    assert "begins 2 identities: abcdef0, abcdef1" in message(capsys, "abcdef")


def test_what_is_no_run_is_told_with_what_was_wanted(folder: Path, capsys: Printed) -> None:
    assert "there is no folder 'nowhere'; wanted a folder with report.json" in message(capsys, "nowhere")
    (folder / "empty").mkdir()
    assert "neither the folder nor its own folders hold a report.json" in message(capsys, "empty")


def test_a_damaged_run_is_an_error_where_it_is_named_and_left_out_of_a_sweep(folder: Path, capsys: Printed) -> None:
    (folder / "sweep" / "2" / "ranks.csv").write_text("direction\n")
    assert "sweep/2/ranks.csv" in message(capsys, "sweep/2", "sweep/10")
    found = as_json(capsys, "sweep")
    assert names(found) == ["sweep/10"]
    assert "left out: 'sweep/2':" in str(found["notes"])


def test_everything_in_a_sweeps_folder_may_be_named_at_once(folder: Path, capsys: Printed) -> None:
    (folder / "sweep" / "cells").mkdir()
    for name in ("comparison.csv", "multirun.yaml"):
        (folder / "sweep" / name).write_text("")
    (folder / "sweep" / "3" / ".hydra").mkdir(parents=True)
    found = as_json(capsys, *(f"sweep/{path.name}" for path in sorted((folder / "sweep").iterdir())))
    assert names(found) == ["10", "2"]
    assert found["notes"] == [
        "left out: 'sweep/3' has not finished: it has no report.json",
        "skipped, for they belong to a sweep and are no runs: "
        "'sweep/cells', 'sweep/comparison.csv', 'sweep/multirun.yaml'",
    ]


def test_a_baseline_of_an_identity_with_two_results_is_the_one_that_is_named(folder: Path, capsys: Printed) -> None:
    other = from_ranks("other", [1] * 11 + [3], identity=GOOD.report.identity)
    shutil.copytree(kept(other, folder / "elsewhere"), folder / "sweep" / "11")
    found = as_json(capsys, "sweep", "--baseline", "sweep/11")
    assert names(found) == ["sweep/10", "sweep/11", "sweep/2"]
    assert found["baseline"] == "sweep/11"


def test_cells_that_have_not_finished_are_left_out_and_named(folder: Path, capsys: Printed) -> None:
    (folder / "sweep" / "3" / ".hydra").mkdir(parents=True)
    (folder / "sweep" / "cells").mkdir()
    found = as_json(capsys, "sweep")
    assert names(found) == ["sweep/10", "sweep/2"]
    assert found["notes"] == ["left out: 'sweep/3' has not finished: it has no report.json"]


def test_incomplete_runs_are_compared_and_named(folder: Path, capsys: Printed) -> None:
    counts = {**POOR.report.counts, "failed_items": 2}
    kept(replace(POOR, report=replace(POOR.report, counts=counts, identity="0" * 32)), folder / "outputs" / "results")
    found = as_json(capsys, "sweep/10", "000000")
    assert sorted(names(found)) == ["000000000000", "10"]
    assert found["notes"] == ["incomplete, with items that could not be read and are never retrieved: '000000000000'"]


def test_without_a_run_those_of_the_experiment_are_compared(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = stored("dead", None, "it is FAILED")
    parent = stored("parent", None, "it is the parent run of a sweep", kind="sweep")
    asked = in_store(monkeypatch, stored("a", POOR), stored("b", GOOD), broken, parent)
    found = as_json(capsys)
    assert names(found) == ["b", "a"]
    store = f"runs of the MLflow store {Path.cwd() / 'outputs' / 'mlflow.db'}"
    assert found["notes"] == [store, f"left out: 'dead' ({broken.run_id[:8]}): it is FAILED"]
    assert asked == [(f"sqlite:///{Path.cwd() / 'outputs' / 'mlflow.db'}", "glyphrank", ())]


def test_the_store_is_the_one_that_is_named_or_that_of_the_environment(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = in_store(monkeypatch, stored("a", POOR))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://one:1")
    as_json(capsys, "--experiment", "mine")
    as_json(capsys, "--experiment", "mine", "--store", "http://two:2")
    assert asked == [("http://one:1", "mine", ()), ("http://two:2", "mine", ())]


def test_outputs_that_are_given_win_over_the_environment(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = in_store(monkeypatch, stored("a", POOR))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://one:1")
    as_json(capsys, "--outputs", str(tmp_path))
    as_json(capsys, "--outputs", str(tmp_path), "--store", "http://two:2")
    assert [store for store, _, _ in asked] == [f"sqlite:///{tmp_path / 'mlflow.db'}", "http://two:2"]


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_store_that_was_read_is_named_without_credentials(
    form: str, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:  # case L15
    in_store(monkeypatch, stored("a", POOR))
    assert run_compare(["--store", "http://kim:hush-hush@two:2", "--format", form]) == 0
    printed = "".join(capsys.readouterr())
    assert "runs of the MLflow store http://two:2" in printed
    assert "hush" not in printed


def test_ids_of_mlflow_and_folders_go_together(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    run = stored("a", POOR)
    asked = in_store(monkeypatch, run, stored("b", GOOD))
    assert names(as_json(capsys, run.run_id, "sweep/10")) == ["10", "a"]
    assert [ids for _, _, ids in asked] == [[run.run_id]]


def test_runs_of_one_identity_are_one_row_the_latest(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    in_store(monkeypatch, stored("first", GOOD), stored("poor", POOR), stored("again", GOOD))
    assert names(as_json(capsys)) == ["again", "poor"]


@pytest.mark.parametrize("wanted", ["sweep/2", "identity", "./sweep/../sweep/2", "run"])
def test_a_baseline_is_called_by_name_identity_folder_or_id(
    wanted: str, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_store(monkeypatch, stored("z", POOR))
    called = {"identity": POOR.report.identity[:7], "run": stored("z", POOR).run_id}.get(wanted, wanted)
    found = as_json(capsys, "sweep", "--baseline", called)
    assert found["baseline"] == "sweep/2"
    assert found["best"] == "sweep/10"


def test_a_baseline_that_is_not_among_the_runs_joins_them(capsys: Printed) -> None:
    found = as_json(capsys, "sweep/10", "--baseline", str(result_of(POOR)))
    assert found["baseline"] == POOR.report.identity[:12]
    assert len(names(found)) == 2


def test_a_baseline_must_be_one_run(capsys: Printed) -> None:
    assert "the baseline 'sweep' names 2 runs; wanted one of them" in message(capsys, "sweep/10", "--baseline", "sweep")
    assert "there is no folder 'none'" in message(capsys, "sweep", "--baseline", "none")


def test_a_metric_direction_and_rule_can_be_chosen(capsys: Printed) -> None:
    assert as_json(capsys, "sweep", "--metric", "mean_rank", "--ties", "average")["rule"] == "average"
    assert "no run has the metric 'ndcg'" in message(capsys, "sweep", "--metric", "ndcg")


def test_ties_all_shows_every_rule(capsys: Printed) -> None:
    # case M01
    assert run_compare(["sweep", "--ties", "all"]) == 0
    printed = capsys.readouterr().out
    assert "nDCG@10 under every rule for equal scores:" in printed
    assert all(rule.value in printed for rule in TieRule)


def test_runs_that_were_not_evaluated_alike_are_refused_unless_allowed(folder: Path, capsys: Printed) -> None:
    kept(from_ranks("longer", [1] * 14, identity="1" * 32), folder / "outputs" / "results")
    told = message(capsys, "sweep", "111111")
    assert told.startswith("glyphrank: the runs were not evaluated alike")
    assert "add --allow" in told
    assert run_compare(["sweep", "111111", "--allow"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(
        "note: these runs were not evaluated alike; compared on the queries that all of them have (12 queries)"
    )


def test_a_sweep_of_several_evaluations_has_a_table_for_each(folder: Path, capsys: Printed) -> None:
    kept(from_ranks("longer", [1] * 14, identity="1" * 32), folder / "outputs" / "results")
    shutil.copytree(folder / "outputs" / "results" / ("1" * 32), folder / "sweep" / "11")
    found = as_json(capsys, "sweep")
    assert isinstance(found["parts"], dict)
    assert [len(part["runs"]) for part in found["parts"].values()] == [2, 1]
    assert "the runs were not evaluated alike" in message(capsys, "sweep", "sweep/11")


def test_a_slice_has_a_table_for_each_value(folder: Path, capsys: Printed) -> None:
    kinds = {"type": {f"q{query}": "표" if query % 2 else "text" for query in range(12)}}
    kept(from_ranks("sliced", [1] * 12, slices_of_queries=kinds, identity="2" * 32), folder / "outputs" / "results")
    assert run_compare(["222222", "--by", "type"]) == 0
    printed = capsys.readouterr().out
    assert "type text" in printed
    assert "type 표" in printed
    assert "have no field 'kind'; the fields that they have: type" in message(capsys, "222222", "--by", "kind")


def test_notes_of_all_parts_of_csv_stand_on_the_error_stream_once(folder: Path, capsys: Printed) -> None:
    kinds = {"name": {f"q{query}": "표" if query else "text" for query in range(11)}}
    kept(from_ranks("sliced", [1] * 12, slices_of_queries=kinds, identity="3" * 32), folder / "outputs" / "results")
    assert run_compare(["333333", "--by", "name", "--format", "csv"]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "note: without a value of 'name', so in no part: 1 query",
        "note: name=text: 1 query: too few for intervals and tests that can be trusted",
    ]
    assert [line.split(",")[0] for line in captured.out.splitlines()] == ["slice/name", "text", "표"]


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_every_form_is_printed(form: str, capsys: Printed) -> None:
    assert run_compare(["sweep", "--format", form]) == 0
    assert capsys.readouterr().out.strip()


def test_notes_of_csv_stand_on_the_error_stream(folder: Path, capsys: Printed) -> None:
    (folder / "sweep" / "3" / ".hydra").mkdir(parents=True)
    assert run_compare(["sweep", "--format", "csv"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("name,identity,")
    assert captured.err == "note: left out: 'sweep/3' has not finished: it has no report.json\n"


@pytest.mark.parametrize(
    "arguments",
    [["--ties", "kind"], ["--format", "html"], ["--entry", "x"], ["--expected", "--metric", "x"], ["--unknown"]],
)
def test_a_wrong_command_returns_2(arguments: list[str], capsys: Printed) -> None:
    assert "usage: glyphrank compare" in message(capsys, *arguments)


def test_expected_scores_without_any_run_are_not_run(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(*_: object) -> list[Fetched]:
        raise ConfigError("there is no MLflow store here")

    monkeypatch.setattr(reading, "fetch", fetch)
    assert run_compare(["--expected"]) == 0
    assert "not run" in capsys.readouterr().out
    assert run_compare(["--expected", "quickstart.yaml"]) == 1
    capsys.readouterr()
    assert "no MLflow store" in message(capsys, "--expected", "--experiment", "mine")


def test_expected_scores_take_runs_as_ever(folder: Path, capsys: Printed) -> None:
    (folder / "mine.yaml").write_text("experiment: nowhere\n")
    assert "mine.yaml" in message(capsys, "sweep", "--expected", "mine.yaml")
    assert run_compare(["sweep", "--expected", "quickstart.yaml"]) == 1


def test_help_explains_the_command(capsys: Printed) -> None:
    assert run_compare(["--help"]) == 0
    assert "95 % intervals" in capsys.readouterr().out
