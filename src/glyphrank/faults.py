"""What is wrong with the files of a dataset, gathered so that a person sees all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from glyphrank.errors import DataError


def shown(value: object, spell: Callable[[object], str] = repr, longest: int = 80) -> str:
    """A value for a message, its middle left out where it is long.

    >>> shown("a" * 200, longest=12)
    "'aaaaa...aa'"
    """
    text = spell(value)
    return text if len(text) <= longest else f"{text[: longest - 6]}...{text[-3:]}"


class Faults:
    """Gathers what is wrong with a file, so that a person sees all of it at once.

    Args:
        path: the file.
        shown: how many faults the message spells out; the rest is counted.
    """

    def __init__(self, path: Path, shown: int = 5) -> None:
        self._path = path
        self._shown = shown
        self._found: dict[str, None] = {}

    def add(self, fault: str) -> None:
        """Notes a fault; one that was noted before counts once."""
        self._found[fault] = None

    def put_first(self, fault: str) -> None:
        """Notes a fault that is shown before all others, since it explains them."""
        self._found = {fault: None, **self._found}

    def stop(self) -> None:
        """Raises a DataError if anything was noted; its `faults` are all, whatever its message spells out."""
        if not self._found:
            return
        found = list(self._found)
        if len(found) == 1:
            raise DataError(f"{self._path}: {found[0]}")
        more = [f"and {len(found) - self._shown} more"] if len(found) > self._shown else []
        lines = [f"{self._path}: {len(found)} faults:", *found[: self._shown], *more]
        raise DataError("\n  ".join(lines), [f"{self._path}: {fault}" for fault in found])


class Blocks:
    """Gathers the faults of several files, a block for each, so that a person sees those of all of them at once."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, ...]] = {}

    @contextmanager
    def keep(self) -> Iterator[None]:
        """Keeps message and faults of a DataError that is raised inside, and goes on behind it."""
        try:
            yield
        except DataError as error:
            self._found[str(error)] = error.faults

    def stop(self) -> None:
        """Raises a DataError if any was kept."""
        if self._found:
            raise DataError("\n".join(self._found), [fault for faults in self._found.values() for fault in faults])
