from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.garble import garble_share


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("(cid:12)(cid:345)", 1.0),  # case P01
        ("(cid:12) 12345678", 0.5),
        ("\ue000\uf0b7", 1.0),
        ("ab\ufffd\ufffd", 0.5),
        ("\u1112\u1112", 1.0),
        ("ㅎㅏㄴㄱㅡㄹ", 1.0),
        ("쀍뛟 가나", 0.5),
    ],
    ids=["glyph numbers", "half", "private use", "replacement", "conjoining jamo", "jamo letters", "rare syllables"],
)
def test_garble_share_counts_what_no_writer_wrote(text: str, share: float) -> None:
    assert garble_share(text) == share


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "시험 결과는 다음과 같다.",
        unicodedata.normalize("NFD", "한국어 문서"),
        "ㅇ 추진 배경 ㆍ 목적",
        "naïve 電話 №7 — 12 % “x”",
        "see (cid) and (cid:x)",
    ],
)
def test_garble_share_of_ordinary_text_is_zero(text: str) -> None:
    assert garble_share(text) == 0.0


@given(st.text())
def test_garble_share_is_a_share(text: str) -> None:
    assert 0.0 <= garble_share(text) <= 1.0
