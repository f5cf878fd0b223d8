"""Runs that wait for their store: one JSON file each in `outputs/pending`, beside it a folder with the run's files.

A record is replaced whole, holds no credentials, and is removed only when its store has all of it.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from glyphrank.tracking.content import Content, Files
from glyphrank.whole_files import TEMPORARY, replace_whole

PENDING = "pending"
"""The folder of the records in the folder of outputs."""
WAITS = "pending:"
"""How the id of a run begins that no store has named yet; its event follows."""
RUNNING = "RUNNING"
_COPIED = 1 << 20
"""Bytes up to which a file is copied; a larger one, which nobody writes in place, is linked."""

_log = logging.getLogger(__name__)


class Kind(StrEnum):
    """Where a run goes: to the SQLite file of its folder of outputs, to another such file, or to a server."""

    local = "local"
    file = "file"
    server = "server"


@dataclass(frozen=True)
class Record:
    """What a run has told so far; all that its store is to know of it.

    Attributes:
        event: tells this run from all others; its store has it as the tag `glyphrank.event`.
        store: as `Store.name`, without credentials.
        launch: the command that it belongs to.
        tags, parameters: as the run has them from its start.
        parent: `TrackedRun.reference` of its parent run; empty for none.
        began, ended: in milliseconds since 1970; `ended` is None while the run lasts.
        status, error: MLflow's word, and why the run failed.
        run_id: in the store, where that named it before it failed; else empty.
        content: None until there is something to tell, and where the store has it already.
        cause: why the run waits, without secrets.
    """

    event: str
    kind: Kind
    store: str
    experiment: str
    launch: str
    tags: Mapping[str, str]
    parameters: Mapping[str, str]
    parent: Mapping[str, str]
    began: int
    ended: int | None = None
    status: str = RUNNING
    error: str = ""
    run_id: str = ""
    content: Content | None = None
    cause: str = ""

    @property
    def name(self) -> str:
        """What the dashboard calls the run."""
        return self.tags.get("mlflow.runName", self.event)


class Keeper:
    """A run's record: in memory until `keep`, from then on also in a folder, where `glyphrank sync` finds it.

    What cannot be written is told in one error line and never raises.
    """

    def __init__(self, folder: Path, record: Record) -> None:
        self.record = record
        self.kept = False
        self._folder = folder
        self._told = False

    def note(self, **changes: Any) -> None:
        """Replaces fields of the record."""
        self.record = replace(self.record, **changes)
        if self.kept:
            self._write()

    def keep(self, cause: str) -> None:
        """Writes the record, now and after every change."""
        self.kept = True
        self.note(cause=cause)

    def add(self, content: Content, files: Sequence[Files]) -> None:
        """Adds what the run has told, with copies of its files, which others may replace before they are sent."""
        before = self.record.content
        if before is not None:
            told = {name: {**getattr(before, name), **getattr(content, name)} for name in ("metrics", "tags", "texts")}
            dataset, complete = content.dataset or before.dataset, content.complete or before.complete
            content = Content(at=content.at, dataset=dataset, complete=complete, **told)
        try:
            for each in files:
                for name, path in each.listed().items():
                    _keep_file(path, files_folder(self._folder, self.record.event) / name)
        except OSError as error:
            self._complain(error)
            content = replace(content, complete="")
        self.note(content=content)

    def forget(self) -> None:
        """Removes the record and the files: the run came to nothing, or its store has all of it."""
        self.kept = False
        _remove(self._folder, self.record.event)

    def _write(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(asdict(self.record), ensure_ascii=False, indent=1) + "\n"
            path = _path(self._folder, self.record.event)
            replace_whole(path, lambda new: new.write_text(text, encoding="utf-8"))
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        if not self._told:
            message = "%s cannot be kept in %s for MLflow (%s); its results lie on disk"
            _log.error(message, self.record.name, self._folder, error.strerror or error)
        self._told = True


def waiting(folder: Path) -> Iterator[str]:
    """Events of the records in a folder, oldest first."""
    paths = [path for path in folder.glob("*.json") if not path.name.startswith(".")]
    stamped = []
    for path in paths:
        with suppress(OSError):
            stamped.append((path.stat().st_mtime_ns, path.name))
    yield from (name.removesuffix(".json") for _, name in sorted(stamped))


def read_record(folder: Path, event: str) -> tuple[Record, bytes]:
    """A record, and the bytes of its file.

    Raises:
        FileNotFoundError: it is not there any more.
        ValueError: it is damaged, or of another version.
    """
    raw = _path(folder, event).read_bytes()
    try:
        stored = json.loads(raw)
        content = stored.pop("content")
        record = Record(
            **{**stored, "kind": Kind(stored["kind"])}, content=None if content is None else Content(**content)
        )
        if record.event != event:
            raise ValueError(f"it is of the event {record.event}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{_path(folder, event)} cannot be read as a waiting run ({error}); move it away") from error
    return record, raw


def settle(folder: Path, event: str, sent: bytes) -> bool:
    """Removes a record whose store has all of it; False where the run has told more than was sent meanwhile."""
    path = _path(folder, event)
    taken = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        path.replace(taken)
    except FileNotFoundError:
        return True
    if taken.read_bytes() != sent:
        with suppress(FileExistsError):  # one still later is there already
            os.link(taken, path)
        taken.unlink()
        return False
    taken.unlink()
    _remove(folder, event)
    return True


def files_folder(folder: Path, event: str) -> Path:
    """Where the files of a waiting run lie, under the names that they have among the run's files."""
    return folder / event


def _remove(folder: Path, event: str) -> None:
    with suppress(OSError):
        _path(folder, event).unlink(missing_ok=True)
    shutil.rmtree(files_folder(folder, event), ignore_errors=True)


def _path(folder: Path, event: str) -> Path:
    return folder / f"{event}.json"


def _keep_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    if source.stat().st_size > _COPIED:
        with suppress(OSError):  # another file system, or one without links
            replace_whole(target, lambda new: os.link(source, new), durable=False)
            return
    replace_whole(target, partial(shutil.copyfile, source), durable=False)
