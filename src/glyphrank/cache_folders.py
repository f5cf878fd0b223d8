"""What a cache holds, component by component, and the removal of what nobody wants any more.

Only what a cache is made of is seen here, by name and place: shards, manifests, remembered fingerprints, and what died
processes left of them. Anything else in the folder is neither listed nor removed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from glyphrank.array_shards import ArraysCodec
from glyphrank.errors import DataError
from glyphrank.rates import RATE
from glyphrank.shard_folder import MANIFEST, read_manifest
from glyphrank.shard_locks import STALE, ShardLocks
from glyphrank.shards import Codec, DamagedError, LinesCodec
from glyphrank.whole_files import TEMPORARY

FILES = "files"
"""The stage under which fingerprints of files are remembered; it has no components."""

_LOCKS = "locks"
_NOTES = (MANIFEST, RATE)
"""What lies beside the shards of a component, for people and for estimates."""
_KEY = re.compile("[0-9a-f]{32}")
_REMEMBERED = re.compile(r"[0-9a-f]{32}\.json")
_CODECS: tuple[Codec[Any, Any], ...] = (LinesCodec(), ArraysCodec())


@dataclass(frozen=True)
class Component:
    """What one component made in one stage.

    Attributes:
        key: address of the component, 32 hexadecimal digits; empty for the fingerprints of files.
        recipe: what the key is made of; empty where no manifest tells.
        device: where the first of it was made.
        shards: names of the files that hold its values.
        inputs: distinct inputs that can be looked up in them.
        size: bytes of all its files.
        first_made: seconds since 1970, None where no manifest tells.
        last_used: when it was last used or added to, seconds since 1970.
    """

    folder: Path
    stage: str
    key: str
    recipe: Mapping[str, object]
    device: str | None
    shards: tuple[str, ...]
    inputs: int
    size: int
    first_made: float | None
    last_used: float


def components(cache: Path) -> list[Component]:
    """Everything in a cache, by stage, what was used last first.

    Raises:
        DataError: the folder is not there or cannot be read.
    """
    try:
        found = [_component(folder) for folder in _folders(cache)]
    except OSError as error:
        raise DataError(f"{cache}: the cache cannot be read ({error.strerror or error})") from error
    return sorted(
        (component for component in found if component is not None),
        key=lambda component: (component.stage, -component.last_used, component.key),
    )


def remove(component: Component) -> int:
    """Removes a component's files and returns how many bytes that freed.

    Processes that run meanwhile lose nothing but time: one that finds a shard gone makes its values again.

    Raises:
        DataError: a process works on the component at this moment, or a file cannot be removed; what was removed until
            then stays removed.
    """
    folder = component.folder
    if _is_worked_on(folder):
        raise DataError(f"{folder}: a process works on it at this moment; prune it later")
    freed = 0
    for name in component.shards:
        freed += _unlink(folder / name)
    if component.stage != FILES:
        for path in _old(folder, f".*{TEMPORARY}"):
            freed += _unlink(path)
        if not any(_is_shard(path.name) for path in folder.iterdir()):  # none has come meanwhile
            freed += sum(_unlink(folder / name) for name in _NOTES)
        for place in (folder / _LOCKS, folder):
            with suppress(OSError):  # not empty: somebody began to work here, or keeps files of their own
                place.rmdir()
    return freed


def leftovers(cache: Path) -> list[Path]:
    """Temporary and lock files, in every part of a cache, that died processes left: nobody changed them for an hour."""
    found: list[Path] = []
    with suppress(OSError):
        for folder in _folders(cache):
            found += [*_old(folder, f".*{TEMPORARY}"), *_old(folder / _LOCKS, "*.lock")]
    return sorted(found)


def remove_leftovers(paths: Iterable[Path]) -> int:
    """Removes them, but for locks that somebody holds all the same; returns how many bytes that freed.

    Raises:
        DataError: one cannot be removed.
    """
    freed = 0
    for path in paths:
        if path.parent.name == _LOCKS:
            _is_held(ShardLocks(path.parent), path.stem)  # which removes the file unless it is
        else:
            freed += _unlink(path)
    return freed


def described(recipe: Mapping[str, object]) -> str:
    """A component in a line: its class and the fields that tell it from others.

    >>> described({"class": "glyphrank.encoders.words.Ngrams", "version": 1, "packages": {}, "fields": {"n": 2}})
    'Ngrams n=2'
    """
    if "class" in recipe:
        name = str(recipe["class"]).rpartition(".")[2]
        fields = recipe.get("fields")
        shown = _shown(fields.items()) if isinstance(fields, Mapping) else []
        return " ".join([name, *shown])
    parts = [described(value) if isinstance(value, Mapping) else str(value) for value in recipe.values()]
    return " ".join(part for part in parts if part)


def _folders(cache: Path) -> Iterator[Path]:
    """Folders that may hold a component: named by a key, or that of the fingerprints."""
    for stage in sorted(cache.iterdir()):
        if stage.name == FILES:
            yield stage
        elif stage.is_dir() and not stage.name.startswith("."):
            yield from sorted(folder for folder in stage.iterdir() if _KEY.fullmatch(folder.name))


def _component(folder: Path) -> Component | None:
    """What a folder holds; None where that is nothing of ours, or where it went meanwhile."""
    is_memory = folder.name == FILES
    try:
        names = sorted(path.name for path in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return None
    shards = tuple(name for name in names if (_REMEMBERED.fullmatch(name) if is_memory else _is_shard(name)))
    manifest = {} if is_memory else read_manifest(folder)
    if not shards and manifest.get("key") != folder.name:
        return None
    states = [state for name in (*shards, *(() if is_memory else _NOTES)) for state in _state(folder / name)]
    recipe, device = manifest.get("recipe"), manifest.get("device")
    return Component(
        folder=folder,
        stage=FILES if is_memory else folder.parent.name,
        key="" if is_memory else folder.name,
        recipe=recipe if isinstance(recipe, dict) else {},
        device=device if isinstance(device, str) else None,
        shards=shards,
        inputs=len(shards) if is_memory else len({digest for name in shards for digest in _digests(folder / name)}),
        size=sum(size for size, _ in states),
        first_made=_seconds(manifest.get("first_made")),
        last_used=max((changed for _, changed in states), default=0.0),
    )


def _is_shard(name: str) -> bool:
    return any(_KEY.fullmatch(name.removesuffix(codec.suffix)) and name.endswith(codec.suffix) for codec in _CODECS)


def _digests(shard: Path) -> Sequence[str]:
    """Inputs of a shard; none where it is damaged, which a run that meets it will tell and mend."""
    codec = next(codec for codec in _CODECS if shard.name.endswith(codec.suffix))
    try:
        with shard.open("rb") as stream:
            return codec.digests(stream)
    except (OSError, DamagedError):
        return ()


def _seconds(written: object) -> float | None:
    try:
        return datetime.strptime(str(written), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _state(path: Path) -> list[tuple[int, float]]:
    """Size and time of change, in a list that is empty where the file has gone."""
    with suppress(OSError):
        state = path.stat()
        return [(state.st_size, state.st_mtime)]
    return []


def _old(folder: Path, pattern: str) -> list[Path]:
    """Files in it of such names that nobody has changed for an hour."""
    found = [path for path in folder.glob(pattern) if not path.is_dir()]
    return [path for path in found for _, changed in _state(path) if time.time() - changed >= STALE]


def _is_worked_on(folder: Path) -> bool:
    """Whether somebody holds a lock here."""
    locks = ShardLocks(folder / _LOCKS)
    return any(_is_held(locks, path.stem) for path in (folder / _LOCKS).glob("*.lock"))


def _is_held(locks: ShardLocks, name: str) -> bool:
    """Whether somebody holds a lock; the file of one that nobody holds is removed by the way."""
    lock = locks.take(name)
    if lock is None:
        return True
    with lock:
        return False


def _unlink(path: Path) -> int:
    """Removes a file and returns its bytes; 0 where it has gone already."""
    try:
        size = path.lstat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise DataError(f"{path}: cannot be removed ({error.strerror or error})") from error
    return size


def _shown(fields: Iterable[tuple[str, object]]) -> list[str]:
    """Fields as `name=value`: a part by its repository or class, a list by its length, nothing for what is empty."""
    shown = []
    for name, value in fields:
        if isinstance(value, Mapping):
            inner = value.get("fields")
            repository = inner.get("repository") if isinstance(inner, Mapping) else None
            shown.append(f"{name}={str(repository).rpartition('/')[2] if repository else described(value)}")
        elif isinstance(value, list):
            shown.append(f"{name}=({len(value)} values)")
        elif value not in (None, ""):
            shown.append(f"{name}={value}")
    return shown
