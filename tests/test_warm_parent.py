from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from command import glyphrank, ran, started
from warm_process import is_usual


@pytest.mark.parametrize("fresh", [False, True])
def test_warm_and_fresh_commands_end_alike(fresh: bool, tmp_path: Path) -> None:
    assert glyphrank("--version", cwd=tmp_path, fresh=fresh).stdout.startswith("glyphrank ")
    unknown = glyphrank("nonsense", cwd=tmp_path, fresh=fresh)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert unknown.stderr.startswith("usage: glyphrank COMMAND")


def test_a_command_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        glyphrank("quickstart", cwd=tmp_path, seconds=0.01)


def test_a_command_has_the_number_that_is_told(tmp_path: Path) -> None:
    child = started("quickstart", cwd=tmp_path)
    child.kill()
    child.communicate()
    assert child.returncode == -9


def test_a_sweep_from_its_snapshot_goes_on_in_another_child(tmp_path: Path) -> None:
    sweep = ("run", "-m", "encoder@lexical=bm25_words", "launch.snapshot=true", "tracking=none")
    done = ran(*sweep, cwd=tmp_path)
    assert len(list(tmp_path.glob("outputs/sweeps/*/*/snapshot/sources/glyphrank"))) == 1
    assert "comparison: " in done.stdout


def test_only_variables_that_nothing_reads_when_it_is_imported_may_differ() -> None:
    usual = {"PATH": "/bin", "GLYPHRANK_OUTPUTS": "a"}
    assert is_usual(usual, {"PATH": "/bin", "COLUMNS": "9", "GLYPHRANK_OUTPUTS": "b"})
    for name in ("OMP_NUM_THREADS", "PYTHONPATH", "MLFLOW_DISABLE_TELEMETRY", "HOME"):
        assert not is_usual(usual, {**usual, name: "1"})
    assert not is_usual(usual, {})
    assert is_usual(usual, {**usual, "PYTHONPATH": "/x"}, ("PYTHONPATH",))
    assert is_usual(dict(os.environ), os.environ)
