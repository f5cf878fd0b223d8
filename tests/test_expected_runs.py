"""Which run a row of expected scores is about: none that was made in another way, whatever was overridden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from composing import built
from glyphrank.expected_files import Expected, Row, Wanted
from glyphrank.expected_runs import Match, Runs
from made_runs import Made, made

WHERE = {"experiment": "quickstart", "lexical": "bm25_ngrams", "text": "none"}
CELL = ("experiment=quickstart", "encoder@lexical=bm25_ngrams", "encoder@text=none")


def matched(runs: list[Made], where: Any = WHERE, experiment: str = "quickstart") -> Match:
    row = Row("ngrams", where, {"ndcg_at_10": Wanted(0.8, 0.1)}, "measured")
    return Runs(runs).match(Expected(experiment, "glyphrank run", (row,)), row)


def run(folder: Path, name: str, *overrides: str) -> Made:
    _, start = built(folder, *CELL, *overrides)
    return made(name, start.choices, start.config)


@pytest.mark.parametrize(
    ("override", "difference"),
    [
        ("lexical.k1=0.1", "lexical.k1 is 0.1, not 1.5"),
        ("lexical.analyser.n=3", "lexical.analyser.n is 3, not 2"),
        ("metrics.ties=average", "metrics.ties is average, not pessimistic"),
        ("metrics.group=none", 'metrics.group is "none", not item'),
        ("transcript.order=top_down", "transcript.order is top_down, not source"),
        ("ocr.thin_below=7", "ocr.thin_below is 7, not 100"),
        ("dataset.pages=12", "dataset.pages is 12, not 24"),
        ("frames.count=9", "frames.count is 9, not 4"),
    ],
)
def test_a_variant_of_the_experiment_is_not_what_a_row_is_about(tmp_path: Path, override: str, difference: str) -> None:
    usual, other = run(tmp_path, "usual"), run(tmp_path, "other", override)
    assert matched([other]) == Match(None, f"other (1) is a variant: {difference.replace(chr(34), '')}")
    assert matched([usual, other]).run is usual
    name, _, value = override.partition("=")
    if name.startswith("lexical.k1"):
        assert matched([usual, other], {**WHERE, name: float(value)}).run is other


def test_other_choices_are_variants_whose_first_differences_are_told(tmp_path: Path) -> None:
    match = matched(
        [run(tmp_path, "first", "lexical.k1=3"), run(tmp_path, "last", "fusion=weighted_sum", "frames=fps_1")]
    )
    assert match.run is None
    assert match.said.startswith("last (1) (and 1 more) is a variant: ")
    assert " more" in match.said.partition(": ")[2]


def test_what_changes_no_number_makes_no_variant(tmp_path: Path) -> None:
    how = ("runtime.device=cpu", "runtime.workers=0", "rerun=true", "tracking=none", "save_scores=true", "probe=true")
    other = run(tmp_path, "other", *how, "metrics.primary=hit_rate_at_1", "metrics.cutoffs=[1,50]")
    assert matched([other]) == Match(other, "other (1)")
    assert matched([other, other]) == Match(other, "other (1), the last of 2 that match")


def test_where_data_and_weights_lie_makes_no_variant(tmp_path: Path) -> None:
    fields = ("experiment=kopub_task1_ocr", "dataset.root=here", "text.weights.folder=there")
    _, start = built(tmp_path, *fields)
    mine = made("mine", start.choices, start.config)
    assert matched([mine], {"text": "bge_m3"}, "kopub_task1_ocr").run is mine


def test_whole_numbers_and_decimals_are_one_value(tmp_path: Path) -> None:
    other = run(tmp_path, "other", "lexical.b=0", "lexical.k1=2.0")
    assert matched([other], {**WHERE, "lexical.b": 0.0, "lexical.k1": 2}).run is other
    assert matched([other], {**WHERE, "lexical.b": False}).run is None
    assert matched([other], {**WHERE, "lexical.b": 10**400}).run is None


def test_numbers_of_others_are_held_against_any_run_of_the_experiment(tmp_path: Path) -> None:
    other = run(tmp_path, "other", "lexical.k1=3")
    assert matched([other], None) == Match(other, "other (1)")
    assert matched([other], None, "sample_clips") == Match(None, "")


def test_a_name_that_no_run_of_the_experiment_has_is_told(tmp_path: Path) -> None:
    runs = [run(tmp_path, "usual")]
    assert matched(runs, {"experiment": "quickstart", "lexcial": "bm25_ngrams"}).said == (
        "no run of quickstart has a field lexcial"
    )
    assert matched(runs, {**WHERE, "lexical": "bm25_words"}).said == ""
    assert matched([], {"lexcial": "bm25_ngrams"}).said == ""


def test_an_experiment_that_is_not_here_is_matched_by_its_row_alone() -> None:
    mine = made("mine", {"experiment": "mine", "encoder@lexical": "bm25_ngrams"}, {"lexical": {"k1": 7}})
    match = matched([mine], {"lexical": "bm25_ngrams"}, "mine")
    assert match.run is mine
    assert match.said == "mine (1); the experiment cannot be composed here, so nothing but `where` was looked at"
