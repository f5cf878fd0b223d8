from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.reading_order import reading_order
from glyphrank.records import Line


def at(text: str, left: float, top: float, right: float, bottom: float, frame: int = 0) -> Line:
    return Line(text, 0.9, (left, top, right, bottom), frame)


def texts(lines: list[Line]) -> list[str]:
    """What is read, whatever the order in which the boxes come."""
    found = {
        tuple(line.text for line in reading_order(random.Random(seed).sample(lines, len(lines)))) for seed in range(9)
    }
    assert len(found) == 1
    return list(found.pop())


def column(name: str, left: float, right: float, rows: int, top: float = 0.2) -> list[Line]:
    """Lines `name1`, `name2`, ... below each other, each a word of eight times its name."""
    return [at(f"{name}{row}", left, top + 0.1 * row, right, top + 0.1 * row + 0.05) for row in range(rows)]


def test_rows_are_read_from_left_to_right_and_top_to_bottom() -> None:  # case O08
    lines = [
        at("NO", 0.1, 0.1, 0.2, 0.2),
        at("PARKING", 0.25, 0.11, 0.6, 0.21),
        at("AT ALL", 0.1, 0.3, 0.3, 0.4),
        at("TIMES", 0.35, 0.29, 0.6, 0.39),
    ]
    assert texts(lines) == ["NO", "PARKING", "AT ALL", "TIMES"]


def test_a_row_holds_what_overlaps_by_half_of_the_lower_box() -> None:
    level = [at("left", 0.5, 0.10, 0.9, 0.20), at("half", 0.1, 0.15, 0.4, 0.25)]
    assert texts(level) == ["half", "left"]
    apart = [at("left", 0.7, 0.10, 0.9, 0.20), at("less", 0.1, 0.16, 0.4, 0.26)]
    assert texts(apart) == ["left", "less"]


def test_two_columns_are_read_one_after_the_other() -> None:  # case O08
    lines = column("long left line ", 0.05, 0.45, 4) + column("long right line ", 0.55, 0.95, 4)
    assert [text[5:6] for text in texts(lines)] == ["l"] * 4 + ["r"] * 4


def test_columns_whose_lines_stand_at_other_heights_are_columns_too() -> None:
    lines = column("long left line ", 0.05, 0.45, 4) + column("long right line ", 0.55, 0.95, 4, top=0.24)
    assert [text[5:6] for text in texts(lines)] == ["l"] * 4 + ["r"] * 4


def test_three_columns_below_a_heading_and_above_a_footer() -> None:
    lines = [
        at("a heading over all of it", 0.05, 0.05, 0.95, 0.12),
        *column("first column ", 0.05, 0.3, 3),
        *column("second column", 0.37, 0.62, 3),
        *column("third column ", 0.7, 0.95, 3),
        at("a footer below all of it", 0.05, 0.9, 0.95, 0.95),
    ]
    assert [text[0] for text in texts(lines)] == [*"a", *"fff", *"sss", *"ttt", *"a"]


def test_two_rows_with_a_gap_are_no_columns() -> None:
    lines = column("long left line ", 0.05, 0.45, 2) + column("long right line ", 0.55, 0.95, 2)
    assert [text[5:6] for text in texts(lines)] == ["l", "r", "l", "r"]


def test_words_with_a_space_between_them_are_no_columns() -> None:
    lines = column("long left line ", 0.05, 0.45, 4) + column("long right line ", 0.5, 0.9, 4)
    assert [text[5:6] for text in texts(lines)] == ["l", "r"] * 4


def test_a_column_that_goes_on_alone_is_cut_off_where_it_is_longer_than_both_were_together() -> None:
    lines = column("long left line ", 0.05, 0.45, 7) + column("long right line ", 0.55, 0.95, 3)
    assert [text[5:6] for text in texts(lines)] == ["l"] * 3 + ["r"] * 3 + ["l"] * 4
    lines = column("long left line ", 0.05, 0.45, 6) + column("long right line ", 0.55, 0.95, 3)
    assert [text[5:6] for text in texts(lines)] == ["l"] * 6 + ["r"] * 3


def test_a_slanted_box_is_read_in_its_place_and_joins_no_rows() -> None:  # case O08
    lines = [*column("row", 0.1, 0.4, 3), at("slanted", 0.5, 0.2, 0.9, 0.46)]
    assert texts(lines) == ["row0", "row1", "slanted", "row2"]


def test_a_high_box_far_to_the_left_joins_no_rows_either() -> None:  # case O08
    lines = [*column("row", 0.5, 0.9, 3), at("high", 0.1, 0.2, 0.4, 0.46)]
    assert texts(lines) == ["row0", "high", "row1", "row2"]


def slanted(words: str, degrees: float, left: float = 0.1, top: float = 0.5, across: float = 1.0) -> list[Line]:
    """The boxes around the words of a line that rises by so many degrees, as an engine gives them.

    Letters are 0.05 high and 0.03 wide; `across` squeezes the line horizontally, as fractions of a wide frame do.
    """
    angle, start, lines = math.radians(degrees), 0.0, []
    cosine, sine = math.cos(angle), math.sin(angle)
    for word in words.split():
        long = 0.03 * len(word)
        x, y = (start + long / 2) * cosine, top - (start + long / 2) * sine
        wide, high = long * cosine + 0.05 * abs(sine), long * abs(sine) + 0.05 * cosine
        lines.append(
            at(word, left + across * (x - wide / 2), y - high / 2, left + across * (x + wide / 2), y + high / 2)
        )
        start += long + 0.03
    return lines


@pytest.mark.parametrize("across", [1.0, 9 / 16, 16 / 9])
@pytest.mark.parametrize("degrees", [0, 4, 8, 15, 25, -4, -8, -15, -25])
@pytest.mark.parametrize("words", ["FRESH COFFEE HOUSE", "ONE WAY", "A BIG CAFE IN YORK"])
def test_the_words_of_a_rising_or_falling_line_keep_their_order(
    words: str, degrees: float, across: float
) -> None:  # case O08
    assert " ".join(texts(slanted(words, degrees, across=across))) == words


def test_a_slanted_line_is_read_between_what_stands_above_and_below_it() -> None:  # case O08
    above, below = at("above", 0.1, 0.02, 0.4, 0.07), at("below", 0.5, 0.9, 0.8, 0.95)
    for degrees in (20, -20):
        line = slanted("FRESH COFFEE HOUSE", degrees)
        assert texts([*line, below, above]) == ["above", "FRESH", "COFFEE", "HOUSE", "below"]


def test_two_slanted_lines_are_read_one_after_the_other() -> None:  # case O08
    for degrees in (12, -12):
        lines = slanted("FRESH COFFEE", degrees, top=0.3) + slanted("OPEN DAILY", degrees, top=0.5)
        assert texts(lines) == ["FRESH", "COFFEE", "OPEN", "DAILY"]


def test_level_rows_whose_boxes_overlap_a_little_stay_rows() -> None:  # case O08
    rows = ["the first row of it", "a second", "third is longer than those", "and last"]
    lines = [line for row, words in enumerate(rows) for line in slanted(words, 0, left=0.05, top=0.2 + 0.037 * row)]
    assert " ".join(texts(lines)) == " ".join(rows)
    shifted = [
        line
        for row, words in enumerate(rows)
        for line in slanted(words, 0, left=0.05 + 0.1 * (row % 2), top=0.2 + 0.037 * row)
    ]
    assert " ".join(texts(shifted)) == " ".join(rows)


@pytest.mark.timeout(60)  # one that grows with the square of the boxes takes minutes
@pytest.mark.parametrize("page", ["scattered", "rows", "columns"])
def test_reading_order_of_thousands_of_boxes_comes_to_an_end(page: str) -> None:
    chance = random.Random(0).random
    places = {
        "scattered": [(chance(), chance()) for _ in range(5000)],
        "rows": [(column / 25 + 0.005 * chance(), row / 200) for row in range(200) for column in range(25)],
        "columns": [(column / 5, row / 1000) for row in range(1000) for column in range(5)],
    }
    lines = [at("word", x, y, x + 0.03, y + 0.0008) for x, y in places[page]]
    assert len(reading_order(lines)) == 5000


def test_frames_come_one_after_another_and_lines_without_a_box_first() -> None:
    lines = [
        at("second frame", 0.1, 0.1, 0.9, 0.2, frame=1),
        Line("b", frame=0),
        at("boxed", 0.1, 0.1, 0.9, 0.2),
        Line("a", frame=0),
    ]
    assert [line.text for line in reading_order(lines)] == ["b", "a", "boxed", "second frame"]


@pytest.mark.parametrize("box", [(0.0, 0.0, 0.0, 0.0), (0.5, 0.5, 0.5, 0.5), (0.0, 0.0, 1.0, 1.0)])
def test_boxes_without_area_and_equal_boxes_are_read(box: tuple[float, float, float, float]) -> None:
    assert texts([Line(text, None, box) for text in ("c", "", "a", "b")]) == ["", "a", "b", "c"]
    assert reading_order([]) == []


EDGES = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 6), st.integers(0, 4))


@given(st.lists(st.tuples(EDGES, st.sampled_from("abc"), st.integers(0, 1)), max_size=24), st.randoms())
def test_the_order_of_boxes_depends_on_the_boxes_alone(
    boxes: list[tuple[tuple[int, int, int, int], str, int]], shuffle: random.Random
) -> None:  # case O08
    lines = [
        at(text, x / 10, y / 10, (x + wide) / 10, (y + high) / 10, frame) for (x, y, wide, high), text, frame in boxes
    ]
    ordered = reading_order(lines)
    assert sorted(map(repr, ordered)) == sorted(map(repr, lines))
    shuffled = list(lines)
    shuffle.shuffle(shuffled)
    assert reading_order(shuffled) == ordered
