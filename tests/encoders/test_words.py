"""Words and their n-grams: what becomes of particles, case, Unicode forms and odd characters."""

from __future__ import annotations

import unicodedata

import pytest

from glyphrank.encoders.plain import plain
from glyphrank.encoders.words import Ngrams, Words

ODD_TEXTS = ["", "   ", "😀 🏳️‍🌈", "\ud83d 표", "a\x00b", "(" * 100_000, "가" * 100_000]


def test_words_are_cut_at_signs_and_put_in_lower_case() -> None:
    assert Words().tokens(["GNU/리눅스란? v2.0", "The_Cat"]) == [["gnu", "리눅스란", "v2", "0"], ["the_cat"]]


def test_words_keep_order_and_repeats() -> None:
    assert Words().tokens(["표 가 표"]) == [["표", "가", "표"]]


@pytest.mark.parametrize("analyser", [Words(), Ngrams(n=2)])
def test_tokens_are_equal_for_both_unicode_forms(analyser: Words | Ngrams) -> None:  # case P04
    composed = "설치 안내서 café"
    assert analyser.tokens([unicodedata.normalize("NFD", composed)]) == analyser.tokens([composed])


def test_a_letter_whose_lower_case_is_two_characters_stays_in_one_word() -> None:
    assert len(Words().tokens(["İstanbul"])[0]) == 1


@pytest.mark.parametrize("analyser", [Words(), Ngrams(n=2)])
def test_tokens_of_odd_texts_can_be_stored(analyser: Words | Ngrams) -> None:
    tokens = analyser.tokens(ODD_TEXTS)
    assert len(tokens) == len(ODD_TEXTS)
    assert tokens[3] == ["표"]
    for token in (token for text in tokens for token in text):
        token.encode("utf-8")


def test_ngrams_share_a_stem_under_different_particles() -> None:  # case I12
    with_topic, with_place = Ngrams(n=2).tokens(["서울은", "서울에서"])
    assert with_topic == ["서울", "울은"]
    assert with_place == ["서울", "울에", "에서"]


def test_ngrams_keep_a_word_that_is_shorter_whole() -> None:  # case I12
    assert Ngrams(n=2).tokens(["표 5"]) == [["표", "5"]]
    assert Ngrams(n=3).tokens(["서울"]) == [["서울"]]


def test_ngrams_when_n_is_the_length_of_the_word() -> None:
    assert Ngrams(n=2).tokens(["서울"]) == [["서울"]]


def test_ngrams_of_one_character_are_the_characters() -> None:
    assert Ngrams(n=1).tokens(["서울"]) == [["서", "울"]]


def test_ngrams_when_n_is_zero() -> None:
    with pytest.raises(ValueError, match="n is 0; wanted at least 1"):
        Ngrams(n=0)


def test_plain_composes_and_replaces_lone_surrogates() -> None:
    assert plain(unicodedata.normalize("NFD", "가\ud83d")) == "가\ufffd"
