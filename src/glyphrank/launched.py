"""The files that a launch is made of, so that a cell built later, elsewhere, can tell whether they are still the same.

Launchers compose the config and import the sources anew in every worker, hours after the command was given.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from glyphrank.beside import named_files
from glyphrank.digests import digest_file
from glyphrank.errors import ConfigError
from glyphrank.walked import files_below
from glyphrank.whole_files import replace_whole

LAUNCHED = "launched.json"
"""In the launch's folder: which places were looked through, and size, time and digest of every file found there."""
_SHOWN = 5

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """A folder that is looked through to its last corner, or one file; hidden folders are left out.

    Attributes:
        path: absolute.
        suffixes: of the files that count.
    """

    path: Path
    suffixes: tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """What the cells of a sweep are composed of and run on.

    Attributes:
        conf: the folder of choices.
        overlays: further folders of choices (`--config-dir`, `hydra.searchpath`).
        groups: folders of choices in these; nothing else of them counts, as they may hold anything.
        config_name: of the file at the top.
        packages: name -> folders, or the file, of glyphrank itself and of every plug-in.
    """

    conf: Path
    overlays: tuple[Path, ...]
    groups: tuple[str, ...]
    config_name: str
    packages: Mapping[str, tuple[Path, ...]]

    def places(self) -> list[Place]:
        """Where the files lie.

        Raises:
            OSError: a plug-in of one module cannot be read.
        """
        yaml = (".yaml", ".yml")
        folders = [folder for folder in (self.conf, *self.overlays) if folder.is_dir()]
        choices = [Place(folder / group, yaml) for folder in folders for group in self.groups]
        tops = [Place(folder / f"{self.config_name}.yaml", yaml) for folder in folders]
        packages = [path for paths in self.packages.values() for path in paths]
        data = [Place(file, ()) for path in packages if path.is_file() for file in named_files(path)]
        return [*tops, *choices, *(Place(path, (".py",)) for path in packages), *data]


def found_package(name: str) -> tuple[Path, ...]:
    """The folders of a package, or the file of a module, found without importing it; empty where there is none."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return ()
    if spec is None:
        return ()
    folders = tuple(Path(place).absolute() for place in spec.submodule_search_locations or ())
    return folders or ((Path(spec.origin).absolute(),) if spec.origin and Path(spec.origin).is_file() else ())


def write_launched(folder: Path, places: Sequence[Place]) -> None:
    """Notes the files of all places in the folder of the launch.

    Raises:
        OSError: one of them cannot be read, or the folder cannot be written.
    """
    files = {path: [*_stamp(path), digest_file(Path(path))] for path in _files(places)}
    noted = {"places": [[str(place.path), *place.suffixes] for place in places], "files": files}
    text = json.dumps(noted, indent=1) + "\n"  # in ASCII, for names need not be UTF-8
    replace_whole(folder / LAUNCHED, lambda new: new.write_text(text, encoding="utf-8"), durable=False)


def changes(folder: Path) -> list[str]:
    """What has changed, been added or gone since the launch, a file a line; empty where nothing was noted.

    A file is read only where its size or time differs.
    """
    try:
        noted = json.loads((folder / LAUNCHED).read_text(encoding="utf-8"))
        places = [Place(Path(path), tuple(suffixes)) for path, *suffixes in noted["places"]]
        files = {name: (size, time, digest) for name, (size, time, digest) in noted["files"].items()}
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        logger.warning("%s cannot be read (%s); whether sources changed is not known", folder / LAUNCHED, error)
        return []
    here = set(_files(places))
    told = {path: "changed" for path in here & files.keys() if not _is_same(path, *files[path])}
    told |= dict.fromkeys(here - files.keys(), "added") | dict.fromkeys(files.keys() - here, "missing")
    return [f"{path} ({what})" for path, what in sorted(told.items())]


def check_unchanged(folder: Path) -> None:
    """Compares with the launch before a cell is built.

    Raises:
        ConfigError: a file differs; the message names some, counts all and says what to do.
    """
    found = changes(folder)
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        count = "1 file differs" if len(found) == 1 else f"{len(found)} files differ"
        raise ConfigError(
            f"{count} from the launch of this sweep: {', '.join(found[:_SHOWN])}{more}; start the sweep again (what is "
            f"finished is kept), with launch.snapshot=true where files are edited while it runs"
        )


def _files(places: Sequence[Place]) -> Iterator[str]:
    for place in places:
        yield from (path for path, _ in files_below(str(place.path), place.suffixes))


def _stamp(path: str) -> tuple[int, int]:
    status = os.stat(path)  # noqa: PTH116
    return status.st_size, status.st_mtime_ns


def _is_same(path: str, size: int, time: int, digest: str) -> bool:
    try:
        return _stamp(path) == (size, time) or digest_file(Path(path)) == digest
    except OSError:  # gone, or not to be read, meanwhile
        return False
