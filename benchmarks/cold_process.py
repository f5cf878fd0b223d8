"""What a cold process costs: one run of cached stages, one that loads a model, and the commands that run nothing.

    python benchmarks/cold_process.py [--repeats 3]

The floor is `python -c "import torch, mlflow"`; `model` also loads all-MiniLM-L6-v2 (by our encoder, which imports the
libraries that it needs) and encodes three texts. `cached` is `glyphrank run encoder@text=minilm` over two texts and a
query, encoded before, with a run in MLflow; `encoded` is the same with none encoded, so that the model is loaded. Every
command is a process of its own, by turns; the ratios are medians of the ratios of neighbours. Wanted: `cached` at most
2 x the floor, `encoded` at most 2 x the floor plus the model's load (`model` less the floor); and `run --help`,
`run --cfg job` and `plan` import neither torch nor mlflow. Exit code 1 where that is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

import cached_parts

MOST_TIMES = 2.0
HEAVY = ("torch", "mlflow")
IMPORTS = "import torch, mlflow"
MODEL = """
import torch, mlflow
from dataclasses import dataclass
from glyphrank.composition import build_here
from glyphrank.encoders import TextEncoder
from glyphrank.runtime import Runtime

@dataclass(frozen=True)
class Parts:
    text: TextEncoder | None
    runtime: Runtime

parts = build_here(Parts, ["encoder@text=minilm"])
parts.text.encode_texts(["one text", "and another"], parts.runtime)
parts.text.encode_queries(["a query"], parts.runtime)
"""
RUN = ["-m", "glyphrank", "run", "dataset=folder", "dataset.root=corpus", "encoder@text=minilm"]
QUICK = {"run --help": ["run", "--help"], "run --cfg job": ["run", "--cfg", "job"], "plan": ["plan"]}

_cutoffs = count(11)


def main() -> int:
    """Measures by turns and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cached_parts.write_corpus(folder / "corpus", queries=1, items=2)
        _run(folder)  # makes tokens and vectors
        turns = [_turn(folder) for _ in range(options.repeats)]
        quick = {told: _imported(folder, command) for told, command in QUICK.items()}
    for side in turns[0]:
        seconds = [turn[side] for turn in turns]
        print(f"{side:14}{statistics.median(seconds):8.2f} s, least {min(seconds):.2f}")
    cached = statistics.median(turn["cached"] / turn["floor"] for turn in turns)
    model = statistics.median((turn["encoded"] - turn["model"] + turn["floor"]) / turn["floor"] for turn in turns)
    print(f"ratio of cached {cached:.2f}, of encoded without the model's load {model:.2f} (wanted <= {MOST_TIMES})")
    for told, names in quick.items():
        print(f"{told:14}imports {', '.join(names) or 'neither torch nor mlflow'}")
    return int(max(cached, model) > MOST_TIMES or any(quick.values()))


def _turn(folder: Path) -> dict[str, float]:
    """Seconds of each side, once."""
    seconds = {"floor": _timed(folder, ["-c", IMPORTS]), "cached": _run(folder)}
    seconds |= {"model": _timed(folder, ["-c", MODEL]), "encoded": _run(folder, f"text.max_length={next(_cutoffs)}")}
    return seconds | {told: _timed(folder, ["-m", "glyphrank", *command]) for told, command in QUICK.items()}


def _run(folder: Path, *overrides: str) -> float:
    """A run whose result is not stored yet."""
    return _timed(folder, [*RUN, f"metrics.cutoffs=[1,3,5,10,{next(_cutoffs)}]", *overrides])


def _timed(folder: Path, arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=folder, env=_surroundings(), capture_output=True, check=True)
    return time.perf_counter() - start


def _imported(folder: Path, command: list[str]) -> list[str]:
    """Which heavy packages a command imports."""
    arguments = [sys.executable, "-X", "importtime", "-m", "glyphrank", *command]
    done = subprocess.run(arguments, cwd=folder, env=_surroundings(), capture_output=True, text=True, check=True)
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    return [name for name in HEAVY if name in names]


def _surroundings() -> dict[str, str]:
    return {**os.environ, "GLYPHRANK_OUTPUTS": "outputs", "HF_HUB_OFFLINE": "1"}


if __name__ == "__main__":
    sys.exit(main())
