"""Why a stage has work to do, and how long it may take: by manifests and rates of keys that are much like its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glyphrank.cache import Stage
from glyphrank.rates import read_rate
from glyphrank.redaction import redact
from glyphrank.report.planned import Neighbour, Other
from glyphrank.shard_folder import read_manifest

_ABSENT = "absent"
_PLAIN = {"fields", "encoder", "sampler"}
"""Levels of a recipe that say nothing to a person: `encoder.fields.max_length` is `max_length`."""


@dataclass
class Neighbours:
    """The keys beside those of a plan. Manifests are read once: it knows the cache as it was when it was first asked.

    Nothing here raises: what cannot be read is as if it were not there.
    """

    _manifests: dict[Path, list[tuple[str, dict[str, str]]]] = field(default_factory=dict)

    def nearest(self, stage: Stage[Any, Any]) -> Neighbour | None:
        """The other key of the same stage, side and class with the fewest other fields; None where there is none."""
        return next(iter(self._sorted(stage)), None)

    def seconds(self, stage: Stage[Any, Any], count: int) -> float | None:
        """How long so many inputs may take: by the rate of the key, else of the nearest key that has one."""
        places = [stage.folder, *(stage.folder.with_name(other.key) for other in self._sorted(stage))]
        rate = next(filter(None, map(read_rate, places)), None)
        return rate.estimate(count) if rate else None

    def _sorted(self, stage: Stage[Any, Any]) -> list[Neighbour]:
        own = _flat(redact(stage.recipe))
        found = [
            Neighbour(key, _others(own, other))
            for key, other in self._known(stage.folder.parent)
            if key != stage.key and _kind(other) == _kind(own)
        ]
        return sorted(found, key=lambda neighbour: len(neighbour.others))

    def _known(self, folder: Path) -> list[tuple[str, dict[str, str]]]:
        """Keys of a stage, the last used first, and their recipes."""
        if folder not in self._manifests:
            read = [(place.name, read_manifest(place).get("recipe")) for place in _folders(folder)]
            self._manifests[folder] = [(key, _flat(recipe)) for key, recipe in read if recipe]
        return self._manifests[folder]


def _folders(folder: Path) -> list[Path]:
    try:
        dated = [(place.stat().st_mtime_ns, place) for place in folder.iterdir() if place.is_dir()]
    except OSError:
        return []
    return [place for _, place in sorted(dated, reverse=True)]


def _flat(recipe: object) -> dict[str, str]:
    """Dotted names of a recipe's fields with their values as JSON; the keys of folders compare by them.

    >>> _flat({"side": "text", "encoder": {"class": "a.B", "fields": {"size": 3, "sizes": (1, 2)}}})
    {'side': '"text"', 'class': '"a.B"', 'size': '3', 'sizes': '[1, 2]'}
    """
    return dict(_fields(recipe, ()))


def _fields(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, entry in value.items():
            yield from _fields(entry, path if name in _PLAIN else (*path, str(name)))
    else:
        yield ".".join(path), json.dumps(value, ensure_ascii=False, default=str)


def _kind(flat: Mapping[str, str]) -> tuple[str | None, str | None]:
    return flat.get("side"), flat.get("class")


def _others(here: Mapping[str, str], there: Mapping[str, str]) -> tuple[Other, ...]:
    names = dict.fromkeys((*here, *there))
    pairs = ((name, here.get(name, _ABSENT), there.get(name, _ABSENT)) for name in names)
    return tuple(Other(*pair) for pair in pairs if pair[1] != pair[2])
