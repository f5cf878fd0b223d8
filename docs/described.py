"""What the classes and the files of choices say of themselves, read for the page of configs."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from glyphrank.builder import find_component
from glyphrank.identity import Place


class UndescribedError(Exception):
    """Something that a person may set is described nowhere; names it, and where its words belong."""


@dataclass(frozen=True)
class Field:
    """A value that a person may override.

    Attributes:
        path: its dotted name below the component, e.g. `weights.revision`.
        kind: what it takes, in words.
        words: what its class says of it, in a line.
        enum: the enumeration whose values it takes, if it does.
        value: what the YAML gives.
    """

    path: str
    kind: str
    words: str
    enum: type[StrEnum] | None
    value: Any


def read_fields(kind: type, node: Mapping[str, Any], above: str = "") -> Iterator[Field]:
    """The fields of a component and of those inside it, with the values of a YAML's node.

    Raises:
        UndescribedError: of a field without a line under `Attributes:` of the class or one it comes from, or without
            a value in the YAML; of a value in the YAML that is no field.
    """
    odd = {field.name for field in fields(kind)} ^ (set(node) - {"_target_"})
    if odd:
        names = ", ".join(f"{above}{name}" for name in sorted(odd))
        raise UndescribedError(f"{kind.__name__}: {names} stands in the class or in the YAML, and not in both")
    hints = typing.get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        path, value = above + field.name, node[field.name]
        inner = _component(hints[field.name], value)
        name = inner.__name__ if inner else None
        shown = f"{name}" if name else value
        yield Field(path, type_words(hints[field.name]), words_of(kind, field.name), _enum(hints[field.name]), shown)
        if inner:
            yield from read_fields(inner, value, f"{path}.")


def words_of(kind: type, name: str) -> str:
    """What a class says of a field under `Attributes:`, or of those it tells of together, as one line of Markdown.

    Raises:
        UndescribedError: there is none.
    """
    for owner in kind.__mro__:
        for names, words in _attributes(owner):
            if name in names:
                together = "" if len(names) == 1 else f"{', '.join(f'`{other}`' for other in names)}: "
                return together + re.sub(r"\bNone\b", "null", words)
    raise UndescribedError(
        f"{kind.__module__}.{kind.__qualname__} says nothing of its field {name!r}; add a line under `Attributes:` of "
        f"its docstring, with unit and range"
    )


def summary_of(kind: type) -> str:
    """The first paragraph of a class's own docstring, as one line.

    Raises:
        UndescribedError: it has none.
    """
    text = vars(kind).get("__doc__") or ""
    if not text.strip() or text.startswith(f"{kind.__name__}("):  # dataclasses write their signature there
        raise UndescribedError(f"{kind.__module__}.{kind.__qualname__} has no docstring; say what it is for")
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


def whole_of(kind: type) -> str:
    """All paragraphs of a class's own docstring, as one line; errors as in `summary_of`."""
    summary_of(kind)
    return " ".join(inspect.cleandoc(vars(kind)["__doc__"]).replace("\n* ", "\n· ").split())


def head_of(file: Path) -> str:
    """The comment that opens a YAML, as one line.

    Raises:
        UndescribedError: it has none.
    """
    lines = head_lines(file)
    if not lines:
        raise UndescribedError(f"{file.parent.name}/{file.name} opens with no comment; say in one what it is")
    return " ".join(lines)


def head_lines(file: Path) -> list[str]:
    """The lines of the comment that opens a YAML, without their signs and what Hydra reads of them."""
    lines: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        if not line.startswith("# @"):
            lines.append(line.removeprefix("#").strip())
    return lines


def comments_of(file: Path) -> dict[str, str]:
    """The comments behind the fields at the top of a YAML, by field."""
    found = re.findall(r"^(\w+):.*?\s#\s(.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(found)


def type_words(hint: Any) -> str:
    """What a type takes, for someone who types it into a command line."""
    if typing.get_origin(hint) is typing.Annotated:
        inner, *marks = typing.get_args(hint)
        return "file or folder" if any(isinstance(mark, Place) for mark in marks) else type_words(inner)
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        words = [type_words(argument) for argument in arguments if argument is not types.NoneType]
        return " or ".join([*words, *(["null"] if types.NoneType in arguments else [])])
    if typing.get_origin(hint) in (tuple, list, Sequence):
        return f"list of: {type_words(arguments[0])}"
    if typing.get_origin(hint) in (dict, Mapping):
        return f"{type_words(arguments[1])} by name"
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return ", ".join(f"`{value}`" for value in hint)
    plain = {bool: "true, false", int: "whole number", float: "number", str: "text", Path: "folder", Any: "anything"}
    return plain.get(hint) or "component"


def component_of(node: Mapping[str, Any]) -> type:
    """The class that a node's `_target_` names."""
    return find_component(node["_target_"], {"glyphrank"})


def _component(hint: Any, value: Any) -> type | None:
    """The class of a nested component or record; None of a plain value."""
    if isinstance(value, Mapping) and "_target_" in value:
        return component_of(value)
    return hint if isinstance(value, Mapping) and isinstance(hint, type) and is_dataclass(hint) else None


def _enum(hint: Any) -> type[StrEnum] | None:
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint
    found = [enum for argument in typing.get_args(hint) if (enum := _enum(argument))]
    return found[0] if found else None


def _attributes(owner: type) -> Iterator[tuple[list[str], str]]:
    """The entries under `Attributes:` of a class's own docstring: the fields each tells of, and what it says."""
    text = inspect.cleandoc(vars(owner).get("__doc__") or "")
    section = re.search(r"^Attributes:\n((?: .*\n?|\n)+)", text, re.MULTILINE)
    if section is None:
        return
    for entry in re.split(r"\n(?= {4}\S)", section[1].rstrip()):
        names, found, words = entry.strip().partition(": ")
        if found:
            yield [name.strip() for name in names.split(",")], " ".join(words.split())
