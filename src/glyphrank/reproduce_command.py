"""`glyphrank reproduce`: runs a finished run again from what it left behind, and tells whether it came out the same."""

from __future__ import annotations

import argparse
import json
import logging
import math
import secrets
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from glyphrank.errors import ConfigError, DataError
from glyphrank.log_file import LogFile
from glyphrank.redaction import RedactingFilter, redact_override
from glyphrank.report.agreement import Agreement, Verdict, as_json, as_text
from glyphrank.report.changes import differing_content, differing_hardware, differing_ways
from glyphrank.report.environment import environment, packages_of, read_environment
from glyphrank.report.finished import Finished, read_finished
from glyphrank.reproduce import TOLERANCE, Original, agreement, find_original, scratch_folder
from glyphrank.stored_run_command import carried_out, parser_of
from glyphrank.tracking import TrackedRun, Tracker
from glyphrank.tracking.start import Start
from glyphrank.tracking.untracked import UntrackedRun
from glyphrank.whole_files import replace_whole
from glyphrank.written_out import write_out

if TYPE_CHECKING:
    from glyphrank.records import Task
    from glyphrank.run import Run
    from glyphrank.runtime import Runtime
    from glyphrank.stored_config import Stored

REPRODUCTION = "reproduction.json"
"""What came of it, in the new run's folder."""


def run_reproduce(argv: Sequence[str]) -> int:
    """The command: runs again, prints what differs and how the numbers agree, and returns the exit code.

    0: equal, or within the tolerance; 1: not; 2: the command cannot be carried out, or not to its end.
    """
    try:
        options = _parser().parse_intermixed_args(argv)
    except SystemExit as leave:
        return int(leave.code or 0)
    return carried_out(lambda: _reproduce(find_original(options.run, options.outputs, options.store), options, argv))


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "reproduce",
        "Runs a finished run again from the configuration it was kept with, and tells what differs now and whether its "
        "numbers come out equal, within a tolerance, or different (exit code 1).",
        "dataset.root=PATH, runtime.device=cpu, tracking=none",
    )
    parser.add_argument(
        "--tolerance",
        type=_tolerance,
        default=TOLERANCE,
        metavar="T",
        help="by how much fractions may differ, and ranks by this share of themselves; another device or batch size "
        f"changes the order of items that score nearly alike (default: {TOLERANCE:g}, the last place that tables show)",
    )
    parser.add_argument(
        "--rerun",
        action="store_true",
        help="read and encode everything again too, in an empty cache, instead of taking what the cache holds",
    )
    return parser


def _tolerance(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"found {text!r}; wanted a number of at least 0")
    return number


def _reproduce(original: Original, options: argparse.Namespace, argv: Sequence[str]) -> int:
    from glyphrank.stored_config import Here, build_stored

    then = original.finished
    here = Here(Path.cwd(), options.overrides, options.outputs, options.config_dir)
    stored = build_stored(then.report.config, here)
    folder, start = _run_folder(stored.run.runtime.outputs), _start(original, stored, argv)
    with _logging_to(folder):
        task, differences = _look(original, stored.run, start)
        shown = [f"differs now: {line}" for line in differences] or ["nothing that is known differs"]
        write_out("\n".join([f"reproducing {then.name} ({original.reference})", *shown]))
        tracked = _perform(stored.run, task, start, folder, options.rerun)
    now = read_finished(folder, then.name)
    hardware = differing_hardware(original.environment, read_environment(folder) or {})
    later = [*(line for line in hardware if line not in differences), *_failed(then, now)]
    found = agreement(then, now, options.tolerance)
    write_out("\n".join([*(f"differs now: {line}" for line in later), "", as_text(found, then.report.primary)]))
    _hand_on(found, [*differences, *later], original, folder, tracked)
    return 1 if found.verdict is Verdict.different else 0


def _look(original: Original, run: Run, start: Start) -> tuple[Task, list[str]]:
    """The dataset as it is now, and what is otherwise than it was, as far as that is known before the run."""
    from glyphrank.pipeline import find_files, trace

    then = original.finished.report
    find_files(run)
    task = run.dataset.load(run.runtime)
    packages = {name: set(packages_of(getattr(run, name, None))) for name in then.lineage}
    now = environment(used=run)
    differences = differing_content(then, trace(run, task), packages, original.environment, now)
    differences += [*differing_hardware(original.environment, now), *differing_ways(then.config, start.config)]
    return task, differences


def _perform(run: Run, task: Task, start: Start, folder: Path, afresh: bool) -> TrackedRun:
    """Runs, and returns the tracked run, which has ended.

    The result is kept apart from the stored ones: it must be measured, and what is put to the test must not be
    replaced by the test.

    Args:
        afresh: whether the cache stays unused.
    """
    from glyphrank.job import perform

    watched = None if run.tracking is None else _Watched(run.tracking, run.runtime)
    with scratch_folder(run.runtime.outputs) as scratch:
        cache = scratch / "cache" if afresh else run.runtime.cache
        runtime = replace(run.runtime, outputs=scratch, cache=cache)
        again = replace(run, dataset=_Loaded(task), tracking=watched, runtime=runtime, rerun=True)
        perform(again, start, folder)
    return watched.runs[-1] if watched and watched.runs else UntrackedRun()


@dataclass(frozen=True)
class _Loaded:
    """A dataset that is loaded already."""

    task: Task

    def load(self, runtime: Runtime) -> Task:
        return self.task


@dataclass(frozen=True)
class _Watched:
    """A tracker that works where the stored run's did, and is remembered for what comes after the run."""

    tracker: Tracker
    runtime: Runtime
    runs: list[TrackedRun] = field(default_factory=list)

    def start(self, start: Start, runtime: Runtime) -> AbstractContextManager[TrackedRun]:
        return self._started(start)

    @contextmanager
    def _started(self, start: Start) -> Iterator[TrackedRun]:
        with self.tracker.start(start, self.runtime) as tracked:
            self.runs.append(tracked)
            yield tracked


def _run_folder(outputs: Path) -> Path:
    """A new folder for the run's files, beside those of other runs.

    Raises:
        ConfigError: it cannot be made.
    """
    folder = outputs / "runs" / time.strftime("%Y-%m-%d") / f"{time.strftime('%H-%M-%S')}-{secrets.token_hex(3)}"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be made ({error.strerror or error}); set paths.outputs") from error
    return folder


def _start(original: Original, stored: Stored, argv: Sequence[str]) -> Start:
    report = original.finished.report
    command = shlex.join(["glyphrank", "reproduce", *(redact_override(text) for text in argv)])
    return Start(
        name=f"reproduction of {original.finished.name}",
        choices=report.choices,
        config=stored.config,
        overrides=stored.overrides,
        launched_from=Path.cwd(),
        changed=tuple(report.changed),
        named=tuple(dict.fromkeys([*report.changed, *(text.partition("=")[0] for text in stored.overrides)])),
        launch=secrets.token_hex(3),
        tags={"reproduces": original.reference, "mlflow.note.content": f"```\n{command}\n```"},
    )


@contextmanager
def _logging_to(folder: Path) -> Iterator[None]:
    """Messages on the terminal, the full log beside the results; secrets are removed from both."""
    root, level = logging.getLogger(), logging.getLogger().level
    console, file = logging.StreamHandler(), LogFile(folder / "glyphrank.log", encoding="utf-8")
    console.setFormatter(logging.Formatter("%(message)s"))
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for handler in (console, file):
        handler.addFilter(RedactingFilter())
        root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.setLevel(level)
        for handler in (console, file):
            root.removeHandler(handler)
        with suppress(OSError):  # of a full disk, which must not hide what it has already done to the run
            file.close()


def _failed(then: Finished, now: Finished) -> list[str]:
    old, new = (run.report.counts.get("failed_items", 0) for run in (then, now))
    return [] if old == new else [f"items that could not be read: {old} then, {new} now"]


def _hand_on(
    found: Agreement, differences: Sequence[str], original: Original, folder: Path, tracked: TrackedRun
) -> None:
    """To the run's folder and to its run in the store, where it can be filtered by `reproduced`."""
    path = folder / REPRODUCTION
    told = {"reproduces": original.reference, **as_json(found, differences)}
    text = json.dumps(told, ensure_ascii=False, indent=2) + "\n"
    try:
        replace_whole(path, lambda new: new.write_text(text, encoding="utf-8"), durable=False)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from error
    tracked.summarise({}, {"reproduced": found.verdict.value}, [path])
