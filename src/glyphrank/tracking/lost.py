"""Runs of a launch whose processes died: whoever launched them knows, and need not wait for `sync` to close them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from glyphrank.errors import ConfigError
from glyphrank.tracking.client import Client, bounded, in_time
from glyphrank.tracking.existing import Existing, open_existing
from glyphrank.tracking.kept import PENDING, RUNNING, WAITS, Keeper, read_record, waiting
from glyphrank.tracking.origin import HOST, LAUNCH, PROCESS
from glyphrank.tracking.processes import Life, life_of
from glyphrank.tracking.store import cause_of
from glyphrank.tracking.uris import full_uri

_MOST = 1000
_log = logging.getLogger(__name__)


def fail_lost(
    reference: Mapping[str, str], outputs: Path, launch: str, gone: Collection[tuple[str, str]], why: str
) -> None:
    """Ends as FAILED the runs of a launch that are RUNNING though their process is no more, in the store or kept.

    They have no time of their end, for nobody saw it. A store that fails is told in one line and never raises: `sync`
    closes these runs later.

    Args:
        reference: `TrackedRun.reference` of the launch's parent run, to whose store they go; empty: only kept ones.
        outputs: the folder in which runs wait that no store took.
        launch: the command they belong to.
        gone: tags `host` and `process` of processes that are known to have ended, where that cannot be seen from here.
        why: becomes the tag `error`.
    """

    def is_lost(tags: Mapping[str, str]) -> bool:
        host, process = tags.get(HOST, ""), tags.get(PROCESS, "")
        return (host, process) in gone or life_of(host, process) is Life.dead

    def fail(keeper: Keeper) -> None:
        keeper.note(status="FAILED", error=why)
        keeper.keep(keeper.record.cause)

    def fail_stored(client: Client, run_id: str) -> None:
        client.set_tag(run_id, "error", why)
        client.update_run(run_id, status="FAILED")

    _end(reference, outputs, launch, _Way(is_lost, fail, fail_stored))


def discard_lost(
    reference: Mapping[str, str], outputs: Path, launch: str, processes: Collection[tuple[str, str]]
) -> None:
    """Deletes, as the dashboard does, the runs of a launch that dead processes left RUNNING: their cells are run again.

    So that a cell stands in the store once. A store that fails is told in one line and never raises.

    Args:
        reference, outputs, launch: as `fail_lost` has them.
        processes: tags `host` and `process`.
    """

    def is_lost(tags: Mapping[str, str]) -> bool:
        return (tags.get(HOST, ""), tags.get(PROCESS, "")) in processes

    _end(reference, outputs, launch, _Way(is_lost, Keeper.forget, lambda client, run_id: client.delete_run(run_id)))


@dataclass(frozen=True)
class _Way:
    """Which runs are lost, by their tags, and what is done with one that was kept and with one that is in the store."""

    is_lost: Callable[[Mapping[str, str]], bool]
    kept: Callable[[Keeper], None]
    stored: Callable[[Client, str], None]


def _end(reference: Mapping[str, str], outputs: Path, launch: str, way: _Way) -> None:
    _end_kept(outputs / PENDING, launch, way)
    if not reference or reference["run_id"].startswith(WAITS):
        return
    try:
        store = open_existing(full_uri(reference["store"]))
        with bounded(seconds=10, retries=0) as longest:
            seconds = 4 * longest if store.remote else None
            in_time(seconds, lambda: _end_stored(store, reference["experiment"], launch, way))
    except ConfigError as error:
        _log.warning("runs of dead processes could not be ended: %s; glyphrank sync closes them", error)
    except Exception as error:  # databases, drivers and servers each have their own types
        _log.warning("runs of dead processes could not be ended: %s; glyphrank sync closes them", cause_of(error))


def _end_stored(store: Existing, experiment: str, launch: str, way: _Way) -> None:
    found = store.client.get_experiment_by_name(experiment)
    condition = f"attributes.status = 'RUNNING' AND tags.`{LAUNCH}` = '{launch}'"
    token = None
    lost: list[str] = []
    while found is not None:
        page = store.client.search_runs([found.experiment_id], condition, max_results=_MOST, page_token=token)
        lost += [run.info.run_id for run in page if way.is_lost(run.data.tags)]
        token = page.token
        if not token:
            break
    for run_id in lost:
        way.stored(store.client, run_id)


def _end_kept(folder: Path, launch: str, way: _Way) -> None:
    for event in waiting(folder):
        try:
            record, _ = read_record(folder, event)
        except (OSError, ValueError):
            continue  # whoever sends them says so
        if record.launch == launch and record.status == RUNNING and record.ended is None and way.is_lost(record.tags):
            way.kept(Keeper(folder, record))
