from __future__ import annotations

import json
import posixpath
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.tracking.names import batches, columns, parameters, stored_name, stored_value


def read_back(name: str) -> str:
    return re.sub("_0x([0-9a-f]*)_", lambda found: chr(int(found[1], 16)) if found[1] else "", name)


@pytest.mark.parametrize(
    ("original", "stored"),
    [
        ("recall_at_1", "recall_at_1"),
        ("v2t/median_rank", "v2t/median_rank"),
        ("환경 a.b-c", "환경 a.b-c"),
        ("Recall@1", "Recall_0x40_1"),
        ("recall_1", "recall_1"),
        ("a:b", "a_0x3a_b"),
        ("_0x40_", "_0x5f_0x40_"),
        ("a//b", "a/_0x_/b"),
        ("../x", "_0x2e_./x"),
        ("/", "_0x_/_0x_"),
        ("", "_0x_"),
    ],
)
def test_stored_name_is_the_name_itself_or_can_be_read_back(original: str, stored: str) -> None:  # case L01
    assert stored_name(original) == stored
    assert read_back(stored) == original


@given(st.lists(st.text(st.sampled_from("_0x4a@/.: 표"), max_size=12), min_size=2, max_size=2, unique=True))
def test_stored_name_never_makes_two_names_equal(names: list[str]) -> None:  # case L01
    stored = [stored_name(name) for name in names]
    assert [read_back(name) for name in stored] == names
    assert len(set(stored)) == 2


@given(st.text(max_size=300))
def test_stored_name_is_one_that_mlflow_accepts(name: str) -> None:  # case L01
    stored = stored_name(name)
    assert re.fullmatch(r"[/\w.\- ]+", stored)
    assert posixpath.normpath(stored) == stored
    assert not stored.startswith(("/", ".."))
    assert stored != "."
    assert len(stored) <= 250


def test_stored_name_of_names_that_differ_only_after_the_limit_differs() -> None:  # case L01
    first, second = stored_name("a" * 300 + "b"), stored_name("a" * 300 + "c")
    assert first != second
    assert first.startswith("aaaa")


def test_stored_name_tells_a_slash_in_a_part_from_one_between_parts() -> None:
    assert stored_name("slice", "a/b", "c", "m") != stored_name("slice", "a", "b/c", "m")


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("words", "words"),
        (None, "null"),
        ("null", '"null"'),
        (3, "3"),
        ("3", '"3"'),
        (True, "true"),
        (0.1, "0.1"),
        ("", '""'),
        ("\n", '"\\n"'),
        (" a", '" a"'),
        ([1, "표"], '[1, "표"]'),
        ({}, "{}"),
    ],
)
def test_stored_value_tells_a_text_from_what_it_looks_like(value: object, stored: str) -> None:
    assert stored_value(value) == stored


def test_stored_value_of_texts_that_differ_only_after_6000_characters_differs() -> None:  # case L08
    first, second = stored_value("가" * 6000 + "a"), stored_value("가" * 6000 + "b")
    assert first != second
    assert len(first) <= 6000
    assert first.startswith("가가")
    assert "6001 characters" in first
    assert stored_value("가" * 6000) == "가" * 6000


def test_parameters_are_choices_by_slot_then_the_flattened_config() -> None:
    choices = {"dataset": "folder", "encoder@lexical": "bm25_words", "encoder@text": "none"}
    config = {
        "lexical": {"k1": 1.2, "analyser": {"_target_": "a.B"}},
        "text": None,
        "metrics": {"cutoffs": [1, 3]},
        "hydra": {"job": "x"},
    }
    assert parameters(choices, config) == {
        "dataset": "folder",
        "lexical": "bm25_words",
        "text": "none",
        "lexical.k1": "1.2",
        "lexical.analyser._target_": "a.B",
        "metrics.cutoffs": "[1, 3]",
    }


def test_columns_are_choices_and_the_fields_that_a_person_named_or_changed() -> None:
    choices = {"dataset": "folder", "encoder@lexical": "bm25_words"}
    config = {
        "dataset": {"root": "data", "pages": 4},
        "lexical": {"k1": 1.5, "k10": 2, "b": 0.7, "analyser": {"a.b": 1, "c": 2}},
        "runtime": {"batch_size": 8},
        "tracking": {"experiment": "team"},
    }
    named = ("dataset", "encoder@lexical", "lexical.k1", "lexical.analyser", "nosuch.key")
    assert columns(choices, config, named, ["runtime.batch_size"]) == {
        "dataset": "folder",  # the choice was named, and not its fields
        "lexical": "bm25_words",
        "lexical.k1": "1.5",
        "lexical.analyser.a_0x2e_b": "1",
        "lexical.analyser.c": "2",
        "runtime.batch_size": "8",
    }


def test_parameters_keep_a_leaf_whose_name_a_choice_has() -> None:
    assert parameters({"dataset": "folder"}, {"dataset": "x"}) == {"dataset": "folder", "config.dataset": "x"}


def test_parameters_tell_a_dot_in_a_key_from_a_nested_key() -> None:
    nested, flat = parameters({}, {"a": {"b": 1}}), parameters({}, {"a.b": 1})
    assert nested == {"a.b": "1"}
    assert flat == {"a_0x2e_b": "1"}
    assert len(parameters({}, {"a": {"b": 1}, "a.b": 2, "": {"": 3}, ".": 4})) == 4


def test_batches_are_cut_by_number_and_by_size() -> None:
    texts = ["a"] * 250
    assert [len(batch) for batch in batches(texts, 100, len)] == [100, 100, 50]
    large = ["a" * 200_000, "b" * 200_000, "c" * 200_000, "d" * 900_000, "e"]
    assert [len(batch) for batch in batches(large, 100, len)] == [2, 1, 1, 1]
    assert list(batches([], 100, json.dumps)) == []  # type: ignore[arg-type]


def test_group_of_which_nothing_is_chosen_is_no_parameter() -> None:
    choices: dict[str, str | None] = {"experiment": None, "model": "null", "encoder@lexical": "none"}
    assert parameters(choices, {"k": 1}, ()) == {"lexical": "none"}
