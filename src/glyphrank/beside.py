"""The files that lie beside a plug-in of one module, which it may read: word lists, tables, small weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib.machinery import all_suffixes
from pathlib import Path

LIMIT = 100_000_000
"""Bytes of such files, together, that are looked at: the folder may be anybody's, with anything in it."""


def files_beside(module: Path) -> tuple[list[Path], int]:
    """The plain files in a module's folder that Python would not import, hidden ones left out; smallest first.

    Returns:
        the files, up to `LIMIT` together, and how many there are beyond that.

    Raises:
        OSError: the folder cannot be read.
    """
    importable = tuple(all_suffixes())
    found = [
        (path.stat().st_size, path)
        for path in module.parent.iterdir()
        if path.is_file() and not path.name.startswith(".") and not path.name.endswith(importable)
    ]
    kept, total = [], 0
    for size, path in sorted(found):
        total += size
        if total > LIMIT:
            break
        kept.append(path)
    return kept, len(found) - len(kept)


def named_files(module: Path) -> list[Path]:
    """Those of `files_beside` that the module's source names: by a text in it, by a pattern or by a formatted text.

    Other files there, logs and databases among them, may change while a sweep runs, and are none of its business.

    Raises:
        OSError: the module or its folder cannot be read.
    """
    patterns = list(_patterns(module.read_bytes()))
    files, _ = files_beside(module)
    return [path for path in files if any(fnmatchcase(path.name, pattern) for pattern in patterns)]


def _patterns(source: bytes) -> Iterator[str]:
    """The texts in a source that may be names of files; what is filled in stands as `*`."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # the import tells of it
        return
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "*" for part in node.values)
            text = "".join(map(str, parts))
        name = text.rpartition("/")[2]
        if "." in name and name.strip("*?."):
            yield name
