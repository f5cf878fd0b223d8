"""Names and values in the form that MLflow stores, so that different ones never become equal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from glyphrank.digests import digest_text

NAME_LIMIT = 250
"""Characters of a name that MLflow's databases hold."""
VALUE_LIMIT = 6000
_SHOWN = 500
_REFUSED = r"[^\w.\- ]|_(?=0x)"  # a colon is refused by servers on Windows, so everywhere

T = TypeVar("T")


def stored_name(*parts: str) -> str:
    """Parts joined by `/` into a name that MLflow accepts for metrics, parameters and tags.

    MLflow (3.x) refuses all but letters (of any script), digits, `_`, `-`, `.`, space and `/`, and names that are not
    a normal path. Every other character becomes `_0x<code>_`, and an underscore before `0x` does too, so that the
    original can be read back. A slash stays one in the last part and is written as a code in the parts before. Names
    of more than 250 characters end in their digest instead.

    >>> stored_name("slice", "type", "figure/table", "recall@1")
    'slice/type/figure_0x2f_table/recall_0x40_1'
    """
    segments = [_escape(part, "/") for part in parts[:-1]] + [_escape(part) for part in parts[-1].split("/")]
    return _limited("/".join("_0x2e_" + part[1:] if part in (".", "..") else part for part in segments), parts)


def stored_value(value: object) -> str:
    """A parameter's value as text: texts as they are, all else as JSON.

    A text is put in quotes where it reads as JSON, or where it would not be seen (line breaks, spaces at its ends).

    Values of more than 6,000 characters, which MLflow would cut, become their beginning with length and digest.
    """
    text = value if isinstance(value, str) else _json(value)
    if isinstance(value, str) and (_reads_as_json(value) or value != value.strip() or not value.isprintable()):
        text = _json(value)
    if len(text) <= VALUE_LIMIT:
        return text
    return f"{text[:_SHOWN]} ... ({len(text)} characters, digest {digest_text(text)})"


def parameters(
    choices: Mapping[str, str | None], config: Mapping[str, object], only: Collection[str] | None = None
) -> dict[str, str]:
    """Stored name -> stored value: the choices first, under the name of their slot, then the flattened config.

    Args:
        choices: e.g. `{"encoder@lexical": "bm25_words"}`, which becomes `lexical`; null, Hydra's word for a group of
            which nothing is chosen, is left out.
        config: nested; its node `hydra` is left out. A leaf whose name is taken by a choice is told from it by
            `config.` in front, and left out where it only says that the choice is none.
        only: of the config, what has one of these names or stands below it; None: all.
    """
    chosen = {slot: choice for slot, choice in choices.items() if choice not in (None, "null")}
    entries = {stored_name(slot.rpartition("@")[2]): stored_value(choice) for slot, choice in chosen.items()}
    for path, value in _leaves({key: value for key, value in config.items() if key != "hydra"}, ()):
        # a dot inside a key would make {"a.b": 1} and {"a": {"b": 1}} the same parameter
        name = _limited(".".join(_escape(step, "./") for step in path), path)
        if only is not None and not any(name == each or name.startswith(f"{each}.") for each in only):
            continue
        if name in entries and (value is None or value == {}):
            continue
        while name in entries:
            name = _limited(f"config.{name}", path)
        entries[name] = stored_value(value)
    return entries


def columns(
    choices: Mapping[str, str | None], config: Mapping[str, object], named: Iterable[str], changed: Iterable[str]
) -> dict[str, str]:
    """Of `parameters` those that a person chose, for a table of runs: every choice, and fields as told here.

    Args:
        named: dotted keys that overrides gave, e.g. `lexical.k1`, or a node's, for all below it; choices among them
            are no fields.
        changed: stored names of fields whose value is not that of the choice's own file.
    """
    fields = [".".join(_escape(step, "./") for step in key.split(".")) for key in named if key not in choices]
    return parameters(choices, config, {*fields, *changed})


def batches(entries: Sequence[T], most: int, size: Callable[[T], int], weight: int = 500_000) -> Iterator[list[T]]:
    """Cuts entries into batches of at most `most` entries and about `weight`: MLflow takes a request of 1 MB.

    Args:
        entries: what is to be sent, in order.
        most: how many of them MLflow takes at once.
        size: characters of an entry as JSON.
    """
    batch: list[T] = []
    so_far = 0
    for entry in entries:
        if batch and (len(batch) == most or so_far + size(entry) > weight):
            yield batch
            batch, so_far = [], 0
        batch.append(entry)
        so_far += size(entry)
    if batch:
        yield batch


def _escape(text: str, also: str = "") -> str:
    """One step of a name with codes for what MLflow refuses and for the characters in `also`; never empty."""
    coded = re.sub(rf"{_REFUSED}|[{also}]" if also else _REFUSED, _code, text)
    return coded or "_0x_"


def _code(found: re.Match[str]) -> str:
    return f"_0x{ord(found[0]):x}_"


def _limited(name: str, original: Sequence[str]) -> str:
    return name if len(name) <= NAME_LIMIT else f"{name[: NAME_LIMIT - 33]}-{digest_text(*original)}"


def _leaves(node: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    if not isinstance(node, Mapping) or not node:
        yield path, node
        return
    for key, value in node.items():
        yield from _leaves(value, (*path, str(key)))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _reads_as_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return not text
    return True
