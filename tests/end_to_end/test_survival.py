"""Runs that are killed and runs that start together: the result is that of one undisturbed run, and nothing is lost."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import Started, corpus, ran, started
from glyphrank.array_shards import ArraysCodec
from glyphrank.shards import LinesCodec
from slow_parts import install

ITEMS, COLOURS = 60, 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset of pictures, each of a colour of its own, and the slow plug-in."""
    from PIL import Image

    media = tmp_path / "data" / "media"
    media.mkdir(parents=True)
    colours = np.random.default_rng(3).integers(1, 255, (COLOURS, 3), dtype=np.uint8)
    for number, colour in enumerate(colours):
        Image.fromarray(np.broadcast_to(colour, (12, 16, 3)).copy()).save(media / f"{number}.png")
    items = [{"id": f"p{number}", "media": f"media/{number}.png"} for number in range(ITEMS)]
    queries = [{"id": f"q{number}", "text": "colour " + " ".join(map(str, colours[number]))} for number in range(ITEMS)]
    corpus(tmp_path / "data", items, queries, [f"q{number}\tp{number}\t1" for number in range(ITEMS)])
    return tmp_path


def command(folder: Path) -> tuple[str, ...]:
    chosen = install(folder / "own")
    return (
        "run",
        *chosen,
        "dataset=folder",
        "dataset.root=data",
        "metrics=clips",
        "tracking=none",
        "runtime.workers=1",
    )


def start(folder: Path, outputs: str) -> Started:
    environment = {"GLYPHRANK_OUTPUTS": outputs, "SLOW_PARTS_LOG": str(folder / f"{outputs}.log")}
    return started(*command(folder), cwd=folder, env=environment)


def finished(process: Started) -> None:
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, out + err


def worked(folder: Path, outputs: str) -> list[tuple[str, str, str]]:
    """Process, stage and input of everything worked on, in order."""
    log = folder / f"{outputs}.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [(process, stage, what) for process, stage, what in (line.split(" ") for line in lines)]


def kept(folder: Path, outputs: str) -> set[tuple[str, str]]:
    """Stage and input of everything that lies in a shard."""
    found = set()
    for stage, codec in (("reading", LinesCodec()), ("vectors", ArraysCodec())):
        for path in folder.glob(f"{outputs}/cache/{stage}/*/[0-9a-f]*{codec.suffix}"):
            found |= {(stage, digest) for digest in codec.load(path.read_bytes())[0]}
    return found


def outcome(folder: Path, outputs: str) -> dict[str, Any]:
    (report,) = folder.glob(f"{outputs}/results/*/report.json")
    stored = json.loads(report.read_text())
    ranks = (report.parent / "ranks.csv").read_text()
    return {
        **{name: stored[name] for name in ("identity", "metrics", "channels", "counts", "failures")},
        "ranks": ranks,
    }


def test_a_run_killed_ten_times_ends_as_an_undisturbed_one(folder: Path) -> None:  # case C02
    finished(start(folder, "calm"))
    generator = random.Random(11)
    for _ in range(10):
        before, done = kept(folder, "killed"), len(worked(folder, "killed"))
        process, last = start(folder, "killed"), done + generator.randrange(1, 20)
        while len(worked(folder, "killed")) < last and process.poll() is None:
            time.sleep(0.005)
        time.sleep(generator.random() / 20)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        again = {(stage, what) for _, stage, what in worked(folder, "killed")[done:]}
        assert not again & before  # what a shard holds is never done again
    before, done = kept(folder, "killed"), len(worked(folder, "killed"))
    finished(start(folder, "killed"))
    assert not {(stage, what) for _, stage, what in worked(folder, "killed")[done:]} & before
    assert outcome(folder, "killed") == outcome(folder, "calm")


@pytest.mark.parametrize("processes", [2, 4])
def test_runs_that_start_together_do_everything_once_between_them(processes: int, folder: Path) -> None:
    for running in [start(folder, "together") for _ in range(processes)]:
        finished(running)
    times = Counter((stage, what) for _, stage, what in worked(folder, "together"))
    assert set(times.values()) == {1}
    assert Counter(stage for stage, _ in times) == {"reading": ITEMS, "vectors": ITEMS, "texts": ITEMS}
    assert len({process for process, _, _ in worked(folder, "together")}) == processes
    finished(start(folder, "alone"))
    assert outcome(folder, "together") == outcome(folder, "alone")


def test_a_run_again_works_on_nothing(folder: Path) -> None:
    surroundings = {"SLOW_PARTS_LOG": str(folder / "outputs.log")}
    ran(*command(folder), cwd=folder, env=surroundings)
    before = worked(folder, "outputs")
    ran(*command(folder), "rerun=true", cwd=folder, env=surroundings)
    assert worked(folder, "outputs") == before != []
