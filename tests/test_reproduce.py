from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from finished_runs import finished, from_ranks, kept
from glyphrank.errors import ConfigError, DataError
from glyphrank.records import Direction
from glyphrank.report.agreement import Verdict, as_json, as_text
from glyphrank.report.environment import ENVIRONMENT
from glyphrank.reproduce import agreement, differing_content, differing_hardware, differing_ways, find_original
from glyphrank.reproduce_command import run_reproduce
from tracked_runs import report_with

RELEVANT = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
OLD: dict[str, Any] = {
    "glyphrank": {"sources": "1a", "commit": "c0ffee" * 6},
    "packages": {"torch": "2.3", "numpy": "2.0", "rich": "13"},
    "cpu": {"model": "slow", "cores": 2},
    "gpus": None,
}


def test_the_same_numbers_and_ranks_are_equal_bit_for_bit() -> None:
    found = agreement(from_ranks("then", [1, 3, 2]), from_ranks("now", [1, 3, 2]))
    assert (found.verdict, found.asked, found.moved, found.unshared) == (Verdict.equal, 3, 0, 0)
    text = as_text(found, "ndcg_at_10")
    assert text.endswith(f"equal: all {len(found.numbers)} numbers come out the same, bit for bit")
    assert "equal (primary)" in text


def test_last_bit_is_within_tolerance_and_not_equal() -> None:
    then = from_ranks("then", [1, 3, 2])
    bit = {**then.report.metrics, "ndcg_at_10": math.nextafter(then.report.metrics["ndcg_at_10"], 1)}
    found = agreement(then, replace(then, report=replace(then.report, metrics=bit)))
    assert found.verdict is Verdict.within
    assert agreement(then, replace(then, report=replace(then.report, metrics=bit)), 0).verdict is Verdict.different
    assert "are the same bit for bit, all within 0.001" in as_text(found, "ndcg_at_10")


def test_moved_query_is_counted_and_numbers_beyond_the_tolerance_are_different() -> None:
    found = agreement(from_ranks("then", [1, 3, 2]), from_ranks("now", [1, 3, 4]))
    assert (found.verdict, found.asked, found.moved) == (Verdict.different, 3, 1)
    assert "ranks: 1 of 3 that ask have a relevant item at another place" in as_text(found, "ndcg_at_10")
    (number,) = [number for number in found.numbers if number.name == "mean_rank"]
    assert (number.then, number.now, number.verdict) == (2.0, 8 / 3, Verdict.different)
    assert agreement(from_ranks("then", [1, 3, 2]), from_ranks("now", [1, 3, 4]), 0.5).verdict is Verdict.within


def test_ranks_that_moved_are_never_equal_though_all_numbers_are() -> None:
    then = finished("then", {"q1": [3, 2, 1], "q2": [3, 2, 1]}, RELEVANT)
    now = finished("now", {"q1": [2, 3, 1], "q2": [2, 3, 1]}, RELEVANT)
    assert then.report.metrics == now.report.metrics
    found = agreement(then, now)
    assert (found.verdict, found.moved) == (Verdict.within, 2)


def test_a_rank_may_differ_by_a_share_of_itself() -> None:
    base = from_ranks("then", [1, 3, 2])
    runs = [
        replace(base, report=replace(base.report, metrics={"mean_rank": value})) for value in (1000.0, 1000.9, 1001.5)
    ]
    assert agreement(runs[0], runs[1]).verdict is Verdict.within
    assert agreement(runs[0], runs[2]).verdict is Verdict.different


def test_channels_count_and_are_shown_where_they_differ() -> None:
    base = from_ranks("then", [1, 3, 2])
    then, now = (
        replace(base, report=replace(base.report, channels={"text": {"ndcg_at_10": value, "mean_rank": 2.0}}))
        for value in (0.5, 0.7)
    )
    found = agreement(then, now)
    assert found.verdict is Verdict.different
    text = as_text(found, "ndcg_at_10")
    assert "channel/text/ndcg_at_10" in text
    assert "channel/text/mean_rank" not in text
    assert as_json(found, ["code: x"])["numbers"]["channel/text/ndcg_at_10"] == [0.5, 0.7]


def test_other_queries_and_directions_are_different() -> None:
    then = finished("then", {"q1": [3, 2, 1], "q2": [1, 3, 2]}, RELEVANT)
    other = finished("now", {"q1": [3, 2, 1], "q3": [1, 3, 2]}, {"q1": {"a": 1.0}, "q3": {"b": 1.0}})
    assert then.report.metrics == other.report.metrics
    assert (agreement(then, other).verdict, agreement(then, other).unshared) == (Verdict.different, 2)
    both = finished("now", {"q1": [3, 2, 1], "q2": [1, 3, 2]}, RELEVANT, directions=list(Direction))
    assert agreement(then, both).verdict is Verdict.different


def test_what_differs_is_told_by_kind() -> None:
    then = report_with(lineage={"dataset": "f1" * 16, "text": "a1" * 16, "lexical": "b1" * 16, "sources": "1" * 32})
    now = {"dataset": "f2" * 16, "text": "a2" * 16, "lexical": "b2" * 16, "sources": "2" * 32}
    new = {
        "glyphrank": {"sources": "2b", "commit": "decade" * 6},
        "packages": {"torch": "2.4", "numpy": "2.0", "rich": "14"},
    }
    assert differing_content(then, now, {"text": {"torch", "numpy"}, "lexical": {"numpy"}}, OLD, new) == [
        "code: the sources have changed (commit c0ffeec0ffee then, decadedecade now)",
        "data: f1f1f1f1f1f1 then, f2f2f2f2f2f2 now",
        "text: a1a1a1a1a1a1 then, a2a2a2a2a2a2 now; torch 2.3 then, 2.4 now",
        "lexical: b1b1b1b1b1b1 then, b2b2b2b2b2b2 now; none of its packages has changed, so its files (weights) or its "
        "code have",
        "packages: rich 13 then, 14 now",
    ]
    assert differing_content(then, then.lineage, {}, OLD, OLD) == []


def test_source_of_a_plugin_is_told_from_glyphranks_own() -> None:
    then = report_with(lineage={"sources": "1" * 32})
    (told,) = differing_content(then, {"sources": "2" * 32}, {}, OLD, OLD)
    assert told == "code: the sources of a plug-in have changed; glyphrank's own have not"


def test_run_that_left_no_environment_is_told_so() -> None:
    then = report_with(lineage={"text": "1" * 32})
    told = differing_content(then, {"text": "2" * 32}, {"text": {"torch"}}, {}, OLD)
    assert told[0].endswith("a package of it, its files (weights) or its code")
    assert told[1].startswith("packages and hardware of then are not known")
    assert differing_hardware({}, OLD) == []


def test_hardware_that_differs_is_told_where_both_know_it() -> None:
    new = {**OLD, "cpu": {"model": "fast", "cores": 8}, "gpus": ["H200"]}
    assert differing_hardware(OLD, new) == ["cpu: model slow, cores 2 then, model fast, cores 8 now"]
    assert differing_hardware({**OLD, "gpus": []}, new)[-1] == "gpus: none then, H200 now"


def test_batch_size_and_device_that_were_asked_for_are_told() -> None:
    then = {"runtime": {"device": "auto", "batch_size": 32, "workers": 2}}
    now = {"runtime": {"device": "auto", "batch_size": 4, "workers": 0}}
    assert differing_ways(then, now) == ["runtime.batch_size: 32 then, 4 now"]
    assert differing_ways({}, {}) == []


def test_original_is_found_by_folder_and_by_the_beginning_of_its_identity(tmp_path: Path) -> None:
    folder = kept(from_ranks("then", [1, 2]), tmp_path / "results")
    (folder / ENVIRONMENT).write_text('{"python": "3.11"}')
    by_folder, by_identity = find_original(str(folder)), find_original(folder.name[:8], tmp_path)
    assert by_folder.reference == by_identity.reference == folder.name
    assert by_folder.environment == by_identity.environment == {"python": "3.11"}


def test_what_is_no_run_is_refused_with_what_would_be_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="wanted a run's folder, or at least 6 characters of an id of MLflow"):
        find_original("no such thing", tmp_path)
    with pytest.raises(ConfigError, match="there is no MLflow store"):
        find_original("0a1b2c3d", tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        find_original(str(tmp_path))
    for name in ("a" * 32, "a" * 31 + "b"):
        kept(from_ranks(name, [1, 2], identity=name), tmp_path / "results")
    with pytest.raises(ConfigError, match="begins 2 identities"):
        find_original("aaaaaa", tmp_path)


def test_folder_of_a_sweep_names_its_cells(tmp_path: Path) -> None:
    (tmp_path / "cells").mkdir()
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "report.json").touch()
    with pytest.raises(ConfigError, match=r"is the folder of a sweep; name one of its cells: .*/0$"):
        find_original(str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [([], "RUN"), (["aaaaaa", "--tolerance", "-1"], "at least 0"), (["aaaaaa", "--tolerance", "nan"], "at least 0")],
)
def test_wrong_use_is_told_with_exit_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_reproduce(arguments) == 2
    assert words in capsys.readouterr().err


def test_help_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_reproduce(["--help"]) == 0
    assert "the last place that tables show" in " ".join(capsys.readouterr().out.split())
