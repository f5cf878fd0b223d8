"""A secret that a person gives stands in no file of the outputs, not in the store and not on the terminal."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from command import corpus, glyphrank

SECRET = "hunter2-and-more"
MODULE = '''
import os
from dataclasses import dataclass

import numpy as np

from glyphrank.records import Encoded


@dataclass(frozen=True)
class Guarded:
    """Needs a key to encode; fails, or dies, when asked to."""

    api_key: str
    ends: str

    def encode_queries(self, texts, runtime):
        return self.encode_texts(texts, runtime)

    def encode_texts(self, texts, runtime):
        if self.ends == "killed":
            os.kill(os.getpid(), 9)
        if self.ends == "failed":
            raise RuntimeError(f"refused {self.api_key}: api_key={self.api_key} at http://user:{self.api_key}@host/x")
        return Encoded(np.ones((len(texts), 2), dtype=np.float32), np.zeros(len(texts), dtype=bool))
'''


@pytest.mark.parametrize("extra", [[], ["-m"], ["hydra.output_subdir=notes"]])
@pytest.mark.parametrize("ends", ["well", "failed"])
def test_secrets_are_written_nowhere(extra: list[str], ends: str, tmp_path: Path) -> None:  # case L15
    flags = [flag for flag in extra if flag.startswith("-")]
    done = guarded(tmp_path, *flags, f"text.ends={ends}", *(value for value in extra if value not in flags))
    assert done.returncode == int(ends == "failed"), done.stderr
    found = written(tmp_path)
    assert len(found) >= 8
    for path in found:
        if path.suffix == ".yaml":
            yaml.safe_load(path.read_text(encoding="utf-8"))


def test_secrets_are_not_left_in_what_a_launcher_gave_to_its_processes(tmp_path: Path) -> None:  # case L15
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher")
    done = guarded(tmp_path, "-m", "text.ends=well,killed", "hydra/launcher=slurm_local")
    assert done.returncode == 1, done.stderr
    assert "its process was killed" in done.stderr
    found = written(tmp_path)
    assert len([path for path in found if path.name.endswith("_log.err")]) == 2
    assert not [path for path in found if path.suffix == ".pkl"]
    assert list((tmp_path / "outputs" / "results").rglob("report.json"))


def guarded(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Runs the guarded encoder, to which a secret is given; none is told."""
    (folder / "own" / "encoder").mkdir(parents=True)
    (folder / "own" / "guarded_one.py").write_text(MODULE)
    (folder / "own" / "encoder" / "guarded_one.yaml").write_text(
        "_target_: guarded_one.Guarded\napi_key: ???\nends: well\n"
    )
    corpus(folder / "data", [{"id": "p1", "text": "first"}], [{"id": "q1", "text": "first"}], ["q1\tp1\t1"])
    fields = ["dataset=folder", "dataset.root=data", "encoder@text=guarded_one", "plugins=[guarded_one]"]
    done = glyphrank("run", "--config-dir", "own", *fields, f"text.api_key={SECRET}", *more, cwd=folder)
    assert SECRET not in done.stdout + done.stderr
    return done


def written(folder: Path) -> list[Path]:
    """All files of the outputs; the secret is in none."""
    files = [path for path in (folder / "outputs").rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    return files
