"""What a run is made of, and what it ran on, that is otherwise now than it was."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from glyphrank.outcome import Report
from glyphrank.redaction import REDACTED

_DIGEST = 12
_MOST_SHOWN = 8
_NOT_OF_COMPONENTS = ("dataset", "sources")
_WAYS = ("device", "batch_size")
_HARDWARE = ("python", "platform", "cpu", "device", "gpus", "cuda", "torch_threads", "threads", "blas")

Environment = Mapping[str, Any]
"""As `environment.json` has it; empty where nobody knows."""


def differing_content(
    then: Report,
    lineage: Mapping[str, str],
    packages: Mapping[str, Collection[str]],
    old: Environment,
    new: Environment,
) -> list[str]:
    """What goes into the numbers and is otherwise now: code, data, components with their weights, packages.

    Args:
        lineage: stage -> fingerprint or key, now.
        packages: stage -> packages that are part of its key.
        old, new: environments of then (empty where the run left none) and now.
    """
    told = []
    if then.lineage.get("sources") != lineage.get("sources"):
        told.append(f"code: {_code(old, new)}")
    if then.lineage.get("dataset") != lineage.get("dataset"):
        told.append(f"data: {_changed(then.lineage.get('dataset'), lineage.get('dataset'))}")
    changed = _changed_packages(old, new)
    explained: set[str] = set()
    for stage in dict.fromkeys([*then.lineage, *lineage]):
        if stage not in _NOT_OF_COMPONENTS and then.lineage.get(stage) != lineage.get(stage):
            own = sorted(set(packages.get(stage, ())) & changed.keys())
            explained |= set(own)
            why = ", ".join(f"{name} {changed[name]}" for name in own) or _unexplained(
                old, list(_may_hide(then.config.get(stage), stage))
            )
            told.append(f"{stage}: {_changed(then.lineage.get(stage), lineage.get(stage))}; {why}")
    rest = [f"{name} {how}" for name, how in changed.items() if name not in explained]
    if rest:
        more = [f"{len(rest) - _MOST_SHOWN} more"] if len(rest) > _MOST_SHOWN else []
        told.append(f"packages: {', '.join([*rest[:_MOST_SHOWN], *more])}")
    if not old:
        told.append("packages and hardware of then are not known: the run left no record of its environment")
    return told


def differing_hardware(old: Environment, new: Environment) -> list[str]:
    """On what it ran and runs; what only one of the environments knows is left out."""
    return [
        f"{name.replace('_', ' ')}: {_shown(old[name])} then, {_shown(new[name])} now"
        for name in _HARDWARE
        if old.get(name) is not None and new.get(name) is not None and old[name] != new[name]
    ]


def differing_ways(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """How the configurations have the models work, where that may change last bits."""
    was, now = (config.get("runtime") or {} for config in (old, new))
    return [
        f"runtime.{name}: {was.get(name)} then, {now.get(name)} now" for name in _WAYS if was.get(name) != now.get(name)
    ]


def _code(old: Environment, new: Environment) -> str:
    was, now = old.get("glyphrank") or {}, new.get("glyphrank") or {}
    if was.get("sources") == now.get("sources") and was:
        return "the sources of a plug-in have changed; glyphrank's own have not"
    commits = _changed(was.get("commit"), now.get("commit"))
    return f"the sources have changed (commit {commits})" if was.get("commit") else "the sources have changed"


def _changed(then: object, now: object) -> str:
    old, new = (str(value)[:_DIGEST] if value else "none" for value in (then, now))
    return f"{old} then, {new} now"


def _changed_packages(old: Environment, new: Environment) -> dict[str, str]:
    """Package -> how its version has changed, where both environments or one of them have it."""
    was, now = old.get("packages") or {}, new.get("packages") or {}
    if not was:
        return {}
    differ = [name for name in sorted({*was, *now}) if was.get(name) != now.get(name)]
    return {name: f"{was.get(name, 'absent')} then, {now.get(name, 'absent')} now" for name in differ}


def _unexplained(old: Environment, hiding: Sequence[str]) -> str:
    """Why a component is another though nothing is known to have changed.

    Args:
        hiding: its fields that may have held a secret.
    """
    if hiding:
        spared = "no package that is known" if not old else "none of its packages"
        return (
            f"{spared} has changed; {', '.join(hiding)} may have held another secret then, for secrets are not stored, "
            "and that may be why, or else its files (weights) or its code"
        )
    if not old:
        return "a package of it, its files (weights) or its code"
    return "none of its packages has changed, so its files (weights) or its code have"


def _may_hide(node: object, path: str) -> Iterator[str]:
    """Dotted names of a stored configuration's texts from which a secret was taken, or a URL's user-info may have been.

    What a URL lost, unlike other secrets, leaves no trace.
    """
    if isinstance(node, Mapping):
        for name, entry in node.items():
            yield from _may_hide(entry, f"{path}.{name}")
    elif isinstance(node, list):
        for number, entry in enumerate(node):
            yield from _may_hide(entry, f"{path}[{number}]")
    elif isinstance(node, str) and (REDACTED in node or "://" in node):
        yield path


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {entry}" for name, entry in value.items()) or "none"
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)
