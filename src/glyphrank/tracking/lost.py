"""Runs of a launch whose processes died: whoever launched them knows, and need not wait for `sync` to close them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from glyphrank.errors import ConfigError
from glyphrank.tracking.client import bounded, in_time
from glyphrank.tracking.existing import Existing, open_existing
from glyphrank.tracking.kept import PENDING, RUNNING, Keeper, read_record, waiting
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

    _fail_kept(outputs / PENDING, launch, is_lost, why)
    if not reference or reference["run_id"].startswith("pending:"):
        return
    try:
        store = open_existing(full_uri(reference["store"]))
        with bounded(seconds=10, retries=0) as longest:
            seconds = 4 * longest if store.remote else None
            in_time(seconds, lambda: _fail_stored(store, reference["experiment"], launch, is_lost, why))
    except ConfigError as error:
        _log.warning("runs of dead processes could not be ended: %s; glyphrank sync closes them", error)
    except Exception as error:  # databases, drivers and servers each have their own types
        _log.warning("runs of dead processes could not be ended: %s; glyphrank sync closes them", cause_of(error))


def _fail_stored(store: Existing, experiment: str, launch: str, is_lost: Any, why: str) -> None:
    found = store.client.get_experiment_by_name(experiment)
    condition = f"attributes.status = 'RUNNING' AND tags.`{LAUNCH}` = '{launch}'"
    token = None
    lost: list[str] = []
    while found is not None:
        page = store.client.search_runs([found.experiment_id], condition, max_results=_MOST, page_token=token)
        lost += [run.info.run_id for run in page if is_lost(run.data.tags)]
        token = page.token
        if not token:
            break
    for run_id in lost:
        store.client.set_tag(run_id, "error", why)
        store.client.update_run(run_id, status="FAILED")


def _fail_kept(folder: Path, launch: str, is_lost: Any, why: str) -> None:
    for event in waiting(folder):
        try:
            record, _ = read_record(folder, event)
        except (OSError, ValueError):
            continue  # whoever sends them says so
        if record.launch == launch and record.status == RUNNING and record.ended is None and is_lost(record.tags):
            keeper = Keeper(folder, record)
            keeper.note(status="FAILED", error=why)
            keeper.keep(record.cause)
