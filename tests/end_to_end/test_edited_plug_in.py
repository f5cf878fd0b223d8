"""A plug-in that is edited while a cell runs gives no vectors to the next command that are not its own."""

from __future__ import annotations

import json
from pathlib import Path

from command import corpus, ran
from held_cells import begun, records

ENGINE = """
import time
from dataclasses import dataclass
from typing import ClassVar

from glyphrank.records import Line, Reading, Source


@dataclass(frozen=True)
class Slow:
    VERSION: ClassVar[int] = 1
    needs_frames: ClassVar[bool] = False
    sources: ClassVar[tuple[Source, ...]] = (Source.embedded,)

    def read(self, item, frames, runtime) -> Reading:
        (runtime.outputs / "began").touch()
        deadline = time.monotonic() + 100
        while not (runtime.outputs / "go").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return Reading(Source.embedded, (Line(item.text),), length=len(item.text))
"""
ENCODER = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from glyphrank.records import Encoded

SIGN = 1.0
LETTERS = Path(__file__).with_name("letters.txt").read_text()


@dataclass(frozen=True)
class Letters:
    VERSION: ClassVar[int] = 1

    def encode_queries(self, texts, runtime) -> Encoded:
        counts = [[text.count(letter) for letter in LETTERS] for text in texts]
        return Encoded(np.array(counts, dtype=np.float32), np.zeros(len(texts), dtype=bool))

    def encode_texts(self, texts, runtime) -> Encoded:
        found = self.encode_queries(texts, runtime)
        return Encoded(found.values * SIGN, found.truncated)
"""
SWEEP = (
    *("--config-dir", "own", "plugins=[slow_engine,signed_letters]", "dataset=folder", "dataset.root=data", "ocr=slow"),
    *("encoder@text=signed", "encoder@lexical=none", "tracking=none", "transcript.normal_form=nfc,nfkc"),
    "hydra.sweep.dir=outputs/kept",
)


def install(folder: Path) -> Path:
    """Two plug-ins of one module each, one with a file beside it, and a corpus; returns the encoder's source."""
    own = folder / "own"
    for group, name, target in (("ocr", "slow", "slow_engine.Slow"), ("encoder", "signed", "signed_letters.Letters")):
        (own / group).mkdir(parents=True)
        (own / group / f"{name}.yaml").write_text(f"_target_: {target}\n")
    (own / "slow_engine.py").write_text(ENGINE)
    (own / "signed_letters.py").write_text(ENCODER)
    (own / "letters.txt").write_text("ab")
    corpus(
        folder / "data",
        [{"id": "p", "text": "a a a"}, {"id": "r", "text": "a b b"}],
        [{"id": "q", "text": "a"}],
        ["q\tp\t1"],
    )
    (folder / "outputs").mkdir()
    return own / "signed_letters.py"


def hit_rates(folder: Path) -> list[float]:
    """Whether the relevant item came first in each cell of the sweep."""
    found = sorted((folder / "outputs" / "kept").glob("[0-9]*/report.json"))
    return [json.loads(path.read_text())["metrics"]["hit_rate_at_1"] for path in found]


def test_an_edit_while_items_are_read_leaves_no_vectors_of_the_old_code(tmp_path: Path) -> None:  # case C04
    source = install(tmp_path)
    with begun(tmp_path, *SWEEP) as process:
        source.write_text(source.read_text().replace("SIGN = 1.0", "SIGN = -1.0"))
        (tmp_path / "outputs" / "go").touch()
        _, errors = process.communicate(timeout=100)
    first, second = records(tmp_path / "outputs" / "kept")
    assert "the sources of signed_letters changed while it ran" in first["error"], errors
    assert second["error"].startswith("1 file differs from the launch of this sweep: ")
    again = ran("run", "-m", *SWEEP, cwd=tmp_path)
    assert "vectors: 0 inputs from the cache, 2 worked on" in again.stderr
    assert hit_rates(tmp_path) == [0.0, 0.0]


def test_a_snapshot_keeps_the_code_and_the_file_beside_it_that_it_started_with(tmp_path: Path) -> None:  # case C04
    source = install(tmp_path)
    with begun(tmp_path, *SWEEP, "launch.snapshot=true") as process:
        source.write_text(source.read_text().replace("SIGN = 1.0", "SIGN = -1.0"))
        source.with_name("letters.txt").write_text("xy")
        (tmp_path / "outputs" / "go").touch()
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    assert hit_rates(tmp_path) == [1.0, 1.0]
