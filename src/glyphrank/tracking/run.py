"""A run in MLflow: created, filled and ended through its own id, so that no run is ever global."""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from glyphrank.errors import ConfigError
from glyphrank.outcome import Report
from glyphrank.redaction import redact, redact_folder, redact_text
from glyphrank.tracking import TrackedRun
from glyphrank.tracking.client import bounded, in_time
from glyphrank.tracking.interruptions import Interruptions, Killed
from glyphrank.tracking.names import parameters, stored_name
from glyphrank.tracking.numbers import is_complete, numbers, report_tags
from glyphrank.tracking.origin import PARENT, RUN_NAME, TAG_LIMIT, origin_tags
from glyphrank.tracking.sending import send_dataset, send_files, send_numbers, send_parameters, send_tags
from glyphrank.tracking.start import Start
from glyphrank.tracking.store import Store, cause_of, named, opened
from glyphrank.tracking.untracked import UntrackedRun

_log = logging.getLogger(__name__)
_WITHOUT = "Is it writable? Use tracking=none to run without it."
_END_SECONDS = 10
_reached: set[str] = set()


@contextmanager
def open_run(place: str, open_store: Callable[[], Store], start: Start) -> Iterator[TrackedRun]:
    """A run that is RUNNING inside the block and ended when it is left, whatever leaves it.

    FINISHED normally; KILLED by a signal or Ctrl-C; FAILED by any other exception (SystemExit too: a component has no
    business ending the program), whose message becomes the tag `error`. A signal that comes while the run is created
    or ended waits for that. Where a signal falls between two instructions of this very function, the run is ended at
    exit. Where this process has had a run in the store before, a run that cannot be created goes on untracked.

    Args:
        place: tells this store and experiment from others, in this process.
        open_store: opens the store, or raises ConfigError.
        start: what is known of the run.

    Raises:
        ConfigError: the store cannot be opened, or the run cannot be created.
        Killed: a signal came; it passes through the block as an exception.
    """
    with Interruptions().watched() as interruptions:
        run = _created(place, open_store, start, interruptions)
        if run is None:
            interruptions.release()
            yield UntrackedRun()
            return
        error: BaseException | None = None
        try:
            interruptions.release()
            if not start.sweep:
                run.log_parameters(parameters(redact(start.choices), redact(start.config)))
            yield run
        except BaseException as caught:
            error = caught
            raise
        finally:
            interruptions.hold()
            run.end(error)


def _created(
    place: str, open_store: Callable[[], Store], start: Start, interruptions: Interruptions
) -> MlflowRun | None:
    """The run, with signals held; None where it cannot be created, but others were by this process."""
    try:
        store = open_store()
        tags = origin_tags(start) | _parent_tag(start.parent, store)
        interruptions.hold()
        run = MlflowRun(store, tags)
    except ConfigError as error:
        if place not in _reached:
            raise
        _log.error("%s is not tracked; its results lie on disk: %s", start.name, str(error).splitlines()[0])
        return None
    _reached.add(place)
    return run


class MlflowRun:
    """One run; see `glyphrank.tracking.TrackedRun`."""

    def __init__(self, store: Store, tags: dict[str, str]) -> None:
        self._store = store
        self._client = store.client
        self._pid = os.getpid()
        self._ended = False
        self._troubles: list[str] = []
        self.dashboard: str | None = store.dashboard

        def create() -> str:
            created = self._client.create_run(store.experiment_id, tags=tags, run_name=tags[RUN_NAME])
            return named(created.info.run_id, store.name, "run")

        self._id = opened(store.name, _WITHOUT, create, store.remote)
        self.run_id: str | None = self._id
        self.reference = {"store": store.name, "experiment": store.experiment, "run_id": self._id}
        atexit.register(self._end_at_exit)

    def log_parameters(self, values: dict[str, str]) -> None:
        """Sends the parameters; a failing store is only reported."""
        try:
            with bounded(seconds=20, retries=1) as longest:
                self._in_time(4 * longest, lambda: send_parameters(self._client, self._id, values))
        except Exception as error:  # as in `log`
            self._report(error, "the run goes on")

    def log(self, report: Report, folder: Path, reused: bool) -> None:
        """Sends metrics, tags, the dataset's name and then every file of the folder; a failing store is only reported.

        Files come last, so that a store of files that fails costs files alone; `complete` is set when all is stored.
        On a server the numbers together may take four slow requests, the files together eight.
        """

        def send() -> None:
            send_numbers(self._client, self._id, numbers(report).metrics)
            send_tags(self._client, self._id, report_tags(report, reused))
            send_dataset(self._client, self._id, report)

        try:
            with bounded(seconds=20, retries=1) as longest:
                self._in_time(4 * longest, send)
                redact_folder(folder)
                self._in_time(8 * longest, lambda: send_files(self._client, self._id, report, folder))
                if not self._troubles:
                    complete = str(is_complete(report)).lower()
                    self._in_time(longest, lambda: self._client.set_tag(self._id, "complete", complete))
        except Exception as error:  # stores of artifacts each have their own types; results on disk must not be lost
            self._report(error, f"the results are in {folder}")

    def summarise(self, metrics: Mapping[str, float], tags: Mapping[str, str], files: Sequence[Path]) -> None:
        """Sends numbers, tags and then the files; a failing store is only reported."""
        complete = tags.get("complete")
        values = {stored_name(name): value for name, value in metrics.items()}
        texts = {stored_name(name): redact_text(text)[:TAG_LIMIT] for name, text in tags.items() if name != "complete"}

        def send() -> None:
            send_numbers(self._client, self._id, values)
            send_tags(self._client, self._id, texts)

        def send_all_files() -> None:
            for path in files:
                self._client.log_artifact(self._id, str(path))

        try:
            with bounded(seconds=20, retries=1) as longest:
                self._in_time(2 * longest, send)
                self._in_time(4 * longest, send_all_files)
                if complete is not None and not self._troubles:
                    self._in_time(longest, lambda: self._client.set_tag(self._id, "complete", complete))
        except Exception as error:  # as in `log`
            self._report(error, "its files lie on disk")

    def discard(self) -> None:
        """Deletes the run as the dashboard does, so that it can be restored; a failing store is only reported."""
        try:
            with bounded(seconds=3, retries=1) as longest:
                self._in_time(longest, lambda: self._client.delete_run(self._id))
        except Exception as error:  # as in `log`
            self._report(error, "it can be deleted on the dashboard")

    def end(self, error: BaseException | None) -> None:
        """Writes the status, and why the run failed; at most ten seconds where a server does not answer.

        Does nothing in a forked child, nor a second time.
        """
        if self._ended or os.getpid() != self._pid:
            return
        self._ended = True
        atexit.unregister(self._end_at_exit)
        status = _status(error)
        tags = {"log_error": "; ".join(self._troubles)[:TAG_LIMIT]}
        if status != "FINISHED":
            tags["error"] = redact_text(f"{type(error).__name__}: {error}")[:TAG_LIMIT]

        def send() -> None:
            self._client.set_terminated(self._id, status=status)
            for name, text in tags.items():
                if text:
                    self._client.set_tag(self._id, name, text)

        try:
            with bounded(seconds=3, retries=1, firm=True):
                self._in_time(_END_SECONDS, send)
        except Exception as failure:  # as in `log`: what the run did must not be lost, nor its own error be hidden
            message = "run %s could not be ended as %s in %s: %s"
            _log.error(message, self._id, status, self._store.name, cause_of(failure))

    def _in_time(self, seconds: float, work: Callable[[], None]) -> None:
        in_time(seconds if self._store.remote else None, work)

    def _report(self, error: Exception, consequence: str) -> None:
        """Logs what a store could not take, and keeps it for the tag `log_error`."""
        trouble = f"{type(error).__name__}: {cause_of(error)}"
        self._troubles.append(trouble)
        message = "run %s was not logged in full to %s: %s\n%s"
        _log.error(message, self._id, self._store.name, trouble, consequence)

    def _end_at_exit(self) -> None:
        self.end(GeneratorExit("the program ended without leaving the run"))


def _parent_tag(parent: Mapping[str, str], store: Store) -> dict[str, str]:
    """A run stands under its parent only where the dashboard shows both in one table."""
    here = {"store": store.name, "experiment": store.experiment}
    return {PARENT: parent["run_id"]} if parent.items() >= here.items() else {}


def _status(error: BaseException | None) -> str:
    if error is None:
        return "FINISHED"
    return "KILLED" if isinstance(error, KeyboardInterrupt | Killed | GeneratorExit) else "FAILED"
