"""`glyphrank score`: metrics of a ranking or a score matrix made elsewhere, printed as a table or JSON."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glyphrank.datasets import Dataset
from glyphrank.errors import ConfigError, DataError
from glyphrank.grouping import ALONE, BY_ITEM
from glyphrank.metrics import ALWAYS, Protocol
from glyphrank.runtime import Runtime
from glyphrank.score import score
from glyphrank.ties import TieRule
from glyphrank.written_out import write_out

EVERY_RULE = "all"
"""What to say for --ties to see the numbers under each rule."""


@dataclass(frozen=True)
class _Scored:
    """What of a config decides how a matrix is scored."""

    dataset: Dataset
    metrics: Protocol
    runtime: Runtime


def run_score(argv: Sequence[str]) -> int:
    """The command: prints a table or JSON, and returns the exit code, 2 for what the caller can mend."""
    parser = _parser()
    try:
        options = parser.parse_intermixed_args(argv)
        result = _scored(options, parser)
    except SystemExit as leave:
        return int(leave.code or 0)
    except (ConfigError, DataError) as error:
        sys.stderr.write(f"glyphrank: {error}\n")
        return 2
    as_json = json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False) if options.json else ""
    write_out(as_json or _table(result))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glyphrank score",
        description="Metrics of a ranking made elsewhere: a TREC run with judgements, or a matrix of scores "
        "S[query, item] with a dataset, whose protocol decides (metrics=...).",
    )
    parser.add_argument("--run", type=Path, help="TREC run file: query Q0 item rank score tag")
    parser.add_argument("--qrels", type=Path, help="judgements: TREC's four columns or BEIR's .tsv")
    parser.add_argument("--matrix", type=Path, help="NumPy file of scores, a row a query and a column an item")
    parser.add_argument(
        "--columns",
        default="test",
        metavar="ORDER",
        help="order of the items: test (the dataset's), rand (TextVR's)",
    )
    parser.add_argument(
        "--ties",
        choices=[*(rule.value for rule in TieRule), EVERY_RULE],
        help="order of equal scores; all shows every one",
    )
    parser.add_argument(
        "--group",
        choices=[BY_ITEM, ALONE],
        help="intervals take queries that share a relevant item together (item) or not",
    )
    parser.add_argument("--cutoffs", type=_cutoffs, metavar="K,...", help="besides 1, 3, 5 and 10")
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="folder of choices of your own")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("overrides", nargs="*", help="with --matrix: dataset=textvr dataset.root=PATH metrics=textvr")
    return parser


def _scored(options: argparse.Namespace, parser: argparse.ArgumentParser) -> dict[str, Any]:
    if options.matrix is None:
        if options.run is None or options.qrels is None:
            parser.error("wanted --run FILE with --qrels FILE, or --matrix FILE.npy with dataset=...")
        if options.overrides:
            parser.error(f"unrecognized arguments: {' '.join(options.overrides)}; overrides go with --matrix")
        rule, every_rule = TieRule(_rule(options) or "pessimistic"), options.ties == EVERY_RULE
        return score(options.run, options.qrels, options.cutoffs or ALWAYS, rule, options.group or BY_ITEM, every_rule)
    if options.run is not None or options.qrels is not None:
        parser.error("--matrix goes with a dataset (dataset=...), not with --run or --qrels")
    return _scored_matrix(options)


def _scored_matrix(options: argparse.Namespace) -> dict[str, Any]:
    """Scores a matrix under the protocol of the config; --ties, --cutoffs and --group are its fields, if given."""
    from glyphrank.composition import build_here
    from glyphrank.score_matrix import score_matrix

    rule, every_rule = _rule(options), options.ties == EVERY_RULE
    fields = [f"metrics.ties={rule}"] if rule else []
    fields += [f"metrics.cutoffs={sorted({*options.cutoffs})}"] if options.cutoffs else []
    fields += [f"metrics.group={options.group}"] if options.group else []
    scored = build_here(_Scored, [*_with_protocol(options.overrides), *fields], options.config_dir)
    task = scored.dataset.load(scored.runtime)
    return score_matrix(options.matrix, task, options.columns, scored.metrics, every_rule)


def _rule(options: argparse.Namespace) -> str | None:
    """The tie rule that was named, None where none was, or all were."""
    return None if options.ties == EVERY_RULE else options.ties


def _with_protocol(overrides: Sequence[str]) -> list[str]:
    """The overrides, with TextVR's own protocol where its dataset is asked for and no protocol is."""
    if "dataset=textvr" in overrides and not any(override.startswith("metrics=") for override in overrides):
        return ["metrics=textvr", *overrides]
    return list(overrides)


def _cutoffs(text: str) -> list[int]:
    """Cut-offs from the command line, whole numbers from 1."""
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"found {text!r}; wanted whole numbers of at least 1, such as 20,50")
    return [int(number) for number in text.split(",")]


def _table(result: Mapping[str, Any]) -> str:
    """Metrics with their intervals and bounds, under every rule where asked for, counts and notes, as plain text."""
    lines = [f"{'metric':<26}{'value':>10}  95 % interval"]
    lines += [_line(name, value, result) for name, value in result["metrics"].items()]
    if "rules" in result:
        lines += ["", *_rules(result["rules"]), ""]
    lines += [f"{name:<26}{value:10d}" for name, value in result["counts"].items()]
    lines += [f"note: {note}" for note in result["notes"]]
    return "\n".join(lines)


def _line(name: str, value: float, result: Mapping[str, Any]) -> str:
    """A metric, its interval, what the order of ties makes of it, and how much of a mean rank a few queries cause."""
    low, high = result["intervals"].get(name, (None, None))
    parts = [f"{name:<26}{value:10.4f}", "" if low is None else f"{low:.4f} to {high:.4f}"]
    if name in result["bounds"]:
        worst, best_value = result["bounds"][name]
        parts.append(f"{worst:.4f} to {best_value:.4f} by the order of ties")
    if name in result["tails"]:
        parts.append(f"{result['tails'][name]:.0%} of it from the worst 5 % of queries")
    while not parts[-1]:
        parts.pop()
    return "  ".join(f"{part:<20}" for part in parts).rstrip()


def _rules(rules: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Every metric under every tie rule, a column each."""
    lines = [f"{'by tie rule':<26}" + "".join(f"{rule:>13}" for rule in rules)]
    for name in dict.fromkeys(name for metrics in rules.values() for name in metrics):
        cells = (f"{metrics[name]:13.4f}" if name in metrics else " " * 13 for metrics in rules.values())
        lines.append(f"{name:<26}{''.join(cells)}".rstrip())
    return lines
