from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import pytest

from glyphrank import reading_order
from glyphrank.records import Line, Reading, Source
from glyphrank.transcript import AllLines, Confident, NormalForm, Order, Unique


def reading(*lines: Line) -> Reading:
    return Reading(Source.scene, lines)


def test_all_lines_joins_in_the_order_of_the_source() -> None:
    transcript = AllLines(Order.source, " / ", NormalForm.nfc)
    assert transcript.write(reading(Line("b"), Line("a"))) == ("b / a",)


def test_all_lines_top_down_sorts_by_frame_then_top_then_left() -> None:
    lines = [
        Line("4", box=(0.0, 0.0, 0.1, 0.1), frame=1),
        Line("3", box=(0.0, 0.5, 0.1, 0.6)),
        Line("2", box=(0.5, 0.1, 0.6, 0.2)),
        Line("1", box=(0.1, 0.1, 0.2, 0.2)),
    ]
    assert AllLines(Order.top_down, "", NormalForm.none).write(reading(*lines)) == ("1234",)


def test_all_lines_brings_decomposed_hangul_to_nfc() -> None:  # case P04
    apart = unicodedata.normalize("NFD", "한국어")
    assert AllLines(Order.source, "\n", NormalForm.nfc).write(reading(Line(apart))) == ("한국어",)
    assert AllLines(Order.source, "\n", NormalForm.none).write(reading(Line(apart))) == (apart,)


def test_all_lines_nfkc_folds_full_width_letters() -> None:
    assert AllLines(Order.source, "\n", NormalForm.nfkc).write(reading(Line("ＡＢ１"))) == ("AB1",)


@pytest.mark.parametrize("form", list(NormalForm))
def test_all_lines_brings_queries_and_texts_to_one_form(form: NormalForm) -> None:  # case P04
    transcript = AllLines(Order.source, "\n", form)
    for text in ("ＡＢ１", unicodedata.normalize("NFD", "한국어")):
        assert (transcript.query(text),) == transcript.write(reading(Line(text)))


def test_all_lines_of_nothing_or_of_white_space_is_empty() -> None:  # case P02
    transcript = AllLines(Order.source, "\n", NormalForm.nfc)
    assert transcript.write(reading()) == ()
    assert transcript.write(reading(Line("  "), Line("\t"))) == ()


def confident(**fields: Any) -> Confident:
    plain = Confident(0.5, Order.source, Unique.none, False, 1000, " ", NormalForm.nfc)
    return replace(plain, **fields)


def test_confident_leaves_unsure_lines_out_and_keeps_those_without_a_confidence() -> None:  # case O07
    lines = [Line("sure", 0.9), Line("level", 0.5), Line("unsure", 0.49), Line("unknown", None)]
    assert confident().write(reading(*lines)) == ("sure level unknown",)
    assert confident(min_confidence=0.0).write(reading(*lines)) == ("sure level unsure unknown",)


def test_confident_keeps_words_once_over_all_frames_whatever_their_case() -> None:
    lines = [Line("NO  parking", 0.9), Line("No Entry", 0.9, frame=1), Line("no parking", 0.9, frame=2)]
    assert confident(unique=Unique.words, separator=" / ").write(reading(*lines)) == ("NO parking / Entry",)
    assert confident(unique=Unique.lines, separator=" / ").write(reading(*lines)) == ("NO parking / No Entry",)
    assert confident(separator=" / ").write(reading(*lines)) == ("NO parking / No Entry / no parking",)


def test_confident_compares_words_in_one_unicode_form() -> None:  # case P04
    apart = unicodedata.normalize("NFD", "한국어")
    words = confident(unique=Unique.words, normal_form=NormalForm.none)
    assert words.write(reading(Line("한국어", 0.9), Line(apart, 0.9))) == ("한국어",)
    assert words.write(reading(Line("Straße", 0.9), Line("STRASSE", 0.9))) == ("Straße",)


@pytest.mark.parametrize(
    ("most", "text"),
    [(100, "one two three"), (13, "one two three"), (12, "one two"), (7, "one two"), (6, "one"), (3, "one"), (2, "on")],
)
def test_confident_cuts_at_the_end_of_a_word(most: int, text: str) -> None:
    assert confident(most_characters=most).write(reading(Line("one two", 0.9), Line("three", 0.9))) == (text,)


@pytest.mark.parametrize("form", list(NormalForm))
@pytest.mark.parametrize("lower_case", [True, False])
def test_confident_brings_queries_and_texts_to_one_form(form: NormalForm, lower_case: bool) -> None:  # case P04
    transcript = confident(normal_form=form, lower_case=lower_case)
    for text in ("ＡＢ１ Ab", "℡ NO", "İ", "H\u0331", unicodedata.normalize("NFD", "한국어")):
        assert (transcript.query(text),) == transcript.write(reading(Line(text, 0.9)))
        assert transcript.query(transcript.query(text)) == transcript.query(text)
    assert transcript.query("NO Entry") == ("no entry" if lower_case else "NO Entry")


def test_confident_orders_lines_as_they_are_read_frame_by_frame() -> None:  # case O08
    lines = [
        Line("4", 0.9, (0.0, 0.0, 0.1, 0.1), frame=1),
        Line("3", 0.9, (0.1, 0.5, 0.2, 0.6)),
        Line("2", 0.9, (0.5, 0.09, 0.6, 0.19)),
        Line("1", 0.9, (0.1, 0.1, 0.2, 0.2)),
    ]
    assert confident(order=Order.reading).write(reading(*lines)) == ("1 2 3 4",)
    assert AllLines(Order.reading, " ", NormalForm.nfc).write(reading(*lines)) == ("1 2 3 4",)
    assert confident(order=Order.top_down).write(reading(*lines)) == ("2 1 3 4",)


def test_transcripts_change_their_version_with_the_reading_order() -> None:  # case O08
    assert Confident.VERSION // 1000 == AllLines.VERSION // 1000 == reading_order.VERSION


def test_confident_of_nothing_or_of_unsure_lines_is_empty() -> None:  # case P02
    assert confident().write(reading()) == ()
    assert confident(separator="\n").write(reading(Line(" ", 0.9), Line("x", 0.1), Line("\t", None))) == ()


@pytest.mark.parametrize(
    ("field", "value"), [("min_confidence", 1.1), ("min_confidence", -0.1), ("most_characters", 0)]
)
def test_confident_refuses_values_out_of_range(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"{field} is {value}; wanted"):
        confident(**{field: value})
