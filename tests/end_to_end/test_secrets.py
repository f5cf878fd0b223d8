"""A secret that a person gives stands in no file of the outputs, not in the store and not on the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from command import corpus, glyphrank

SECRET = "hunter2-and-more"
MODULE = '''
from dataclasses import dataclass

import numpy as np

from glyphrank.records import Encoded


@dataclass(frozen=True)
class Guarded:
    """Needs a key to encode; fails when asked to."""

    api_key: str
    fail: bool

    def encode_queries(self, texts, runtime):
        return self.encode_texts(texts, runtime)

    def encode_texts(self, texts, runtime):
        if self.fail:
            raise RuntimeError(f"refused {self.api_key}: api_key={self.api_key} at http://user:{self.api_key}@host/x")
        return Encoded(np.ones((len(texts), 2), dtype=np.float32), np.zeros(len(texts), dtype=bool))
'''


@pytest.mark.parametrize("extra", [[], ["-m"], ["hydra.output_subdir=notes"]])
@pytest.mark.parametrize("fail", ["false", "true"])
def test_secrets_are_written_nowhere(extra: list[str], fail: str, tmp_path: Path) -> None:  # case L15
    (tmp_path / "own" / "encoder").mkdir(parents=True)
    (tmp_path / "own" / "guarded_one.py").write_text(MODULE)
    (tmp_path / "own" / "encoder" / "guarded_one.yaml").write_text(
        "_target_: guarded_one.Guarded\napi_key: ???\nfail: false\n"
    )
    corpus(tmp_path / "data", [{"id": "p1", "text": "first"}], [{"id": "q1", "text": "first"}], ["q1\tp1\t1"])
    flags = [flag for flag in extra if flag.startswith("-")]
    fields = ["dataset=folder", "dataset.root=data", "encoder@text=guarded_one", "plugins=[guarded_one]"]
    fields += [f"text.api_key={SECRET}", f"text.fail={fail}", *(value for value in extra if value not in flags)]
    done = glyphrank("run", *flags, "--config-dir", "own", *fields, cwd=tmp_path)
    assert done.returncode == int(fail == "true"), done.stderr
    assert SECRET not in done.stdout + done.stderr
    files = [path for path in (tmp_path / "outputs").rglob("*") if path.is_file()]
    assert len(files) >= 8
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    for path in files:
        if path.suffix == ".yaml":
            yaml.safe_load(path.read_text(encoding="utf-8"))
