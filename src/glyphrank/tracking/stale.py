"""Runs that a store calls RUNNING though their process has ended without a word."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from glyphrank.errors import ConfigError
from glyphrank.tracking.client import bounded, in_time
from glyphrank.tracking.existing import Existing, open_existing
from glyphrank.tracking.origin import EVENT, HOST, PROCESS
from glyphrank.tracking.pending import SILENT
from glyphrank.tracking.processes import Life, life_of
from glyphrank.tracking.store import cause_of

_PAGE = 1000


@dataclass(frozen=True)
class Stale:
    """A run that is RUNNING and not of a process that lives here.

    Attributes:
        process: its tag, for a person who looks for it.
        closed: whether it is KILLED now; else it is of a machine that cannot be seen from here.
    """

    run_id: str
    name: str
    host: str
    process: str
    closed: bool


def close_stale(store: str, host: str | None = None, leave: Collection[str] = ()) -> list[Stale]:
    """Closes the runs of dead processes of this machine as KILLED, and lists those of other machines.

    Runs that have no tag of ours, and those of living processes, are left alone and not listed. A closed run has no
    time of its end, for nobody saw it.

    Args:
        store: an existing store, as for `open_existing`.
        host: a machine whose runs are closed too, except those of processes that live here.
        leave: events of runs that are still to be sent, with what became of them.

    Raises:
        ConfigError: the store is not there, or fails.
    """
    existing = open_existing(store)
    found = []
    with bounded(seconds=10, retries=0) as longest:
        seconds = 4 * longest if existing.remote else None
        try:
            for run in in_time(seconds, lambda: list(_running(existing))):
                tags = run.data.tags
                life = life_of(tags.get(HOST, ""), tags.get(PROCESS, ""))
                if life is Life.alive or tags[EVENT] in leave:
                    continue
                closed = life is Life.dead or tags.get(HOST) == host
                if closed:
                    in_time(seconds, lambda run_id=run.info.run_id: _close(existing, run_id))  # type: ignore[misc]
                found.append(
                    Stale(run.info.run_id, run.info.run_name, tags.get(HOST, ""), tags.get(PROCESS, ""), closed)
                )
        except Exception as error:  # databases, drivers and servers each have their own types
            raise ConfigError(f"the MLflow store {existing.name} fails: {cause_of(error)}") from None
    return found


def _close(store: Existing, run_id: str) -> None:
    store.client.set_tag(run_id, "error", SILENT)
    store.client.update_run(run_id, status="KILLED")


def _running(store: Existing) -> Iterator[Any]:
    """Runs with a tag of ours, in all experiments."""
    experiments = [
        each.experiment_id
        for each in _pages(lambda token: store.client.search_experiments(max_results=_PAGE, page_token=token))
    ]
    condition = f"attributes.status = 'RUNNING' AND tags.`{EVENT}` LIKE '%'"
    if experiments:
        yield from _pages(
            lambda token: store.client.search_runs(experiments, condition, max_results=_PAGE, page_token=token)
        )


def _pages(ask: Any) -> Iterator[Any]:
    token = None
    while True:
        page = ask(token)
        yield from page
        token = page.token
        if not token:
            return
