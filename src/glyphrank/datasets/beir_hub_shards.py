"""Tables that are divided into several files: what their names tell of parts that are not there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

SHARD = re.compile(r"(?P<name>.*?)[-_.]?(?P<part>\d{5})-of-(?P<parts>\d{5})(?P<hash>-[0-9a-f]+)?")
"""The name, without its ending, of a part that knows how many there are."""

_LARGEST = 99_999
"""A greater number in a name is no count of parts but a date, say."""


def missing_shards(files: Sequence[str]) -> list[str]:
    """Names of files that lack, in order; a `*` stands for what nobody knows.

    Among those numbered like `test-00000-of-00003.parquet`, all are known. Names that differ in one number only make a
    series where the least number is 0 or 1, or where they are named as by the hub's converter, from `0000.parquet` on:
    what lacks below its greatest is known, not what may lack behind it.
    """
    plain = []
    parts: dict[tuple[str, str], set[int]] = {}
    for name in files:
        shard = SHARD.fullmatch(PurePosixPath(name).stem)
        if shard is None:
            plain.append(name)
        else:
            parts.setdefault(_around(name, shard), set()).add(int(shard["part"]))
    lacking = [
        f"{before}{part:05}{after}"
        for (before, after), there in parts.items()
        for part in range(int(after[4:9]))
        if part not in there
    ]
    return [*lacking, *_gaps(plain)]


def _around(name: str, shard: re.Match[str]) -> tuple[str, str]:
    """What stands before and after the number of a part; every part may have a hash of its own."""
    path = PurePosixPath(name)
    end = f"-of-{shard['parts']}{'-*' if shard['hash'] else ''}{path.suffix}"
    return name[: len(name) - len(path.name) + shard.start("part")], end


def _gaps(files: Sequence[str]) -> Iterator[str]:
    """Names of the numbers that lack, by series."""
    series: dict[tuple[str, str], list[str]] = {}
    for name in files:
        for number in re.finditer("[0-9]+", name):
            series.setdefault((name[: number.start()], name[number.end() :]), []).append(number[0])
    for (before, after), numbers in series.items():
        there = {int(number) for number in numbers}
        first = 0 if _is_converted(before, numbers) else min(there)
        if first > 1 or max(there) > _LARGEST:
            continue
        width = max((len(number) for number in numbers if number.startswith("0")), default=1)
        yield from (f"{before}{number:0{width}}{after}" for number in range(first, max(there)) if number not in there)


def _is_converted(before: str, numbers: Sequence[str]) -> bool:
    """Whether nothing but four digits makes the name of each file, as the hub's converter to parquet has it."""
    return before.endswith("/") and all(len(number) == 4 for number in numbers) and min(numbers).startswith("0")
