"""Runs held against expected scores: which run a row is about, and what is ok, near and off."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from glyphrank.errors import DataError
from glyphrank.expected_scores import Status, check_expected, expected_files, expected_folder
from made_runs import Made, made

MINE = """
experiment: mine
command: glyphrank run experiment=mine
source: measured
rows:
  - name: words
    where: {lexical: bm25_words, lexical.k1: 1.5}
    expect:
      ndcg_at_10: {value: 0.5, tolerance: 0.01}
      v2t/mean_rank: {value: 12.5, tolerance: 1}
  - name: parts
    where: {lexical: bm25_ngrams}
    expect:
      slice/type/a/b/ndcg_at_10: {value: 0.4, tolerance: 0}
      slice/type/c/queries: {value: 3, tolerance: 0}
      channel/text/v2t/hit_rate_at_1: {value: 0.2, tolerance: 0.1}
  - name: theirs
    source: a paper
    expect: {ndcg_at_10: {value: 0.9, tolerance: 0.01}}
"""
UNKNOWN = "; the experiment cannot be composed here, so nothing but `where` was looked at"


def done(metrics: Mapping[str, float], choices: Mapping[str, str], config: Any = None, **more: Any) -> Made:
    return made("a run", choices, config or {}, metrics=metrics, **more)


def words(value: float, k1: float = 1.5) -> Made:
    numbers = {"ndcg_at_10": value, "v2t/mean_rank": 12.0}
    return done(numbers, {"encoder@lexical": "bm25_words", "experiment": "mine"}, {"lexical": {"k1": k1}})


def parts(value: float) -> Made:
    return done(
        {},
        {"encoder@lexical": "bm25_ngrams"},
        slices={"type": {"a/b": {"ndcg_at_10": value}, "c": {"queries": 3.0}}},
        channels={"text": {"v2t/hit_rate_at_1": 0.25}},
    )


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(MINE, encoding="utf-8")
    return path


def statuses(runs: list[Made], path: Path, *entries: str) -> list[str]:
    return [line.status.value for line in check_expected(runs, [path], entries).lines]


@pytest.mark.parametrize(
    ("value", "status"),
    [(0.5, "ok"), (0.51, "ok"), (0.49, "ok"), (0.511, "near"), (0.47, "near"), (0.469, "off"), (0.531, "off")],
)
def test_a_number_is_ok_within_its_tolerance_and_near_within_three(mine: Path, value: float, status: str) -> None:
    assert statuses([words(value), parts(0.4)], mine)[0] == status


def test_slices_and_channels_are_looked_up_by_their_names_on_the_dashboard(mine: Path) -> None:
    assert statuses([parts(0.4)], mine) == ["not run", "not run", "ok", "ok", "ok"]
    assert statuses([parts(0.4001)], mine)[2] == "off"  # no tolerance at all


def test_of_several_runs_that_match_the_last_counts(mine: Path) -> None:
    assert statuses([words(0.1), words(0.5)], mine)[0] == "ok"
    assert statuses([words(0.5), words(0.1)], mine)[0] == "off"
    assert statuses([words(0.5), words(0.1, k1=2.0)], mine)[0] == "ok"  # the other is not what the row is about
    assert statuses([words(0.5, k1=2.0)], mine)[0] == "not run"


def test_a_number_that_a_run_lacks_is_off(mine: Path) -> None:
    choices = {"encoder@lexical": "bm25_words"}
    verdict = check_expected([done({"ndcg_at_10": 0.5}, choices, {"lexical": {"k1": 1.5}})], [mine], ["words"])
    assert [line.status for line in verdict.lines] == [Status.ok, Status.off]
    assert verdict.exit_code == 1
    assert verdict.as_text().endswith("worst: mine, words: v2t/mean_rank is none, wanted 12.5 ± 1 (measured)")


def test_numbers_of_others_are_looked_at_only_when_they_are_named(mine: Path) -> None:
    verdict = check_expected([words(0.9)], [mine])
    assert "theirs" not in {line.row for line in verdict.lines}
    assert verdict.comparisons == ("theirs",)
    assert "for comparison only, each with --entry NAME: theirs" in verdict.as_text()
    assert statuses([words(0.9), parts(0.4)], mine, "theirs") == ["ok"]  # parts is no run of the experiment
    assert statuses([parts(0.4)], mine, "theirs") == ["not run"]
    assert statuses([words(0.9)], mine, "words", "theirs") == ["off", "ok", "ok"]


def test_the_exit_code_tells_what_is_off_and_what_was_named_and_not_run(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glyphrank.expected_scores.expected_folder", lambda: mine.parent)
    assert check_expected([words(0.5)]).exit_code == 0  # nobody named the file: what was not run may stay so
    assert check_expected([]).exit_code == 0
    assert check_expected([words(0.5)], [mine]).exit_code == 1
    assert check_expected([words(0.5)], (), ["parts"]).exit_code == 1
    assert check_expected([words(0.5)], [mine], ["words"]).exit_code == 0
    assert check_expected([words(0.52), parts(0.4)], [mine]).exit_code == 0  # near
    assert check_expected([words(0.54), parts(0.4)]).exit_code == 1


def test_a_line_for_each_number_and_the_worst_in_the_end(mine: Path) -> None:
    verdict = check_expected([words(0.56), parts(0.4)], [mine])
    assert verdict.as_text().splitlines() == [
        "experiment  row    metric                          expected       found   difference",
        "mine        words  ndcg_at_10                      0.5000 ± 0.01  0.5600  +0.0600     off",
        "mine        words  v2t/mean_rank                   12.5 ± 1       12      -0.5000     ok",
        "mine        parts  slice/type/a/b/ndcg_at_10       0.4000 ± 0     0.4000  +0.0000     ok",
        "mine        parts  slice/type/c/queries            3.0000 ± 0     3.0000  +0.0000     ok",
        "mine        parts  channel/text/v2t/hit_rate_at_1  0.2000 ± 0.1   0.2500  +0.0500     ok",
        f"run of mine, words: a run (1){UNKNOWN}",
        f"run of mine, parts: a run (1){UNKNOWN}",
        "5 numbers: 4 ok, 0 near, 1 off, 0 not run",
        "for comparison only, each with --entry NAME: theirs",
        "worst: mine, words: ndcg_at_10 is 0.5600, wanted 0.5000 ± 0.01 (measured)",
    ]
    assert "worst" not in check_expected([words(0.5), parts(0.4)], [mine]).as_text()
    assert "none" in check_expected([], [mine]).as_text()


def test_faults_of_all_files_are_one_error(tmp_path: Path, mine: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("rows: []\n")
    mine.write_text(MINE.replace("tolerance: 0.1}", "tolerance: -1}"))
    with pytest.raises(DataError) as caught:
        check_expected([], [mine, other])
    assert str(mine) in str(caught.value)
    assert str(other) in str(caught.value)


def test_an_entry_that_is_nowhere_is_named_with_those_there_are(mine: Path) -> None:
    with pytest.raises(DataError, match=r"no row of expected scores is called tcd; wanted one of words, parts, theirs"):
        check_expected([], [mine], ["words", "tcd"])


def test_files_are_told_from_runs_by_their_ending(mine: Path) -> None:
    ours = expected_folder() / "quickstart.yaml"
    assert expected_files([str(mine), "outputs/runs/x", "quickstart.yaml", "ab12"]) == (
        [mine, ours],
        ["outputs/runs/x", "ab12"],
    )
    assert expected_files([]) == ([], [])
    with pytest.raises(DataError, match=r"a/quickstart\.yaml, x\.yml: no such file .* one of .*quickstart\.yaml"):
        expected_files(["a/quickstart.yaml", "x.yml"])
