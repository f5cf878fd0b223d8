"""Folders of generated files: made once, whole or not at all, by however many processes at once."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from glyphrank.digests import digest_file, digest_json
from glyphrank.errors import DataError
from glyphrank.identity import FileDigest, recipe

_MANIFEST = "manifest.json"
_STALE = 3600.0
"""Seconds after which a draft is taken for what a process that died has left."""


def made_once(folder: Path, fill: Callable[[Path], None], files: FileDigest) -> Path:
    """The folder, with the files that `fill` writes; it is filled anew where a file is missing or was changed.

    Args:
        folder: where the files shall lie.
        fill: writes files into a folder that is there and empty; equal bytes whenever it is called.
        files: content digest of a file.

    Raises:
        DataError: the folder cannot be written; nothing of it is left.
    """
    if not _is_whole(folder, files):
        _make(folder, fill, files)
    return folder


def digest_of(component: object, sources: Iterable[Path]) -> str:
    """Digest of all that decides the files: fields, library versions, and the sources that write them."""
    return digest_json([recipe(component, digest_file), [digest_file(path) for path in sorted(sources)]])[:16]


def write_lines(path: Path, lines: Sequence[object]) -> None:
    """Writes a file of JSON lines."""
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def _make(folder: Path, fill: Callable[[Path], None], files: FileDigest) -> None:
    """Fills a draft beside the place and moves it there; whoever comes second throws the copy away."""
    draft = _aside(folder)
    try:
        draft.mkdir(parents=True)
        fill(draft)
        _write_manifest(draft)
        _clear_drafts(folder)
        with suppress(OSError):
            draft.rename(folder)  # fails where a folder stands already, so that one that is whole is never moved
        if not _is_whole(folder, files):
            _set_aside(folder)
            draft.rename(folder)
    except OSError as error:
        if not _is_whole(folder, files):
            raise DataError(f"{folder}: cannot be written ({error.strerror or error}); check outputs") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _is_whole(folder: Path, files: FileDigest) -> bool:
    """Whether every file that was written is there, as it was written."""
    try:
        written = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        return bool(written) and all(files(folder / name) == digest for name, digest in written.items())
    except (OSError, ValueError, AttributeError, TypeError, RecursionError, DataError):
        return False  # no folder, no manifest, or one that is damaged


def _write_manifest(folder: Path) -> None:
    """Digests of all files, written last."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    written = {path.relative_to(folder).as_posix(): digest_file(path) for path in paths}
    (folder / _MANIFEST).write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


def _set_aside(folder: Path) -> None:
    """Removes what stands in the place of a folder, in one step for whoever looks."""
    gone = _aside(folder)
    with suppress(FileNotFoundError):
        folder.rename(gone)
        if gone.is_dir():
            shutil.rmtree(gone, ignore_errors=True)
        else:
            gone.unlink()


def _clear_drafts(folder: Path) -> None:
    """Removes what processes left that died while they wrote folders of this kind."""
    for draft in folder.parent.glob(f"{_draft(folder)}*"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > _STALE:
                shutil.rmtree(draft, ignore_errors=True)


def _aside(folder: Path) -> Path:
    return folder.with_name(f"{_draft(folder)}{uuid4().hex}")


def _draft(folder: Path) -> str:
    """How drafts of folders of this kind begin: `.clips-` for `clips-1f0e`."""
    return f".{folder.name.partition('-')[0]}-"
