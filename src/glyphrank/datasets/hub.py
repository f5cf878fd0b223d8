"""Files of a published dataset: in a folder, in the hub's cache, or from the hub itself where that is allowed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from glyphrank.datasets.roots import readable_folder, readable_or_none
from glyphrank.errors import DataError
from glyphrank.repositories import check_repository, check_revision
from glyphrank.runtime import Runtime

_MOST_SHOWN = 8


@dataclass(frozen=True)
class Published:
    """A dataset on the hub, at one commit.

    Attributes:
        repository: its name, e.g. `SamsungSDS-Research/SDS-KoPub-VDR-Benchmark`.
        revision: the commit, 40 hexadecimal digits; a branch would change under the results.
        size: how much is to be fetched, for people, e.g. "21.9 GB"; None where nobody knows.
    """

    repository: str
    revision: str
    size: str | None = None

    def __post_init__(self) -> None:
        check_repository(self.repository)
        check_revision(self.revision)

    @property
    def name(self) -> str:
        """Repository and revision, for messages."""
        return f"{self.repository} at revision {self.revision}"


def find_files(root: Path | None, published: Published | None, names: Sequence[str], runtime: Runtime) -> Path:
    """The folder that holds the files of a dataset: `root`, else the hub's cache, else what is fetched into it.

    Args:
        root: a folder of one's own; where it is given, nothing else is looked at.
        published: the dataset on the hub; without it a root must be given.
        names: the files that are needed, as patterns of the shell; a file at any depth counts (`fitting`). Nothing else
            is fetched.

    Raises:
        DataError: files are missing, or cannot be fetched. The message says which, and how to get them.
    """
    if root is not None:
        folder = readable_folder(root)
        missing = _missing(folder, names)
        if missing:
            raise DataError(f"{folder}: {_lacks(folder, missing)}{_advice(published, folder)}")
        return folder
    if published is None:
        raise DataError("neither a folder nor a repository is given; set dataset.root or dataset.repository")
    cached = _in_cache(published)
    if cached is not None and not _missing(cached, names):
        return cached
    if not runtime.download:
        raise DataError(f"{_absent(published, cached, names)}, and the network is not asked{_advice(published, None)}")
    fetched = _fetch(published, names)
    missing = _missing(fetched, names)
    if missing:
        raise DataError(f"{published.name}: {_lacks(fetched, missing)}; is the revision right?")
    return fetched


def place_of(root: Path | None, published: Published | None) -> Path | None:
    """The folder in which `find_files` looks, as it is now; None where nothing is there that could be found again.

    Neither a message nor the network is asked for: where this is None, `find_files` says why, or fetches the files.
    """
    if root is not None:
        return readable_or_none(root)
    return None if published is None else _in_cache(published)


def one_file(folder: Path, name: str) -> Path:
    """The file of a name: the one at the top of a folder, else the only one below it.

    Raises:
        DataError: there is none, or there are several.
    """
    if is_file(folder / name):
        return folder / name
    found = [path for path in files_below(folder) if path.name == name]
    if len(found) == 1:
        return found[0]
    if not found:
        raise DataError(f"{folder}: there is no file {name}, nor is there below it")
    places = _listed([path.relative_to(folder).as_posix() for path in found])
    raise DataError(
        f"{folder}: {name} is there {len(found)} times ({places}); keep one, or set dataset.root to its folder"
    )


def fitting(folder: Path, name: str) -> list[Path]:
    """The files below a folder that a pattern names: by their path below it, or by the end of that; sorted.

    `corpus/*.parquet` fits `corpus/a.parquet` and `data/corpus/a.parquet`; `*` stands for any signs, `/` among them.
    """
    return [path for path in files_below(folder) if _fits(path.relative_to(folder).as_posix(), name)]


def files_below(folder: Path) -> list[Path]:
    """All files below a folder, sorted by their path; hidden ones, where the hub's tools keep notes, are left out.

    Links to files and folders are followed, each folder is visited once. A folder that cannot be listed has no files.
    """
    seen: set[tuple[int, int]] = set()
    found: list[Path] = []
    folders: list[Path] = [folder]
    linked: list[Path] = []
    while folders or linked:
        place = (folders or linked).pop(0)  # links last, so that a folder is found under its own name
        try:
            state = place.stat()
            if (state.st_dev, state.st_ino) in seen:
                continue
            seen.add((state.st_dev, state.st_ino))
            entries = [entry for entry in sorted(place.iterdir()) if not entry.name.startswith(".")]
        except OSError:
            continue
        for entry in entries:
            if is_file(entry):
                found.append(entry)
            elif _is_folder(entry):
                (linked if entry.is_symlink() else folders).append(entry)
    return sorted(found, key=lambda path: path.as_posix())


def is_file(path: Path) -> bool:
    """Whether a file stands at a path; False where that cannot be told."""
    try:
        return path.is_file()
    except OSError:  # no permission, a name too long
        return False


def _fits(path: str, name: str) -> bool:
    return fnmatchcase(path, name) or fnmatchcase(path, f"*/{name}")


def _missing(folder: Path, names: Sequence[str]) -> list[str]:
    """The names for which there is no file."""
    if all(is_file(folder / name) for name in names):
        return []
    paths = [path.relative_to(folder).as_posix() for path in files_below(folder)]
    return [name for name in names if not any(_fits(path, name) for path in paths)]


def _absent(published: Published, cached: Path | None, names: Sequence[str]) -> str:
    """Which files are not on this machine, or not among those that the cache holds, as the beginning of a sentence."""
    if cached is None:
        size = f" ({published.size})" if published.size else ""
        return f"the files {', '.join(names)}{size} of {published.name} are not on this machine"
    missing = _missing(cached, names)
    files, verb = ("file", "is") if len(missing) == 1 else ("files", "are")
    return f"the {files} {', '.join(missing)} of {published.name} {verb} not in the hub's cache {cached}"


def _lacks(folder: Path, missing: Sequence[str]) -> str:
    there = [path.relative_to(folder).as_posix() for path in files_below(folder)]
    return f"there is no {' and no '.join(missing)}, neither here nor below (found: {_listed(there) or 'no file'})"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more


def _advice(published: Published | None, folder: Path | None) -> str:
    """How to get the files, as the end of a sentence; into a folder where one was given."""
    if published is None:
        return "; check dataset.root"
    command = f"hf download {published.repository} --repo-type dataset --revision {published.revision} --local-dir"
    if folder is None:
        return (
            f".\n  Set runtime.download=true, or\n  run `{command} DIR` where there is a network, "
            "and set dataset.root to that folder"
        )
    size = f" ({published.size})" if published.size else ""
    return f".\n  Wanted are the files of {published.name}{size}; run\n  `{command} {shlex.quote(str(folder))}`"


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _in_cache(published: Published) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(
            snapshot_download(
                published.repository, repo_type="dataset", revision=published.revision, local_files_only=True
            )
        )
    except LocalEntryNotFoundError:
        return None


def _fetch(published: Published, names: Sequence[str]) -> Path:
    from huggingface_hub import snapshot_download

    wanted = [pattern for name in names for pattern in (name, f"*/{name}")]
    try:
        return Path(
            snapshot_download(
                published.repository, repo_type="dataset", revision=published.revision, allow_patterns=wanted
            )
        )
    except Exception as error:  # the client raises errors of its own and of two network libraries
        raise DataError(
            f"{published.name} cannot be fetched ({type(error).__name__}: {error}); "
            "is there a network, and may this account read the repository?"
        ) from error
