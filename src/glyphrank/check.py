"""`glyphrank check`: what is odd about a dataset, and the best that any ranker can reach on it."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from glyphrank.datasets import Dataset
from glyphrank.errors import ConfigError, DataError
from glyphrank.impossible import contradictions_as_written
from glyphrank.media import Sampler
from glyphrank.ocr import OcrEngine
from glyphrank.records import Media, Task
from glyphrank.runtime import Runtime
from glyphrank.written_out import write_out

if TYPE_CHECKING:
    from glyphrank.sight import Pixels, Sight

THIN, GARBLED = 100, 0.1
"""What counts as thin and garbled where the ocr of the config has no thresholds of its own."""


@dataclass(frozen=True)
class _Checked:
    """What of a config a dataset is looked at with."""

    dataset: Dataset
    frames: Sampler
    ocr: OcrEngine | None
    runtime: Runtime


def run_check(argv: Sequence[str]) -> int:
    """The command: prints what it finds and returns the exit code.

    0: nothing is wrong, though there may be warnings; 1: the dataset has faults, or numbers contradict each other;
    2: the command cannot be carried out as it was given.
    """
    parser = _parser()
    try:
        options = parser.parse_intermixed_args(argv)
        if options.recall or options.ndcg:
            return _check_numbers(options, parser)
        if not options.overrides:
            parser.error("wanted dataset=..., or --recall with --ndcg")
        return _check_dataset(options)
    except SystemExit as leave:
        return int(leave.code or 0)
    except ConfigError as error:
        sys.stderr.write(f"glyphrank: {error}\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glyphrank check",
        description="What is odd about a dataset: every fault with its ids, duplicates, ceilings. With --recall and "
        "--ndcg instead: whether published numbers can both be true where each query has one relevant item; each may "
        "be off by half a unit of the last place that you write.",
    )
    parser.add_argument("overrides", nargs="*", help="as for `glyphrank run`: dataset=folder dataset.root=PATH")
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="folder of choices of your own")
    parser.add_argument("--skip-media", action="store_true", help="do not look at pages and clips, which takes longest")
    parser.add_argument("--recall", type=_numbers, default={}, metavar="K=R,...", help="e.g. 1=.41,3=.68,5=.75,10=.82")
    parser.add_argument("--ndcg", type=_numbers, default={}, metavar="K=N,...", help="e.g. 3=.46,5=.49,10=.57")
    parser.add_argument("--json", action="store_true", help="print JSON, with the ids of every finding")
    return parser


def _check_dataset(options: argparse.Namespace) -> int:
    """Loads and audits a dataset; faults that keep it from being loaded are the findings then."""
    from glyphrank.audit import audit
    from glyphrank.audit.table import as_json, as_text
    from glyphrank.composition import build_here
    from glyphrank.ocr.published import Published
    from glyphrank.reading import read_items
    from glyphrank.sight import Sight

    parts = build_here(_Checked, options.overrides, options.config_dir)
    try:
        task = parts.dataset.load(parts.runtime)
    except DataError as error:
        return _tell(error, options.json)
    thin, garbled = getattr(parts.ocr, "thin_below", THIN), getattr(parts.ocr, "garbled_above", GARBLED)
    with Sight(parts.frames, parts.runtime) as sight:
        looks = None if options.skip_media else _look(parts, task, sight)
        has_files = any(isinstance(item.published_ocr, Media) for item in task.items)
        read = read_items(Published(thin, garbled), task.items, sight, parts.runtime) if has_files else []
    found = audit(task, looks, thin, garbled, read)
    write_out(json.dumps(as_json(found), ensure_ascii=False, indent=2) if options.json else as_text(found))
    return 1 if found.errors else 0


def _tell(error: DataError, as_json: bool) -> int:
    """Prints every fault for which a dataset cannot be loaded, however many, and returns the exit code."""
    if as_json:
        told = {"error": str(error).partition("\n")[0], "faults": error.faults}
        write_out(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        sys.stderr.write("\n".join(["glyphrank: the dataset cannot be loaded:", *error.faults]) + "\n")
    return 1


def _look(parts: _Checked, task: Task, sight: Sight) -> Pixels:
    """How every item looks; what was decoded before is remembered, and a later run takes it from there.

    A dataset whose field `missing` is `keep` has said that files are not there: these are no faults, others are.
    """
    pixels = sight.pixels(task.items)
    if getattr(parts.dataset, "missing", "error") != "keep":
        return pixels
    media = [item.media for item in task.items]
    faults = {n: why for n, why in pixels.failures.items() if (place := media[n]) is None or place.path.exists()}
    return replace(pixels, failures=faults)


def _check_numbers(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Says which published numbers contradict each other."""
    if options.overrides:
        parser.error("--recall and --ndcg speak of published numbers; leave the dataset out")
    found = contradictions_as_written(options.recall, options.ndcg)
    if options.json:
        write_out(json.dumps({"contradictions": found}, indent=2))
    else:
        write_out("\n".join(found) or "these numbers can all be true")
    return 1 if found else 0


def _numbers(text: str) -> dict[int, str]:
    """Numbers at cut-offs as they were written, since the last place tells how they were rounded."""
    found: dict[int, str] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*([1-9]\d*)\s*=\s*(\d*\.?\d+)\s*", part, re.ASCII)
        if match is None:
            raise argparse.ArgumentTypeError(f"found {part!r}; wanted K=NUMBER, such as 10=.82")
        if int(match[1]) in found:
            raise argparse.ArgumentTypeError(f"cut-off {match[1]} stands twice; wanted each once")
        found[int(match[1])] = match[2]
    return found
