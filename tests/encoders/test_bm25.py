"""BM25: a hand-computed score, and what a text without the query's tokens, or without any, is given."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from glyphrank.encoders import Analyser
from glyphrank.encoders.bm25 import Bm25, Method
from glyphrank.encoders.morphemes import Morphemes
from glyphrank.encoders.words import Ngrams, Words
from glyphrank.records import FloatArray


def bm25(analyser: Analyser | None = None, k1: float = 1.5, b: float = 0.75, method: str = "lucene") -> Bm25:
    return Bm25(analyser=analyser or Words(), method=Method(method), idf=Method(method), k1=k1, b=b)


def rows(texts: Sequence[str], queries: Sequence[str], encoder: Bm25 | None = None) -> FloatArray:
    encoder = encoder or bm25()
    return encoder.build(encoder.analyser.tokens(texts)).rows(encoder.analyser.tokens(queries))


def test_rows_agree_with_the_formula() -> None:
    found = rows(["cat cat dog", "dog", "bird bird bird bird"], ["cat dog"])
    average = 8 / 3

    def weight(frequency: int, length: int, holders: int) -> float:
        idf = math.log(1 + (3 - holders + 0.5) / (holders + 0.5))
        return idf * frequency / (frequency + 1.5 * (1 - 0.75 + 0.75 * length / average))

    wanted = [weight(2, 3, 1) + weight(1, 3, 2), weight(1, 1, 2), -np.inf]
    assert found[0] == pytest.approx(wanted, rel=1e-5)
    assert found.dtype == np.float32


def test_rows_when_a_query_has_no_known_word() -> None:  # case I11
    assert np.isneginf(rows(["cat", "dog", "", "bird"], ["fish", "", "fish whale"])).all()


def test_rows_when_one_text_is_empty() -> None:  # case I11
    found = rows(["cat", "", "dog", "cat dog"], ["cat", "dog"])
    assert np.isfinite(found).tolist() == [[True, False, False, True], [False, False, True, True]]


def test_rows_when_all_texts_are_empty() -> None:  # case P02
    found = rows(["", "   ", "..."], ["cat", ""])
    assert found.shape == (2, 3)
    assert np.isneginf(found).all()


def test_rows_when_there_is_one_text() -> None:  # case I11
    found = rows(["cat"], ["cat", "dog"])
    assert found[0, 0] > 0
    assert np.isneginf(found[1, 0])


def test_rows_when_there_are_two_texts_in_a_tuple() -> None:
    searcher = bm25().build((["cat"], ["dog"]))
    assert np.isfinite(searcher.rows((("cat",), ("dog",)))).tolist() == [[True, False], [False, True]]


def test_rows_when_there_is_no_text_or_no_query() -> None:
    assert rows([], ["cat"]).shape == (1, 0)
    assert rows(["cat"], []).shape == (0, 1)


def test_rows_when_a_token_is_the_empty_string() -> None:
    searcher = bm25().build([["cat"], ["dog"]])
    assert np.isneginf(searcher.rows([[""]])).all()
    assert searcher.rows([["", "cat"]])[0, 0] > 0


@pytest.mark.parametrize("method", ["robertson", "atire"])
def test_rows_when_a_word_that_all_texts_hold_weighs_nothing(method: str) -> None:
    found = rows(["cat dog", "cat"], ["cat"], bm25(method=method))
    assert np.isneginf(found).all()


@pytest.mark.parametrize("method", list(Method))
def test_rows_of_equal_texts_are_bitwise_equal(method: Method) -> None:
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(list("abcdefgh"), 12)) for _ in range(40)] * 3
    found = rows(texts, ["a b c", "h g a a", "d"], bm25(method=method))
    assert np.array_equal(found[:, :40], found[:, 40:80])
    assert np.array_equal(found[:, :40], found[:, 80:])


def test_rows_do_not_depend_on_the_block() -> None:
    texts, queries = ["cat dog", "dog dog bird", "bird"], ["dog", "cat bird", "bird dog"]
    together = rows(texts, queries)
    assert np.array_equal(np.vstack([rows(texts, [query]) for query in queries]), together)


def test_rows_when_a_query_repeats_a_word() -> None:
    once, twice = rows(["cat", "dog"], ["cat", "cat cat"])[:, 0]
    assert twice == pytest.approx(2 * once)


def test_k1_and_b_change_the_rows_but_not_the_key_of_the_tokens() -> None:
    texts, queries = ["cat cat dog", "dog cat bird bird"], ["cat"]
    assert not np.array_equal(rows(texts, queries), rows(texts, queries, bm25(k1=0.5)))
    assert not np.array_equal(rows(texts, queries), rows(texts, queries, bm25(b=0.0)))
    assert bm25(k1=0.5).analyser == bm25().analyser


@pytest.mark.parametrize(("analyser", "found"), [(Words(), False), (Ngrams(n=2), True), (Morphemes(tags=("N",)), True)])
def test_a_korean_word_is_found_under_its_particle(analyser: Analyser, found: bool) -> None:  # case I12
    scores = rows(["서울은", "부산은", "표"], ["서울", "표"], bm25(analyser))
    assert bool(np.isfinite(scores[0, 0])) is found
    assert np.isfinite(scores[1]).tolist() == [False, False, True]


def test_building_says_nothing(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.DEBUG):
        rows(["cat", "dog"], ["cat"])
    assert [record for record in caplog.records if record.name.startswith("bm25s")] == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("k1", "b"), [(-0.1, 0.75), (float("nan"), 0.75), (1.5, -0.1), (1.5, 1.1)])
def test_bm25_when_a_field_is_out_of_range(k1: float, b: float) -> None:
    with pytest.raises(ValueError, match="wanted"):
        bm25(k1=k1, b=b)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("analyser", "landmark"),
    [
        (Words(), (0.465, 0.943, 0.982)),
        (Ngrams(n=2), (0.465, 0.899, 0.943)),
        (Morphemes(tags=("N", "V", "S", "X", "MAG", "W_SERIAL", "W_URL")), (0.570, 0.851, 0.921)),
    ],
    ids=["words", "ngrams", "korean"],
)
def test_hit_rates_on_a_real_guide_are_near_the_landmarks(
    analyser: Analyser, landmark: tuple[float, float, float], shared_data: Path
) -> None:
    pages, queries, relevant = _guide(shared_data / "guide_ko")
    scores = rows(pages, list(queries.values()), bm25(analyser))
    gold = np.array([max(scores[row, relevant[query]]) for row, query in enumerate(queries)])
    ranks = (scores >= gold[:, None]).sum(axis=1)
    hits = [float(np.mean(np.isfinite(gold) & (ranks <= k))) for k in (1, 5, 10)]
    assert hits == pytest.approx(landmark, abs=0.02)


def _guide(folder: Path) -> tuple[list[str], dict[str, str], dict[str, list[int]]]:
    import pypdfium2

    with pypdfium2.PdfDocument(folder / "install.ko.pdf") as document:
        pages = [document[number].get_textpage().get_text_range() for number in range(len(document))]
    asked = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    relevant: dict[str, list[int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, page, _ = line.split("\t")
        relevant.setdefault(query, []).append(int(page.rsplit("_", 1)[1]) - 1)
    return pages, {query["id"]: query["text"] for query in asked}, relevant
