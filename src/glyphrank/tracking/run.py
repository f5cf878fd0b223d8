"""A run in MLflow: created, filled and ended through its own id, so that no run is ever global."""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from glyphrank.records import Report
from glyphrank.redaction import redact, redact_folder, redact_text
from glyphrank.tracking.client import bounded
from glyphrank.tracking.interruptions import Interruptions
from glyphrank.tracking.names import parameters
from glyphrank.tracking.numbers import is_complete, report_tags
from glyphrank.tracking.origin import TAG_LIMIT, origin_tags
from glyphrank.tracking.sending import send_dataset, send_numbers, send_parameters, send_tags
from glyphrank.tracking.start import Start
from glyphrank.tracking.store import Store, opened

_log = logging.getLogger(__name__)
_WITHOUT = "Is it writable? Use tracking=none to run without it."


@contextmanager
def open_run(store: Store, start: Start) -> Iterator[MlflowRun]:
    """A run that is RUNNING inside the block and ended when it is left, whatever leaves it.

    FINISHED normally or by exit code 0; KILLED by a signal, Ctrl-C or another exit code; FAILED by any other
    exception, whose message becomes the tag `error`. A signal that comes while the run is created or ended waits
    for that. Where a signal falls between two instructions of this very function, the run is ended at exit.

    Raises:
        ConfigError: the run cannot be created.
        Killed: a signal came; it passes through the block as an exception.
    """
    tags = origin_tags(start)
    values = parameters(redact(start.choices), redact(start.config))
    with Interruptions().watched() as interruptions:
        interruptions.hold()
        run = MlflowRun(store, start.name, tags)
        error: BaseException | None = None
        try:
            interruptions.release()
            run.log_parameters(values)
            yield run
        except BaseException as caught:
            error = caught
            raise
        finally:
            interruptions.hold()
            run.end(error)


class MlflowRun:
    """One run; see `glyphrank.tracking.TrackedRun`."""

    def __init__(self, store: Store, name: str, tags: dict[str, str]) -> None:
        self._store = store
        self._client = store.client
        self._pid = os.getpid()
        self._ended = False
        self._trouble: str | None = None
        self.dashboard: str | None = store.dashboard
        created = opened(
            store.name,
            _WITHOUT,
            partial(store.client.create_run, store.experiment_id, tags=tags, run_name=name),
        )
        self.run_id: str | None = created.info.run_id
        self.reference = {"store": store.name, "experiment": store.experiment, "run_id": created.info.run_id}
        self._id: str = created.info.run_id
        atexit.register(self._end_at_exit)

    def log_parameters(self, values: dict[str, str]) -> None:
        """Sends the parameters, before anything expensive is done.

        Raises:
            ConfigError: the store refuses them or does not answer.
        """
        opened(self._store.name, _WITHOUT, partial(send_parameters, self._client, self._id, values))

    def log(self, report: Report, folder: Path, reused: bool) -> None:
        """Sends metrics, tags, the dataset's name and every file of the folder; a failing store is only reported."""
        try:
            with bounded(seconds=20, retries=1):
                send_numbers(self._client, self._id, report)
                send_tags(self._client, self._id, report_tags(report, reused))
                send_dataset(self._client, self._id, report)
                if not folder.is_dir():  # MLflow would send nothing and say nothing
                    raise FileNotFoundError(f"{folder}: no such folder")
                redact_folder(folder)
                self._client.log_artifacts(self._id, str(folder))
                self._client.set_tag(self._id, "complete", str(is_complete(report)).lower())
        except Exception as error:  # stores of artifacts each have their own types; results on disk must not be lost
            self._trouble = redact_text(f"{type(error).__name__}: {error}")[:TAG_LIMIT]
            _log.error(
                "run %s was not logged in full to %s: %s\nThe results are in %s",
                self._id,
                self._store.name,
                self._trouble,
                folder,
            )

    def end(self, error: BaseException | None) -> None:
        """Writes the status, and why the run failed; at most about ten seconds where a server does not answer.

        Does nothing in a forked child, nor a second time.
        """
        if self._ended or os.getpid() != self._pid:
            return
        self._ended = True
        atexit.unregister(self._end_at_exit)
        status = _status(error)
        try:
            with bounded(seconds=3, retries=1, firm=True):
                self._client.set_terminated(self._id, status=status)
            tags = {"log_error": self._trouble}
            if status != "FINISHED":
                tags["error"] = redact_text(f"{type(error).__name__}: {error}")[:TAG_LIMIT]
            with bounded(seconds=2, retries=0, firm=True):
                for name, text in tags.items():
                    if text:
                        self._client.set_tag(self._id, name, text)
        except Exception as failure:  # as in `log`: what the run did must not be lost, nor its own error be hidden
            _log.error(
                "run %s could not be ended as %s in %s: %s",
                self._id,
                status,
                self._store.name,
                redact_text(str(failure)),
            )

    def _end_at_exit(self) -> None:
        self.end(SystemExit("the program ended without leaving the run"))


def _status(error: BaseException | None) -> str:
    if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return "FINISHED"
    return "KILLED" if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit) else "FAILED"
