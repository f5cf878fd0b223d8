"""What README's running text names is there: choices, fields, options and files. Commands have tests of their own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXT = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
WORDS = list(dict.fromkeys(re.findall(r"`([^`\n]+)`", TEXT)))
SLOTS = {"visual": "encoder", "text": "encoder", "lexical": "encoder"}
GROUPS = sorted(path.name for path in (ROOT / "conf").iterdir() if path.is_dir() and path.name != "hydra")
TABLES = {*GROUPS, *SLOTS, "runtime", "launch"}
OPTIONS = [word for word in WORDS if re.fullmatch(r"[\w.@/]+=[^ ]*( [\w.]+=[^ ]*)*", word)]
FIELDS = [word for word in WORDS if re.fullmatch(r"\w+\.(?!py$)\w+", word) and word.split(".")[0] in TABLES]
FILES = [word for word in WORDS if re.fullmatch(r"(benchmarks|conf|deploy|docs|experiments|src|tests)/[\w./*-]*", word)]
ROWS = re.findall(r"^\| `([\w@]+)` \| (`.*) \|$", README, re.MULTILINE)


def choices(group: str) -> dict[str, Any]:
    """Name -> content of the choices of a group, `encoder@text` among them."""
    folder = ROOT / "conf" / group.partition("@")[0]
    return {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.yaml"))}


def fields_of(group: str) -> dict[str, Any]:
    """Field -> value, of all choices of a group, or of a table at the top."""
    top = yaml.safe_load((ROOT / "conf" / "config.yaml").read_text(encoding="utf-8"))
    if group in top:
        return dict(top[group])
    return {
        name: value for choice in choices(SLOTS.get(group, group)).values() for name, value in (choice or {}).items()
    }


def is_known(path: str) -> bool:
    """Whether a field of that dotted name can be given on the command line."""
    first, *rest = path.split(".")
    if first == "hydra":
        return rest in (["sweep", "dir"], ["run", "dir"], ["launcher"], ["sweeper"])
    known = fields_of(first) if rest else yaml.safe_load((ROOT / "conf" / "config.yaml").read_text(encoding="utf-8"))
    for name in rest or [first]:
        if not isinstance(known, dict) or name not in known:
            return False
        known = known[name]
    return True


def test_words_of_every_kind_are_found() -> None:
    assert len(OPTIONS) > 15
    assert len(FIELDS) > 5
    assert len(FILES) > 10
    assert {group for group, _ in ROWS} >= {"dataset", "encoder@visual", "metrics", "tracking"}


@pytest.mark.parametrize("word", OPTIONS)
def test_an_option_names_a_choice_or_a_field(word: str) -> None:
    for option in word.split(" "):
        name, value = option.split("=", 1)
        if name.partition("@")[0] in GROUPS:
            assert not value or value in choices(name), f"conf/{name.partition('@')[0]}/{value}.yaml"
        else:
            assert is_known(name), name


@pytest.mark.parametrize("word", FIELDS)
def test_a_field_is_in_some_choice(word: str) -> None:
    assert is_known(word)


@pytest.mark.parametrize("word", FILES)
def test_a_file_is_there(word: str) -> None:
    assert list(ROOT.glob(word.rstrip("/")))


def test_rows_of_choices_name_all_that_there_are() -> None:
    named: dict[str, set[str]] = {}
    for group, cells in ROWS:
        named.setdefault(group.partition("@")[0], set()).update(re.findall(r"`(\w+)`", cells))
    assert named.keys() <= set(GROUPS)
    for group, words in named.items():
        assert words | {"none"} >= choices(group).keys(), group
