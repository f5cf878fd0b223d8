"""Runs read back from a store, with the files that a comparison needs; nothing is written to the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from glyphrank.errors import ConfigError
from glyphrank.ids import SHORTEST, is_beginning
from glyphrank.progress import track
from glyphrank.redaction import redact_text
from glyphrank.report.results import COMPARED
from glyphrank.tracking.client import Client, bounded, in_time
from glyphrank.tracking.existing import open_existing
from glyphrank.tracking.origin import KIND, PARENT, SWEEP
from glyphrank.tracking.store import cause_of

_BARS = "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR"
_PAGE = 1000
_PATIENCE = 3
_SHOWN = 20

T = TypeVar("T")


@dataclass(frozen=True)
class Fetched:
    """A run in a store.

    Attributes:
        name: as the dashboard shows it.
        tags: `complete`, `reused`, `identity` among them, where the run has them.
        folder: where the files lie that a comparison reads, None when they could not be had.
        lacks: why there is no folder; empty where there is one.
    """

    run_id: str
    name: str
    tags: Mapping[str, str]
    folder: Path | None
    lacks: str


def fetch(
    store: str,
    into: Path,
    experiment: str | None = None,
    runs: Sequence[str] = (),
    further: Sequence[str] = (),
) -> list[Fetched]:
    """Runs of a store, oldest first, each with its files in `into/<run id>/`.

    A run that has not finished, that is a sweep's parent, or whose files are not there has no folder and says why.

    Args:
        store: MLflow's tracking URI (credentials in it are used and shown nowhere), or the path of an SQLite file.
        into: an existing folder.
        experiment: name of the experiment; None: all of them, and then `runs` must name some.
        runs: ids, or their beginnings of at least six characters; a sweep's parent run stands for its cells. Empty: all
            runs of the experiment.
        further: names of files that are fetched beside those of a comparison, where a run has them.

    Raises:
        ConfigError: the store, the experiment or a run is not there, or a beginning fits several; what is there is
            named. Or the store does not answer in time.
    """
    existing = open_existing(store)
    with bounded(seconds=20, retries=1) as longest, _without_bars():
        reader = _Reader(existing.client, existing.name, longest if existing.remote else None)
        try:
            found = reader.find(experiment, runs)
        except ConfigError:
            raise
        except Exception as error:  # databases, drivers and servers each have their own types
            raise ConfigError(f"the MLflow store {existing.name} cannot be read: {cause_of(error)}") from None
        return reader.fetch(found, into, further)


class _Reader:
    """Asks one store; `seconds` bounds each request to a server, None where the store is no other program."""

    def __init__(self, client: Client, store: str, seconds: float | None) -> None:
        self._client = client
        self._store = store
        self._seconds = seconds

    def find(self, experiment: str | None, asked: Sequence[str]) -> list[Any]:
        """MLflow's runs, oldest first, each once."""
        pages = self._paged(lambda token: self._client.search_experiments(max_results=_PAGE, page_token=token))
        there = {each.experiment_id: each.name for each in pages}
        ids = [number for number, name in there.items() if experiment in (None, name)]
        if not ids:
            names = _listed(sorted(there.values()))
            raise ConfigError(f"{self._store} has no experiment {experiment!r}; the experiments that it has: {names}")
        found = [run for text in asked for run in self._named(text, ids)] if asked else self._search(ids, "")
        runs = {run.info.run_id: run for run in found}
        return sorted(runs.values(), key=lambda run: (run.info.start_time or 0, run.info.run_id))

    def fetch(self, runs: Sequence[Any], into: Path, further: Sequence[str]) -> list[Fetched]:
        """Their files; after three failures in a row the store is given up."""
        fetched: list[Fetched] = []
        failures = 0
        with track(len(runs), "runs fetched") as tracker:
            for run in runs:
                try:
                    folder, lacks = self._files(run, into, further)
                    failures = 0
                except Exception as error:  # stores of artifacts each have their own types
                    failures += 1
                    folder, lacks = None, f"its files cannot be fetched: {cause_of(error)}"
                    if failures == _PATIENCE or isinstance(error, TimeoutError):
                        raise ConfigError(
                            f"the MLflow store {self._store} fails: run {run.info.run_id}: {lacks}"
                        ) from None
                name = run.info.run_name or run.info.run_id
                fetched.append(Fetched(run.info.run_id, name, dict(run.data.tags), folder, lacks))
                tracker.advance()
        return fetched

    def _named(self, text: str, experiments: Sequence[str]) -> list[Any]:
        """The run whose id begins so, or the cells below it."""
        if not is_beginning(text):
            raise ConfigError(f"found {text!r}, wanted a run's id or at least its first {SHORTEST} characters")
        found = self._search(experiments, f"attributes.run_id LIKE '{text}%'")
        if len(found) > 1:
            names = _listed([f"{run.info.run_id} ({run.info.run_name})" for run in found])
            raise ConfigError(f"{text!r} begins the ids of {len(found)} runs in {self._store}: {names}")
        if not found:
            latest = self._search(experiments, "", most=5)
            names = _listed([f"{run.info.run_id} ({run.info.run_name})" for run in latest])
            raise ConfigError(f"{self._store} has no run {text!r}; the latest runs that it has: {names}")
        if found[0].data.tags.get(KIND) == SWEEP:
            below = f"tags.`{PARENT}` = '{found[0].info.run_id}'"
            return self._search([found[0].info.experiment_id], below) or found
        return found

    def _search(self, experiments: Sequence[str], condition: str, most: int | None = None) -> list[Any]:
        """Runs that are not deleted, latest first."""

        def page(token: str | None) -> Any:
            order = ["attributes.start_time DESC"]
            size = most or _PAGE
            return self._client.search_runs(
                list(experiments), condition, max_results=size, order_by=order, page_token=token
            )

        return list(self._ask(lambda: page(None)) if most else self._paged(page))

    def _paged(self, page: Callable[[str | None], Any]) -> Iterator[Any]:
        token: str | None = None
        while True:
            answer = self._ask(partial(page, token))
            yield from answer
            token = answer.token
            if not token:
                return

    def _files(self, run: Any, into: Path, further: Sequence[str]) -> tuple[Path | None, str]:
        """The folder of its files, or None and why."""
        info = run.info
        if run.data.tags.get(KIND) == SWEEP:
            return None, "it is the parent run of a sweep and has no numbers of its own"
        if info.status != "FINISHED":
            return None, f"it is {info.status}"
        there = {entry.path for entry in self._ask(lambda: self._client.list_artifacts(info.run_id))}
        missing = [name for name in COMPARED if name not in there]
        if not there:
            return None, f"it has no files in {redact_text(str(info.artifact_uri))}"
        if missing:
            return None, f"it has no {', '.join(missing)}; an older version of glyphrank, or another program, logged it"
        folder = into / info.run_id
        folder.mkdir(exist_ok=True)
        for name in (*COMPARED, *(name for name in further if name in there)):
            self._ask(partial(self._client.download_artifacts, info.run_id, name, str(folder)), 4)
        return folder, ""

    def _ask(self, work: Callable[[], T], times: int = 1) -> T:
        return in_time(None if self._seconds is None else times * self._seconds, work)


def _listed(names: Sequence[str]) -> str:
    """At most twenty names."""
    more = [f"... ({len(names)} in all)"] if len(names) > _SHOWN else []
    return ", ".join([*names[:_SHOWN], *more]) or "none"


@contextmanager
def _without_bars() -> Iterator[None]:
    """MLflow draws a bar for every file that it fetches; it reads the setting from the environment."""
    before = os.environ.get(_BARS)
    os.environ[_BARS] = "false"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_BARS]
        else:
            os.environ[_BARS] = before
