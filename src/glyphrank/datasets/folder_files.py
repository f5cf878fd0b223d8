"""What is wrong with the files of a dataset, gathered so that a person sees all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from glyphrank.errors import DataError
from glyphrank.ids import nfc


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
        """Raises a DataError if anything was noted."""
        if not self._found:
            return
        found = list(self._found)
        if len(found) == 1:
            raise DataError(f"{self._path}: {found[0]}")
        more = [f"and {len(found) - self._shown} more"] if len(found) > self._shown else []
        raise DataError("\n  ".join([f"{self._path}: {len(found)} faults:", *found[: self._shown], *more]))


class Blocks:
    """Gathers the faults of several files, a block for each, so that a person sees those of all of them at once."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    @contextmanager
    def keep(self) -> Iterator[None]:
        """Keeps the message of a DataError that is raised inside, and goes on behind it."""
        try:
            yield
        except DataError as error:
            self._found[str(error)] = None

    def stop(self) -> None:
        """Raises a DataError if any was kept."""
        if self._found:
            raise DataError("\n".join(self._found))


class Ids:
    """The ids of a file in the order in which they come, of which no two may be equal in NFC."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._seen: dict[str, tuple[str, str]] = {}

    def add(self, name: str, place: str) -> None:
        """Takes an id; a fault says where it stood before."""
        first, published = self._seen.setdefault(nfc(name), (place, name))
        if first != place:
            form = "" if published == name else f" (there as {shown(published)}, equal in NFC)"
            self._faults.add(f"{place}: the id {shown(name)} stands on {first} already{form}; ids must be unique")

    @property
    def names(self) -> tuple[str, ...]:
        """Every distinct id, as it stood first."""
        return tuple(published for _, published in self._seen.values())


@dataclass(frozen=True)
class Record:
    """One line of `corpus.jsonl` or `queries.jsonl`; `line` is its number from 1."""

    line: int
    id: str
    text: str | None
    media: str | None
    page: int | None
    slices: Mapping[str, str]
