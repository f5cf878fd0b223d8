"""A component from outside the tree: one module, one YAML, `--config-dir` and `plugins`."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import corpus, ran, refused, reports

MODULE = '''
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from glyphrank.records import Encoded
from glyphrank.runtime import Runtime


@dataclass(frozen=True)
class Letters:
    """Counts of the letters a to z."""

    VERSION: ClassVar[int] = 1
    power: float

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        return self.encode_texts(texts, runtime)

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        counts = [[text.count(chr(97 + i)) ** self.power for i in range(26)] for text in texts]
        return Encoded(np.array(counts, dtype=np.float32), np.zeros(len(texts), dtype=bool))
'''
COMMAND = ("run", "--config-dir", "own", "dataset=folder", "dataset.root=data", "tracking=none", "encoder@lexical=none")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a dataset and, in `own`, a module and its YAML."""
    (tmp_path / "own" / "encoder").mkdir(parents=True)
    (tmp_path / "own" / "letters_of.py").write_text(MODULE)
    (tmp_path / "own" / "encoder" / "letters.yaml").write_text("_target_: letters_of.Letters\npower: 1.0\n")
    items = [{"id": "p1", "text": "abba"}, {"id": "p2", "text": "xyz"}, {"id": "p3", "text": "123"}]
    corpus(tmp_path / "data", items, [{"id": "q1", "text": "xy"}], ["q1\tp2\t1"])
    return tmp_path


def test_run_with_an_encoder_from_outside_works_when_its_package_is_named(folder: Path) -> None:
    ran(*COMMAND, "encoder@text=letters", "plugins=[letters_of]", cwd=folder)
    (report,) = reports(folder)
    assert report["metrics"]["hit_rate_at_1"] == 1.0
    assert report["failures"] == {"p3": "channel text: its vector is zero or not finite"}  # case E06


def test_run_with_an_encoder_from_outside_is_refused_when_its_package_is_not_named(folder: Path) -> None:
    message = refused(*COMMAND, "encoder@text=letters", cwd=folder)
    assert "'letters_of.Letters' is outside glyphrank; name its package in `plugins`" in message


def test_run_with_a_changed_source_of_a_plugin_encodes_everything_anew(folder: Path) -> None:  # case C01
    command = (*COMMAND, "encoder@text=letters", "plugins=[letters_of]")
    ran(*command, cwd=folder)
    module = folder / "own" / "letters_of.py"
    module.write_text(module.read_text().replace("** self.power", "** self.power + 1"))
    again = ran(*command, cwd=folder)
    assert "vectors: 3 inputs from the cache" not in again.stderr
    assert "vectors: 0 inputs from the cache, 3 worked on" in again.stderr
    first, second = reports(folder)
    assert first["identity"] != second["identity"]
    assert first["lineage"]["text"] != second["lineage"]["text"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise RuntimeError('no licence')", "cannot be imported: RuntimeError: no licence"),
        ("def (", "cannot be imported: SyntaxError"),
        (MODULE.replace("power: float", "power: Nowhere"), "name 'Nowhere' is not defined"),
        (MODULE.replace("power: float", "power: np.ndarray"), "use plain types or a component"),
        (MODULE + "    def __post_init__(self): raise KeyError(self.power)\n", "cannot be built: KeyError: 1.0"),
        (MODULE.replace("len(texts), dtype", "7, dtype"), "Letters gave values of shape"),
    ],
)
def test_run_with_a_plugin_that_is_broken_says_how(source: str, message: str, folder: Path) -> None:
    (folder / "own" / "letters_of.py").write_text(source)
    assert message in refused(*COMMAND, "encoder@text=letters", "plugins=[letters_of]", cwd=folder)


def test_run_with_a_plugin_that_is_not_there_names_it(folder: Path) -> None:
    message = refused(*COMMAND, "encoder@text=letters", "plugins=[letters_of,nowhere_at_all]", cwd=folder)
    assert "nowhere_at_all" in message
