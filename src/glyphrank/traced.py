"""What a run's identity was taken of, so that its stages, and what they made, can be held to it until the end.

Weights, word lists and sources may be replaced while a run works: what is made with others must not be kept under the
identity that was taken before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from glyphrank.digests import digest_json
from glyphrank.errors import DataError
from glyphrank.identity import FileDigests, recipe
from glyphrank.run import Run
from glyphrank.sight import looks_recipe
from glyphrank.sources import changed_sources

_expected: ContextVar[frozenset[str] | None] = ContextVar("expected", default=None)
"""Digests of the recipes of all components of the run that works, nested ones too; None where no run does."""


def recipes_of(run: Run) -> dict[str, dict[str, object]]:
    """Stage -> the recipe of its component, for all stages of a run that can change its numbers but the dataset."""
    dense = run.visual or run.text
    stages: dict[str, object] = {
        "ocr": run.ocr if run.reads else None,
        "transcript": run.transcript if run.reads else None,
        **{name: getattr(run, name) for name in run.channels},
        "index": run.index if dense else None,
        "fusion": run.fusion if len(run.channels) > 1 else None,
        "metrics": run.metrics,
    }
    files = FileDigests(run.runtime.cache / "files")
    found = {name: recipe(component, files) for name, component in stages.items() if component is not None}
    return {**found, "frames": looks_recipe(run.frames, files)} if run.sees else found


def check_traced(run: Run, lineage: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """Whether the components of a run, and the sources of its plug-ins, still are those of its lineage.

    Returns:
        the recipes of which the lineage was taken.

    Raises:
        DataError: one is not.
    """
    check_sources(run.plugins)
    found = recipes_of(run)
    for name, what in found.items():
        if digest_json(what) != lineage.get(name):
            raise _changed(name)
    return found


@contextmanager
def held_to(run: Run, lineage: Mapping[str, str]) -> Iterator[None]:
    """A context in which stages work on nothing but the components of a lineage, see `check_stage`."""
    recipes = check_traced(run, lineage)
    before = _expected.set(frozenset(map(digest_json, _components(recipes))))
    try:
        yield
    finally:
        _expected.reset(before)


def check_stage(name: str, what: Mapping[str, object]) -> None:
    """Whether the components in the recipe of a stage are those of the run that works.

    Raises:
        DataError: one is not.
    """
    expected = _expected.get()
    if expected is not None and any(digest_json(component) not in expected for component in _components(what)):
        raise _changed(name)


def check_sources(packages: Iterable[str]) -> None:
    """Whether the files of packages are the code that this process runs.

    Raises:
        DataError: they were edited, and what is made now must not pass for the work of either.
    """
    changed = changed_sources(packages)
    if changed:
        raise DataError(
            f"the sources of {', '.join(changed)} changed while it ran; what was made then is not kept; start again"
        )


def check_sources_of(what: Mapping[str, object]) -> None:
    """As `check_sources`, for the plug-ins whose components stand in a recipe."""
    packages = {str(component["class"]).partition(".")[0] for component in _components(what)}
    check_sources(packages - {"glyphrank"})


def _changed(name: str) -> DataError:
    return DataError(
        f"{name}: a file that the component runs on changed after the run began; what was made with it is not kept. "
        "Run again when nothing writes there any more"
    )


def _components(what: object) -> Iterator[Mapping[str, object]]:
    """The recipes of components within plain values, at any depth."""
    if isinstance(what, Mapping):
        if {"class", "fields"} <= what.keys():
            yield what
        for value in what.values():
            yield from _components(value)
    elif isinstance(what, Sequence) and not isinstance(what, str):
        for value in what:
            yield from _components(value)
