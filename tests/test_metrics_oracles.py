"""Agreement with trec_eval and with both cards' recipes, which are written anew here, naively, as oracles.

Where trec_eval (through pytrec_eval) differs from ours, it does so openly: it compares scores in float32, drops
queries that are missing from the run, counts a query whose judgements are all 0 as 0, and takes whole gains only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from numpy.typing import NDArray

from glyphrank.metrics import evaluate, per_query
from glyphrank.ranking import RankCounter
from glyphrank.records import Direction, Ranks
from glyphrank.ties import TieRule
from ranked import MISS, rank

CUTOFFS = (1, 3, 5, 10)
ITEMS = [f"p_{item}" for item in range(60)]
MEASURES = {"ndcg_cut": "ndcg", "recall": "recall", "success": "hit_rate"}

Rows = Mapping[str, Sequence[float]]
Gains = dict[str, dict[str, int]]


def _random(seed: int, levels: int, most: int) -> tuple[dict[str, list[float]], Gains]:
    """40 queries with scores of so many levels (some items not retrieved) and 1 to `most` graded relevant items."""
    generator = np.random.default_rng(seed)
    rows, relevant = {}, {}
    for query in range(40):
        scores = (generator.integers(0, levels, len(ITEMS)) / 8).tolist()
        for item in generator.choice(len(ITEMS), 5, replace=False):
            scores[item] = MISS
        rows[f"q{query}"] = scores
        chosen = generator.choice(len(ITEMS), generator.integers(1, most + 1), replace=False)
        relevant[f"q{query}"] = {ITEMS[item]: int(generator.integers(1, 4)) for item in chosen}
    return rows, relevant


def _trec_eval(rows: Rows, relevant: Gains) -> dict[str, dict[str, float]]:
    run = {
        query: {item: score for item, score in zip(ITEMS, scores, strict=True) if score > MISS}
        for query, scores in rows.items()
    }
    cuts = ",".join(map(str, CUTOFFS))
    evaluator = pytrec_eval.RelevanceEvaluator(relevant, {f"{measure}.{cuts}" for measure in MEASURES})
    result: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return result


@pytest.mark.parametrize("most", [1, 3, 40])
@pytest.mark.parametrize("levels", [100_000, 12, 1])
def test_metrics_agree_with_trec_eval(levels: int, most: int) -> None:
    """With ties at 12 levels and a constant scorer at 1, under trec_eval's own rule."""
    rows, relevant = _random(levels + most, levels, most)
    values = per_query(rank(rows, ITEMS, relevant), CUTOFFS, TieRule.document_id)
    theirs = _trec_eval(rows, relevant)
    for measure, name in MEASURES.items():
        for k in CUTOFFS:
            expected = [theirs[query][f"{measure}_{k}"] for query in rows]
            assert values[f"{name}_at_{k}"] == pytest.approx(expected, abs=1e-9), f"{name}_at_{k}"


@pytest.mark.parametrize("rule", list(TieRule))
def test_metrics_agree_with_trec_eval_under_every_rule_where_nothing_is_tied(rule: TieRule) -> None:
    generator = np.random.default_rng(9)
    _, relevant = _random(9, 10, 5)
    rows = {query: generator.permutation(len(ITEMS)).astype(float).tolist() for query in relevant}
    values = per_query(rank(rows, ITEMS, relevant), CUTOFFS, rule)
    theirs = _trec_eval(rows, relevant)
    for measure, name in MEASURES.items():
        for k in CUTOFFS:
            expected = [theirs[query][f"{measure}_{k}"] for query in rows]
            assert values[f"{name}_at_{k}"] == pytest.approx(expected, abs=1e-9), f"{name}_at_{k}"


def test_what_trec_eval_does_otherwise() -> None:
    rows = {"found": [1.0] + [MISS] * 59, "empty": [MISS] * 60, "zero": [1.0] + [MISS] * 59}
    judged = {"found": {"p_0": 1}, "empty": {"p_0": 1}, "zero": {"p_0": 0}}
    theirs = _trec_eval({query: rows[query] for query in ("found", "zero")}, judged)
    assert {query: value["recall_1"] for query, value in theirs.items()} == {"found": 1, "zero": 0}
    ours = per_query(rank(rows, ITEMS, {"found": {"p_0": 1}, "empty": {"p_0": 1}}), CUTOFFS, TieRule.document_id)
    assert ours["recall_at_1"].tolist() == pytest.approx([1, 0, np.nan], nan_ok=True)


def _kopub_card(ranked: Sequence[Sequence[str]], relevant: Sequence[str]) -> dict[str, float]:
    """SDS KoPub VDR (arXiv:2511.04910), one relevant page a query, over its ranked list.

    Recall@k: any found within k. nDCG@k: 1 / log2(rank + 1) within k. Median rank: sorted[n // 2]. A page that is not
    in the list has rank len(list) + 1, which a list shorter than k turns into a hit.
    """
    ranks = [
        pages.index(page) + 1 if page in pages else len(pages) + 1 for pages, page in zip(ranked, relevant, strict=True)
    ]
    numbers = {"median_rank": float(sorted(ranks)[len(ranks) // 2]), "mean_rank": sum(ranks) / len(ranks)}
    for k in CUTOFFS:
        numbers[f"hit_rate_at_{k}"] = sum(place <= k for place in ranks) / len(ranks)
        numbers[f"ndcg_at_{k}"] = sum(1 / np.log2(place + 1) for place in ranks if place <= k) / len(ranks)
    return numbers


def _untied(queries: int, items: int, seed: int) -> NDArray[np.float32]:
    """Scores with one high value a row on average, all different; not square."""
    generator = np.random.default_rng(seed)
    scores = generator.permutation(queries * items).reshape(queries, items).astype(np.float32)
    scores[np.arange(queries), np.arange(queries) % items] += generator.integers(0, 2 * queries * items, queries) + 0.5
    return scores


def _counted(scores: NDArray[np.float32], relevant: Mapping[str, Mapping[str, float]], direction: Direction) -> Ranks:
    queries, items = [f"q{row}" for row in range(len(scores))], [f"i{column}" for column in range(scores.shape[1])]
    counter = RankCounter(direction, queries, items, relevant, 0)
    counter.add(np.arange(len(scores)), scores)
    return counter.finish()


def test_metrics_agree_with_the_kopub_card_on_full_rankings() -> None:
    scores = _untied(50, 31, seed=1)
    relevant = [row % 31 for row in range(50)]
    lists = [[f"i{column}" for column in np.argsort(-row)] for row in scores]
    wanted = _kopub_card(lists, [f"i{page}" for page in relevant])
    ranks = _counted(scores, {f"q{row}": {f"i{page}": 1} for row, page in enumerate(relevant)}, Direction.t2v)
    numbers = evaluate(ranks, CUTOFFS, TieRule.pessimistic)
    assert {name: numbers[name] for name in wanted} == pytest.approx(wanted)
    assert 0.1 < numbers["hit_rate_at_1"] < 0.9


def test_the_kopub_cards_fault_with_short_lists_is_not_reproduced() -> None:
    """A list of 5 without the page: the card's rank 6 is a hit at 10, ours is none."""
    scores = [9.0, 8.0, 7.0, 6.0, 5.0] + [MISS] * 55
    assert _kopub_card([ITEMS[:5]], ["p_40"])["hit_rate_at_10"] == 1
    numbers = evaluate(rank({"q": scores}, ITEMS, {"q": {"p_40": 1}}), CUTOFFS, TieRule.pessimistic)
    assert (numbers["hit_rate_at_10"], numbers["ndcg_at_10"], numbers["mean_rank"]) == (0, 0, 60)


def _textvr_code(scores: NDArray[np.float64], own: Callable[[int], Sequence[int]]) -> dict[str, float]:
    """TextVR's released code (arXiv:2305.03347): each row asks, `own` gives its relevant columns.

    0-based ranks with ties averaged; the best of several own columns; R@1 counts rank 0, R@k rank below k; the median
    and mean of ranks plus 1.
    """
    ranks = []
    for row in range(len(scores)):
        candidates = []
        for column in own(row):
            places = np.flatnonzero(np.sort(-scores[row]) == -scores[row, column])
            candidates.append(places.mean())
        ranks.append(min(candidates))
    found = np.array(ranks)
    numbers = {"median_rank": float(np.median(found) + 1), "mean_rank": float(found.mean() + 1)}
    for k in CUTOFFS:
        numbers[f"hit_rate_at_{k}"] = float(np.mean(found == 0 if k == 1 else found < k))
    return numbers


@pytest.mark.parametrize("levels", [1, 4, 40, 100_000])
def test_metrics_agree_with_textvrs_code_in_both_directions(levels: int) -> None:
    """31 clips with 1 to 3 captions each, 60 captions in all; few levels give many ties."""
    generator = np.random.default_rng(levels)
    clip_of = np.concatenate([np.arange(31), generator.choice(31, 29)])
    scores = generator.integers(0, levels, (60, 31)).astype(np.float32)
    scores[np.arange(60), clip_of] += generator.integers(0, levels, 60)
    forward = _counted(scores, {f"q{row}": {f"i{clip}": 1} for row, clip in enumerate(clip_of)}, Direction.t2v)
    captions = {clip: np.flatnonzero(clip_of == clip) for clip in range(31)}
    backward = _counted(
        scores.T, {f"q{clip}": {f"i{row}": 1 for row in rows} for clip, rows in captions.items()}, Direction.v2t
    )
    wide = scores.astype(np.float64)
    for ranks, wanted in (
        (forward, _textvr_code(wide, lambda row: [int(clip_of[row])])),
        (backward, _textvr_code(wide.T, lambda clip: captions[clip].tolist())),
    ):
        numbers = evaluate(ranks, CUTOFFS, TieRule.textvr)
        numbers["median_rank"] = numbers.get("median_rank_mean", numbers["median_rank"])
        assert {name: numbers[name] for name in wanted} == pytest.approx(wanted)


def _frozen_in_time_code(scores: NDArray[np.float64], clip_of: Sequence[int]) -> dict[str, float]:
    """frozen-in-time's text to video (arXiv:2104.00650), which TextVR's code descends from.

    0-based place of the first score in the sorted row that equals the relevant one's: ties are in its favour.
    """
    found = np.array(
        [int(np.flatnonzero(np.sort(-row) == -row[clip])[0]) for row, clip in zip(scores, clip_of, strict=True)]
    )
    numbers = {"median_rank": float(np.median(found) + 1), "mean_rank": float(found.mean() + 1)}
    return numbers | {f"hit_rate_at_{k}": float(np.mean(found < k)) for k in CUTOFFS}


@pytest.mark.parametrize("levels", [1, 4, 40, 100_000])
def test_metrics_agree_with_frozen_in_times_text_to_video(levels: int) -> None:
    """60 captions of 31 clips; with one level all is tied, and all is a hit."""
    generator = np.random.default_rng(levels)
    clip_of = np.concatenate([np.arange(31), generator.choice(31, 29)])
    scores = generator.integers(0, levels, (60, 31)).astype(np.float32)
    relevant = {f"q{row}": {f"i{clip}": 1} for row, clip in enumerate(clip_of)}
    ranks = _counted(scores, relevant, Direction.t2v)
    wanted = _frozen_in_time_code(scores.astype(np.float64), clip_of.tolist())
    numbers = evaluate(ranks, CUTOFFS, TieRule.optimistic)
    numbers["median_rank"] = numbers.get("median_rank_mean", numbers["median_rank"])
    assert {name: numbers[name] for name in wanted} == pytest.approx(wanted)
    hits = [evaluate(ranks, CUTOFFS, rule)["hit_rate_at_1"] for rule in (TieRule.textvr, TieRule.optimistic)]
    assert hits[0] <= hits[1]
    assert (hits[0] < hits[1]) == (levels < 100_000)


def test_duplicate_captions_bound_a_perfect_retriever_as_the_released_code_does() -> None:
    """Two clips share a caption: by the released code neither is a hit at 1, by the optimistic rule both are."""
    scores = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.float32)
    ranks = _counted(scores, {f"q{row}": {f"i{row}": 1} for row in range(3)}, Direction.v2t)
    rates = {rule: evaluate(ranks, CUTOFFS, rule)["hit_rate_at_1"] for rule in TieRule}
    assert rates == pytest.approx(
        {"pessimistic": 1 / 3, "optimistic": 1, "document_id": 2 / 3, "average": 2 / 3, "textvr": 1 / 3}
    )


@pytest.mark.shared
def test_duplicate_captions_of_textvr_bound_a_perfect_retriever(shared_data: Path) -> None:
    """A retriever that is perfect up to identical captions, against the table known of the real captions."""
    records = json.loads((shared_data / "textvr" / "TextVR_test.json").read_text(encoding="utf-8"))
    captions = [record["captions_info"][0]["caption"] for record in records]
    texts = {text: number for number, text in enumerate(dict.fromkeys(captions))}
    numbers = np.array([texts[text] for text in captions])
    same = (numbers[:, None] == numbers[None, :]).astype(np.float32)
    ranks = _counted(same, {f"q{row}": {f"i{row}": 1} for row in range(len(numbers))}, Direction.v2t)
    table = {
        rule: [round(100 * found[f"hit_rate_at_{k}"], 2) for k in (1, 5)] + [round(found["mean_rank"], 3)]
        for rule in (TieRule.optimistic, TieRule.textvr, TieRule.average, TieRule.pessimistic)
        for found in [evaluate(ranks, CUTOFFS, rule)]
    }
    assert table[TieRule.optimistic] == [100, 100, 1]
    assert table[TieRule.textvr] == [81.81, 100, 1.128]
    assert table[TieRule.average] == [89.99, 99.89, 1.128]
    assert table[TieRule.pessimistic] == [81.81, 99.52, 1.257]
