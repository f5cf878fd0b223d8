"""What tests do to generated datasets: have two processes make one at once, and spoil one that was made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

DAMAGES = ["deleted", "changed", "grown", "no manifest", "damaged manifest", "a file"]


def loaded_by_two(module: str, component: str, heavy: str, folder: Path) -> list[list[str]]:
    """What two processes, started at once on one new folder, print: the fingerprint, and whether `heavy` was imported.

    Args:
        module, component: where the dataset is defined, and the call that builds it.
        heavy: a module that must not be imported to build it.
    """
    code = (
        f"from pathlib import Path; from glyphrank.datasets.{module} import {component.partition('(')[0]}; "
        "from glyphrank.runtime import Runtime; import sys; where = Path(sys.argv[1]); "
        "runtime = Runtime('cpu', 1, 0, 60, 4, False, where / 'outputs', where / 'cache'); "
        f"heavy = '{heavy}' in sys.modules; print({component}.load(runtime).fingerprint, heavy)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-W", "error", "-c", code, str(folder)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    return [process.communicate(timeout=120)[0].split() for process in running]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its name from there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def spoil(folder: Path, file: Path, how: str, change: Callable[[bytes], bytes]) -> None:
    """Damages a generated folder in one of the `DAMAGES`; `change` alters the bytes of `file`, which is one of it."""
    if how == "deleted":
        file.unlink()
    elif how == "changed":
        file.write_bytes(change(file.read_bytes()))
    elif how == "grown":
        rows = (folder / "qrels.tsv").read_text().splitlines()
        (query, _, gain), (_, other, _) = rows[1].split("\t"), rows[-1].split("\t")
        with (folder / "qrels.tsv").open("a") as stream:
            stream.write(f"{query}\t{other}\t{gain}\n")
    elif how == "no manifest":
        (folder / "manifest.json").unlink()
    elif how == "damaged manifest":
        (folder / "manifest.json").write_text("[1]")
    else:
        shutil.rmtree(folder)
        folder.write_text("not a folder")
