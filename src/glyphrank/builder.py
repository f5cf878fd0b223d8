"""From plain nested values to frozen components, on their own fields; every fault is collected.

A node with `_target_` names a component: a dataclass of glyphrank or of a package in `plugins`, whose fields are its
schema. Nothing is converted: text is no number and a number is no truth value.
"""

from __future__ import annotations

import difflib
import importlib
import json
import math
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from glyphrank.errors import ConfigError
from glyphrank.redaction import REDACTED, is_secret
from glyphrank.sources import changed_sources, hold_sources

BROKEN: Any = object()
"""Stands for a value that has a fault already, so that it is not reported twice."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with one node: its dotted path, and found, wanted and what to do in a sentence."""

    path: str
    message: str


class Builder:
    """Builds dataclasses from nested values and gathers all that is wrong with them in `faults`.

    Args:
        packages: top packages whose dataclasses may be named by `_target_`.
        folder: absolute folder from which relative paths are taken.
        choices: from the path of a slot and what it wants, the names of the choices that fit; for messages.
    """

    def __init__(
        self, packages: Iterable[str], folder: Path, choices: Callable[[str, Any], Sequence[str]] | None = None
    ) -> None:
        self.faults: list[Fault] = []
        self._packages = frozenset(packages)
        self._folder = folder
        self._choices = choices

    def build(self, kind: type, node: Mapping[str, Any], path: str = "") -> Any:
        """An instance of the dataclass `kind`, or a placeholder when there are faults."""
        try:
            hints = typing.get_type_hints(kind, include_extras=True)
        except (NameError, TypeError) as error:
            return self._fault(path, f"the fields of {kind.__name__} have no known types: {error}")
        wanted = {field.name: hints[field.name] for field in fields(kind) if field.init}
        broken = self._unknown(node, wanted, path)
        values = {}
        for name, hint in wanted.items():
            if name not in node:
                self._fault(_join(path, name), f"is missing; {kind.__name__} needs it")
                broken = True
                continue
            values[name] = self._value(hint, node[name], _join(path, name))
            broken |= values[name] is BROKEN
        if broken:
            return BROKEN
        try:
            return kind(**values)
        except ValueError as error:
            return self._fault(path, str(error))
        except Exception as error:  # a component of a plug-in may raise anything
            return self._fault(path, f"{kind.__name__} cannot be built: {type(error).__name__}: {error}")

    def _fault(self, path: str, message: str) -> Any:
        self.faults.append(Fault(path, message))
        return BROKEN

    def _unknown(self, node: Mapping[str, Any], wanted: Mapping[str, object], path: str) -> bool:
        unknown = [name for name in node if name not in wanted and name != "_target_"]
        for name in unknown:
            close = difflib.get_close_matches(str(name), wanted, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(wanted) or 'no fields at all'}"
            self._fault(_join(path, str(name)), f"is unknown; {hint}")
        return bool(unknown)

    def _value(self, hint: Any, node: Any, path: str) -> Any:
        if node is BROKEN:
            return BROKEN
        inner, optional = _without_none(hint)
        if optional and (node is None or node == {}):
            return None
        if isinstance(node, Mapping) and "_target_" in node:
            return self._component(inner, node, path)
        if _is_protocol(inner):
            return self._fault(path, f"found {_show(node, path)}, wanted a component, a node with `_target_`")
        if is_dataclass(inner) and isinstance(inner, type):
            if not isinstance(node, Mapping):
                return self._fault(path, f"found {_show(node, path)}, wanted fields of {inner.__name__}")
            return self.build(inner, node, path)
        return self._plain(hint, inner, node, path)

    def _component(self, wanted: Any, node: Mapping[str, Any], path: str) -> Any:
        if node["_target_"] is BROKEN:
            return BROKEN
        try:
            kind = find_component(node["_target_"], self._packages)
        except LookupError as error:
            return self._fault(_join(path, "_target_"), str(error.args[0]))
        if not fits(kind, wanted):
            names = self._choices(path, wanted) if self._choices else ()
            hint = f"; those that do: {', '.join(names)}" if names else ""
            return self._fault(path, f"{kind.__name__} does not fit here, wanted {_name(wanted)}{hint}")
        return self.build(kind, node, path)

    def _plain(self, hint: Any, inner: Any, node: Any, path: str) -> Any:
        if typing.get_origin(inner) is tuple and isinstance(node, list):
            return self._tuple(inner, node, path)
        if typing.get_origin(inner) in (dict, Mapping) and isinstance(node, Mapping):
            return self._mapping(inner, node, path)
        if isinstance(node, float) and not math.isfinite(node):
            return self._fault(path, f"found {node}, wanted a finite number")
        try:
            value = TypeAdapter(hint).validate_json(json.dumps(node), strict=True)
        except PydanticSchemaGenerationError:
            return self._fault(
                path, f"its type {_name(hint)} is none that a YAML can fill; use plain types or a component"
            )
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join([path, *(str(part) for part in first["loc"])])
            found = _show(first["input"], path)
            return self._fault(place, f"found {found}, wanted {_wanted(hint, first['msg'])}")
        if not isinstance(value, Path):
            return value
        if not str(node).strip():
            return self._fault(path, "found an empty path, wanted a file or folder")
        return self._folder / value.expanduser()

    def _mapping(self, hint: Any, node: Mapping[str, Any], path: str) -> Any:
        kind = typing.get_args(hint)[1]
        values = {name: self._value(kind, entry, _join(path, str(name))) for name, entry in node.items()}
        return BROKEN if any(value is BROKEN for value in values.values()) else values

    def _tuple(self, hint: Any, node: Sequence[Any], path: str) -> Any:
        kinds = typing.get_args(hint)
        if kinds[-1] is Ellipsis:
            kinds = (kinds[0],) * len(node)
        if len(kinds) != len(node):
            return self._fault(path, f"found {len(node)} values, wanted {len(kinds)}")
        values = tuple(
            self._value(kind, entry, f"{path}[{i}]") for i, (kind, entry) in enumerate(zip(kinds, node, strict=True))
        )
        return BROKEN if any(value is BROKEN for value in values) else values


def find_component(target: object, packages: Collection[str]) -> type:
    """The dataclass that `_target_` names.

    Raises:
        LookupError: it lies outside the packages, cannot be imported, is edited meanwhile, or is not a dataclass of
            that very module.
    """
    module_name, _, name = str(target).rpartition(".")
    if module_name.partition(".")[0] not in packages:
        raise LookupError(f"{target!r} is outside glyphrank; name its package in `plugins` to allow it")
    hold_sources(packages)
    is_new = module_name not in sys.modules
    try:
        kind = getattr(importlib.import_module(module_name), name, None)
    except Exception as error:  # importing runs the plug-in's code, which may raise anything
        raise LookupError(f"{target!r} cannot be imported: {type(error).__name__}: {error}") from error
    if is_new and (changed := changed_sources(name for name in packages if name != "glyphrank")):
        raise LookupError(f"{target!r}: the sources of {', '.join(changed)} changed while it was imported; start again")
    if not (
        isinstance(kind, type) and is_dataclass(kind) and (kind.__module__, kind.__qualname__) == (module_name, name)
    ):
        raise LookupError(f"{target!r} is not a component: wanted a dataclass defined in that very module")
    return kind


def fits(kind: type, wanted: Any) -> bool:
    """Whether instances of a dataclass can stand where `wanted`, a Protocol or a class, is asked for."""
    if not _is_protocol(wanted):
        return isinstance(wanted, type) and issubclass(kind, wanted)
    members = [name for base in wanted.__mro__ if _is_protocol(base) for name in vars(base) if not name.startswith("_")]
    own = {field.name for field in fields(kind)}
    return all(name in own or hasattr(kind, name) for name in members)


def raise_for(faults: Sequence[Fault], origin: Callable[[str], str]) -> None:
    """Raises one ConfigError that names all faults, each with where its value came from; returns if there are none."""
    if faults:
        lines = [f"  {': '.join(filter(None, (fault.path, fault.message)))}{origin(fault.path)}" for fault in faults]
        count = "1 fault" if len(lines) == 1 else f"{len(lines)} faults"
        raise ConfigError("\n".join([f"{count} in the configuration:", *lines]))


def _without_none(hint: Any) -> tuple[Any, bool]:
    if typing.get_origin(hint) is Annotated:
        return _without_none(typing.get_args(hint)[0])
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        rest = [argument for argument in typing.get_args(hint) if argument is not types.NoneType]
        return (rest[0] if len(rest) == 1 else hint), len(rest) < len(typing.get_args(hint))
    return hint, False


def _is_protocol(hint: Any) -> bool:
    return isinstance(hint, type) and getattr(hint, "_is_protocol", False) is True


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _show(value: object, path: str) -> str:
    """A value for a message; what stands below a name that says secret is not shown."""
    if any(is_secret(part) for part in path.split(".")):
        return REDACTED
    shown = repr(value)
    return f"{shown if len(shown) < 80 else shown[:77] + '...'} ({type(value).__name__})"


def _name(hint: Any) -> str:
    return str(hint.__name__) if isinstance(hint, type) else str(hint).replace("typing.", "")


def _wanted(hint: Any, message: str) -> str:
    inner, optional = _without_none(hint)
    return message.removeprefix("Input should be ") + (" (or null)" if optional and inner is not hint else "")
