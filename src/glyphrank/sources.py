"""The Python sources of glyphrank and of plug-ins: their digest, and whether they still are what this process runs."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from glyphrank.digests import digest_file, digest_json
from glyphrank.errors import ConfigError
from glyphrank.walked import files_below

_source_digests: dict[str, tuple[tuple[int, ...], str]] = {}
_held: dict[str, list[list[str]]] = {}
"""Package -> its sources as they were when this process imported it: package, name and digest of each."""


def digest_sources(packages: Iterable[str]) -> str:
    """Digest of the Python sources of packages (glyphrank's own and the plug-ins'), found without importing them.

    Raises:
        ConfigError: a package cannot be found.
    """
    return digest_json([entry for name in sorted(set(packages)) for entry in _entries(name)])


def hold_sources(packages: Iterable[str]) -> None:
    """Notes what lies on disk of packages that are about to be imported, as the code that this process runs.

    A package that is imported stays as it was noted, whatever becomes of its files; one that is not found is left out.
    """
    for name in packages:
        if name not in _held or name not in sys.modules:
            _held.pop(name, None)
            with suppress(ConfigError, OSError):
                _held[name] = _entries(name)


def digest_held(packages: Iterable[str]) -> str:
    """As `digest_sources`, of the code that this process runs, noted by now at the latest."""
    names = sorted(set(packages))
    return digest_json(
        [entry for name in names for entry in (_held.get(name) or _held.setdefault(name, _entries(name)))]
    )


def changed_sources(packages: Iterable[str]) -> list[str]:
    """Those of the packages whose files are not, or not all, the code that this process runs."""

    def entries(name: str) -> object:
        with suppress(ConfigError, OSError):
            return _entries(name)
        return None

    return [name for name in sorted(set(packages)) if name in _held and _held[name] != entries(name)]


def _entries(name: str) -> list[list[str]]:
    """Package, name below its folder with `/` between the parts, and digest of each Python file of a package."""
    sources = []
    for root in _roots(name):
        for path, state in files_below(root, ".py"):
            relative = path.removeprefix(root).lstrip(os.sep) or Path(path).name
            sources.append([name, relative.replace(os.sep, "/"), _digest_source(path, state)])
    if not sources:
        raise ConfigError(f"the package {name!r} cannot be found with its source; is it installed or on PYTHONPATH?")
    return sources


def _digest_source(path: str, state: os.stat_result) -> str:
    """`digest_file` of a source, which is read once by a process as long as it is not changed."""
    stamp = (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
    known = _source_digests.get(path)
    if known is None or known[0] != stamp:
        try:
            _source_digests[path] = known = stamp, digest_file(Path(path))
        except OSError as error:
            raise ConfigError(f"{path}: the source cannot be read ({error.strerror or error})") from error
    return known[1]


def _roots(name: str) -> list[str]:
    """The folders of a package, or the one file of a module; none where it is not found."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    roots = list(spec.submodule_search_locations or ()) if spec else []
    return roots or ([spec.origin] if spec and spec.origin else [])
