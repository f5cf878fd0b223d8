"""What the footers of parquet files say of their row groups, told by a process of its own.

pyarrow looks at the metadata of a column in code whose exceptions nobody translates: one that is damaged or encrypted
ends the process that looks.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from glyphrank.errors import DataError
from glyphrank.media.parquet import is_encrypted

_SECONDS = 120.0
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    "import glyphrank.datasets.parquet_footer as it; it.main()"
)
"""Looks for modules where this process does: in a list, as a variable of the environment cannot hold every path."""


@dataclass(frozen=True)
class Group:
    """A row group.

    Attributes:
        rows: how many it has.
        nulls: how many nulls a column has, by its name with those of the structs that it lies in (`image.bytes`); None
            where the file does not say.
    """

    rows: int
    nulls: Mapping[str, int | None]


class Footers:
    """The footers of the files of a table: one process reads them together, when the first is asked for."""

    def __init__(self) -> None:
        self._known: dict[Path, list[Group] | str] = {}

    def groups(self, path: Path) -> Sequence[Group]:
        """The row groups of a file, in order, after the metadata of all its columns were looked at.

        Raises:
            DataError: the footer is damaged or encrypted, or cannot be read in time.
        """
        if path not in self._known:
            self._known |= _read([other for other in (path, *_shards(path)) if other not in self._known])
        found = self._known[path]
        if isinstance(found, str):
            raise DataError(found)
        return found


def damaged(path: Path, what: str, error: Exception) -> DataError:
    """The error for a parquet file in which something cannot be read, as it is damaged or encrypted."""
    cause = " ".join(str(error).split())[:200] or type(error).__name__
    if is_encrypted(cause):
        return DataError(_encrypted(path, f"{what}: {cause}"))
    return DataError(f"{path}: {what} ({cause}); it is damaged or cut off: fetch it again")


def main() -> None:
    """The process that looks: for each path of the list on its standard input, a line of JSON on its standard output.

    A line is a list of row groups, each a number of rows and the numbers of nulls by column, or a text: why not.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for path in json.load(sys.stdin):
        try:
            answer: object = _walked(path)
        except Exception as error:  # pyarrow raises errors of its own, and of every kind at damaged files
            answer = f"{type(error).__name__}: {error}"
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


def _walked(path: str) -> list[tuple[int, dict[str, int | None]]]:
    """Rows and nulls of every row group."""
    from pyarrow.parquet import ParquetFile

    groups = []
    with ParquetFile(path, pre_buffer=False) as file:
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            nulls: dict[str, int | None] = {}
            for place in range(group.num_columns):
                chunk = group.column(place)
                statistics = chunk.statistics
                known = statistics is not None and statistics.has_null_count
                nulls.setdefault(chunk.path_in_schema, statistics.null_count if known else None)
            groups.append((group.num_rows, nulls))
    return groups


def _shards(path: Path) -> list[Path]:
    """The files beside a file whose names differ from its own in numbers only."""
    with suppress(OSError):
        alike = [other for other in sorted(path.parent.iterdir()) if _unnumbered(other) == _unnumbered(path)]
        return [other for other in alike if other != path and other.is_file()]
    return []


def _unnumbered(path: Path) -> str:
    return re.sub(r"\d+", "0", path.name)


def _read(paths: Sequence[Path]) -> dict[Path, list[Group] | str]:
    """The row groups of each file, or what is wrong with it; those behind one that ends the process are left out."""
    command = [sys.executable, "-P", "-c", _START, json.dumps([os.fsdecode(place) for place in sys.path])]
    asked = json.dumps([os.fspath(path) for path in paths]).encode()
    try:
        done = subprocess.run(command, input=asked, capture_output=True, timeout=_SECONDS, check=False)
        output, died, cause = done.stdout, done.returncode < 0, _cause(done.returncode, done.stderr)
    except subprocess.TimeoutExpired as error:
        output, died, cause = error.stdout or b"", False, f"not within {_SECONDS:.0f} s"
    except OSError as error:
        output, died, cause = b"", False, f"no process can be started: {error.strerror or error}"
    lines = output.split(b"\n")[:-1]
    found = {path: _answer(path, json.loads(line)) for path, line in zip(paths, lines, strict=False)}
    if len(found) < len(paths):
        path = paths[len(found)]
        found[path] = _fault(path, cause) if died else f"{path}: the parquet file's footer cannot be read ({cause})"
    return found


def _answer(path: Path, answer: list[tuple[int, dict[str, int | None]]] | str) -> list[Group] | str:
    return _fault(path, answer) if isinstance(answer, str) else [Group(rows, nulls) for rows, nulls in answer]


def _fault(path: Path, cause: str) -> str:
    cause = " ".join(cause.split())[:200]
    if is_encrypted(cause):
        return _encrypted(path, cause)
    return f"{path}: the parquet file's footer is damaged ({cause}); fetch it again"


def _encrypted(path: Path, cause: str) -> str:
    return f"{path}: the parquet file is encrypted ({cause}); wanted one that is not"


def _cause(code: int, errors: bytes) -> str:
    """Why a process ended: what it wrote last, where C++ puts the message of its exception, or its signal."""
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines() if line.strip()]
    if lines:
        return lines[-1].removeprefix("what():").strip()
    with suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"
