"""A sweep that runs from a copy of its configs and sources, so that these may be edited while it waits and runs.

The copy lies in the sweep's folder in the form of an installed package: the process starts itself again with that in
front of all other places where Python looks for modules, and so do the workers, which inherit its environment.
"""

from __future__ import annotations

import filecmp
import json
import logging
import os
import secrets
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from glyphrank.beside import LIMIT, files_beside, named_files
from glyphrank.composition import LAUNCH
from glyphrank.errors import ConfigError
from glyphrank.launched import LAUNCHED, Sources, changes, write_launched
from glyphrank.walked import files_below

SNAPSHOT = "snapshot"
"""The copy's name in a sweep's folder; in it `sources` and, for every overlay, `overlays/<number>`."""
STARTED = "GLYPHRANK_SNAPSHOT"
"""Variable that tells the process started again which copy it is to run from."""
_SHOWN = 5


logger = logging.getLogger("glyphrank")


@dataclass
class Restart(BaseException):
    """Asks for the process to be replaced by one that runs from the snapshot; passes whatever catches exceptions."""

    command: Sequence[str]
    environment: Mapping[str, str]

    def go(self) -> NoReturn:
        """Replaces the process; open files of this one are closed."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.execve(self.command[0], list(self.command), dict(self.environment))  # noqa: S606 - there is no shell to speak of


def runs_from_snapshot(sweep: Path) -> bool:
    """Whether this process is the one that was started again for a sweep.

    Raises:
        ConfigError: it was, and Python found glyphrank elsewhere all the same.
    """
    own, copy = Path(__file__).resolve(), (sweep / SNAPSHOT).resolve()
    if own.is_relative_to(copy):
        return True
    if os.environ.get(STARTED) == str(copy):
        raise ConfigError(f"glyphrank was found in {own.parent}, not in its snapshot {copy}; use launch.snapshot=false")
    return False


def make_snapshot(sweep: Path, sources: Sources) -> None:
    """Copies configs and sources into the sweep's folder, whole or not at all; a copy that is there stays as it is.

    Raises:
        ConfigError: they cannot be copied.
    """
    final = sweep / SNAPSHOT
    if final.is_dir():
        _tell_of_changes(final)
        return
    copy = sweep / f".{SNAPSHOT}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        for name, places in sources.packages.items():
            for place in places:
                _copy_package(place, copy / "sources", name)
        shutil.rmtree(copy / "sources" / "glyphrank" / "conf", ignore_errors=True)
        _copy_below(sources.conf, copy / "sources" / "glyphrank" / "conf")
        for number, overlay in enumerate(sources.overlays):
            _copy_overlay(overlay, copy / "overlays" / str(number), sources)
        write_launched(copy, sources.places())
        copy.rename(final)
    except (OSError, shutil.Error) as error:
        with suppress(OSError):
            shutil.rmtree(copy)
        raise ConfigError(f"the snapshot {final} cannot be made: {error}; use launch.snapshot=false") from error


def restart(sweep: Path, launch: str, sources: Sources, searched: Sequence[str], overrides: Sequence[str]) -> Restart:
    """The command and environment of the same sweep, run from its snapshot.

    Args:
        sweep: absolute.
        launch: the name that the launch keeps.
        sources: of which the snapshot was made.
        searched: entries of Hydra's search path that were given with `hydra.searchpath`, as URLs.
        overrides: all that were given, of Hydra's own config too.
    """
    copy = sweep.resolve() / SNAPSHOT
    copied = {f"file://{overlay}": str(copy / "overlays" / str(at)) for at, overlay in enumerate(sources.overlays)}
    options = ["-m", "--config-name", sources.config_name]
    options += ["--config-path", str(copy / "sources" / "glyphrank" / "conf")]
    for given in (url for url in copied if url not in searched):  # with --config-dir, at most one
        options += ["--config-dir", copied[given]]
    places = [f"hydra.sweep.dir={_quoted(str(sweep))}"]
    if searched:
        entries = (f"file://{copied[url]}" if url in copied else url for url in searched)
        places.append(f"hydra.searchpath=[{','.join(map(_quoted, entries))}]")
    before = os.environ.get("PYTHONPATH")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / "sources"), *([before] if before else [])]),
        "PYTHONSAFEPATH": "1",  # a folder of launch that holds a package `glyphrank` would come first
        STARTED: str(copy),
        LAUNCH: launch,
    }
    return Restart([sys.executable, "-m", "glyphrank", "run", *options, *overrides, *places], environment)


def _tell_of_changes(snapshot: Path) -> None:
    """One warning where the files that were copied differ by now."""
    differ = changes(snapshot)
    if differ:
        taken = datetime.fromtimestamp((snapshot / LAUNCHED).stat().st_mtime).astimezone()
        more = f" and {len(differ) - _SHOWN} more" if len(differ) > _SHOWN else ""
        count = "1 file differs" if len(differ) == 1 else f"{len(differ)} files differ"
        logger.warning(
            "the sweep runs from the snapshot of %s in %s; %s since: %s%s; remove %s to take the new ones",
            *(f"{taken:%Y-%m-%d %H:%M}", snapshot.parent, count, ", ".join(differ[:_SHOWN]), more, snapshot),
        )


def _copy_below(folder: Path, target: Path) -> None:
    """All that `files_below` finds, with what links lead to; a file that is there stays, as Python takes the first.

    Raises:
        OSError: there is no such folder, or a file cannot be copied.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"no such folder: '{folder}'")
    target.mkdir(parents=True, exist_ok=True)
    for path, _ in files_below(str(folder)):
        copy = target / os.path.relpath(path, folder)
        if not path.endswith(".pyc") and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)


def _copy_package(place: Path, target: Path, name: str) -> None:
    if place.is_dir():
        _copy_below(place, target / name)
    else:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy2(place, target / place.name)
        _copy_beside(place, target)


def _copy_beside(module: Path, target: Path) -> None:
    """The files that a module may read where it lies; of two modules' with one name, neither may get the other's.

    Raises:
        shutil.Error: both are named by their modules, and differ.
    """
    named = named_files(module)
    files, left = files_beside(module)
    for path in named:
        copy = target / path.name
        if copy.exists() and not filecmp.cmp(path, copy, shallow=False):
            raise shutil.Error(f"another plug-in has a {path.name} as well, and they differ")
        shutil.copy2(path, copy)
    for path in (path for path in files if not (target / path.name).exists()):
        with suppress(OSError):  # it may be read or not: the module does not name it
            shutil.copy2(path, target / path.name)
    if left:
        logger.warning(
            "%s: %s beside it not copied; the snapshot takes %d MB of them, the smallest first",
            *(module, "1 file" if left == 1 else f"{left} files", LIMIT // 1_000_000),
        )


def _copy_overlay(overlay: Path, target: Path, sources: Sources) -> None:
    """The choices of an overlay, and modules beside them, which plug-ins may import; nothing else that it may hold."""
    target.mkdir(parents=True)
    for path in sorted(path for path in overlay.iterdir() if not path.name.startswith(".")):
        if path.name in sources.groups or (path / "__init__.py").is_file():
            _copy_below(path, target / path.name)
        elif path.is_file() and (path.suffix == ".py" or path.name == f"{sources.config_name}.yaml"):
            shutil.copy2(path, target / path.name)


def _quoted(text: str) -> str:
    """A text in Hydra's grammar; JSON's quoting is its own but for the backslash, which only hides a quote there."""
    return json.dumps(text, ensure_ascii=False).replace("\\\\", "\\")
