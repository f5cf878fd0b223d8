"""`environment.json`: what a run ran on, so that another person can tell why numbers come out otherwise elsewhere.

Nothing is imported for it: versions are read from the installed packages' own notes, and of torch only what it has
loaded already is told. It names no person, no host and no folder.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import glyphrank
from glyphrank.devices import choose_device
from glyphrank.errors import ConfigError
from glyphrank.sources import digest_held
from glyphrank.versions import installed_version
from glyphrank.whole_files import replace_whole

ENVIRONMENT = "environment.json"

_PACKAGE = Path(glyphrank.__file__).parent
_ALWAYS = (
    *("bm25s", "decord", "easyocr", "faiss-cpu", "kiwipiepy", "kiwipiepy_model", "numpy", "open-clip-torch"),
    *("opencv-python-headless", "pillow", "pyarrow", "pypdfium2", "scipy", "sentence-transformers", "timm"),
    *("tokenizers", "torch", "torchvision", "transformers"),
)
"""Packages that decide numbers, told also where the notes on what glyphrank needs are older than it or not there."""
_NOT_OF_RUNS = "dev"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_GIT_SECONDS = 3

logger = logging.getLogger(__name__)


def write_environment(folder: Path, device: str | None, used: object = None) -> Path:
    """Writes `environment.json` into a run's folder and returns its path.

    Args:
        device: where the models ran; None where nobody knows.
        used: a dataclass, such as the run, whose components' packages are told as well.

    Raises:
        OSError: the file cannot be written.
    """
    path = folder / ENVIRONMENT
    text = json.dumps(environment(device, used), ensure_ascii=False, indent=2) + "\n"
    replace_whole(path, partial(_write, text=text), durable=False)
    return path


def keep_environment(result: Path, folder: Path, device: str, used: object, reused: bool) -> None:
    """Puts into a run's folder what its numbers were measured on; one that cannot be written costs a line of the log.

    Args:
        result: folder of the stored result, which keeps it for runs that take the result later.
        folder: of the run.
        device: where its models ran, as `runtime.device` says.
        used: the run.
        reused: whether the numbers come from the stored result.
    """
    try:
        if not reused:
            write_environment(result, device, used)
        if read_environment(result) is None:  # of an older version, or torn by a power cut: nobody knows any more
            (folder / ENVIRONMENT).unlink(missing_ok=True)  # of an earlier run, which would pass for this one's
        else:
            replace_whole(folder / ENVIRONMENT, partial(shutil.copyfile, result / ENVIRONMENT), durable=False)
    except (OSError, ConfigError) as error:
        logger.warning("%s cannot be written (%s)", folder / ENVIRONMENT, error)


def environment(device: str | None = None, used: object = None) -> dict[str, Any]:
    """The environment of this process as plain values; what cannot be found out is None. Arguments as above."""
    return {
        "glyphrank": {"version": glyphrank.__version__, "sources": _sources(), "commit": _commit()},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": {"model": _cpu_model(), "cores": _cores()},
        **_of_torch(device),
        "threads": {name: os.environ[name] for name in _THREADS if name in os.environ},
        "blas": _blas(),
        "packages": {**_own_packages(), **_versions(sorted(set(packages_of(used))))},
    }


def read_environment(folder: Path) -> dict[str, Any] | None:
    """What `write_environment` wrote; None where it is not there or cannot be read, as of older runs."""
    try:
        found = json.loads((folder / ENVIRONMENT).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def packages_of(component: object) -> Iterator[str]:
    """Names of the packages that a component and the components in its fields say they depend on; may repeat."""
    if isinstance(component, Mapping):
        component = tuple(component.values())
    if isinstance(component, tuple | list):
        for entry in component:
            yield from packages_of(entry)
    if is_dataclass(component) and not isinstance(component, type):
        yield from getattr(type(component), "PACKAGES", ())
        for field in fields(component):
            yield from packages_of(getattr(component, field.name))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@cache
def _own_packages() -> dict[str, str]:
    """Installed version of everything that glyphrank needs, or can make use of, to run."""
    try:
        required = importlib.metadata.requires("glyphrank") or []
    except importlib.metadata.PackageNotFoundError:  # it runs from sources that nobody installed
        required = []
    names = [found[0] for line in required if _NOT_OF_RUNS not in line and (found := re.match(r"[\w.-]+", line))]
    return _versions(sorted({*names, *_ALWAYS}))


def _versions(names: Iterable[str]) -> dict[str, str]:
    """Name -> version of those that are installed."""
    return {name: version for name in names if (version := installed_version(name)) is not None}


@cache
def _sources() -> str:
    return digest_held({"glyphrank"})


@cache
def _commit() -> str | None:
    """Commit of the checkout that glyphrank runs from; None for an installed one."""
    if not (_PACKAGE.parents[1] / ".git").exists():
        return None
    command = ["git", "-C", str(_PACKAGE), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_GIT_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


@cache
def _cpu_model() -> str | None:
    """The processor's name; Linux tells it in a file only."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, None) or platform.processor() or platform.machine() or None


def _cores() -> int | None:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@cache
def _blas() -> str | None:
    """The library of matrix products that numpy was built with."""
    try:
        found = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{found['name']} {found['version']}"
    except (KeyError, TypeError):
        return None


def _of_torch(device: str | None) -> dict[str, Any]:
    """The device that is meant, torch's GPUs where it has used any, and its threads; None where it is not loaded."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        known = None if device == "auto" else device  # nothing has chosen one
        return {"device": known, "gpus": None, "cuda": None, "torch_threads": None}
    gpus = []
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # asking would start a context of its own
        gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return {
        "device": device and choose_device(device),
        "gpus": gpus,
        "cuda": torch.version.cuda,
        "torch_threads": torch.get_num_threads(),
    }
