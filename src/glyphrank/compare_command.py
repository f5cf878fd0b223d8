"""`glyphrank compare`: finds finished runs, in folders and in MLflow, and prints how they compare."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from glyphrank.comparable import listed, result_of
from glyphrank.compare import How
from glyphrank.errors import ConfigError, DataError
from glyphrank.evaluations import compare_each, compared
from glyphrank.ids import SHORTEST, is_beginning
from glyphrank.report.cells import CELLS, runs_below, shown_folder
from glyphrank.report.compared import Comparison
from glyphrank.report.comparison import Form, rendered
from glyphrank.report.finished import Finished, read_finished
from glyphrank.report.results import CHECKSUMS, REPORT
from glyphrank.ties import TieRule
from glyphrank.written_out import write_out

EXPERIMENT = "glyphrank"
"""MLflow's experiment whose runs are compared where nobody names any."""
_ALL = "all"
_SHOWN = 5


@dataclass(frozen=True)
class _Found:
    """A run, and by what else than its name a person may call it."""

    finished: Finished
    folder: Path | None = None
    run_id: str = ""


@dataclass
class _Gathered:
    """Runs, oldest first, and for what a person named or a store holds but cannot be compared: why.

    Attributes:
        skipped: what lies beside the runs of a sweep.
        stores: of MLflow, that were asked; without credentials.
    """

    runs: list[_Found] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)


def run_compare(argv: Sequence[str]) -> int:
    """The command: prints a comparison and returns the exit code.

    0: it is printed; 1: with --expected, a number is off; 2: the command cannot be carried out as it was given.
    """
    parser = _parser()
    try:
        options = parser.parse_intermixed_args(argv)
        _check(options, parser)
        with tempfile.TemporaryDirectory(prefix="glyphrank-") as scratch:
            if options.expected is not None:
                return _expected(options, Path(scratch))
            write_out(_compared(options, Path(scratch)))
    except SystemExit as leave:
        return int(leave.code or 0)
    except (ConfigError, DataError) as error:
        sys.stderr.write(f"glyphrank: {error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glyphrank compare",
        description="Finished runs side by side: values with 95 % intervals, differences from a baseline with paired "
        "tests, and the rank group that is not told from the best.",
    )
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="a run's folder, a sweep's folder (all cells), an id of MLflow or its beginning, or the beginning of an "
        "identity in OUTPUTS/results; without any: the runs of --experiment. An experiment or one sweep has a table "
        "for each dataset and protocol",
    )
    parser.add_argument("--experiment", metavar="NAME", help=f"MLflow's experiment (default: {EXPERIMENT})")
    parser.add_argument("--baseline", metavar="RUN", help="what the others are tested against (default: the best)")
    parser.add_argument("--metric", metavar="NAME", help="e.g. ndcg_at_10, v2t/median_rank (default: the primary)")
    parser.add_argument("--by", metavar="FIELD", help="a table for each value of a field of the queries")
    parser.add_argument(
        "--ties",
        choices=[*(rule.value for rule in TieRule), _ALL],
        help="order of equal scores for all runs; all: the metric under every order too",
    )
    parser.add_argument("--allow", action="store_true", help="compare other evaluations on their common queries")
    parser.add_argument("--format", choices=[form.value for form in Form], default=Form.table.value)
    parser.add_argument("--outputs", type=Path, metavar="DIR", help="default: GLYPHRANK_OUTPUTS, else outputs")
    parser.add_argument(
        "--store", metavar="URI", help="MLflow's store; default: of --outputs, else MLFLOW_TRACKING_URI"
    )
    parser.add_argument("--expected", nargs="*", metavar="FILE", help="hold runs against expected scores")
    parser.add_argument("--entry", action="append", default=[], metavar="NAME", help="with --expected: only this row")
    return parser


def _check(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    if options.expected is None:
        if options.entry:
            parser.error("--entry goes with --expected")
        return
    given = [name for name in ("baseline", "metric", "by", "ties") if getattr(options, name) is not None]
    given += ["allow"] if options.allow else []
    given += ["format"] if options.format != Form.table.value else []
    if given:
        parser.error(f"--expected does not go with --{', --'.join(given)}")


def _expected(options: argparse.Namespace, scratch: Path) -> int:
    """Holds runs against expected scores; where nobody named a run or a store, having none is no fault."""
    from glyphrank.expected_scores import check_expected, expected_files

    files, names = expected_files([*options.expected, *options.runs])
    try:
        gathered = _gather(options, names, scratch)
    except ConfigError:
        if names or options.experiment or options.store:
            raise
        gathered = _Gathered()
    verdict = check_expected([run.finished for run in gathered.runs], files, options.entry)
    for reason in gathered.left_out:
        sys.stderr.write(f"left out: {reason}\n")
    write_out(verdict.as_text())
    return verdict.exit_code


def _compared(options: argparse.Namespace, scratch: Path) -> str:
    gathered = _gather(options, options.runs, scratch)
    baseline = None if options.baseline is None else _baseline(options, gathered, scratch)
    if not gathered.runs:
        reasons = "\n  ".join(["there is no run to compare", *gathered.left_out])
        raise DataError(f"{reasons}\nwanted at least one that has finished")
    rule = TieRule(options.ties) if options.ties not in (None, _ALL) else None
    how = How(baseline, rule, options.ties == _ALL, options.allow)
    runs = [run.finished for run in gathered.runs]
    is_whole = not options.runs or (len(options.runs) == 1 and not options.experiment)  # an experiment, or a sweep
    if options.allow or not is_whole:
        found = compared(runs, options.metric, how, options.by)
    else:  # which may hold runs of any dataset
        found = compare_each(runs, options.metric, how, options.by)
    notes = [*(f"runs of the MLflow store {store}" for store in gathered.stores), *_shortened(gathered.left_out)]
    if gathered.skipped:
        notes.append(f"skipped, for they belong to a sweep and are no runs: {listed(gathered.skipped)}")
    if options.format == Form.csv.value:  # has no place for them
        sys.stderr.writelines(f"note: {note}\n" for note in (*_notes_of(found), *notes))
    found[0] = replace(found[0], notes=(*found[0].notes, *notes))
    return rendered(found, Form(options.format))


def _notes_of(parts: Sequence[Comparison]) -> list[str]:
    """The notes that all parts have, and those of each, with its name in front."""
    common = [note for note in parts[0].notes if all(note in part.notes for part in parts)]
    own = [f"{_named(part)}: {note}" for part in parts for note in part.notes if note not in common]
    return [*common, *own]


def _named(part: Comparison) -> str:
    names = [part.task, "=".join(part.part) if part.part else None]
    return ", ".join(name for name in names if name is not None)


def _baseline(options: argparse.Namespace, gathered: _Gathered, scratch: Path) -> Finished:
    """The run that is called so; one that is not among the runs joins them."""
    wanted = options.baseline
    found = {result_of(run.finished): run.finished for run in gathered.runs if _is_called(run, wanted)}
    if not found:
        own = _gather(options, [wanted], scratch, only_named=True)
        if not own.runs:
            raise DataError(f"the baseline cannot be compared: {'; '.join(own.left_out)}")
        gathered.runs[:0] = own.runs
        found = {result_of(run.finished): run.finished for run in own.runs}
    if len(found) > 1:
        raise DataError(f"the baseline {wanted!r} names {len(found)} runs; wanted one of them")
    return next(iter(found.values()))


def _is_called(run: _Found, wanted: str) -> bool:
    ids = (run.finished.report.identity, run.run_id) if len(wanted) >= SHORTEST else ()
    folder = run.folder is not None and run.folder.resolve() == Path(wanted).resolve()
    return folder or run.finished.name == wanted or any(name.startswith(wanted) for name in ids)


def _gather(options: argparse.Namespace, names: Sequence[str], scratch: Path, only_named: bool = False) -> _Gathered:
    """The runs of the experiment, if one is named or nothing else is, and then those that are named."""
    outputs = options.outputs or Path(os.environ.get("GLYPHRANK_OUTPUTS") or "outputs")
    gathered = _Gathered()
    if (options.experiment or not names) and not only_named:
        _from_store(options, outputs, scratch, gathered, options.experiment or EXPERIMENT)
    ids: list[str] = []
    for name in names:
        if len(names) > 1 and _is_of_a_sweep(Path(name), gathered):
            continue
        place = _folder(name, outputs)
        if place is None:
            ids.append(name)
        else:
            _from_folder(place, gathered)
    if ids:
        _from_store(options, outputs, scratch, gathered, None, ids)
    return gathered


def _is_of_a_sweep(path: Path, gathered: _Gathered) -> bool:
    """Whether a path is no run but lies beside runs in a sweep's folder, as `sweep/*` names it; notes it."""
    beside = (path.parent / CELLS).is_dir() or (path.parent / "multirun.yaml").is_file()
    if beside and (path.is_file() or (path.is_dir() and path.name == CELLS)):
        gathered.skipped.append(str(path))
    elif beside and (path / ".hydra").is_dir() and not (path / REPORT).is_file():
        gathered.left_out.append(f"{str(path)!r} has not finished: it has no {REPORT}")
    else:
        return False
    return True


def _folder(name: str, outputs: Path) -> Path | None:
    """The folder that a name means: itself, or a stored result; None for what may be an id of MLflow.

    Raises:
        ConfigError: it can be neither, or begins several identities.
    """
    if Path(name).is_dir():
        return Path(name)
    if not is_beginning(name):
        raise ConfigError(
            f"there is no folder {name!r}; wanted a folder with {REPORT}, a folder of such folders, or at least "
            f"{SHORTEST} characters of an id of MLflow or of an identity in {outputs / 'results'}"
        )
    stored = sorted(path.parent for path in (outputs / "results").glob(f"{name}*/{CHECKSUMS}"))
    if len(stored) > 1:
        raise ConfigError(
            f"{name!r} begins {len(stored)} identities: {', '.join(path.name for path in stored[:_SHOWN])}"
        )
    return stored[0] if stored else None


def _from_folder(folder: Path, gathered: _Gathered) -> None:
    """A run, the cells of a sweep's folder, or the runs in a folder's own folders.

    Raises:
        DataError: the run is damaged, or there is none.
    """
    if (folder / REPORT).is_file() and not (folder / CELLS).is_dir():
        gathered.runs.append(_Found(read_finished(folder, shown_folder(folder)), folder))
        return
    runs, left_out = runs_below(folder)
    if not runs and not left_out:
        raise DataError(f"{folder}: neither the folder nor its own folders hold a {REPORT}; wanted the folder of a run")
    gathered.runs += [_Found(run, place) for run, place in runs]
    gathered.left_out += left_out


def _from_store(
    options: argparse.Namespace,
    outputs: Path,
    scratch: Path,
    gathered: _Gathered,
    experiment: str | None,
    ids: Sequence[str] = (),
) -> None:
    """Runs of MLflow: of an experiment, or with ids that begin so."""
    from glyphrank.tracking.existing import local_store, shown_store
    from glyphrank.tracking.origin import KIND, SWEEP
    from glyphrank.tracking.reading import fetch

    surroundings = None if options.outputs else os.environ.get("MLFLOW_TRACKING_URI")  # what is typed wins
    store = options.store or surroundings or local_store(outputs)
    gathered.stores += [shown_store(store)] if shown_store(store) not in gathered.stores else []
    for run in fetch(store, scratch, experiment, ids):
        if run.folder is None:
            if ids or run.tags.get(KIND) != SWEEP:  # a sweep's own run has no numbers, and its cells stand beside it
                gathered.left_out.append(f"{run.name!r} ({run.run_id[:8]}): {run.lacks}")
            continue
        try:
            gathered.runs.append(_Found(read_finished(run.folder, run.name), None, run.run_id))
        except DataError as error:
            gathered.left_out.append(f"{run.name!r} ({run.run_id[:8]}): {error}")


def _shortened(left_out: Sequence[str]) -> list[str]:
    more = [f"left out: {len(left_out) - _SHOWN} more"] if len(left_out) > _SHOWN else []
    return [*(f"left out: {reason}" for reason in left_out[:_SHOWN]), *more]
