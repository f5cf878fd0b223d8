"""Sends the runs that wait in a folder of outputs to their stores, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from glyphrank.errors import ConfigError
from glyphrank.report.results import remember_run
from glyphrank.tracking import outage
from glyphrank.tracking.content import Files
from glyphrank.tracking.delivery import deliver
from glyphrank.tracking.existing import shown_store
from glyphrank.tracking.kept import PENDING, RUNNING, Record, read_record, settle, waiting
from glyphrank.tracking.kept_files import files_folder, locked, whole_files
from glyphrank.tracking.origin import HOST, KIND, PROCESS, SWEEP
from glyphrank.tracking.places import place_of
from glyphrank.tracking.processes import Life, life_of, own_process
from glyphrank.tracking.store import Store, StoreDownError, cause_of, is_outage

SILENT = "its process ended without a word"
_PATIENCE = 3


@dataclass(frozen=True)
class Sent:
    """What became of the runs that waited.

    Attributes:
        logged, waiting: how many are in their store now, and how many still wait for theirs.
        troubles: why, in sentences without secrets.
        runs: of those that were logged, `name`, `event`, `store`, `experiment`, `run_id`; the id is empty where
            somebody had deleted the run in the store, so that it was dropped.
        events: of those that still wait.
        down: stores that failed.
        unended: how many of those that wait are runs of this very process which, as they were kept, go on. Where they
            have ended, that could not be kept.
        busy: of those that another process is at, which sends them or is still running: a sentence each. They are no
            trouble, and not among `waiting`.
    """

    logged: int
    waiting: int
    troubles: tuple[str, ...] = ()
    runs: tuple[Mapping[str, str], ...] = ()
    events: frozenset[str] = frozenset()
    down: frozenset[str] = frozenset()
    busy: tuple[str, ...] = ()
    unended: int = 0


def send_pending(outputs: Path, launch: str | None = None, store: str | None = None, host: str | None = None) -> Sent:
    """Logs the runs that wait in `outputs/pending`, parents before their cells, with the times of the runs.

    A record stays until its store has all of it. One that another process is sending waits, as does one whose run goes
    on; one whose process is dead is logged as KILLED. A store that has just kept this process waiting is not asked.

    Args:
        launch: only runs of this command; None: all.
        store: URI, perhaps with credentials: only runs of this store. None: all, each with the credentials that this
            process or its environment has for it.
        host: a machine whose processes have all ended, though they cannot be seen from here.

    Never raises for a store: what went wrong is told in `troubles`.
    """
    post = _Post(outputs.absolute(), store, host)
    for record in post.records(launch):
        post.send(record)
    return Sent(
        len(post.logged),
        len(post.left) - len(post.busy),
        tuple(post.troubles),
        tuple(post.logged),
        frozenset(post.left),
        frozenset(store for store, failures in post.failures.items() if failures >= _PATIENCE),
        tuple(post.busy),
        len(post.unended),
    )


@dataclass
class _Post:
    """One round of sending."""

    outputs: Path
    uri: str | None
    host: str | None
    logged: list[dict[str, str]] = field(default_factory=list)
    left: set[str] = field(default_factory=set)
    troubles: list[str] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)
    unended: set[str] = field(default_factory=set)
    stores: dict[tuple[str, str], Store] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the records lie."""
        return self.outputs / PENDING

    def records(self, launch: str | None) -> list[Record]:
        """Those asked for, sweeps' parents first; a damaged one stands among what is left."""
        found, wanted = [], None if self.uri is None else shown_store(self.uri.rstrip("/"))
        try:
            events = list(waiting(self.folder))
        except OSError as error:
            self.troubles.append(f"{self.folder} cannot be read ({error.strerror or error}): no run can wait there")
            return []
        for event in events:
            try:
                record, _ = read_record(self.folder, event)
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                if launch is None:
                    self.left.add(event)
                    self.troubles.append(str(error))
                continue
            if launch in (None, record.launch) and wanted in (None, self._store_name(record)):
                found.append(record)
        return sorted(found, key=lambda record: (record.tags.get(KIND) != SWEEP, record.began))

    def send(self, record: Record) -> None:
        """Sends one record, or says why it stays."""
        store = self._store_name(record)
        self.left.add(record.event)
        if self.failures.get(store, 0) >= _PATIENCE:
            return
        if outage.is_mute(store) and (cause := outage.just_failed(store)):
            self.failures[store] = _PATIENCE
            self.troubles.append(cause)
            return
        try:
            with locked(self.folder, record.event, 0) as held:
                if not held:
                    raise _BusyError("another process is sending it")
                if self._send(record.event):
                    self.left.discard(record.event)
            self.failures.pop(store, None)
            outage.answered(store)
        except StoreDownError as error:
            self.failures[store] = _PATIENCE
            self.troubles.append("; ".join(str(error).splitlines()))
            outage.failed(store, str(error).splitlines()[0])
        except _BusyError as error:
            self.busy.append(f"{record.name}: {error}")
        except _StaysError as error:
            self.troubles += [f"{record.name}: {error}"] if str(error) else []
        except Exception as error:  # stores each have their own types
            self.failures[store] = self.failures.get(store, 0) + 1
            self.troubles.append(f"{record.name}: {cause_of(error)}")
            if is_outage(error):
                outage.failed(store, cause_of(error))

    def _send(self, event: str) -> bool:
        """Whether the record is done with: sent now, or by another process before."""
        for _ in range(2):  # a run may tell more while it is sent
            try:
                record, raw = read_record(self.folder, event)
            except FileNotFoundError:
                return True
            if record.ended is None and record.status == RUNNING:
                record = self._ended(record)
            files = self._files(record)
            store = self._open(record)
            run_id = deliver(store, record, files)
            if settle(self.folder, event, raw):
                self._tell(record, store, run_id or "")
                return True
        return False

    def _files(self, record: Record) -> list[Files]:
        """What was kept of the run's files; raises `_StaysError` where one is not whole any more."""
        kept = files_folder(self.folder, record.event)
        identity = record.content.tags.get("identity", "") if record.content else ""
        found, torn = whole_files(kept, record.files, self.outputs / "results" / (identity or "none"))
        if torn:
            raise _StaysError(
                f"these files in {kept} are not whole, and neither are those that they were copied from: "
                f"{', '.join(torn)}; run the same command again, and remove {kept}.json to give this run up"
            )
        return found

    def _ended(self, record: Record) -> Record:
        """The record of a run that nobody ended, as KILLED; raises `_StaysError` where it may go on."""
        host = record.tags.get(HOST, "")
        life = life_of(host, record.tags.get(PROCESS, ""))
        if record.tags.get(PROCESS) == own_process():
            self.unended.add(record.event)
            raise _StaysError("")  # this very process knows
        if life is Life.alive:
            raise _BusyError("it is still running")
        if life is Life.unknown and host != self.host:
            raise _StaysError(
                f"it may still be running on {host}, which cannot be seen from here; --host {host} if it is not"
            )
        return replace(record, status="KILLED", error=SILENT)

    def _open(self, record: Record) -> Store:
        key = (self._store_name(record), record.experiment)
        if key not in self.stores:
            self.stores[key] = place_of(record, self.outputs, self.uri).open()
        return self.stores[key]

    def _store_name(self, record: Record) -> str:
        """As `shown_store` calls it: the file of a folder that was moved lies in that folder."""
        try:
            return place_of(record, self.outputs).store
        except ConfigError:
            return record.store

    def _tell(self, record: Record, store: Store, run_id: str) -> None:
        """Notes where the run stands now, also beside its result."""
        place = {"store": store.name, "experiment": store.experiment, "run_id": run_id}
        self.logged.append({"name": record.name, "event": record.event, **place})
        identity = record.content.tags.get("identity", "") if record.content else ""
        results = self.outputs / "results"
        if run_id and identity and (results / identity).is_dir():
            remember_run(results, identity, place)


class _StaysError(Exception):
    """Why a record is left where it is; nothing failed."""


class _BusyError(_StaysError):
    """Another process is at it."""
