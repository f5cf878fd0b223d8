from __future__ import annotations

import pytest

from glyphrank.datasets.beir_hub_patterns import alternatives, fits


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("a/b.jsonl", "a/b.jsonl"),
        ("a/*", "a/b.jsonl"),
        ("**", "a/b.jsonl"),
        ("a/**", "a/b/c.jsonl"),
        ("**/c.jsonl", "c.jsonl"),
        ("**/b/**/c.jsonl", "a/b/c.jsonl"),
        ("[!x]/?.jsonl", "a/b.jsonl"),
        ("[a-c]/[[].jsonl", "b/[.jsonl"),
        ("a.(b)+", "a.(b)+"),
    ],
)
def test_a_pattern_means_the_files_that_the_shell_would_take(pattern: str, name: str) -> None:
    assert fits(name, pattern)


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("a/*", "a/b/c.jsonl"),
        ("*", "a/b.jsonl"),
        ("[!a]/b", "a/b"),
        ("a?b", "a/b"),
        ("[z-a]*", "m"),
        ("[a", "a"),
        ("a/b", "a"),
        ("", "a"),
        ("/".join(["**", "a"] * 30), "/".join("a" * 29)),
    ],
)
def test_a_pattern_means_no_other_files(pattern: str, name: str) -> None:
    assert not fits(name, pattern)


def test_braces_stand_for_several_patterns() -> None:
    assert alternatives("a") == ["a"]
    assert alternatives("{a,b}/{c,}") == ["a/c", "a/", "b/c", "b/"]
    assert alternatives("{a,{b,c}d}") == ["a", "bd", "cd"]
    assert alternatives("{a}{b") == ["{a}{b"]


def test_braces_without_end_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 1000 alternatives in braces"):
        alternatives("{a,b}" * 40)
