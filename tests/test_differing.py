"""The fields by which runs are told apart, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from finished_runs import from_ranks
from glyphrank.differing import differing, distinct, marked, unexplained
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
    configs = [("bm25_words", 1.2), ("bm25_ngrams", 1.2), ("bm25_ngrams", 0.9)]
    analysers: dict[str, dict[str, object]] = {
        "bm25_words": {"_target_": "words.Words"},
        "bm25_ngrams": {"_target_": "words.Ngrams", "n": 2},
    }
    runs = [
        run(f"{choice} {k1}", {"lexical": {"k1": k1, "analyser": analysers[choice]}}, {"encoder@lexical": choice})
        for choice, k1 in configs
    ]
    assert differing(runs) == [
        {"lexical": "bm25_words", "lexical.k1": "1.2"},
        {"lexical": "bm25_ngrams", "lexical.k1": "1.2"},
        {"lexical": "bm25_ngrams", "lexical.k1": "0.9"},
    ]


def test_a_field_that_choices_share_is_shown_where_it_differs_with_them() -> None:
    runs = [
        run(choice, {"lexical": {"_target_": choice, "k1": k1, "b": 1}}, {"encoder@lexical": choice})
        for choice, k1 in (("bm25_words", 0.9), ("bm25_ngrams", 3.5))
    ]
    assert differing(runs) == [
        {"lexical": "bm25_words", "lexical.k1": "0.9"},
        {"lexical": "bm25_ngrams", "lexical.k1": "3.5"},
    ]


def test_a_field_of_one_of_several_choices_follows_from_it() -> None:
    settings: list[tuple[str, dict[str, object]]] = [("none", {}), ("small", {"crop": 1}), ("large", {"crop": 1})]
    runs = [run(name, {"visual": own}, {"encoder@visual": name}, visual=name) for name, own in settings]
    assert differing(runs) == [{"visual": name} for name, _ in settings]


def told(*runs: Finished) -> list[str]:
    return unexplained(runs, differing(runs))


def test_what_no_field_shows_of_the_lineage_is_named() -> None:
    one = run("one", {"lexical": {"k1": 1}}, lexical="k", sources="aa")
    two = run("two", {"lexical": {"k1": 2}}, lexical="l", sources="bb")
    (note,) = told(one, two)
    assert note.endswith("another version of code, packages or files: sources (aa in 'one'; bb in 'two')")
    newer = run("newer", {"lexical": {"k1": 2}, "text": {"n": 1}}, lexical="m", sources="bb", text="t")
    assert "lexical (k in 'one'; l in 'two'; m in 'newer'), sources (" in told(one, two, newer)[0]


def test_what_fields_explain_of_the_lineage_is_not_named() -> None:
    one = run("one", {"lexical": {"k1": 1}}, dataset="d1", metrics="e1")
    two = run("two", {"lexical": {"k1": 2}}, dataset="d2", metrics="e2")
    assert told(one, two) == []  # of the dataset and the protocol `common` speaks
    assert told(run("one", {}, lexical="k", sources="aa"), run("two", {}, lexical="k", sources="bb")) == []  # a column


def test_marks_of_reports_are_told_by_run() -> None:
    def bearing(name: str, **tags: str) -> Finished:
        return from_ranks(name, [1, 2], tags=tags, counts={"queries": 2, "items": 20, "failed_items": len(name) - 3})

    runs = [
        bearing("one", random_weights="visual", gallery="9 of 10 videos"),
        bearing("four", gallery="9 of 10 videos"),
    ]
    assert marked(runs) == [
        "marked random_weights visual: 'one'",
        "marked gallery 9 of 10 videos: 'one', 'four'",
        "incomplete, with items that could not be read and are never retrieved: 'four'",
    ]


def test_one_identity_with_other_numbers_stays_two_rows_of_two_names() -> None:
    first, second = (from_ranks("r", ranks, identity="ab" * 16) for ranks in ([1, 2], [1, 3]))
    runs, notes = distinct([first, first, second])
    assert [one.name for one in runs] == ["r (abababab) 1 of 2", "r (abababab) 2 of 2"]
    assert notes[0] == "runs that gave the very result of a later one, and stand here with it: 1"
    assert notes[1].startswith("of one identity but with other numbers, as another device may give: 'r (abababab) 1 of")


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


def test_a_field_that_only_one_choice_has_is_shown_where_a_person_changed_it() -> None:
    words = run("one", {"lexical": {"k1": 1.2}})
    ngrams = run("two", {"lexical": {"k1": 1.2, "n": 4}}, {"encoder@lexical": "bm25_ngrams"})
    assert differing([words, ngrams]) == [{"lexical": "bm25_words"}, {"lexical": "bm25_ngrams"}]
    own = replace(ngrams, report=replace(ngrams.report, changed=("lexical.n",)))
    assert differing([words, own]) == [{"lexical": "bm25_words"}, {"lexical": "bm25_ngrams", "lexical.n": "4"}]


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


def test_a_part_that_only_some_runs_need_explains_itself() -> None:
    words = run("one", {"lexical": {"k1": 1}}, {"encoder@text": "none"})
    dense = run("two", {"lexical": {"k1": 1}}, {"encoder@text": "minilm"}, lexical="one", text="t1", index="i1")
    assert unexplained([words, dense], differing([words, dense])) == []
