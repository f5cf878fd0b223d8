"""What other evaluators make of the TREC files that we write: each reads them itself, with its own reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glyphrank.metrics import per_query
from glyphrank.records import Ranks
from glyphrank.ties import TieRule
from glyphrank.trec import escaped, write_qrels, write_run

CUTOFFS = (1, 3, 5, 10)
RECIPROCAL = "reciprocal_rank_at_10"

Values = Mapping[str, Mapping[str, float]]
"""Name of our metric -> query as the files hold it -> value."""


@dataclass(frozen=True)
class Files:
    run: Path
    qrels: Path


def written(folder: Path, ranks: Ranks, relevant: Mapping[str, Mapping[str, float]]) -> Files:
    files = Files(folder / "run.trec", folder / "qrels.trec")
    write_run(files.run, ranks, "t")
    write_qrels(files.qrels, relevant)
    return files


def by_us(ranks: Ranks, rule: TieRule) -> Values:
    """Of queries with a relevant item."""
    values = per_query(ranks, CUTOFFS, rule)
    names = [escaped(query) for query in ranks.query_ids]
    return {
        name: {query: number for query, number in zip(names, value.tolist(), strict=True) if not np.isnan(number)}
        for name, value in values.items()
        if name != "best_rank"
    }


def by_pytrec_eval(files: Files) -> Values:
    """It cuts no reciprocal rank, so that is done here."""
    import pytrec_eval

    cuts = ",".join(map(str, CUTOFFS))
    wanted = {f"{name}.{cuts}" for name in ("recall", "ndcg_cut", "success")} | {"recip_rank"}
    with files.run.open(encoding="utf-8") as run, files.qrels.open(encoding="utf-8") as qrels:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), wanted)
        found: dict[str, dict[str, float]] = evaluator.evaluate(pytrec_eval.parse_run(run))
    values = {
        f"{ours}_at_{k}": {query: of_query[f"{theirs}_{k}"] for query, of_query in found.items()}
        for ours, theirs in (("recall", "recall"), ("ndcg", "ndcg_cut"), ("hit_rate", "success"))
        for k in CUTOFFS
    }
    reciprocal = {query: of_query["recip_rank"] for query, of_query in found.items()}
    values[RECIPROCAL] = {query: value if value >= 0.1 else 0.0 for query, value in reciprocal.items()}
    return values


def by_ir_measures(files: Files) -> Values:
    import ir_measures

    names = {f"{theirs}@{k}": f"{ours}_at_{k}" for ours, theirs in _IR_MEASURES.items() for k in CUTOFFS}
    names["RR@10"] = RECIPROCAL
    values: dict[str, dict[str, float]] = {name: {} for name in names.values()}
    qrels, run = ir_measures.read_trec_qrels(str(files.qrels)), ir_measures.read_trec_run(str(files.run))
    for found in ir_measures.iter_calc([ir_measures.parse_measure(name) for name in names], qrels, run):
        values[names[str(found.measure)]][found.query_id] = found.value
    return values


_IR_MEASURES = {"recall": "R", "ndcg": "nDCG", "hit_rate": "Success"}


def by_ranx(files: Files, is_complete: bool = True) -> Values:
    """Where a query is missing on one side, `is_complete` must be False, or ranx raises AssertionError."""
    import ranx

    names = {f"{name}@{k}": f"{name}_at_{k}" for name in ("recall", "ndcg", "hit_rate") for k in CUTOFFS}
    names["mrr@10"] = RECIPROCAL
    qrels = ranx.Qrels.from_file(str(files.qrels), kind="trec")
    run = ranx.Run.from_file(str(files.run), kind="trec")
    found = ranx.evaluate(qrels, run, list(names), return_mean=False, make_comparable=not is_complete)
    queries = list(qrels.keys())
    return {ours: dict(zip(queries, found[theirs].tolist(), strict=True)) for theirs, ours in names.items()}
