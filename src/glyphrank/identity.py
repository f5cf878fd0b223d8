"""What a thing is, apart from where it lies: digests of files and places, keys of components."""

from __future__ import annotations

import json
import logging
import stat
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from glyphrank.digests import digest_file, digest_json, digest_text
from glyphrank.errors import ConfigError, DataError
from glyphrank.sources import digest_held
from glyphrank.versions import installed_version
from glyphrank.walked import files_below
from glyphrank.whole_files import replace_whole


class Place:
    """Marks a field that says where something lies; see `Location`."""


Location = Annotated[Path, Place()]
"""The type of a field that is a place: it enters a key as the digest of what it holds, never as its text."""

_LARGE = 1 << 30
"""Bytes of a file that takes seconds to read, of which a word is said."""

logger = logging.getLogger(__name__)

FileDigest = Callable[[Path], str]
Stamp = tuple[str | int, ...]


class FileDigests:
    """Digests of files, remembered by path, size and times of change in small files under a folder.

    Any number of processes may share the folder: an entry is written whole and replaced by renaming.
    """

    def __init__(self, memory: Path) -> None:
        self._memory = memory

    def __call__(self, path: Path) -> str:
        """SHA-256 of a file's content; a DataError names a file that cannot be read.

        Only a regular file is opened: a named pipe would wait for ever, and a device may have no end.
        """
        try:
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode):
                raise DataError(f"{path}: cannot be read ({kind_of_file(mode)}, not a file)")
            stamp = list(stamp_of(path))
            memo = self._memory / f"{digest_text(str(stamp[0]))}.json"
            known = _load_json(memo)
            if isinstance(known, dict) and known.get("stamp") == stamp and isinstance(known.get("digest"), str):
                return str(known["digest"])
            size = int(stamp[1])
            if size > _LARGE:
                logger.info("%s: its %.1f GB are read once, for their fingerprint", path, size / 1e9)
            digest = digest_file(path)
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
        except ValueError as error:  # a NUL in the name
            raise DataError(f"{str(path)!r}: cannot be read ({error})") from error
        self._remember(memo, {"stamp": stamp, "digest": digest})
        return digest

    def _remember(self, memo: Path, entry: Mapping[str, object]) -> None:
        """Keeps an entry; a memory that cannot be written only costs time."""
        with suppress(OSError):
            self._memory.mkdir(parents=True, exist_ok=True)
            replace_whole(memo, lambda new: new.write_text(json.dumps(entry)), durable=False)


def stamp_of(path: Path) -> Stamp:
    """By what a file is known to be unchanged without being read: resolved path, size, times of change, inode.

    Raises:
        OSError: the file is not there.
    """
    state = path.stat()
    return str(path.resolve()), state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino


def stamps_of(folder: Path) -> tuple[Stamp, ...]:
    """The stamps of all files below a folder, hidden ones left out as in `digest_place`; () where there is none."""
    return tuple(stamp_of(folder / name) for name in _shown_files(folder))


def _shown_files(folder: Path) -> list[Path]:
    """Files below a folder relative to it, sorted, without hidden ones and those in hidden folders below it."""
    return sorted(Path(path).relative_to(folder) for path, _ in files_below(str(folder)))


def kind_of_file(mode: int) -> str:
    """What a file is by its mode, for messages.

    >>> kind_of_file(stat.S_IFIFO)
    'a named pipe'
    """
    kinds = {
        stat.S_IFREG: "a file",
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "something else")


def _load_json(path: Path) -> object:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return None


def digest_place(path: Path, file_digest: FileDigest) -> str:
    """Digest of what a path holds: a file's content, or every file below a folder with its relative name.

    Hidden files and folders are left out: tools keep notes of their own there, with times in them.
    """
    try:
        if path.is_file():
            return file_digest(path)
        if not path.is_dir():
            raise DataError(f"{path}: no such file or folder")
        names = _shown_files(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    return digest_json([[name.as_posix(), file_digest(path / name)] for name in names])


def recipe(component: object, file_digest: FileDigest) -> dict[str, object]:
    """Everything about a component that can change what it makes, as plain types.

    Its class, VERSION, the versions of its PACKAGES and all its fields; nested components in the same form,
    `Location` fields as the digest of what they hold.

    Raises:
        ConfigError: a field has a type whose content is unknown, or a package is not installed.
    """
    if not is_dataclass(component) or isinstance(component, type):
        raise ConfigError(f"{component!r} is not a component: wanted a dataclass instance")
    kind = type(component)
    hints = _hints(kind)
    package = kind.__module__.partition(".")[0]
    return {
        "class": f"{kind.__module__}.{kind.__qualname__}",
        "version": getattr(kind, "VERSION", 0),
        # Our own classes raise VERSION when they change; of a plug-in any change of its source counts.
        **({} if package == "glyphrank" else {"sources": digest_held({package})}),
        "packages": {name: _package_version(name) for name in getattr(kind, "PACKAGES", ())},
        "fields": {
            field.name: _plain(getattr(component, field.name), _is_place(hints[field.name]), file_digest)
            for field in fields(component)
        },
    }


@lru_cache(maxsize=256)
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def key(component: object, file_digest: FileDigest) -> str:
    """The address of a component's work: digest of its recipe, 32 hexadecimal digits."""
    return digest_json(recipe(component, file_digest))


def _is_place(hint: Any) -> bool:
    return any(isinstance(extra, Place) for extra in getattr(hint, "__metadata__", ())) or any(
        _is_place(argument) for argument in typing.get_args(hint) if argument is not Ellipsis
    )


def _plain(value: object, place: bool, file_digest: FileDigest) -> object:
    match value:
        case Path():
            return digest_place(value, file_digest) if place else value.as_posix()
        case Enum():
            return value.value
        case str() if place:
            raise ConfigError(f"the place {value!r} is given as text; wanted a Path")
        case None | bool() | int() | float() | str():
            return value
        case tuple() | list():
            return [_plain(entry, place, file_digest) for entry in value]
        case Mapping():
            return {str(name): _plain(entry, place, file_digest) for name, entry in value.items()}
    if is_dataclass(value):
        return recipe(value, file_digest)
    raise ConfigError(f"a field of type {type(value).__name__} has no known content; use plain types or a component")


def _package_version(name: str) -> str:
    version = installed_version(name)
    if version is None:
        raise ConfigError(f"the package {name!r} is not installed; pip install {name}")
    return version
