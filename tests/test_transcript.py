from __future__ import annotations

import unicodedata

import pytest

from glyphrank.records import Line, Reading, Source
from glyphrank.transcript import AllLines, NormalForm, Order


def reading(*lines: Line) -> Reading:
    return Reading(Source.scene, lines)


def test_all_lines_joins_in_the_order_of_the_source() -> None:
    transcript = AllLines(Order.source, " / ", NormalForm.nfc)
    assert transcript.write(reading(Line("b"), Line("a"))) == "b / a"


def test_all_lines_top_down_sorts_by_frame_then_top_then_left() -> None:
    lines = [
        Line("4", box=(0.0, 0.0, 0.1, 0.1), frame=1),
        Line("3", box=(0.0, 0.5, 0.1, 0.6)),
        Line("2", box=(0.5, 0.1, 0.6, 0.2)),
        Line("1", box=(0.1, 0.1, 0.2, 0.2)),
    ]
    assert AllLines(Order.top_down, "", NormalForm.none).write(reading(*lines)) == "1234"


def test_all_lines_brings_decomposed_hangul_to_nfc() -> None:  # case P04
    apart = unicodedata.normalize("NFD", "한국어")
    assert AllLines(Order.source, "\n", NormalForm.nfc).write(reading(Line(apart))) == "한국어"
    assert AllLines(Order.source, "\n", NormalForm.none).write(reading(Line(apart))) == apart


def test_all_lines_nfkc_folds_full_width_letters() -> None:
    assert AllLines(Order.source, "\n", NormalForm.nfkc).write(reading(Line("ＡＢ１"))) == "AB1"


@pytest.mark.parametrize("form", list(NormalForm))
def test_all_lines_brings_queries_and_texts_to_one_form(form: NormalForm) -> None:  # case P04
    transcript = AllLines(Order.source, "\n", form)
    for text in ("ＡＢ１", unicodedata.normalize("NFD", "한국어")):
        assert transcript.query(text) == transcript.write(reading(Line(text)))


def test_all_lines_of_nothing_or_of_white_space_is_empty() -> None:  # case P02
    transcript = AllLines(Order.source, "\n", NormalForm.nfc)
    assert transcript.write(reading()) == ""
    assert transcript.write(reading(Line("  "), Line("\t"))) == ""
