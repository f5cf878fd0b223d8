"""`glyphrank report`: the page of a finished run: its numbers and plots, and its queries with what they found."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from glyphrank.errors import ConfigError
from glyphrank.ids import nfc
from glyphrank.page_parts import MOST_QUERIES, measured_again, page_of
from glyphrank.pipeline import trace
from glyphrank.records import Direction, Ranks
from glyphrank.redaction import RedactingFilter
from glyphrank.report.finished import Finished
from glyphrank.report.page import PAGE, is_page, write_page
from glyphrank.report.page_pictures import Limits
from glyphrank.reporting import Material, evaluation_of, own_ranks
from glyphrank.reproduce import Original, find_original
from glyphrank.stored_run_command import carried_out, parser_of
from glyphrank.written_out import write_out

_PICTURES = Limits(seconds=600, characters=16_000_000)
"""What the pictures of a page may take that somebody asked for."""
_OF_TASK = {"queries": "the queries", "items": "the items", "relevance": "what is relevant"}


def run_report(argv: Sequence[str]) -> int:
    """The command: writes the page, says where, and returns the exit code: 2 where it cannot be made."""
    try:
        options = _parser().parse_intermixed_args(argv)
    except SystemExit as leave:
        return int(leave.code or 0)

    def work() -> int:
        with _logging():
            original = find_original(options.run, options.outputs, options.store)
            write_out(f"page: {_make(original, options)}")
        return 0

    return carried_out(work)


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "report",
        "Writes a page of a finished run that needs nothing beside itself: its numbers and plots, and for each query "
        "the relevant items and the first five with pictures, what was read in them, scores and ranks. What the run "
        "left in the cache is taken from there; what it did not is read and encoded again.",
        "dataset.root=PATH, runtime.device=cpu",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help=f"default: {PAGE} in RUN, or report-ID.html here")
    parser.add_argument(
        "--queries", type=_count, default=MOST_QUERIES, metavar="N", help="at most; default: %(default)s, worst first"
    )
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}; wanted a whole number of at least 1")
    return int(text)


def _make(original: Original, options: argparse.Namespace) -> Path:
    """Makes the page and returns where it lies.

    Raises:
        ConfigError: the run cannot be built any more, or its dataset is another one; DataError: an input is missing.
    """
    from glyphrank.stored_config import Here, build_stored

    then = original.finished
    path: Path = options.output or _place(options.run, original.reference)
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; wanted a file for --output")
    stored = build_stored(then.report.config, Here(Path.cwd(), options.overrides, options.outputs, options.config_dir))
    run = stored.run
    run.runtime.outputs.mkdir(parents=True, exist_ok=True)
    task = run.dataset.load(run.runtime)
    now = evaluation_of(task, run.metrics)
    other = [words for name, words in _OF_TASK.items() if now[name] != then.report.evaluation[name]]
    if other:
        raise ConfigError(
            f"the dataset of {then.name} is another one now: {', '.join(other)} changed; run the experiment again, or "
            "say where the old one lies by dataset.root=PATH"
        )
    material = measured_again(run, task)
    page = page_of(run, then.report, material, then.name, options.queries, _PICTURES)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_page(path, replace(page, notes=(*page.notes, *_moved(then, material, trace(run, task)))))
    return path


def _place(run: str, reference: str) -> Path:
    """Where the page goes unless somebody says.

    Raises:
        ConfigError: a file lies there that is no page of glyphrank's.
    """
    path = Path(run) / PAGE if Path(run).is_dir() else Path(f"report-{reference[:8]}.html")
    if path.is_file() and not is_page(path):
        raise ConfigError(f"{path} is there already and is no page that glyphrank made; move it, or name --output")
    return path


def _moved(then: Finished, material: Material, lineage: Mapping[str, str]) -> list[str]:
    """Says how many queries rank otherwise than when the run was measured, and which stages are others now."""
    before, after = _places(then.ranks[Direction.t2v]), _places(own_ranks(material.rankings)[Direction.t2v])
    moved = sum(before[query] != after.get(query) for query in before)
    if not moved:
        return []
    stages = [name for name, key in lineage.items() if then.report.lineage.get(name) != key]
    why = f" ({', '.join(stages)} changed)" if stages else ""
    return [
        f"queries that rank otherwise now than when the run was measured: {moved}{why}; the tables hold the numbers of "
        "then, the plot of ranks and the cards those of now"
    ]


def _places(ranks: Ranks) -> dict[str, list[tuple[str, int, int]]]:
    """Query -> where each of its relevant items stands; ids in NFC."""
    found: dict[str, list[tuple[str, int, int]]] = {}
    columns = (ranks.query, ranks.item, ranks.higher, np.where(ranks.retrieved, ranks.tied, -1))
    for query, item, higher, tied in zip(*(column.tolist() for column in columns), strict=True):
        found.setdefault(nfc(ranks.query_ids[query]), []).append((nfc(ranks.item_ids[item]), higher, tied))
    return {query: sorted(places) for query, places in found.items()}


@contextmanager
def _logging() -> Iterator[None]:
    """Messages and progress on the terminal, without secrets."""
    root, level = logging.getLogger(), logging.getLogger().level
    console = logging.StreamHandler()
    console.setFormatter(logging.Formatter("%(message)s"))
    console.addFilter(RedactingFilter())
    root.addHandler(console)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.setLevel(level)
        root.removeHandler(console)
