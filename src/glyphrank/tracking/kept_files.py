"""The files of runs that wait: copies beside the record, each with a checksum that stands in it."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from glyphrank.digests import digest_file
from glyphrank.redaction import redact_text
from glyphrank.tracking.content import Files
from glyphrank.whole_files import replace_whole

_COPIED = 1 << 20
"""Bytes up to which a file is copied; a larger one, which nobody writes in place, is linked."""

_log = logging.getLogger(__name__)


def files_folder(folder: Path, event: str) -> Path:
    """Where the files of a waiting run lie, under the names that they have among the run's files."""
    return folder / event


@contextmanager
def locked(folder: Path, event: str, seconds: float) -> Iterator[bool]:
    """Holds a record's lock, so that nobody sends it; gives whether it did within `seconds`.

    Where the file system has no locks, it counts as held.
    """
    from filelock import Timeout

    from glyphrank.file_locks import file_lock

    lock, held = file_lock(folder / f"{event}.lock"), True
    try:
        if folder.is_dir():
            lock.acquire(timeout=seconds)
    except Timeout:
        held = False
    except (OSError, NotImplementedError) as error:
        _log.debug("%s cannot be locked (%s); going on without a lock", lock.lock_file, error)
    try:
        yield held
    finally:
        if lock.is_locked:
            with suppress(OSError):
                Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()


def keep_file(source: Path, target: Path) -> dict[str, str]:
    """Copies a file, as an entry of `Record.files`; one that cannot be copied has its entry all the same.

    Raises:
        OSError: the source cannot be read.
    """
    shown = str(source.absolute())
    entry = {"size": str(source.stat().st_size), "sha256": digest_file(source)}
    with suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        _copy(source, target)
    return {**entry, "source": shown if redact_text(shown) == shown else ""}


def whole_files(kept: Path, entries: Mapping[str, Mapping[str, str]], result: Path) -> tuple[list[Files], list[str]]:
    """The files of a record to send, each as it was kept, and the names of those that are nowhere whole any more.

    A copy that was torn, by a power cut say, is replaced by its source or by the file of the stored result, if that is
    the same still.

    Args:
        kept: folder of the copies.
        entries: `Record.files`.
        result: folder of the stored result, which need not be there.
    """
    found, torn = {}, []
    for name, entry in entries.items():
        places = [kept / name, *([Path(entry["source"])] if entry["source"] else []), result / name]
        whole = next((place for place in places if _is_whole(place, entry)), None)
        if whole is None:
            torn.append(name)
        else:
            found[name] = whole
    there = {name: path for name, path in Files(kept).listed().items() if name in found} if kept.is_dir() else {}
    if found and there == found and len(there) == len(Files(kept).listed()):
        return [Files(kept)], torn  # in fewer requests
    inside = {name: str(Path(name).parent) for name in found}
    return [Files(path, "" if inside[name] == "." else inside[name]) for name, path in found.items()], torn


def _is_whole(path: Path, entry: Mapping[str, str]) -> bool:
    try:
        return str(path.stat().st_size) == entry["size"] and digest_file(path) == entry["sha256"]
    except OSError:
        return False


def _copy(source: Path, target: Path) -> None:
    if source.stat().st_size > _COPIED:
        with suppress(OSError):  # another file system, or one without links
            replace_whole(target, lambda new: os.link(source, new))
            return
    replace_whole(target, partial(shutil.copyfile, source))
