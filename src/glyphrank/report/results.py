"""The store of results: `results/<identity>/`, one folder for everything that gives the same numbers.

A result is complete when its `report.json` is there; it is written last, and every file is replaced whole. Writing
one twice is waste, not damage.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path

import yaml

from glyphrank.errors import DataError
from glyphrank.records import Direction, Ranks, Report
from glyphrank.report.ranks import write_ranks
from glyphrank.ties import TieRule
from glyphrank.trec import write_run

REPORT, RANKS, RUN, CONFIG, LOGGED = "report.json", "ranks.csv", "run.trec", "config.yaml", "runs.jsonl"


def find(results: Path, identity: str) -> Report | None:
    """The stored report, None when there is none or it is damaged (it is then made again)."""
    folder = results / identity
    try:
        stored = json.loads((folder / REPORT).read_text(encoding="utf-8"))
        report = Report(**{field.name: stored[field.name] for field in fields(Report)})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = report.identity == identity and (folder / RANKS).is_file() and (folder / RUN).is_file()
    return replace(report, notes=tuple(report.notes)) if whole else None


def keep(results: Path, report: Report, ranks: Mapping[Direction, Ranks], rule: TieRule) -> Path:
    """Writes a result and returns its folder.

    Raises:
        DataError: the folder cannot be written; nothing half-written is left under a final name.
    """
    folder = results / report.identity
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / RANKS, lambda path: write_ranks(path, ranks, rule))
        _replace(folder / RUN, lambda path: write_run(path, ranks[Direction.t2v], "glyphrank"))
        write_report(folder, report)
    except OSError as error:
        raise DataError(f"{folder}: the result cannot be written ({error.strerror or error})") from error
    return folder


def write_report(folder: Path, report: Report) -> None:
    """Writes `config.yaml` and, last, `report.json` into an existing folder."""
    config = yaml.safe_dump(dict(report.config), allow_unicode=True, sort_keys=False)
    _replace(folder / CONFIG, lambda path: path.write_text(config, encoding="utf-8"))
    text = json.dumps(asdict(report), ensure_ascii=False, indent=2, allow_nan=False)
    _replace(folder / REPORT, lambda path: path.write_text(text + "\n", encoding="utf-8"))


def deliver(results: Path, report: Report, folder: Path) -> None:
    """Puts a stored result's files into a run's own folder, with this run's config."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (RANKS, RUN):
        shutil.copyfile(results / report.identity / name, folder / name)
    write_report(folder, report)


def remember_run(results: Path, identity: str, entry: Mapping[str, str]) -> None:
    """Appends to `runs.jsonl` where a run with this result was logged: store, experiment, run id."""
    with (results / identity / LOGGED).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(dict(entry), ensure_ascii=False) + "\n")


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
