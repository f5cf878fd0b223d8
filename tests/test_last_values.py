"""The last value of a kind is taken again under an equal key, and goes before another is made."""

from __future__ import annotations

from collections.abc import Callable

from glyphrank.last_values import LastValue


def counting() -> tuple[list[str], Callable[[str], Callable[[], str]]]:
    """What was made, and for each value something that makes it."""
    made: list[str] = []

    def maker(value: str) -> Callable[[], str]:
        def make() -> str:
            made.append(value)
            return value

        return make

    return made, maker


def test_a_value_is_made_once_for_equal_keys_and_again_after_another() -> None:
    made, maker = counting()
    last: LastValue[str] = LastValue()
    assert last.get(("ocr", 1), maker("a")) == last.get(("ocr", 1), maker("never")) == "a"
    assert last.get(("ocr", 2), maker("b")) == "b"
    assert last.get(("ocr", 1), maker("c")) == "c"
    assert made == ["a", "b", "c"]


def test_a_value_that_is_not_good_is_made_again() -> None:
    made, maker = counting()
    last: LastValue[str] = LastValue()
    for value in ("bad", "good", "never"):
        last.get("key", maker(value), lambda found: found == "good")
    assert made == ["bad", "good"]


def test_a_value_that_was_let_go_is_made_again() -> None:
    made, maker = counting()
    last: LastValue[str] = LastValue()
    last.get("key", maker("a"))
    last.keep_only("key")
    last.keep_if(lambda value: value == "a")
    assert last.get("key", maker("never")) == "a"
    last.keep_only(None)
    last.get("key", maker("b"))
    last.keep_if(lambda value: value != "b")
    last.get("key", maker("c"))
    assert made == ["a", "b", "c"]
