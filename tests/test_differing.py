"""The fields by which runs are told apart, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from finished_runs import from_ranks
from glyphrank.differing import differing
from glyphrank.report.finished import Finished

SAME = {"dataset": "d0", "metrics": "e0", "sources": "f0"}


def run(name: str, config: Mapping[str, object], choices: Mapping[str, str] | None = None, **lineage: Any) -> Finished:
    given = {"encoder@lexical": "bm25_words", **(choices or {})}
    keys = {"lexical": name, **SAME, **lineage}
    return from_ranks(name, [1, 2], choices=given, config=config, lineage=keys)


def test_only_fields_that_differ_are_named_as_on_the_dashboard() -> None:
    runs = [run(name, {"lexical": {"k1": k1, "b": 0.75}}) for name, k1 in (("one", 1.2), ("two", 0.9))]
    assert differing(runs) == [{"lexical.k1": "1.2"}, {"lexical.k1": "0.9"}]


def test_what_changes_no_number_is_left_out() -> None:
    runs = [
        run(
            name,
            {
                "lexical": {"k1": k1},
                "paths": {"outputs": name},
                "runtime": {"device": name},
                "tracking": {"experiment": name},
                "rerun": name == "one",
                "save_scores": name == "one",
                "probe": name == "one",
                "plugins": [name],
                "hydra": {"job": name},
            },
            {"experiment": name, "tracking": name},
        )
        for name, k1 in (("one", 1.2), ("two", 0.9))
    ]
    assert differing(runs) == [{"lexical.k1": "1.2"}, {"lexical.k1": "0.9"}]


def test_components_with_one_key_have_changed_nothing_wherever_they_lie_and_whatever_they_are_called() -> None:
    runs = [
        run(name, {"lexical": {"k1": k1}, "dataset": {"root": name}, "fusion": {"k": k1}}, {"fusion": name})
        for name, k1 in (("one", 1.2), ("two", 0.9))
    ]
    assert differing(runs) == [{"lexical.k1": "1.2"}, {"lexical.k1": "0.9"}]


def test_fields_that_follow_from_a_choice_are_left_out_and_those_that_do_not_are_shown() -> None:
    configs = [("bm25_words", 1.2, None), ("bm25_ngrams", 1.2, 2), ("bm25_ngrams", 0.9, 2)]
    runs = [
        run(f"{choice} {k1}", {"lexical": {"k1": k1, "analyser": {"n": n}}}, {"encoder@lexical": choice})
        for choice, k1, n in configs
    ]
    assert differing(runs) == [
        {"lexical": "bm25_words", "lexical.k1": "1.2"},
        {"lexical": "bm25_ngrams", "lexical.k1": "1.2"},
        {"lexical": "bm25_ngrams", "lexical.k1": "0.9"},
    ]


def test_a_field_that_a_run_lacks_has_no_entry() -> None:
    runs = [
        run("one", {"text": {"max_length": 64}}, {"encoder@text": "minilm"}, text="t1"),
        run("two", {"text": {"max_length": 128}}, {"encoder@text": "minilm"}, text="t2"),
        run("three", {"text": None}, {"encoder@text": "none"}),
    ]
    assert differing(runs) == [
        {"text": "minilm", "text.max_length": "64"},
        {"text": "minilm", "text.max_length": "128"},
        {"text": "none"},
    ]


def test_runs_with_one_configuration_are_told_apart_by_their_lineage() -> None:
    runs = [run("one", {}, lexical="k", sources="aa" * 16), run("two", {}, lexical="k", sources="bb" * 16)]
    assert differing(runs) == [{"lineage.sources": "aa" * 6}, {"lineage.sources": "bb" * 6}]


def test_lineage_is_shown_only_where_rows_would_be_alike() -> None:
    runs = [
        run("one", {"lexical": {"k1": 1}}, lexical="k", sources="aa"),
        run("two", {"lexical": {"k1": 2}}, lexical="l", sources="bb"),
    ]
    assert differing(runs) == [{"lexical.k1": "1"}, {"lexical.k1": "2"}]


def test_runs_that_differ_in_nothing_are_told_apart_by_name() -> None:
    runs = [run(name, {}, lexical="k") for name in ("one", "two")]
    assert differing(runs) == [{"run": "one"}, {"run": "two"}]


def test_a_run_alone_has_its_name() -> None:
    assert differing([run("one", {"lexical": {"k1": 1.2}})]) == [{"run": "one"}]
