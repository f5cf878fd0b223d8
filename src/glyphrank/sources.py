"""The Python sources of glyphrank and of plug-ins: their digest, and whether they still are what this process runs."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from glyphrank.digests import digest_file, digest_json
from glyphrank.errors import ConfigError

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
    return [[name, relative, _digest_source(path)] for relative, path in _sources(name)]


def _digest_source(path: str) -> str:
    """`digest_file` of a source, which is read once by a process as long as it is not changed."""
    state = os.stat(path)  # noqa: PTH116 - of hundreds of files, some times a run
    stamp = (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
    known = _source_digests.get(path)
    if known is None or known[0] != stamp:
        _source_digests[path] = known = stamp, digest_file(Path(path))
    return known[1]


def _sources(name: str) -> list[tuple[str, str]]:
    """The Python files of a package or module, each by its name below the folder, with `/` between parts, and path."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    roots = list(spec.submodule_search_locations or ()) if spec else []
    if spec and not roots and spec.origin:
        roots = [spec.origin]
    sources = [source for root in roots for source in sorted(_python_files(root))]
    if not sources:
        raise ConfigError(f"the package {name!r} cannot be found with its source; is it installed or on PYTHONPATH?")
    return sources


def _python_files(root: str) -> Iterator[tuple[str, str]]:
    """Relative name and path of each file below a folder, or of the one file that it is."""
    if os.path.isfile(root):  # noqa: PTH113
        yield os.path.basename(root), root  # noqa: PTH119
    for folder, _, names in os.walk(root):
        inner = folder.removeprefix(root).replace(os.sep, "/")
        sources = (name for name in names if name.endswith(".py") and name[0] != ".")
        yield from ((f"{inner}/{name}".lstrip("/"), f"{folder}{os.sep}{name}") for name in sources)
