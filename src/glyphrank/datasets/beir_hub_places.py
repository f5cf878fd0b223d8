"""Where the files of a repository lie, and which of them make the dataset: nothing else is fetched."""

from __future__ import annotations

import glob
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from glyphrank.datasets.beir_hub_choice import FORMATS, Tables, choose
from glyphrank.datasets.beir_hub_names import CARD
from glyphrank.datasets.hub import Published, files_below, find_files
from glyphrank.errors import DataError
from glyphrank.runtime import Runtime

_LIKELY = (CARD, "*corpus*", "*queries*", "*qrels*")
"""What a repository that nobody has seen probably holds, for messages."""


@dataclass(frozen=True)
class Place:
    """A dataset on this machine.

    Attributes:
        name: of the dataset, for reports.
        folder: the repository's files.
        tables: those that make the dataset, relative to the folder.
    """

    name: str
    folder: Path
    tables: Tables


def find_place(
    root: Path | None, published: Published | None, split: str, subset: str | None, runtime: Runtime
) -> Place:
    """The tables of a split and subset: in a folder of one's own, in the hub's cache, or fetched into it.

    Raises:
        DataError: files are missing, ambiguous, or cannot be fetched. The message says which, and how to get them.
    """
    if root is not None or published is None:
        folder = find_files(root, published, (), runtime)
        return _place(folder.name, folder, _tables_in(folder, split, subset))
    name = published.repository.rpartition("/")[2]
    cached = _cached(published, runtime)
    try:
        if cached is not None:
            return _place(name, cached, _tables_in(cached, split, subset))
    except DataError as error:
        if not runtime.download:
            advice = _advice(published)
            raise DataError(f"{error}\n  {advice}", (*error.faults, advice)) from error
    if not runtime.download:
        find_files(None, published, _LIKELY, runtime)  # says how to get them
    names, card = _on_hub(published, runtime)
    tables = choose(names, card, split, subset, published.name)
    wanted = [glob.escape(file) for file in tables.files]
    return _place(name, find_files(None, published, wanted, runtime), tables)


def may_be_read(name: str) -> bool:
    """Whether a file of this name may be a table or the card."""
    return name == CARD or PurePosixPath(name).suffix in FORMATS


def _place(name: str, folder: Path, tables: Tables) -> Place:
    return Place(f"{name}-{tables.subset}" if tables.subset else name, folder, tables)


def _tables_in(folder: Path, split: str, subset: str | None) -> Tables:
    names = [path.relative_to(folder).as_posix() for path in files_below(folder)]
    return choose(names, _text(folder / CARD), split, subset, str(folder))


def _text(card: Path) -> str:
    try:
        return card.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _cached(published: Published, runtime: Runtime) -> Path | None:
    """What the hub's cache holds of the repository, perhaps not all of it; None where that is nothing."""
    try:
        return find_files(None, published, (), replace(runtime, download=False))
    except DataError:
        return None


def _advice(published: Published) -> str:
    command = f"hf download {published.repository} --repo-type dataset --revision {published.revision} --local-dir DIR"
    return f"Set runtime.download=true, or run `{command}` and set dataset.root to that folder"


def _on_hub(published: Published, runtime: Runtime) -> tuple[list[str], str]:
    """The names of all files of a repository, and the text of its card."""
    from huggingface_hub import HfApi

    try:
        names = HfApi().list_repo_files(published.repository, revision=published.revision, repo_type="dataset")
    except Exception as error:  # the client raises errors of its own and of two network libraries
        raise DataError(
            f"{published.name} cannot be listed ({type(error).__name__}: {error}); "
            "is there a network, and may this account read the repository?"
        ) from error
    return list(names), _text(find_files(None, published, (CARD,), runtime) / CARD) if CARD in names else ""
