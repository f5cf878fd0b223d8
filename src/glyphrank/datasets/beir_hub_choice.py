"""The tables of one split and subset among all that a repository has; what is missing or ambiguous is told at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from glyphrank.datasets.beir_hub_names import CARD, Found, Part, find_tables
from glyphrank.datasets.beir_hub_shards import missing_shards
from glyphrank.errors import DataError

FORMATS = frozenset({".parquet", ".jsonl", ".tsv"})
"""Endings of the files that tables may be in, judgements alone in the last of them."""

_SHOWN = 10


@dataclass(frozen=True)
class Tables:
    """The tables that make a dataset.

    Attributes:
        images: the pictures of a corpus that only names them, None where there is no such table.
        subset: the subset that was chosen, None where there is but one.
    """

    corpus: Found
    queries: Found
    qrels: Found
    images: Found | None
    subset: str | None

    @property
    def files(self) -> tuple[str, ...]:
        """All their files, relative names."""
        images = self.images.files if self.images else ()
        return (*self.corpus.files, *self.queries.files, *self.qrels.files, *images)


def choose(names: Sequence[str], card: str, split: str, subset: str | None, where: str) -> Tables:
    """The tables of a split and a subset.

    A subset has its own tables or shares those that belong to none; where there is one subset only, it is taken. The
    judgements are those of the split, or not divided; corpus and queries are those of the split, else not divided, else
    the only ones there are (a split that is called `corpus`, say).

    Args:
        names, card: the files of a repository and the text of its card, see `find_tables`.
        subset: its name, None where the dataset has none.
        where: name of the repository, for messages.

    Raises:
        DataError: a table is missing, incomplete or ambiguous. The message says what was looked for and what there is.
    """
    try:
        found = find_tables(names, card)
    except ValueError as error:
        raise DataError(f"{where}: {CARD}: {error}; name the files, or fewer patterns") from error
    choice = _Choice(found, split, subset)
    tables = {part: choice.table(part) for part in (Part.corpus, Part.queries, Part.qrels)}
    images = choice.table(Part.images) if any(table.part is Part.images for table in found) else None
    corpus, queries, qrels = tables.values()
    if choice.faults or corpus is None or queries is None or qrels is None:
        what = "split " + repr(split) + (f", subset {subset!r}" if subset else "")
        faults = [*choice.faults, _summary(found, names)]
        first = f"{where}: its files do not make a dataset ({what}):"
        raise DataError("\n  ".join([first, *faults]), [f"{where}: {fault}" for fault in faults])
    return Tables(corpus, queries, qrels, images, choice.subset)


class _Choice:
    """Chooses tables and gathers what stands in the way."""

    def __init__(self, found: Sequence[Found], split: str, subset: str | None) -> None:
        self._found = found
        self._split = split
        self.faults: list[str] = []
        self.subset = self._subset(subset)

    def _subset(self, subset: str | None) -> str | None:
        there = sorted({table.subset for table in self._found if table.subset and table.part is not Part.images})
        if subset is not None and subset not in there:
            known = f"its subsets are {_listed(there)}" if there else "it has none: set dataset.subset=null"
            self.faults.append(f"there is no subset {subset!r}; {known}")
        if subset is not None:
            return subset
        parts = {table.part for table in self._found if table.part is not Part.images}
        if parts <= {table.part for table in self._found if table.subset is None}:
            return None
        if len(there) == 1:
            return there[0]
        self.faults.append(f"it has the subsets {_listed(there)}: set dataset.subset")
        return None

    def table(self, part: Part) -> Found | None:
        """The table of a part; None, and a fault, where it cannot be told."""
        tables = [table for table in self._found if table.part is part]
        if not tables:
            self.faults.append(_absent(part))
            return None
        own = [table for table in tables if table.subset == self.subset]
        tables = own or [table for table in tables if table.subset is None]
        if not tables:  # the subset is in doubt, and that was told
            return None
        chosen = self._of_split(part, tables)
        if len(chosen) > 1:
            ways = " and ".join(table.name for table in chosen)
            self.faults.append(f"{len(chosen)} tables may be the {part}: {ways}; keep one of them")
            return None
        if not chosen:
            return None
        self._check_files(chosen[0])
        return chosen[0]

    def _of_split(self, part: Part, tables: Sequence[Found]) -> list[Found]:
        for wanted in (self._split, None):
            chosen = [table for table in tables if table.split == wanted]
            if chosen:
                return chosen
        splits = sorted({str(table.split) for table in tables})
        if part is not Part.qrels and len(splits) == 1:
            return list(tables)
        advice = ": set dataset.split" if part is Part.qrels else ""
        self.faults.append(f"no {part} of the split {self._split!r}; there is {_listed(splits)}{advice}")
        return []

    def _check_files(self, table: Found) -> None:
        formats = FORMATS if table.part is Part.qrels else FORMATS - {".tsv"}
        foreign = [name for name in table.files if PurePosixPath(name).suffix not in formats]
        lacking = missing_shards(table.files)
        if table.absent:
            what = _listed(table.absent)
            self.faults.append(f"{CARD} says that {what} holds the {table.part}, and no such file is there")
        elif not table.files:
            self.faults.append(
                f"{CARD} names no file for the {table.part}: its path is empty; wanted a name or pattern"
            )
        if foreign:
            self.faults.append(f"the {table.part} is in {_listed(foreign)}; wanted {', '.join(sorted(formats))}")
        if len({PurePosixPath(name).suffix for name in table.files}) > 1:
            self.faults.append(f"the {table.part} is in files of several kinds: {_listed(table.files)}")
        if lacking:
            missing = f"{_listed(lacking)} {'is' if len(lacking) == 1 else 'are'} missing"
            advice = "fetch what is missing, or rename the files where there never was more"
            self.faults.append(f"the {table.part} is incomplete: {missing}; {advice}")


def _absent(part: Part) -> str:
    endings = ".parquet, .jsonl or .tsv" if part is Part.qrels else ".parquet or .jsonl"
    return (
        f"no {part}; looked for a config of that name in {CARD}, and for files {endings} that are called {part} or lie "
        f"in a folder {part}, a subset before or after it (english-{part}, {part}-en, en/{part})"
    )


def _summary(found: Sequence[Found], names: Sequence[str]) -> str:
    """What there is, table by table; the names of files where there is none."""
    if not found:
        return f"found: no table among {len(names)} files ({_listed(sorted(names))})" if names else "found: no file"
    tables: dict[str, list[str]] = {}
    for table in found:
        name = f"{table.subset} {table.part}" if table.subset else str(table.part)
        tables.setdefault(name, []).append(table.split or "not divided")
    return f"found: {_listed([f'{name} ({_listed(splits)})' for name, splits in _sorted(tables)], ' · ')}"


def _sorted(tables: Mapping[str, list[str]]) -> Iterable[tuple[str, list[str]]]:
    return ((name, sorted(set(splits))) for name, splits in sorted(tables.items()))


def _listed(names: Sequence[str], between: str = ", ") -> str:
    more = [f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    return between.join([*names[:_SHOWN], *more])
