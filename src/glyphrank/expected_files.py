"""Files of expected scores: YAML that a person writes, read strictly, with all of its faults at once."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from glyphrank.errors import DataError
from glyphrank.faults import Faults, shown

Scalar = str | int | float | bool

_METRIC = re.compile(
    r"(channel/[^/]+/|slice/[^/]+/.+/)?(v2t/)?"
    r"((hit_rate|recall|ndcg)_at_[1-9]\d*|reciprocal_rank_at_10|(median_rank|median_rank_mean|mean_rank)(_truncated)?|queries)"
)
_FRACTION = re.compile(r"(^|/)(hit_rate_at|recall_at|ndcg_at|reciprocal_rank_at)_\d+$")
_LARGEST = 1e12
_WIDE = 0.5
"""A tolerance of a fraction that lets nearly everything pass."""
_FILE = {"experiment", "command", "source", "rows"}
_ROW = {"name", "source", "where", "expect"}


@dataclass(frozen=True)
class Wanted:
    """An expected number, and how far from it a run may be."""

    value: float
    tolerance: float


@dataclass(frozen=True)
class Row:
    """What one run is expected to give.

    Attributes:
        where: choices and fields of the run as on the dashboard (`{"lexical": "bm25_words"}`); None for numbers of
            others, which no run of ours must reach.
        expect: metric -> number; `channel/<name>/<metric>` and `slice/<field>/<value>/<metric>` for those.
        source: where the numbers come from.
    """

    name: str
    where: Mapping[str, Scalar] | None
    expect: Mapping[str, Wanted]
    source: str


@dataclass(frozen=True)
class Expected:
    """A file: the expected scores of one experiment, and the command that measures them."""

    experiment: str
    command: str
    rows: tuple[Row, ...]


def read_expected(path: Path) -> Expected:
    """Reads a file of expected scores.

    Raises:
        DataError: it cannot be read, or is no such file: every fault is named.
    """
    try:
        content = yaml.load(path.read_bytes(), Loader=_Strict)  # noqa: S506 - a SafeLoader that refuses repeated keys
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: is no YAML that can be read ({' '.join(str(error).split())})") from error
    faults = Faults(path)
    found = _Reader(faults).file(content)
    faults.stop()
    return found


class _Strict(yaml.SafeLoader):
    """Refuses a key that stands twice, of which YAML would take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        twice = [key for key, count in Counter(keys).items() if count > 1]
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"the key {twice[0]!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


class _Reader:
    """Takes plain content apart; what does not fit goes to the faults, and something harmless in its place."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def file(self, content: object) -> Expected:
        fields = self._mapping(content, "the file", _FILE, {"experiment", "command", "source", "rows"})
        texts = {name: self._text(fields.get(name), name) for name in ("experiment", "command", "source")}
        rows = fields.get("rows")
        if not isinstance(rows, list) or not rows:
            self._faults.add(f"rows: found {shown(rows)}; wanted a list of at least one")
            rows = []
        found = tuple(self._row(row, f"row {number}", texts["source"]) for number, row in enumerate(rows, 1))
        for name, count in Counter(row.name for row in found if row.name).items():
            if count > 1:
                self._faults.add(f"{count} rows are called {name!r}; wanted another name for each")
        return Expected(texts["experiment"], texts["command"], found)

    def _row(self, content: object, place: str, source: str) -> Row:
        fields = self._mapping(content, place, _ROW, {"name", "expect"})
        name = self._text(fields.get("name"), f"{place}, name")
        place = f"row {name!r}" if name else place
        where = fields.get("where")
        if "where" in fields:
            where = self._mapping(where, f"{place}, where", None, set())
            for field, value in where.items():
                if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
                    self._faults.add(f"{place}, where: {field} is {shown(value)}; wanted one value")
            if not where:
                self._faults.add(f"{place}, where: nothing stands in it; leave it out for numbers of others")
        expect = self._mapping(fields.get("expect"), f"{place}, expect", None, set())
        if not expect:
            self._faults.add(f"{place}, expect: nothing stands in it; wanted at least one metric")
        wanted = {metric: self._wanted(number, metric, place) for metric, number in expect.items()}
        own = self._text(fields["source"], f"{place}, source") if "source" in fields else source
        return Row(name, where if isinstance(where, dict) else None, wanted, own)

    def _wanted(self, content: object, metric: str, place: str) -> Wanted:
        if not _METRIC.fullmatch(metric):
            self._faults.add(f"{place}: there is no metric {metric!r}; wanted such as ndcg_at_10 or v2t/mean_rank")
        fields = self._mapping(content, f"{place}, {metric}", {"value", "tolerance"}, {"value", "tolerance"})
        value, tolerance = (fields.get(name, 0) for name in ("value", "tolerance"))
        for name, number in (("value", value), ("tolerance", tolerance)):
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= _LARGEST:
                self._faults.add(f"{place}, {metric}: {name} is {shown(number)}; wanted a number of at least 0")
                return Wanted(0, 0)
        if _FRACTION.search(metric) and value > 1:
            self._faults.add(f"{place}, {metric}: value is {value:g}; wanted a fraction of at most 1, not per cent")
        if _FRACTION.search(metric) and tolerance >= _WIDE:
            self._faults.add(
                f"{place}, {metric}: tolerance is {tolerance:g}; wanted a fraction below {_WIDE:g}, not per cent"
            )
        return Wanted(float(value), float(tolerance))

    def _mapping(self, content: object, place: str, known: set[str] | None, needed: set[str]) -> dict[str, Any]:
        """A mapping with texts as keys, with none that is not known (any is, for None) and all that are needed."""
        if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
            self._faults.add(f"{place}: found {shown(content)}; wanted a mapping of names")
            return {}
        for key in content.keys() - (content.keys() if known is None else known):
            self._faults.add(f"{place}: the key {key!r} is not known; wanted {', '.join(sorted(known or ()))}")
        for key in sorted(needed - content.keys()):
            self._faults.add(f"{place}: {key} is missing")
        return content

    def _text(self, value: object, place: str) -> str:
        if value is None:
            return ""  # said to be missing where its mapping is read
        if not isinstance(value, str) or not value.strip():
            self._faults.add(f"{place} is {shown(value)}; wanted a text")
            return ""
        return value
