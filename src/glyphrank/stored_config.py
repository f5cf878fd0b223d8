"""From the configuration that a finished run left behind to the run, built again, perhaps at other places.

What may be said otherwise than the stored run had it changes no number: where something lies, how the run works, where
it is tracked. Everything else would be another experiment.
"""

from __future__ import annotations

import copy
import os
import sys
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import yaml

from glyphrank.builder import Builder, Fault, find_component, raise_for
from glyphrank.composition import plain_here
from glyphrank.config import _with_places
from glyphrank.errors import ConfigError
from glyphrank.identity import _is_place
from glyphrank.known_secrets import remember
from glyphrank.redaction import REDACTED, is_secret, redact, redact_override
from glyphrank.run import CHANGES_NO_NUMBER, Run
from glyphrank.runtime import Runtime
from glyphrank.tracking.uris import shown_uri

_TRACKING = "tracking"
_STORE = "MLFLOW_TRACKING_URI"
_GIVEN_HERE = CHANGES_NO_NUMBER - {"launch", "rerun"}  # no sweep is launched, and the run is measured in any case


@dataclass(frozen=True)
class Here:
    """What of this command stands in for what a stored run had.

    Attributes:
        folder: absolute folder of launch, from which relative paths are taken.
        overrides: `key=value`, of fields that change no number.
        outputs: folder for everything produced; None: as the surroundings, or else the stored run, have it.
        config_dir: where plug-ins may lie, beside the folder of launch; None: nowhere else.
    """

    folder: Path
    overrides: Sequence[str] = ()
    outputs: Path | None = None
    config_dir: Path | None = None


@dataclass(frozen=True)
class Stored:
    """A run, built again.

    Attributes:
        config: of which it was built, in plain values, secrets removed.
        overrides: what was given for it, secrets removed.
    """

    run: Run
    config: Mapping[str, Any]
    overrides: tuple[str, ...]


def build_stored(config: Mapping[str, Any], here: Here) -> Stored:
    """The run that a stored configuration describes.

    Args:
        config: resolved, of plain values, secrets removed, as `report.json` holds it; Hydra's own node is ignored.

    Raises:
        ConfigError: an override would change a number; a place is not there or a secret was removed, and none is given
            instead; a component is not here any more, or has other fields than it had. All faults are named.
    """
    plain = _completed({name: node for name, node in copy.deepcopy(dict(config)).items() if name != "hydra"})
    given = _Overrides(here.overrides)
    _choose_tracker(plain, given)
    if "plugins" in given.values:
        plain["plugins"] = given.values["plugins"]
    packages = _packages(plain, here)
    places = list(places_of(plain, Run, packages))
    given.apply(plain, places)
    _set_paths(plain, given, here)
    _restore_store(plain)
    builder = Builder(packages, here.folder)
    faults = [*given.faults, *_removed(plain), *_not_there(plain, places, here)]
    run = builder.build(Run, _with_places(plain))
    named = {fault.path for fault in faults}
    raise_for([*faults, *(fault for fault in builder.faults if fault.path not in named)], given.origin)
    return Stored(run, redact(plain), tuple(redact_override(override) for override in here.overrides))


def places_of(node: Any, kind: Any, packages: Collection[str], path: str = "") -> Iterator[str]:
    """Dotted names of the fields that say where something lies, in a configuration of plain values.

    Args:
        node: the configuration, or a part of it.
        kind: the dataclass that it fills, where it does not name one itself by `_target_`.
        packages: top packages whose components may be imported.
        path: dotted name of the part.
    """
    if isinstance(node, list):
        for number, entry in enumerate(node):
            yield from places_of(entry, None, packages, f"{path}[{number}]")
    if not isinstance(node, Mapping):
        return
    hints = _hints(node.get("_target_"), kind, packages)
    for name, value in node.items():
        inside = f"{path}.{name}" if path else str(name)
        if _is_place(hints.get(name)):
            yield inside
        else:
            yield from places_of(value, hints.get(name), packages, inside)


def _hints(target: object, kind: Any, packages: Collection[str]) -> dict[str, Any]:
    """Types of a component's fields; none for one that cannot be had, of which the builder speaks."""
    try:
        found = find_component(target, packages) if target else kind
        known = isinstance(found, type) and is_dataclass(found)
        return typing.get_type_hints(found, include_extras=True) if known else {}
    except (LookupError, NameError, TypeError):
        return {}


@dataclass
class _Overrides:
    """What was given on the command line: dotted name -> value; what is wrong with it goes to `faults`."""

    given: Sequence[str]
    values: dict[str, Any] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for text in self.given:
            name, sign, value = text.partition("=")
            if not sign or not name.replace(".", "").replace("_", "").isalnum():
                shown = redact_override(text)
                raise ConfigError(
                    f"found {shown!r}; wanted KEY=VALUE, such as dataset.root=/data or runtime.device=cpu"
                )
            self.values[name] = _value(value)
            self._texts[name] = value
            if is_secret(name):
                remember([value])

    def apply(self, plain: dict[str, Any], places: Collection[str]) -> None:
        """Puts the values in their places; one that would change a number, or has no place, is a fault."""
        for name, value in self.values.items():
            steps = name.split(".")
            parent = _parent(plain, steps)
            if name in places or steps[0] == "paths":
                value = value if value is None or isinstance(value, list) else self._texts[name].strip("\"'")
            elif steps[0] not in _GIVEN_HERE and not _restores(value, plain, steps):
                self.faults.append(Fault(name, f"may change what is measured; {_ways(places)}"))
                continue
            held = None if parent is None else parent.get(steps[-1])
            if isinstance(held, dict) and name != _TRACKING:
                known = ", ".join(f"{name}.{inside}" for inside in held if inside != "_target_")
                self.faults.append(Fault(name, f"holds other settings; give one of them: {known}"))
            elif parent is None:
                self.faults.append(Fault(name, "is unknown: the stored configuration has no such part"))
            elif (len(steps), steps[0]) != (1, _TRACKING):  # the choice of a tracker is made already
                parent[steps[-1]] = value

    def origin(self, path: str) -> str:
        """Where a value came from, for messages."""
        names = (path, path.replace("runtime.", "paths.", 1))  # a run has both kinds of settings in one place
        own = [text for text in self.given if path and text.partition("=")[0] in names]
        return f" [override {redact_override(own[-1])}]" if own else " [stored configuration]" if path else ""


def _value(text: str) -> Any:
    """A value as YAML reads it; what it cannot read is text."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _ways(places: Collection[str]) -> str:
    known = ", ".join([*sorted(places), *sorted(_GIVEN_HERE)])
    return f"that is another experiment, for `glyphrank run`; what may be given here is {known} and what they hold"


def _parent(plain: dict[str, Any], steps: Sequence[str]) -> dict[str, Any] | None:
    """The mapping in which the last of the steps is, or may be, a name; None where there is none."""
    node: Any = plain
    for step in steps[:-1]:
        node = node.get(step) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else None


def _restores(value: object, plain: dict[str, Any], steps: Sequence[str]) -> bool:
    """Whether a value stands for a secret that was removed, or is the stored one with the secrets that it had."""
    stored = (_parent(plain, steps) or {}).get(steps[-1])
    return REDACTED in str(stored) or (isinstance(value, str | list) and redact(value) == stored)


def _completed(plain: dict[str, Any]) -> dict[str, Any]:
    """Adds, as a run of today has it, what an older version did not know of how a run works."""
    ways = {way.name for way in fields(Runtime)} - {"outputs", "cache"}
    runtime = plain.get("runtime")
    if plain.keys() >= CHANGES_NO_NUMBER and isinstance(runtime, dict) and runtime.keys() >= ways:
        return plain
    today = plain_here([])
    for name in CHANGES_NO_NUMBER & today.keys():
        plain.setdefault(name, today[name])
    if isinstance(plain["runtime"], dict):
        plain["runtime"] = {**today["runtime"], **plain["runtime"]}
    return plain


def _choose_tracker(plain: dict[str, Any], given: _Overrides) -> None:
    """`tracking=none|local|server` takes that choice as it is here, with the stored experiment's name."""
    choice = given.values.get(_TRACKING)
    if _TRACKING not in given.values:
        return
    if not isinstance(choice, str):
        raise ConfigError(f"tracking: found {choice!r}, wanted none, local or server")
    stored = plain.get(_TRACKING)
    plain[_TRACKING] = plain_here([f"{_TRACKING}={choice}"])[_TRACKING]
    if isinstance(stored, dict) and isinstance(plain[_TRACKING], dict) and "experiment" in plain[_TRACKING]:
        plain[_TRACKING]["experiment"] = stored.get("experiment") or plain[_TRACKING]["experiment"]


def _restore_store(plain: dict[str, Any]) -> None:
    """The tracking URI with its credentials, which nothing stored holds, where the surroundings name the same store."""
    tracker, known = plain.get(_TRACKING), os.environ.get(_STORE)
    if known and isinstance(tracker, dict) and tracker.get("uri") == shown_uri(known):
        tracker["uri"] = known


def _packages(plain: Mapping[str, Any], here: Here) -> set[str]:
    """Packages whose components may be built; the folders of plug-ins become importable, last."""
    named = plain.get("plugins")
    plugins = {name for name in named if isinstance(name, str)} if isinstance(named, list) else set()
    if plugins:
        folders = [str(folder) for folder in (here.config_dir, here.folder) if folder is not None]
        sys.path += [folder for folder in folders if folder not in sys.path]
    return {"glyphrank", *plugins}


def _set_paths(plain: dict[str, Any], given: _Overrides, here: Here) -> None:
    """Where things go here: as given or set in the surroundings, else where the stored run had them, if they are here.

    A shared cache that the stored run used is used again; its entries name their content.
    """
    paths = plain["paths"] if isinstance(plain.get("paths"), dict) else {}
    said = here.outputs or os.environ.get("GLYPHRANK_OUTPUTS")
    if "paths.outputs" not in given.values and (said or not _is_ours(paths.get("outputs"), here)):
        paths["outputs"] = str(said or "outputs")
    if "paths.cache" not in given.values and not _is_ours(paths.get("cache"), here):
        paths["cache"] = str(Path(str(paths["outputs"])) / "cache")
    plain["paths"] = paths


def _is_ours(place: object, here: Here) -> bool:
    """Whether it is a folder here that can be written."""
    path = here.folder / Path(place).expanduser() if isinstance(place, str) and place.strip() else None
    return path is not None and path.is_dir() and os.access(path, os.W_OK)


def _removed(node: Any, path: str = "") -> list[Fault]:
    """A fault for every value that was a secret, or held one, and for which none was given."""
    if isinstance(node, Mapping):
        return [fault for name, value in node.items() for fault in _removed(value, f"{path}.{name}" if path else name)]
    if isinstance(node, list):
        return [fault for number, value in enumerate(node) for fault in _removed(value, f"{path}[{number}]")]
    if isinstance(node, str) and REDACTED in node:
        return [Fault(path, f"is {node!r}, for secrets are not stored; pass it as {path}=...")]
    return []


def _not_there(plain: dict[str, Any], places: Sequence[str], here: Here) -> list[Fault]:
    """A fault for every place at which nothing lies."""
    faults = []
    for name in places:
        steps = name.split(".")
        value = (_parent(plain, steps) or {}).get(steps[-1])
        for text in value if isinstance(value, list) else [value]:
            path = here.folder / Path(text).expanduser() if isinstance(text, str) and REDACTED not in text else None
            if path is not None and not path.exists():
                faults.append(Fault(name, f"there is no {path}; where it lies now is said by {name}=PATH"))
    return faults
