"""What a run is told in the end, in MLflow's terms, so that it can be sent now or later and comes out the same."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from glyphrank.digests import digest_text
from glyphrank.known_secrets import hide
from glyphrank.outcome import Report
from glyphrank.redacted_files import redact_folder
from glyphrank.redaction import REDACTED, redact_text
from glyphrank.tracking.names import stored_name
from glyphrank.tracking.numbers import is_complete, numbers, report_tags
from glyphrank.tracking.origin import TAG_LIMIT

_log = logging.getLogger(__name__)
FIGURES = "figures"
"""Folder whose files keep their place below it among a run's files."""
_DIGEST_LIMIT = 36


@dataclass(frozen=True)
class Content:
    """Numbers, tags and small files of a run.

    Attributes:
        metrics: stored name -> finite value.
        tags: stored name -> text, within MLflow's limit and without secrets.
        at: when the run was told, in milliseconds since 1970.
        dataset: `name`, `digest`, `source`, `profile` of MLflow's record; empty for none.
        texts: name among the run's files -> what stands in it.
        complete: the tag `complete`, which is set when all else is stored; empty for none.
    """

    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    at: int
    dataset: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    complete: str = ""


@dataclass(frozen=True)
class Files:
    """A file, or a folder with all that lies in it, and the folder among the run's files that it goes to.

    Attributes:
        inside: empty for the top.
    """

    path: Path
    inside: str = ""

    def listed(self) -> dict[str, Path]:
        """Name among the run's files -> file.

        Raises:
            FileNotFoundError: there is none; MLflow would send nothing of a folder, and say nothing.
        """
        if self.path.is_dir():
            below = sorted(path for path in self.path.rglob("*") if path.is_file())
            return {str(Path(self.inside, path.relative_to(self.path))): path for path in below}
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path}: no such file or folder")
        return {str(Path(self.inside, self.path.name)): self.path}


def content_of(report: Report, reused: bool, whole: bool) -> Content:
    """All of a report that MLflow shows; `metric_names.json` tells original names where it takes them not.

    Args:
        reused: whether the numbers come from a stored result.
        whole: whether its files go with it; without them a run is never complete.
    """
    found = numbers(report)
    names = json.dumps(found.renamed, ensure_ascii=False, indent=1)
    return Content(
        metrics=found.metrics,
        tags={name: hide(text, REDACTED) for name, text in report_tags(report, reused).items()},
        at=now(),
        dataset=_dataset(report),
        texts={"metric_names.json": names} if found.renamed else {},
        complete=str(is_complete(report)).lower() if whole else "",
    )


def summary_of(metrics: Mapping[str, float], tags: Mapping[str, str]) -> Content:
    """What a sweep came to, as `TrackedRun.summarise` takes it; numbers that are none are left out."""
    texts = {stored_name(name): redact_text(text)[:TAG_LIMIT] for name, text in tags.items() if name != "complete"}
    return Content(
        {stored_name(name): value for name, value in metrics.items() if math.isfinite(value)},
        texts,
        now(),
        complete=tags.get("complete", ""),
    )


def summary_files(paths: Sequence[Path]) -> list[Files]:
    """Files go to the top; those in a folder called `figures`, and whole folders, stay below their folder's name."""
    return [
        Files(path, path.name if path.is_dir() else FIGURES if path.parent.name == FIGURES else "") for path in paths
    ]


def run_files(folder: Path) -> list[Files]:
    """A run's folder, once no secret stands in it; nothing of one that cannot be cleaned, with an error line."""
    try:
        redact_folder(folder)
    except OSError as error:
        _log.error("%s: the files are not sent, for secrets cannot be removed (%s)", folder, error.strerror or error)
        return []
    return [Files(folder)]


def now() -> int:
    """Milliseconds since 1970, as MLflow counts time."""
    return int(time.time() * 1000)


def _dataset(report: Report) -> dict[str, str]:
    """The dataset as an input of the run: name, fingerprint and counts, never its content."""
    fingerprint = report.lineage.get("dataset", report.identity)
    return {
        "name": report.task[:500],
        "digest": fingerprint if len(fingerprint) <= _DIGEST_LIMIT else digest_text(fingerprint),
        "source": json.dumps({"task": report.task, "fingerprint": fingerprint}, ensure_ascii=False),
        "profile": json.dumps({name: report.counts[name] for name in ("queries", "items") if name in report.counts}),
    }
