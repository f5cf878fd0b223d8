"""Objects of JSON remember the keys that stood twice."""

from __future__ import annotations

import json

import pytest

from glyphrank.json_objects import JsonObject, repeated_key


def read(text: str) -> object:
    return json.loads(text, object_pairs_hook=JsonObject)


def test_an_object_is_read_as_ever_and_knows_what_stood_twice() -> None:
    found = read('{"a": 1, "b": 2, "a": 3, "c": 4, "b": 5}')
    assert isinstance(found, JsonObject)
    assert found == {"a": 3, "b": 5, "c": 4}
    assert found.twice == ("a", "b")
    assert JsonObject([]).twice == ()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"a": 1, "b": {"a": 1}}', None),
        ('[{"a": 1}, {"a": 2}]', None),
        ("3", None),
        ('{"": 1, "": 1}', ""),
        ('{"a": {"b": [[{"c": 1, "c": 1}]]}}', "c"),
        ('[{"a": 1}, {"a": 2, "a": 2}]', "a"),
    ],
)
def test_a_key_that_stands_twice_is_found_at_any_depth(text: str, key: str | None) -> None:
    assert repeated_key(read(text)) == key


def test_what_can_be_read_can_be_looked_through_however_deep_it_is() -> None:
    assert repeated_key(read("[" * 900 + '{"x": 1, "x": 2}' + "]" * 900)) == "x"
