"""A plug-in whose encoder writes down what each cell works on, waits where it is told to, and fails where it is asked.

`install` copies this file beside its YAML, where `--config-dir` and `plugins` find it as `held_cells`.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from glyphrank.records import Encoded
from glyphrank.runtime import Runtime

OPTIONS = ("--config-dir", "own", "plugins=[held_cells]", "dataset=folder", "dataset.root=data", "encoder@text=held")
SECONDS = 120


@dataclass(frozen=True)
class Held:
    """Encodes the lengths of texts; a negative number is refused. The cell named in `outputs/hold` waits for `go`."""

    VERSION: ClassVar[int] = 1
    number: int

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return Encoded(np.array([[len(text), 1] for text in texts], dtype=np.float32), np.zeros(len(texts), dtype=bool))

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        if self.number < 0:
            raise RuntimeError("there is no going back\nsecond line")
        with (runtime.outputs / "worked").open("a") as log:
            log.write(f"{self.number} {os.getpid()}\n")
        hold = runtime.outputs / "hold"
        if hold.exists() and hold.read_text() == str(self.number):
            (runtime.outputs / "began").write_text(str(os.getpid()))
            wait_for((runtime.outputs / "go").exists)
        return self.encode_queries(texts, runtime)


def install(folder: Path, hold: int | None = None) -> Path:
    """Puts the plug-in, a dataset of three items and, if wanted, the number of the cell that waits into a folder."""
    (folder / "own" / "encoder").mkdir(parents=True)
    shutil.copyfile(__file__, folder / "own" / "held_cells.py")
    (folder / "own" / "encoder" / "held.yaml").write_text("_target_: held_cells.Held\nnumber: 0\n")
    data, texts = folder / "data", ("red fox", "blue whale", "green frog")
    data.mkdir()
    items = (json.dumps({"id": f"p{number}", "text": text}) for number, text in enumerate(texts))
    queries = (json.dumps({"id": f"q{number}", "text": text[:3]}) for number, text in enumerate(texts))
    (data / "corpus.jsonl").write_text("\n".join(items) + "\n")
    (data / "queries.jsonl").write_text("\n".join(queries) + "\n")
    (data / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq0\tp0\t1\nq1\tp1\t1\nq2\tp2\t1\n")
    (folder / "outputs").mkdir()
    if hold is not None:
        (folder / "outputs" / "hold").write_text(str(hold))
    return folder


def worked(folder: Path) -> Counter[int]:
    """How often each cell's encoder, by its number, worked on the texts."""
    log = folder / "outputs" / "worked"
    lines = log.read_text().splitlines() if log.exists() else []
    return Counter(int(line.split()[0]) for line in lines)


def wait_for(done: Callable[[], bool], alive: Callable[[], bool] = lambda: True) -> None:
    """Waits until something is done, a fixed time at most."""
    deadline = time.monotonic() + SECONDS
    while not done() and time.monotonic() < deadline and alive():
        time.sleep(0.05)


@contextmanager
def begun(folder: Path, *arguments: str, python_path: str = "") -> Iterator[subprocess.Popen[str]]:
    """A sweep of which the cell that waits has begun; it is killed in the end if it still runs."""
    paths = os.pathsep.join([*([python_path] if python_path else []), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "glyphrank", "run", "-m", *arguments],
        cwd=folder,
        env={**os.environ, "GLYPHRANK_OUTPUTS": "outputs", "COLUMNS": "200", "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for((folder / "outputs" / "began").exists, lambda: process.poll() is None)
        assert process.poll() is None, process.communicate()
        yield process
    finally:
        process.kill()
        process.communicate()


def records(sweep: Path) -> list[dict[str, Any]]:
    """What the cells of the latest launch of a sweep left, by number."""
    launch = json.loads((sweep / "cells" / "launching.json").read_text())["launch"]
    found = [json.loads(path.read_text()) for path in (sweep / "cells" / launch).glob("[0-9]*.json")]
    return sorted(found, key=lambda record: int(record["number"]))


def tracked(folder: Path) -> list[dict[str, str]]:
    """The tags of all runs of a folder's MLflow store, oldest first, with `status` and `run_id`."""
    with closing(sqlite3.connect(folder / "outputs" / "mlflow.db")) as store:
        runs = store.execute("select run_uuid, status from runs order by start_time, run_uuid").fetchall()
        tags = "select key, value from tags where run_uuid = ?"
        return [{**dict(store.execute(tags, (run,))), "run_id": run, "status": status} for run, status in runs]
