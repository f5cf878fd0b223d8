"""Runs the real command in a process of its own, which mostly need not import everything anew; see `warm_process`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warm_parent import WarmChild, WarmParent

Started = subprocess.Popen[str] | WarmChild

_WARM = WarmParent(os.environ)
"""Of each process of tests; the environment is that before any test has changed it."""


def glyphrank(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, seconds: float = 300, fresh: bool = False
) -> subprocess.CompletedProcess[str]:
    """`glyphrank ARGUMENTS` from `cwd`, with outputs below it unless `env` says otherwise.

    Args:
        fresh: starts an interpreter of its own, as where variables or the platform ask for one anyway.
    """
    surroundings = _surroundings(env)
    if not fresh and _WARM.serves(surroundings):
        return _WARM.run(arguments, cwd, surroundings, seconds)
    return subprocess.run(
        [sys.executable, "-m", "glyphrank", *arguments],
        cwd=cwd,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def started(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> Started:
    """The same, while it runs."""
    surroundings = _surroundings(env)
    if _WARM.serves(surroundings):
        return _WARM.start(arguments, cwd, surroundings)
    return subprocess.Popen(
        [sys.executable, "-m", "glyphrank", *arguments],
        cwd=cwd,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ran(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, seconds: float = 300, fresh: bool = False
) -> subprocess.CompletedProcess[str]:
    """The same, for commands that must succeed."""
    done = glyphrank(*arguments, cwd=cwd, env=env, seconds=seconds, fresh=fresh)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def refused(*arguments: str, cwd: Path) -> str:
    """The message of a command that must end with exit code 2 and no traceback."""
    done = glyphrank(*arguments, cwd=cwd)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def reports(folder: Path) -> list[dict[str, Any]]:
    """The reports of all runs below a folder of outputs, oldest run first."""
    files = sorted(folder.glob("outputs/runs/*/*/report.json"), key=lambda path: path.stat().st_mtime_ns)
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def corpus(folder: Path, items: list[dict[str, Any]], queries: list[dict[str, Any]], qrels: list[str]) -> Path:
    """Writes a dataset in the folder layout; `qrels` are tab-separated lines below the header."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("corpus", items), ("queries", queries)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *qrels]) + "\n", encoding="utf-8")
    return folder


def _surroundings(env: Mapping[str, str] | None) -> dict[str, str]:
    surroundings = {**os.environ, "GLYPHRANK_OUTPUTS": "outputs", "COLUMNS": "200", **(env or {})}
    surroundings.pop("HYDRA_FULL_ERROR", None)
    return surroundings
