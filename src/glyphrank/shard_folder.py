"""The folder of one component's shards: which input lies where, reading with a check, and writing whole.

Any number of processes, on one machine or many, may use a folder at once: a file that exists is complete, since it is
written under a hidden name and renamed.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

import numpy as np

from glyphrank.digests import digest_text
from glyphrank.errors import DataError
from glyphrank.last_values import LastValue
from glyphrank.records import IntArray
from glyphrank.redaction import redact
from glyphrank.shard_locks import STALE
from glyphrank.shards import Codec, DamagedError, Value
from glyphrank.versions import installed_version
from glyphrank.whole_files import TEMPORARY, replace_whole

MANIFEST = "manifest.json"
"""What lies beside the shards of a key, for people; other names, but hidden ones, are taken for shards."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Holding:
    """Some of the wanted inputs, which one shard holds.

    Attributes:
        name: the file.
        rows, places: (k,) where they stand among those wanted, and in the shard.
    """

    name: str
    rows: IntArray
    places: IntArray


def new_manifest(name: str, key: str, recipe: Mapping[str, object], device: str | None) -> dict[str, object]:
    """What stands in a folder for people: whose work lies there, made with what, where and when first."""
    return {
        "stage": name,
        "key": key,
        "recipe": redact(recipe),
        "versions": {package: installed_version(package) for package in ("glyphrank", "numpy")}
        | {"python": platform.python_version()},
        "device": device,
        "first_made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest in the folder of a key, empty where there is none that can be read."""
    try:
        stored = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}


class ShardFolder(Generic[Value]):
    """The shards of one key. Its index of inputs is kept between uses; `refresh` takes up what others did since."""

    def __init__(self, path: Path, codec: Codec[Value, Any]) -> None:
        self.path = path
        self.damaged = 0
        self._codec = codec
        self._shards: dict[str, Sequence[str]] = {}  # file name -> digests of its inputs
        self._holders: dict[str, str] = {}  # digest -> name of a file that holds it
        self._refused: dict[str, tuple[int, int]] = {}  # name -> size and time of change when it was found unfit
        self._changes = 0
        self._last: LastValue[Sequence[Holding]] = LastValue()

    def refresh(self) -> None:
        """Takes up files that were added and drops those that went.

        Raises:
            DataError: the folder exists and cannot be listed.
        """
        try:
            names = set(os.listdir(self.path))  # noqa: PTH208 - names alone, since this is asked before every shard
        except FileNotFoundError:
            names = set()
        except OSError as error:
            raise DataError(
                f"{self.path}: the cache cannot be read ({error.strerror or error}); check paths.cache"
            ) from error
        self._drop(*(self._shards.keys() - names))
        for name in names - self._shards.keys():
            if name != MANIFEST and not name.startswith(".") and _is_file(self.path / name):
                self._take_up(name)

    def holder(self, digest: str) -> str | None:
        """Name of a shard that holds the input, None where no shard does."""
        return self._holders.get(digest)

    def holdings(self, wanted: tuple[str, ...]) -> Sequence[Holding]:
        """The shards that together hold all those of the distinct wanted inputs that any shard holds."""
        return self._last.get((self._changes, wanted), lambda: self._found(wanted))

    def read(self, name: str) -> Sequence[Value] | None:
        """The values of a shard; None where it is not, or not any more, what it was taken for: then ask who holds anew.

        A damaged one is no shard from now on, with a warning.
        """
        path = self.path / name
        try:
            digests, values = self._codec.load(path.read_bytes())
        except FileNotFoundError:
            self._drop(name)  # pruned meanwhile
        except (OSError, DamagedError) as error:
            self._refuse(name, error)
        else:
            if list(digests) == list(self._shards.get(name, ())):
                return values
            self._drop(name)  # replaced since its header was read
            self._add(name, digests)
        return None

    def write(self, digests: Sequence[str], values: Sequence[Value]) -> Sequence[Value]:
        """Adds a shard and returns its values as any later reader will find them.

        Raises:
            DataError: it cannot be written; what stood in the folder before still stands there.
        """
        data = self._codec.dump(digests, values)
        name = digest_text(*digests) + self._codec.suffix
        with suppress(OSError):  # it was there when the work began, and may have been pruned meanwhile
            self.path.mkdir(parents=True, exist_ok=True)
        _write_whole(self.path / name, data)
        self._refused.pop(name, None)
        self._add(name, digests)
        return self._codec.load(data)[1]

    def prepare(self, manifest: Mapping[str, object]) -> None:
        """Makes the folder with its manifest and clears away what died processes left; before any work is done.

        Raises:
            DataError: nothing can be written here.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        if not os.access(self.path, os.W_OK):
            raise _unwritable(self.path, PermissionError("no permission to write"))
        target = self.path / MANIFEST
        if not target.exists():
            # The manifest is for people: a cache without it works as well.
            with suppress(DataError, TypeError, ValueError):
                _write_whole(target, json.dumps(manifest, indent=2, ensure_ascii=False).encode())
        _clear_temporaries(self.path)

    def mark_used(self) -> None:
        """Sets the manifest's time of change to now: the day of last use, by which a cache can be pruned."""
        with suppress(OSError):
            os.utime(self.path / MANIFEST)

    def _take_up(self, name: str) -> None:
        path = self.path / name
        try:
            if name in self._refused and self._refused[name] == _stamp(path):
                return
            if not name.endswith(self._codec.suffix):
                raise DamagedError(f"its name does not end with {self._codec.suffix}")
            with path.open("rb") as stream:
                digests = self._codec.digests(stream)
        except FileNotFoundError:
            return  # pruned meanwhile
        except (OSError, DamagedError) as error:
            self._refuse(name, error)
        else:
            self._add(name, digests)

    def _found(self, wanted: tuple[str, ...]) -> list[Holding]:
        rows = dict(zip(wanted, range(len(wanted)), strict=True))
        found = []
        for name in dict.fromkeys(map(self._holders.get, wanted)):
            if name is not None:
                held = enumerate(self._shards[name])
                pairs = [(rows[one], at) for at, one in held if one in rows and self._holders[one] == name]
                found.append(Holding(name, *np.array(pairs, dtype=np.int64).reshape(-1, 2).T))
        return found

    def _add(self, name: str, digests: Sequence[str]) -> None:
        if list(digests) != list(self._shards.get(name, digests)):
            self._drop(name)  # somebody put another shard there
        self._changes += 1
        self._shards[name] = digests
        self._holders.update(dict.fromkeys(digests, name))

    def _drop(self, *names: str) -> None:
        gone = [name for name in names if self._shards.pop(name, None) is not None]
        if gone:
            self._changes += 1
            self._holders = {digest: name for name, digests in list(self._shards.items()) for digest in digests}

    def _refuse(self, name: str, error: OSError | DamagedError) -> None:
        """Leaves a file out from now on, as long as it stays as it is, and warns of it once.

        A file with the name of a shard whose header or content is damaged is removed, since its inputs may come to lie
        under another name and it would then be met for ever. One that cannot be opened, or whose name is not that of a
        shard, may be somebody else's and stays.
        """
        path = self.path / name
        with suppress(OSError):
            self._refused[name] = _stamp(path)
        if isinstance(error, OSError):
            logger.warning("%s: cannot be read (%s); it is ignored", path, error.strerror or error)
        elif re.fullmatch("[0-9a-f]{32}" + re.escape(self._codec.suffix), name):
            self.damaged += 1
            logger.warning("%s: the shard is damaged (%s); what it held is made again", path, error)
            with suppress(OSError):
                path.unlink()
                self._refused.pop(name, None)
        else:
            logger.warning("%s: is no shard (%s); it is ignored", path, error)
        self._drop(name)


def _is_file(path: Path) -> bool:
    """Whether it can be opened without waiting: no folder, no pipe; False as well where this cannot be found out."""
    return os.path.isfile(path)  # noqa: PTH113 - pathlib raises in a folder without permission


def _stamp(path: Path) -> tuple[int, int]:
    state = path.stat()
    return state.st_size, state.st_mtime_ns


def _write_whole(path: Path, data: bytes) -> None:
    try:
        replace_whole(path, lambda new: new.write_bytes(data))
    except OSError as error:
        raise _unwritable(path.parent, error) from error


def _clear_temporaries(folder: Path) -> None:
    with suppress(OSError):
        for path in folder.glob(f".*{TEMPORARY}"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > STALE:
                    path.unlink()


def _unwritable(folder: Path, error: OSError) -> DataError:
    return DataError(
        f"{folder}: the cache cannot be written ({error.strerror or error}); "
        "free space there, or set paths.cache to a place that is writable"
    )
