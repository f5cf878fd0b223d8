"""A process that has imported what commands are slow to import, and forks a child that becomes each command.

It is started by `warm_parent`. For every request a child supervises the command, which is a child of its own with one
thread and an untouched interpreter; a command that replaces its process by a new one, as a sweep does that runs from
its snapshot, gets another. The sources of glyphrank itself are imported by each command anew.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import runpy
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

LIGHT = (
    *("hydra", "hydra.main", "hydra.core.plugins", "omegaconf", "yaml", "numpy", "pandas", "scipy.stats", "filelock"),
    *("rich.console", "rich.progress", "rich.table", "jinja2", "matplotlib.figure", "matplotlib.backends.backend_agg"),
    *("PIL.Image", "cv2", "decord", "pypdfium2", "pyarrow.parquet", "bm25s", "joblib", "submitit", "optuna"),
)
"""Loaded from the start; none of them loads torch."""
HEAVY = ("torch", "torchvision", "transformers", "sentence_transformers", "open_clip", "easyocr")
"""Seem not to be loaded until one of them is imported, for a run tells of the torch that it has loaded."""
FREE = (
    "GLYPHRANK_",
    "MLFLOW_TRACKING_",
    "MLFLOW_HTTP_",
    "PYTEST_",
    "SLOW_PARTS_",
    "SLURM_CONF",
    "COLUMNS",
    "HYDRA_FULL_ERROR",
)
"""Beginnings of the names of variables that nothing reads when it is imported."""
_PATH, _SAFE_PATH = "PYTHONPATH", "PYTHONSAFEPATH"


@dataclass(frozen=True)
class Request:
    """A command.

    Attributes:
        arguments: what follows `python -m glyphrank`.
        cwd: where it runs.
        env: all of its environment.
        keeps_number: whether it stays the process that it is where it replaces itself.
    """

    arguments: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    keeps_number: bool


def is_usual(usual: Mapping[str, str], env: Mapping[str, str], more: Sequence[str] = ()) -> bool:
    """Whether environments differ in nothing but variables that nothing reads when it is imported, and `more`."""
    differing = {name for name in usual.keys() | env.keys() if usual.get(name) != env.get(name)}
    return all(name.startswith(FREE) or name in more for name in differing)


def serve(requests: socket.socket) -> Request | None:
    """Forks a supervisor for every request; returns in the processes that are to become a command, and at the end."""
    usual = dict(os.environ)
    _import()
    gc.collect()
    gc.freeze()  # else the collector would write on, and so copy, every page
    while True:
        _, files, _, _ = socket.recv_fds(requests, 1, 3)
        _bury()
        if not files:
            return None
        if os.fork() == 0:
            requests.close()
            return _supervise(files, usual)
        for file in files:
            os.close(file)


def _bury() -> None:
    """Takes note of supervisors that have ended, whose time counts as that of this process's children then."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def become(request: Request) -> None:
    """Runs the command as `python -m glyphrank` does; its exit code or exception is that of this process."""
    paths = [*([] if request.env.get(_SAFE_PATH) else [request.cwd]), *_of_variable(request.env)]
    sys.path[:] = [*dict.fromkeys(paths), *(path for path in sys.path if path not in paths)]
    sys.argv = ["-m", *request.arguments]
    importlib.invalidate_caches()
    try:
        runpy.run_module("glyphrank", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if not isinstance(ended.code, int):
            raise
        _leave(ended.code)


def _leave(code: int) -> NoReturn:
    """Ends as an interpreter does, but that it does not take apart its modules, which would copy all of their pages."""
    # Ends pools of threads and waits for threads, as an interpreter does first; nothing public asks for that.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _of_variable(env: Mapping[str, str]) -> list[str]:
    return [str(Path(place).absolute()) for place in env.get(_PATH, "").split(os.pathsep) if place]


def _import() -> None:
    """Loads everything, as far as it is installed, and takes out of sight what shall not seem to be loaded."""
    own = [str(Path(__file__).parent), *_of_variable(os.environ)]
    for name in LIGHT:
        with suppress(ImportError):
            importlib.import_module(name)
    _import_mlflow()
    if "torch" in sys.modules:
        raise RuntimeError("one of LIGHT imports torch; it belongs to HEAVY")
    for name in HEAVY:
        with suppress(ImportError):
            importlib.import_module(name)
    hidden = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in HEAVY}
    for name in hidden:
        del sys.modules[name]
    sys.meta_path.insert(0, _Hidden(hidden))
    sys.path[:] = [path for path in sys.path if path not in own]


def _import_mlflow() -> None:
    """As glyphrank does it, which also quiets its loggers; glyphrank itself is forgotten."""
    from glyphrank.tracking.client import load_client

    before = dict(os.environ)
    load_client("sqlite://")
    os.environ.clear()
    os.environ.update(before)
    for name in [name for name in sys.modules if name.partition(".")[0] == "glyphrank"]:
        del sys.modules[name]


class _Hidden(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Brings all the modules that were hidden back as soon as one is imported."""

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        self._modules = modules
        self._spec: importlib.machinery.ModuleSpec | None = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._modules:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self)
        if known := self._modules[fullname].__spec__:
            spec.origin, spec.submodule_search_locations = known.origin, known.submodule_search_locations
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        sys.meta_path.remove(self)
        sys.modules.update(self._modules)
        self._spec = self._modules[spec.name].__spec__
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """It was executed before; only its specification was replaced."""
        module.__spec__ = self._spec


def _supervise(files: list[int], usual: Mapping[str, str]) -> Request:
    """Starts the command and those that it asks to be replaced by; returns in their processes, what each is to run.

    Of itself it tells its number, which is that of the group, then the command's, and at last the exit code.
    """
    connection, outputs, errors = files
    os.setpgid(0, 0)
    with socket.socket(fileno=connection) as answers:
        with answers.makefile("r", encoding="utf-8") as stream:
            request = Request(**json.loads(stream.readline()))
        _tell(answers, os.getpid())
        first = True
        while True:
            note = os.memfd_create("replacement")
            child = os.fork()
            if child == 0:
                break
            if first:
                _tell(answers, child)
                first = False
            _, status = os.waitpid(child, 0)
            asked = os.pread(note, os.fstat(note).st_size, 0)
            os.close(note)
            if not asked:
                _tell(answers, os.waitstatus_to_exitcode(status))
                os._exit(0)
            request = Request(**json.loads(asked))
    for file, standard in ((outputs, 1), (errors, 2)):
        os.dup2(file, standard)
        os.close(file)
    os.chdir(request.cwd)
    os.environ.clear()
    os.environ.update(request.env)
    if not request.keeps_number:
        setattr(os, "execve", _replacing(note, usual, os.execve))  # noqa: B010 - of another type than the real one
    return request


def _tell(answers: socket.socket, value: int) -> None:
    with suppress(OSError):  # nobody waits for it any more
        answers.sendall(json.dumps(value).encode() + b"\n")


def _replacing(
    note: int, usual: Mapping[str, str], execve: Callable[[Any, Any, Any], NoReturn]
) -> Callable[[Any, Any, Any], NoReturn]:
    """`os.execve`, but that another command of glyphrank's is left to the supervisor, as this process ends."""
    start = [sys.executable, "-m", "glyphrank"]

    def replace(path: Any, command: Sequence[str], env: Mapping[str, str]) -> NoReturn:
        if list(command[:3]) != start or not is_usual(usual, env, (_PATH, _SAFE_PATH)):
            execve(path, command, env)
        asked = {"arguments": list(command[3:]), "cwd": str(Path.cwd()), "env": dict(env), "keeps_number": False}
        os.pwrite(note, json.dumps(asked).encode(), 0)
        os._exit(0)

    return replace


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as _socket:
        _asked = serve(_socket)
    if _asked:
        become(_asked)
