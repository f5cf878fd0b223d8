"""Runs of several evaluations beside one another: each is compared by itself, and nothing is lost in silence."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest

from finished_runs import from_ranks
from glyphrank.compare import How, compare
from glyphrank.errors import DataError
from glyphrank.evaluations import compare_each, evaluations
from glyphrank.report.comparison import Form, rendered
from glyphrank.report.finished import Finished
from glyphrank.ties import TieRule


def on(task: str, name: str, ranks: list[int], **changes: Any) -> Finished:
    return from_ranks(name, ranks, task=task, **changes)


PAGES = [on("pages", "words", [1] * 12), on("pages", "ngrams", [2] * 12)]
CLIPS = [on("clips", "seen", [3] * 8), on("clips", "read", [1] * 8)]
MIXED = [PAGES[0], CLIPS[0], PAGES[1], CLIPS[1]]


def test_runs_of_one_evaluation_are_compared_as_ever() -> None:
    assert compare_each(PAGES) == [compare(PAGES)]


def test_each_evaluation_is_compared_by_itself_under_the_name_of_its_dataset() -> None:
    assert evaluations(MIXED) == [PAGES, CLIPS]
    found = compare_each(MIXED)
    assert found == [replace(compare(PAGES), task="pages"), replace(compare(CLIPS), task="clips")]
    assert "pages: nDCG@10 of 2 runs on 12 queries" in rendered(found, Form.table)


def test_evaluations_of_one_dataset_are_told_apart() -> None:
    cut = [on("pages", "cut", [1] * 12, protocol={"cutoffs": [1, 3, 5, 10, 50]})]
    first, second = compare_each([*PAGES, *cut])
    assert (first.task, second.task) == ("pages (1 of 2)", "pages (2 of 2)")
    note = "apart from 'words', for they differ in cutoffs of the protocol: 1, 3, 5, 10 in 'words'; 1, 3, 5, 10, 50 in"
    assert second.notes[0].startswith(note)
    assert not any("apart from" in told for told in first.notes)


def test_tie_rules_part_runs_unless_one_is_given_for_all() -> None:  # case M01
    other = on("pages", "mild", [1] * 12, ties=TieRule.optimistic)
    assert [len(each.runs) for each in compare_each([*PAGES, other])] == [2, 1]
    assert [len(each.runs) for each in compare_each([*PAGES, other], how=How(ties=TieRule.average))] == [3]


@pytest.mark.parametrize("baseline", ["seen", CLIPS[0], CLIPS[0].report.identity[:8]])
def test_a_baseline_limits_the_comparison_to_its_evaluation(baseline: str | Finished) -> None:
    (found,) = compare_each(MIXED, how=How(baseline=baseline))
    assert (found.baseline, found.task) == ("seen", None)
    assert found.notes[0] == "left out, of other evaluations: 'words', 'ngrams'"


def test_a_metric_that_only_some_have_limits_the_comparison_to_these() -> None:
    both = {"directions": ["t2v", "v2t"]}
    reverse = {"v2t/mean_rank": 2.0}
    run = on("clips", "both", [1] * 8, protocol=both)
    run = replace(run, report=replace(run.report, metrics={**run.report.metrics, **reverse}))
    with pytest.raises(DataError, match="damaged"):  # its ranks say nothing of it
        compare_each([*PAGES, run], "v2t/mean_rank")
    with pytest.raises(DataError, match="no run has the metric 'v2t/mean_rank'"):
        compare_each(MIXED, "v2t/mean_rank")


def test_a_baseline_that_no_run_is_called_is_refused() -> None:
    with pytest.raises(DataError, match="the baseline 'nobody' is none of the runs"):
        compare_each(PAGES, how=How(baseline="nobody"))


def test_every_form_names_the_evaluation() -> None:
    found = compare_each(MIXED)
    rows = list(csv.DictReader(io.StringIO(rendered(found, Form.csv))))
    assert [(row["task"], row["name"]) for row in rows] == [
        *(("pages", name) for name in ("words", "ngrams")),
        *(("clips", name) for name in ("read", "seen")),
    ]
    parts = json.loads(rendered(found, Form.json))
    assert parts["by"] == "task"
    assert [len(part["runs"]) for part in parts["parts"].values()] == [2, 2]
    for form in (Form.markdown, Form.latex):
        assert all(f"{task}: " in rendered(found, form) for task in ("pages", "clips"))


def test_runs_of_other_datasets_whose_ids_are_alike_do_not_stand_together() -> None:
    other = on("leaflets", "words", [1] * 12)
    assert [each.task for each in compare_each([*PAGES, other])] == ["pages", "leaflets"]


def test_a_median_that_only_some_runs_have_beside_the_other_limits_nothing() -> None:
    found = compare_each(MIXED, "median_rank_mean")
    assert [(each.task, len(each.runs)) for each in found] == [("pages", 2), ("clips", 2)]


def test_a_damaged_run_costs_its_own_evaluation_and_no_other() -> None:
    run = CLIPS[0]
    damaged = replace(run, report=replace(run.report, metrics={**run.report.metrics, "mean_rank": 1e6}))
    (found,) = compare_each([*PAGES, damaged])
    assert len(found.runs) == 2
    assert found.notes[0].startswith("not compared: clips: the run 'seen' is damaged")
    with pytest.raises(DataError, match="damaged"):
        compare_each([damaged])


def test_names_of_evaluations_differ_whatever_datasets_are_called() -> None:
    cut = on("pages", "cut", [1] * 12, protocol={"cutoffs": [1, 3, 5, 10, 50]})
    odd = [on("pages (1 of 2)", "odd", [1] * 12), on("", "nameless", [1] * 9)]
    found = compare_each([*odd, *PAGES, cut])
    assert len({each.task for each in found}) == 4
    assert len(json.loads(rendered(found, Form.json))["parts"]) == 4
    assert len(json.loads(rendered(found[::-1], Form.json))["parts"]) == 4


def test_a_rule_given_for_all_is_no_reason_to_stand_apart() -> None:
    cut = on("pages", "cut", [1] * 12, protocol={"cutoffs": [1, 3, 5, 10, 50]}, ties=TieRule.optimistic)
    *_, last = compare_each([*PAGES, cut], how=How(ties=TieRule.average))
    assert "tie rules" not in last.notes[0]
    assert "cutoffs of the protocol" in last.notes[0]


def test_values_of_a_field_are_compared_within_each_evaluation() -> None:
    kinds = {"type": {f"q{query}": "표" if query % 2 else "text" for query in range(12)}}
    pages = [on("pages", name, [place] * 12, slices_of_queries=kinds) for place, name in enumerate("ab", start=1)]
    texts = [on("texts", name, [place] * 10, slices_of_queries=kinds) for place, name in enumerate("cd", start=1)]
    found = compare_each([*pages, *texts, *CLIPS], by="type")
    assert [(each.task, each.part) for each in found] == [
        (task, ("type", value)) for task in ("pages", "texts") for value in ("text", "표")
    ]
    assert found[0].notes[0].startswith("not compared: clips: those who ask (t2v) have no field 'type'")
    stored = json.loads(rendered(found, Form.json))
    assert {name: (part["by"], list(part["parts"])) for name, part in stored["parts"].items()} == {
        "pages": ("type", ["text", "표"]),
        "texts": ("type", ["text", "표"]),
    }
    rows = list(csv.DictReader(io.StringIO(rendered(found, Form.csv))))
    assert {(row["task"], row["slice/type"]) for row in rows} == {
        (each.task, each.part[1]) for each in found if each.part
    }
