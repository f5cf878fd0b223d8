"""The last value of a kind is taken again under an equal key, and goes before another is made."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from glyphrank.last_values import LastValue, recent


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


def test_recent_calls_are_taken_by_equal_arguments_and_the_oldest_goes() -> None:
    asked: list[tuple[str, ...]] = []

    @recent(2)
    def joined(parts: tuple[str, ...], between: str = "") -> str:
        asked.append(parts)
        return between.join(parts)

    ab, ba = ("a", "b"), ("b", "a")
    assert [joined(ab), joined(("a", "b")), joined(ba), joined(ab)] == ["ab", "ab", "ba", "ab"]
    assert joined(ab, between="-") == "a-b"  # the third: what was first to come goes
    assert asked == [ab, ba, ab]
    assert joined(ab) == "ab"
    assert asked == [ab, ba, ab, ab]


def test_recent_calls_hold_what_was_asked_last() -> None:
    """Equal arguments take the place of those before, so that the next comparison finds the very same objects."""

    class Text(str):
        __slots__ = ()
        compared = 0

        def __eq__(self, other: object) -> bool:
            Text.compared += 1
            return str(self) == str(other)

        __hash__ = str.__hash__

    lengths = recent(1)(lambda texts: [len(text) for text in texts])
    first, second = ((Text("word"),), (Text("word"),))
    assert lengths(first) == lengths(second) == [4]
    before = Text.compared
    assert before > 0
    assert lengths(second) == [4]
    assert Text.compared == before


def test_a_call_that_fails_is_not_kept() -> None:
    inverse = recent(1)(lambda number: 1 / number)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            inverse(0)
    assert inverse(2) == 0.5
