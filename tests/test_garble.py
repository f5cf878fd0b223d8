from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.garble import garble_share, judge
from glyphrank.media.pdf import page_count, page_text
from glyphrank.records import TextState

ROOT = Path(__file__).parents[1]


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


def shifted(text: str, by: int) -> str:
    """The text under a map of characters in which every syllable has another's place."""
    return "".join(chr((ord(c) - 0xAC00 + by) % 11172 + 0xAC00) if "\uac00" <= c <= "\ud7a3" else c for c in text)


KOREAN = [
    "시민들은 공공 자전거를 모두 41,200회 빌려 탔다. 전년보다 3.2 % 늘어난 것이다. 권역별로는 강변에서 가장 많이 탔다.",
    "이 안내서는 데비안 GNU/리눅스 시스템을 설치하는 방법을 설명한다. 하드웨어 요구 사항과 정보를 얻는 방법도 있다.",
]


@pytest.mark.parametrize("by", [1, 28])
@pytest.mark.parametrize("text", KOREAN)
def test_garble_share_of_shifted_hangul_is_above_the_choice_of_conf(text: str, by: int) -> None:
    limit = yaml.safe_load((ROOT / "conf" / "ocr" / "embedded.yaml").read_text(encoding="utf-8"))["garbled_above"]
    assert garble_share(text) == 0.0
    assert garble_share(shifted(text, by)) > limit


@pytest.mark.shared
def test_no_page_of_a_real_document_is_garbled(shared_data: Path) -> None:
    document = shared_data / "guide_ko" / "install.ko.pdf"
    assert {garble_share(page_text(document, page).text) for page in range(1, page_count(document) + 1)} == {0.0}


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("", "blank"),
        (" \n\t", "blank"),
        ("four", "thin"),
        ("f o\nu r ", "thin"),
        ("fiver", "text"),
        ("(cid:1)", "garbled"),  # garbled before thin
        ("(cid:1)" + 63 * "x", "text"),  # 7 of 70 characters: at the limit is not above it
        ("(cid:1)" + 62 * "x", "garbled"),
        ("\ufffd\ufffd", "garbled"),
        ("서울시청앞", "text"),
        (unicodedata.normalize("NFD", "서울시청앞"), "text"),
    ],
)
def test_judge_says_what_a_text_is_worth(text: str, state: str) -> None:  # case P01, P02
    assert judge(text, thin_below=5, garbled_above=0.1) is TextState(state)


def test_judge_counts_syllables_alike_in_both_unicode_forms() -> None:  # case P04
    for word in ("서울", "서울시청앞"):
        assert judge(unicodedata.normalize("NFD", word), 5, 0.1) is judge(word, 5, 0.1)


def test_judge_without_limits_calls_everything_text() -> None:
    assert judge("x", 0, 1.0) is judge("(cid:12)", 0, 1.0) is TextState.text


@given(st.text())
def test_garble_share_is_a_share(text: str) -> None:
    assert 0.0 <= garble_share(text) <= 1.0
