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
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from glyphrank.tracking.content import Content, Files
from glyphrank.tracking.kept_files import files_folder, keep_file, locked
from glyphrank.whole_files import TEMPORARY, allocate, replace_whole

PENDING = "pending"
"""The folder of the records in the folder of outputs."""
WAITS = "pending:"
"""How the id of a run begins that no store has named yet; its event follows."""
RUNNING = "RUNNING"
_LOCK_SECONDS = 5
_SPARE, _SPARE_BYTES = ".spare", 1 << 15

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
        files: name among the run's files -> `size` in bytes, `sha256` and `source` of what was kept under it. The
            source, an absolute path, is empty where it would tell a secret.
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
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the dashboard calls the run."""
        return self.tags.get("mlflow.runName", self.event)


class Keeper:
    """A run's record: in memory until `keep`, from then on also in a folder, where `glyphrank sync` finds it.

    What cannot be written never raises.

    Attributes:
        trouble: why the record could not be written when that was last tried; empty where it was.
    """

    def __init__(self, folder: Path, record: Record) -> None:
        self.record = record
        self.kept = False
        self.trouble = ""
        self.folder = folder
        self._spare = folder / f".{record.event}{_SPARE}"

    @property
    def later(self) -> str:
        """What becomes of a run that its store does not take, as the end of a sentence."""
        if not self.trouble:
            return "'glyphrank sync' logs it later"
        return f"it cannot be kept in {self.folder} ({self.trouble}): make room there before it ends"

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
        """Adds what the run has told, with copies of its files, which others may replace before they are sent.

        A copy that cannot be made, on a full disk, is looked for where it was to be made of when the record is sent.
        """
        before = self.record.content
        if before is not None:
            told = {name: {**getattr(before, name), **getattr(content, name)} for name in ("metrics", "tags", "texts")}
            dataset, complete = content.dataset or before.dataset, content.complete or before.complete
            content = Content(at=content.at, dataset=dataset, complete=complete, **told)
        with locked(self.folder, self.record.event, _LOCK_SECONDS):
            sent = self.kept and not self.trouble and not _path(self.folder, self.record.event).exists()
            kept = {} if sent else dict(self.record.files)  # a record that was sent takes its files with it
            for each in files:
                try:
                    for name, path in each.listed().items():
                        kept[name] = keep_file(path, files_folder(self.folder, self.record.event) / name)
                except OSError as error:
                    _log.error("%s of %s cannot be read: %s", each.path, self.record.name, error.strerror or error)
                    content = replace(content, complete="")
            self.note(content=content, files=kept)

    def forget(self) -> None:
        """Removes the record and the files: the run came to nothing, or its store has all of it."""
        self.kept = False
        _remove(self.folder, self.record.event)

    def tell_if_lost(self, finished: bool) -> None:
        """One error line at the end of a run that is neither in its store nor kept.

        Args:
            finished: whether it has a result, which the same command would find.
        """
        if self.kept and self.trouble:
            again = ", which is logged then from the stored result" if finished else ""
            message = (
                "%s is not in MLflow, and could not be kept in %s (%s): make room, and run the same command again%s"
            )
            _log.error(message, self.record.name, self.folder, self.trouble, again)

    def _write(self) -> None:
        """On a full disk the room that was set aside is given up for it: how a run ended is not to be lost."""
        self.trouble = ""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._replace()
                self._set_aside()
            except OSError:
                if not self._spare.exists():
                    raise
                self._spare.unlink()
                self._replace()
        except OSError as error:
            self.trouble = error.strerror or str(error)

    def _replace(self) -> None:
        text = json.dumps(asdict(self.record), ensure_ascii=False, indent=1) + "\n"
        path = _path(self.folder, self.record.event)
        replace_whole(path, lambda new: new.write_text(text, encoding="utf-8"))

    def _set_aside(self) -> None:
        if self.record.ended is None and not self._spare.exists():
            with suppress(OSError), self._spare.open("wb") as file:
                allocate(file, _SPARE_BYTES)
        elif self.record.ended is not None:
            with suppress(OSError):
                self._spare.unlink(missing_ok=True)


def waiting(folder: Path) -> Iterator[str]:
    """Events of the records in a folder, oldest first; none where there is nothing of that name.

    Raises:
        OSError: what is there is no folder, or cannot be read.
    """
    try:
        found = list(folder.iterdir())
    except FileNotFoundError:
        found = []
    paths = [path for path in found if path.suffix == ".json" and not path.name.startswith(".")]
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


def _remove(folder: Path, event: str) -> None:
    with suppress(OSError):
        _path(folder, event).unlink(missing_ok=True)
        (folder / f".{event}{_SPARE}").unlink(missing_ok=True)
    shutil.rmtree(files_folder(folder, event), ignore_errors=True)


def _path(folder: Path, event: str) -> Path:
    return folder / f"{event}.json"
