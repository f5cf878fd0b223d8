"""A run in MLflow: created, filled and ended through its own id, so that no run is ever global."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import yaml

from glyphrank.known_secrets import hide
from glyphrank.outcome import Report
from glyphrank.redaction import REDACTED, redact
from glyphrank.tracking import TrackedRun, outage
from glyphrank.tracking.client import bounded
from glyphrank.tracking.content import Content, Files, content_of, now, run_files, summary_files, summary_of
from glyphrank.tracking.delivery import join_parent, parent_tags
from glyphrank.tracking.ending import EndedOnce
from glyphrank.tracking.interruptions import Interruptions
from glyphrank.tracking.kept import Keeper, Kind, Record
from glyphrank.tracking.names import columns
from glyphrank.tracking.origin import EVENT, PARENT_EVENT, RUN_NAME, TAG_LIMIT, origin_tags
from glyphrank.tracking.pending_run import PendingRun
from glyphrank.tracking.places import Place, with_store
from glyphrank.tracking.sending import send_content, send_entries
from glyphrank.tracking.start import Start
from glyphrank.tracking.store import Store, StoreDownError, cause_of, is_outage, named, opened

_log = logging.getLogger(__name__)
_WITHOUT = "Is it writable? Use tracking=none to run without it."
_END_SECONDS = 10


@contextmanager
def open_run(place: Place, start: Start) -> Iterator[TrackedRun]:
    """A run that is RUNNING inside the block and ended when it is left, whatever leaves it.

    FINISHED normally; KILLED by a signal or Ctrl-C; FAILED by any other exception (SystemExit too: a component has no
    business ending the program), whose message becomes the tag `error`. A signal that comes while the run is created
    or ended waits for that. Where a signal falls between two instructions of this very function, the run is ended at
    exit. Where the store cannot be used now, and where it is a file that belongs to another machine than this may be,
    the run is kept (`kept`) and goes on; a store that has just failed is not asked again for half a minute.

    Raises:
        ConfigError: the store can never be used as it is named.
        Killed: a signal came; it passes through the block as an exception.
    """
    with Interruptions().watched() as interruptions:
        run = _begun(place, start, interruptions)
        error: BaseException | None = None
        try:
            interruptions.release()
            if isinstance(run, MlflowRun):
                run.begin(start)
            yield run
        except BaseException as caught:
            error = caught
            raise
        finally:
            interruptions.hold()
            run.end(error)


def _begun(place: Place, start: Start, interruptions: Interruptions) -> MlflowRun | PendingRun:
    """The run, with signals held."""
    keeper = Keeper(place.pending, _record(place, start))
    if start.off_host and place.kind is not Kind.server:
        interruptions.hold()
        return PendingRun(keeper, "it may run on another machine than the one where its store's file lies")
    cause = outage.just_failed(place.store) if place.kind is Kind.server else None
    if cause is not None:
        interruptions.hold()
        pending = PendingRun(keeper, cause)
        _log.warning("%s is not in MLflow yet, which failed just now; %s", start.name, keeper.later)
        return pending
    try:
        run = with_store(place, lambda store: _created(store, keeper, interruptions))
    except StoreDownError as error:
        cause, *advice = str(error).splitlines()
        outage.failed(place.store, cause)
        interruptions.hold()
        pending = PendingRun(keeper, cause)
        told = "\n".join([f"{cause}; the run goes on, and {keeper.later}", *advice])
        _log.error("%s is not in MLflow yet: %s", start.name, told)
        return pending
    outage.answered(place.store)
    return run


def _created(store: Store, keeper: Keeper, interruptions: Interruptions) -> MlflowRun:
    interruptions.hold()
    return MlflowRun(store, keeper)


def _record(place: Place, start: Start) -> Record:
    """What is known of the run when it begins, without secrets; the parent run of a sweep has no parameters."""
    event = uuid.uuid4().hex
    tags = origin_tags(start) | {EVENT: event} | parent_tags(place.store, place.experiment, start.parent)
    values = {} if start.sweep else columns(redact(start.choices), redact(start.config), start.named, start.changed)
    return Record(
        event=event,
        kind=place.kind,
        store=place.store,
        experiment=place.experiment,
        launch=start.launch,
        tags=tags,
        parameters={name: hide(value, REDACTED) for name, value in values.items()},
        parent=start.parent,
        began=now(),
    )


class MlflowRun(EndedOnce):
    """One run; see `glyphrank.tracking.TrackedRun`. What its store cannot take is kept, for `glyphrank sync`.

    Raises:
        StoreDownError: the run cannot be created; it may still have been, and then has the tag of its event.
    """

    def __init__(self, store: Store, keeper: Keeper) -> None:
        self._store = store
        self._client = store.client
        self._keeper = keeper
        self._troubles: list[str] = []
        self.dashboard: str | None = store.dashboard
        record = keeper.record

        def create() -> str:
            tags = dict(record.tags)
            made = self._client.create_run(
                store.experiment_id, start_time=record.began, tags=tags, run_name=tags[RUN_NAME]
            )
            return named(made.info.run_id, store.name, "run")

        self._id = opened(store.name, _WITHOUT, create, store.remote)
        keeper.note(run_id=self._id)
        self.run_id: str | None = self._id
        self.reference = {"store": store.name, "experiment": store.experiment, "run_id": self._id}
        super().__init__()

    def begin(self, start: Start) -> None:
        """Sends the parameters, and joins a parent that was kept and is in the store by now.

        A run that stands alone sends its configuration to a server at once: a store of files that does not work is told
        of now and not after hours. In a sweep the parent run has found that out.
        """
        record = self._keeper.record

        def send(longest: float) -> None:
            self._store.in_time(4 * longest, lambda: send_entries(self._client, self._id, record.parameters))
            if PARENT_EVENT in record.tags:
                event = record.tags[PARENT_EVENT]
                self._store.in_time(2 * longest, lambda: join_parent(self._store, self._id, event))
            if self._store.remote and not start.parent and not start.sweep:
                text = hide(yaml.safe_dump(redact(start.config), allow_unicode=True, sort_keys=False), REDACTED)
                self._store.in_time(2 * longest, lambda: self._client.log_text(self._id, text, "config.yaml"))

        self._try(send)

    def log(self, report: Report, folder: Path, reused: bool) -> None:
        """Sends metrics, tags, the dataset's name and then every file of the folder."""
        files = run_files(folder)
        self._send(content_of(report, reused, whole=bool(files)), files)

    def summarise(self, metrics: Mapping[str, float], tags: Mapping[str, str], files: Sequence[Path]) -> None:
        """Sends numbers, tags and then the files."""
        self._send(summary_of(metrics, tags), summary_files(files))

    def discard(self) -> None:
        """Deletes the run as the dashboard does, so that it can be restored; a failing store is only reported."""
        self._keeper.forget()
        try:
            self._refuse_if_just_failed()
            with bounded(seconds=3, retries=1) as longest:
                self._store.in_time(longest, lambda: self._client.delete_run(self._id))
        except Exception as error:  # stores each have their own types
            _log.error("run %s in %s could not be deleted: %s", self._id, self._store.name, cause_of(error))

    def finish(self, status: str, why: str) -> None:
        """Writes the status; at most ten seconds where a server does not answer, none where it just did not."""
        self._keeper.note(status=status, error=why, ended=now())
        tags = {"log_error": "; ".join(self._troubles)[:TAG_LIMIT], "error": why}

        def send() -> None:
            self._client.set_terminated(self._id, status=status, end_time=self._keeper.record.ended)
            for name, text in tags.items():
                if text:
                    self._client.set_tag(self._id, name, text)

        try:
            self._refuse_if_just_failed()
            with bounded(seconds=3, retries=1, firm=True):
                self._store.in_time(_END_SECONDS, send)
        except Exception as failure:  # stores each have their own types; the run's own error must not be hidden
            level = logging.DEBUG if self._keeper.kept else logging.ERROR  # one line a run is enough
            self._keeper.keep(self._keeper.record.cause or cause_of(failure))
            if is_outage(failure):
                outage.failed(self._store.name, cause_of(failure))
            message = "run %s could not be ended as %s in %s: %s; %s"
            _log.log(level, message, self._id, status, self._store.name, cause_of(failure), self._keeper.later)
            self._keeper.tell_if_lost(finished=status == "FINISHED" and self._keeper.record.content is not None)

    def _send(self, content: Content, files: Sequence[Files]) -> None:
        """Where something before went wrong, `complete` waits with the rest of what is kept."""
        there = [each for each in files if each.path.exists()]
        if len(there) < len(files):
            missing = ", ".join(str(each.path) for each in files if each not in there)
            self._troubles.append(f"no such file or folder: {missing}")
            _log.error("run %s was not logged in full: there is no %s", self._id, missing)
            content = replace(content, complete="")
        before = self._keeper.kept
        now_sent = replace(content, complete="") if before else content
        sent = self._try(lambda longest: send_content(self._store, self._id, now_sent, there, longest))
        if before or not sent:
            self._keeper.add(content, there)

    def _try(self, send: Callable[[float], None]) -> bool:
        """Sends; a store that fails is reported, and all that the run tells is kept from then on.

        A remote one that has just failed, in whatever this process asked of it, is not asked again for half a minute.
        """
        seconds, retries = outage.limits(self._store.name)
        try:
            self._refuse_if_just_failed()
            with bounded(seconds, retries) as longest:
                send(longest)
        except Exception as error:  # stores of artifacts each have their own types; results must not be lost
            told, again = self._keeper.kept, isinstance(error, _JustFailedError)
            trouble = str(error) if again else f"{type(error).__name__}: {cause_of(error)}"
            if is_outage(error):
                outage.failed(self._store.name, cause_of(error))
            self._keeper.keep(trouble)
            if not (told and again):
                self._troubles.append(trouble)
                message = "run %s was not logged in full to %s: %s; the run goes on, and %s"
                _log.error(message, self._id, self._store.name, trouble, self._keeper.later)
            return False
        outage.answered(self._store.name)
        return True

    def _refuse_if_just_failed(self) -> None:
        cause = outage.just_failed(self._store.name) if self._store.remote else None
        if cause is not None:
            raise _JustFailedError(cause)


class _JustFailedError(Exception):
    """Stands for the error that a remote store would give again, perhaps after minutes; its text is that one's."""
