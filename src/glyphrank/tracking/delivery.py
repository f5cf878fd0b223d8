"""A run that was kept, sent to its store: found there by its event or made, so that it is in the store once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from glyphrank.tracking.client import bounded
from glyphrank.tracking.content import Files
from glyphrank.tracking.kept import RUNNING, WAITS, Record
from glyphrank.tracking.origin import EVENT, KIND, PARENT, PARENT_EVENT, RUN_NAME, SWEEP
from glyphrank.tracking.outage import limits
from glyphrank.tracking.sending import send_content, send_entries
from glyphrank.tracking.store import Store, StoreDownError

_PAGE = 1000


def deliver(store: Store, record: Record, files: Sequence[Files]) -> str | None:
    """Logs all of a record with the times of the run; what the store has of it already comes out the same.

    Args:
        files: that were kept with the record.

    Returns:
        The run's id; None where somebody deleted the run, which is not made again.

    Raises:
        Exception: of many types; the store failed, and the record must stay.
    """
    seconds, retries = limits(store.name)
    with bounded(seconds, retries) as longest:
        found = store.in_time(longest, lambda: _found(store, record.event))
        run = found or store.in_time(longest, lambda: _made(store, record))
        if run.info.lifecycle_stage == "deleted":
            return None
        run_id = str(run.info.run_id)
        store.in_time(4 * longest, lambda: send_entries(store.client, run_id, record.parameters))
        if record.content is not None:
            send_content(store, run_id, record.content, files, longest)
        store.in_time(4 * longest, lambda: _end(store, run, record))
        if PARENT_EVENT in record.tags:
            store.in_time(2 * longest, lambda: join_parent(store, run_id, record.tags[PARENT_EVENT]))
        if record.tags.get(KIND) == SWEEP:
            store.in_time(8 * longest, lambda: _adopt(store, run_id, record.event))
        if found is None:
            store.in_time(2 * longest, lambda: _yield_to_another(store, run_id, record.event))
    return run_id


def join_parent(store: Store, run_id: str, event: str) -> None:
    """Puts a run under the parent of this event, if that is in the store; else the parent finds it when it comes."""
    parent = _found(store, event)
    if parent is not None:
        store.client.set_tag(run_id, PARENT, parent.info.run_id)


def parent_tags(store: str, experiment: str, parent: Mapping[str, str]) -> dict[str, str]:
    """The tags by which a run stands under its parent, only where the dashboard shows both in one table.

    Args:
        store: name of the store that the run goes to.
        parent: `TrackedRun.reference`; of a parent that no store has named yet the event is noted instead.
    """
    if not parent.items() >= {"store": store, "experiment": experiment}.items():
        return {}
    run_id = parent["run_id"]
    return {PARENT_EVENT: run_id.removeprefix(WAITS)} if run_id.startswith(WAITS) else {PARENT: run_id}


def _found(store: Store, event: str) -> Any:
    """The run of an event, deleted ones too, None where there is none; of several the same for everyone who asks."""
    from mlflow.entities import ViewType

    condition = f"tags.`{EVENT}` = '{event}'"
    runs = store.client.search_runs([store.experiment_id], condition, run_view_type=ViewType.ALL)
    return min(runs, key=lambda run: (run.info.lifecycle_stage == "deleted", run.info.run_id), default=None)


def _made(store: Store, record: Record) -> Any:
    tags = dict(record.tags)
    return store.client.create_run(
        store.experiment_id, start_time=record.began, tags=tags, run_name=record.tags[RUN_NAME]
    )


def _yield_to_another(store: Store, run_id: str, event: str) -> None:
    """Where locks do not reach, two processes may make the run at once: all keep the same one and delete theirs.

    Raises:
        StoreDownError: the one to keep is another's, who may not have filled it yet.
    """
    first = _found(store, event)
    if first is not None and first.info.run_id != run_id:
        store.client.delete_run(run_id)
        raise StoreDownError(f"another process sends this run to {store.name} too")


def _end(store: Store, run: Any, record: Record) -> None:
    """A run whose end nobody saw has no time of it either; what the store heard of its end then stays."""
    client, run_id = store.client, run.info.run_id
    heard = record.ended is None and run.info.status != RUNNING
    if record.error and not heard:
        client.set_tag(run_id, "error", record.error)
    if "log_error" in run.data.tags:
        with suppress(Exception):  # it is there or gone: a second process may send the same record
            client.delete_tag(run_id, "log_error")
    if heard:
        return
    if record.ended is None:
        client.update_run(run_id, status=record.status)
    else:
        client.set_terminated(run_id, status=record.status, end_time=record.ended)


def _adopt(store: Store, parent: str, event: str) -> None:
    """Puts the runs that noted this parent's event under it; those that know it are left alone."""
    condition, token = f"tags.`{PARENT_EVENT}` = '{event}'", None
    while True:
        page = store.client.search_runs([store.experiment_id], condition, max_results=_PAGE, page_token=token)
        for run in page:
            if run.data.tags.get(PARENT) != parent:
                store.client.set_tag(run.info.run_id, PARENT, parent)
        token = page.token
        if not token:
            return
