"""Runs many commands of glyphrank in one process of their own: what takes long to import is imported once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    code: int
    stdout: str
    stderr: str


class Commands:
    """The process; commands run one after the other, in one folder."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, arguments: Sequence[str], env: Mapping[str, str] | None = None) -> Done:
        """`glyphrank ARGUMENTS`, with more variables for this command alone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"arguments": list(arguments), "env": dict(env or {})}), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, f"the process of the commands died at: glyphrank {' '.join(arguments)}"
        return Done(**json.loads(answer))


@contextmanager
def one_process(folder: Path) -> Iterator[Commands]:
    """A process in a folder, with its outputs there."""
    surroundings = {**os.environ, "GLYPHRANK_OUTPUTS": "outputs", "COLUMNS": "200"}
    surroundings.pop("HYDRA_FULL_ERROR", None)
    with subprocess.Popen(
        [sys.executable, __file__],
        cwd=folder,
        env=surroundings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Commands(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def _serve() -> None:
    """Takes a command a line and answers with a line, whatever the command itself writes where."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        for line in sys.stdin:
            print(json.dumps(_done(**json.loads(line))), file=answers, flush=True)


def _done(arguments: list[str], env: dict[str, str]) -> dict[str, Any]:
    before = dict(os.environ)
    os.environ.update(env)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        code = _code(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os.environ.clear()
        os.environ.update(before)
        return {"code": code, "stdout": _text(out), "stderr": _text(err)}


def _code(arguments: list[str]) -> int:
    from glyphrank.__main__ import main

    sys.argv = ["glyphrank", *arguments]
    try:
        return main()
    except SystemExit as error:  # argparse ends so, also after --help
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1


def _text(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode("utf-8", errors="replace"))


if __name__ == "__main__":
    _serve()
