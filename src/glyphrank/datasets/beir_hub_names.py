"""Which files of a repository make which table: by the configs of its dataset card, else by how they are named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from glyphrank.datasets.beir_hub_patterns import alternatives, fits
from glyphrank.datasets.beir_hub_shards import SHARD

CARD = "README.md"
"""The dataset card, whose front matter may name configs, with splits and the files of each."""

_KINDS = {name: name for name in ("corpus", "queries", "qrels", "images")} | {"query": "queries"}
_KIND = re.compile(rf"(?:(?P<before>.+)[-_.])??(?P<kind>{'|'.join(_KINDS)})(?:[-_.](?P<after>.+))?")
_NUMBERED = re.compile(r"(?:(?:part|shard|data)[-_.]?)?\d+")
_PLAIN = ("", "data", "default")
"""Folders and configs that say nothing about a subset."""
_SPLITS = ("train", "dev", "val", "valid", "validation", "test")


class Part(StrEnum):
    """The tables of a dataset; `images` holds the pictures of corpora that only name them."""

    corpus = "corpus"
    queries = "queries"
    qrels = "qrels"
    images = "images"


@dataclass(frozen=True)
class Found:
    """A table that a repository has.

    Attributes:
        subset: such as a language, None where there is but one.
        split: None where the table is not divided.
        files: relative names, sorted, each once.
        pattern: what the card says of the files, or the beginning that their names share; "" where a card says nothing.
        absent: patterns of the card for which no file is there.
    """

    part: Part
    subset: str | None
    split: str | None
    files: tuple[str, ...]
    pattern: str
    absent: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the table is called in messages."""
        return self.files[0] if len(self.files) == 1 else self.pattern


def find_tables(names: Sequence[str], card: str) -> list[Found]:
    """All tables of a repository. What the card names of a part counts for the whole part.

    Args:
        names: its files, relative, with `/`.
        card: the text of its dataset card, "" where there is none.

    Raises:
        ValueError: a pattern of the card cannot be read; the message names it.
    """
    names = sorted(name for name in names if not any(part.startswith(".") for part in PurePosixPath(name).parts))
    configured = list(_configured(_front_matter(card).get("configs"), names))
    covered = {found.part for found in configured}
    return configured + [found for found in _named(names) if found.part not in covered]


def _front_matter(card: str) -> Mapping[str, object]:
    """The fields at the top of a card; none where they cannot be read, a card being free text."""
    import yaml

    lines = card.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.strip() == "---"), None)
    if end is None:
        return {}
    try:
        fields = yaml.safe_load("\n".join(lines[1:end]))
    except yaml.YAMLError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _configured(configs: object, names: Sequence[str]) -> Iterator[Found]:
    """The tables among the configs of a card."""
    chosen = [config for config in configs if isinstance(config, dict)] if isinstance(configs, list) else []
    kinds = {name: _kind_of(name) for name in (str(config.get("config_name", "default")) for config in chosen)}
    has_qrels = {subset for part, subset in filter(None, kinds.values()) if part is Part.qrels}
    subsets = {subset for part, subset in filter(None, kinds.values()) if part is not Part.qrels}
    for config in chosen:
        name = str(config.get("config_name", "default"))
        tables: dict[tuple[Part, str | None, str | None], list[str]] = {}
        for split, patterns in _splits(config):
            kind, own = kinds[name], split
            if kind is None and split is not None and _kind_of(split):  # one config, whose splits are the tables
                kind, own = _kind_of(split), None
            elif kind is None and _subset(name) in subsets - has_qrels:  # relevance, in a config without a name for it
                kind = Part.qrels, _subset(name)
            if kind is not None:
                tables.setdefault((*kind, own), []).extend(patterns)
        for (part, subset, own), patterns in tables.items():
            files = {pattern: _fitting(pattern, names) for pattern in patterns}
            absent = tuple(pattern for pattern, found in files.items() if not found)
            yield Found(part, subset, own, tuple(sorted(set().union(*files.values()))), ", ".join(files), absent)


def _splits(config: Mapping[str, object]) -> Iterator[tuple[str | None, list[str]]]:
    """The splits of a config with their patterns, in every form that a card may have; `default` is none."""
    folder = str(config.get("data_dir") or "").strip("/")
    files = config.get("data_files")
    if files is None:
        files = f"{folder}/**" if folder else []
        folder = ""
    pairs: list[tuple[object, object]]
    if isinstance(files, dict):
        pairs = list(files.items())
    else:
        entries = files if isinstance(files, list) else [files]
        pairs = [(entry.get("split"), entry.get("path")) for entry in entries if isinstance(entry, dict)]
        plain = [entry for entry in entries if isinstance(entry, str)]
        pairs += [(None, plain)] if plain else []
    for split, paths in pairs:
        patterns = [str(path) for path in (paths if isinstance(paths, list) else [paths]) if path]
        yield (
            None if split in (None, "default") else str(split),
            [f"{folder}/{path}" if folder else path for path in patterns],
        )


def _fitting(pattern: str, names: Sequence[str]) -> list[str]:
    """The names that a pattern of a card means; a folder means all below it."""
    plain = alternatives(pattern.removeprefix("./").rstrip("/"))
    return [name for name in names if any(fits(name, one) or name.startswith(f"{one}/") for one in plain)]


def _named(names: Sequence[str]) -> list[Found]:
    """The tables that files make by their own names and those of their folders."""
    groups: dict[tuple[Part, str | None, str | None, str], list[str]] = {}
    for name in names:
        place = _place(name)
        if place is not None:
            groups.setdefault(place, []).append(name)
    return [Found(part, subset, split, tuple(files), series) for (part, subset, split, series), files in groups.items()]


def _place(name: str) -> tuple[Part, str | None, str | None, str] | None:
    """Part, subset, split and series of a file; None for one that is no table."""
    path = PurePosixPath(name)
    shard = SHARD.fullmatch(path.stem)
    stem = shard["name"] if shard else "" if _NUMBERED.fullmatch(path.stem) else path.stem
    words = [*path.parts[:-1], stem]
    at = next((number for number, word in enumerate(words) if _kind_of(word)), None)
    kind = None if at is None else _kind_of(words[at])
    if (
        kind is None
        or at is None
        or path.suffix not in ((".parquet", ".jsonl", ".tsv") if kind[0] is Part.qrels else (".parquet", ".jsonl"))
    ):
        return None
    part, own = kind
    before, after = list(words[:at]), [word for word in words[at + 1 :] if word]
    split = after.pop() if after else None
    if split is None and own in _SPLITS:  # queries-test.jsonl
        split, own = own, None
    subset = "-".join(word for word in [*before, own or "", *after] if word not in _PLAIN)
    series = f"{path.parent / stem if stem else path.parent}{path.suffix}".removeprefix("./")
    return part, subset or None, split, series


def _kind_of(name: str) -> tuple[Part, str | None] | None:
    """Part and subset by the name of a config, folder or file: `corpus`, `english-corpus`, `corpus-ko`."""
    found = _KIND.fullmatch(name)
    if found is None:
        return None
    subset = "-".join(word for word in (found["before"], found["after"]) if word and word not in _PLAIN)
    return Part(_KINDS[found["kind"]]), subset or None


def _subset(name: str) -> str | None:
    return None if name in _PLAIN else name
