"""The order of the stages: from a dataset to a report. Each step is a function of the file that its name suggests."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from glyphrank.channels import Part
from glyphrank.devices import choose_device
from glyphrank.digests import digest_json
from glyphrank.loading import load
from glyphrank.measure import (
    losses_of,
    of_this_run,
)
from glyphrank.outcome import Report
from glyphrank.probe import PROBE, stored_probe, write_probe
from glyphrank.rankings import Rankings, main_scores, rank_all, rank_once
from glyphrank.records import Direction, IntArray, Task
from glyphrank.report import results
from glyphrank.report.scores import SCORES, orders_of, write_scores
from glyphrank.reporting import Material, Origin, own_ranks, queries_of, report_of
from glyphrank.run import Run
from glyphrank.runtime import NeedsFiles
from glyphrank.sources import digest_held
from glyphrank.traced import check_sources, check_traced, recipes_of
from glyphrank.uncertainty import groupings_of
from glyphrank.working import read_and_encode

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Executed:
    """What came of a run.

    Attributes:
        report: its files lie in `results/<identity>/`.
        reused: whether the result was stored before.
        orders: other orders of the columns in which the scores are wanted (`scores.orders_of`), None where nobody asked
            for the scores.
        material: what was measured, for the page of misses; None where the result was stored.
    """

    report: Report
    reused: bool
    orders: Mapping[str, IntArray] | None
    material: Material | None = None


def execute(
    run: Run, config: Mapping[str, object], choices: Mapping[str, str], changed: Sequence[str] = ()
) -> Executed:
    """Runs the experiment, or takes its stored result.

    A result with failed items is measured again: the failure may have passed, and everything else comes from the cache.

    Args:
        config, choices, changed: the resolved configuration for the report, secrets removed, what of it a person named,
            and which fields are not as their choice has them.

    Raises:
        DataError: an input is missing or damaged, or what the run works with was changed meanwhile: nothing is kept
            then; ConfigError: a component cannot work here.
    """
    store = run.runtime.outputs / "results"
    may_be_stored = not run.rerun and results.any_stored(store)
    if not may_be_stored:
        find_files(run)
    task = load(run.dataset, run.runtime)
    groupings_of(task, run.metrics, (Direction.t2v,))  # a field that no query has is told now, not after hours
    origin = Origin(trace(run, task), config, choices, tuple(changed))
    orders = orders_of(task) if run.save_scores else None
    stored = None if run.rerun else find_stored(run, task, origin.identity)
    if stored:
        logger.info("nothing is recomputed: the result %s is stored (rerun=true measures again)", origin.identity[:12])
        return Executed(stored, True, orders)

    if may_be_stored:
        find_files(run)
    check_sources({"glyphrank"})  # plug-ins are looked at with what the stages run on
    worked = read_and_encode(run, task, origin.lineage)
    channels = [part.channel for part in worked.parts]
    directions = (Direction.t2v,) if run.is_approximate else run.metrics.directions
    rankings = rank_once(task, channels, run.fusion, directions, scratch=results.folder(store))
    losses = measure_losses(run, task, worked.parts, rankings) if run.is_approximate else {}
    report = of_this_run(report_of(run, task, worked, rankings, losses, origin), run, task, worked.probe)
    check_traced(run, origin.lineage)
    check_sources({"glyphrank"})
    place = results.folder(store / origin.identity)
    if run.save_scores:
        write_scores(place, task, main_scores(task, channels, run.fusion))
    if run.probe:
        write_probe(place, run, worked.probe)
    queries = queries_of(task, rankings, run.metrics)
    result = results.Result(report, own_ranks(rankings), queries, task.relevant, run.metrics.ties)
    results.keep(store, result, further_files(run))
    return Executed(report, False, orders, Material(task, worked, rankings))


def find_stored(run: Run, task: Task, identity: str) -> Report | None:
    """The stored result with all that the run asks for, and no item that failed: it may be readable now."""
    store = run.runtime.outputs / "results"
    stored = results.find(store, identity, further_files(run))
    probe = stored_probe(store / identity, run) if run.probe else {}
    if stored is None or stored.failures or probe is None:
        return None
    return of_this_run(stored, run, task, probe)


def further_files(run: Run) -> tuple[str, ...]:
    """What the run asks for beside the usual files of a result."""
    return ((SCORES,) if run.save_scores else ()) + ((PROBE,) if run.probe else ())


def find_files(run: Run) -> None:
    """Looks for what the components run on, so that a missing file is named before hours of work, not after.

    Where results are stored, the dataset is loaded first: a stored result needs no weights.

    Raises:
        DataError: weights are not here; ConfigError: the device is not.
    """
    components = [run.ocr] if run.reads else []
    for component in (*components, *(getattr(run, name) for name in run.channels)):
        if isinstance(component, NeedsFiles):
            component.find(run.runtime)
    if run.runtime.device not in ("auto", "cpu"):
        choose_device(run.runtime.device)


def trace(run: Run, task: Task) -> dict[str, str]:
    """Everything that can change the numbers: stage -> fingerprint or key. Its digest is the result's identity."""
    lineage = {name: digest_json(what) for name, what in recipes_of(run).items()}
    return {"dataset": task.fingerprint, **lineage, "sources": digest_held({"glyphrank", *run.plugins})}


def measure_losses(run: Run, task: Task, parts: Sequence[Part], rankings: Rankings) -> dict[str, float]:
    """What an approximate index loses against exact search, forward, in every channel and fused."""
    exact = [part.exact or part.channel for part in parts]
    store = results.folder(run.runtime.outputs / "results")
    return losses_of(rankings, rank_all(task, exact, run.fusion, (Direction.t2v,), scratch=store), run.metrics)
