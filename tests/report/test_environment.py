from __future__ import annotations

import importlib.metadata
import json
import logging
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from glyphrank import __version__
from glyphrank.report.environment import (
    ENVIRONMENT,
    environment,
    keep_environment,
    packages_of,
    read_environment,
    write_environment,
)
from glyphrank.sources import digest_sources


@dataclass(frozen=True)
class Inner:
    PACKAGES: ClassVar[tuple[str, ...]] = ("pytest",)


@dataclass(frozen=True)
class Outer:
    PACKAGES: ClassVar[tuple[str, ...]] = ("hypothesis",)
    inner: Inner
    several: tuple[Inner, ...] = ()


def test_environment_says_what_decides_last_bits(tmp_path: Path) -> None:
    found = json.loads(write_environment(tmp_path, "cpu").read_text(encoding="utf-8"))
    assert found == read_environment(tmp_path)
    assert found["glyphrank"]["version"] == __version__
    assert found["glyphrank"]["sources"] == digest_sources({"glyphrank"})
    assert found["packages"]["numpy"] == importlib.metadata.version("numpy")
    assert found["cpu"]["cores"] >= 1
    assert found["device"] == "cpu"
    assert "pytest" not in found["packages"]


def test_packages_of_a_runs_components_are_told_too() -> None:
    assert sorted(packages_of(Outer(Inner(), (Inner(),)))) == ["hypothesis", "pytest", "pytest"]
    assert environment(used=Outer(Inner()))["packages"]["pytest"] == importlib.metadata.version("pytest")


def test_neither_host_nor_folder_nor_person_is_told(monkeypatch: pytest.MonkeyPatch) -> None:  # case L15
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("HF_TOKEN", "hush-hush")
    text = json.dumps(environment("cpu"))
    assert environment()["threads"]["OMP_NUM_THREADS"] == "3"
    assert "hush-hush" not in text
    assert str(Path.home()) not in text
    assert socket.gethostname() not in text


def test_nothing_heavy_is_imported_for_it() -> None:
    told = "import sys; from glyphrank.report.environment import environment; environment('cpu'); "
    heavy = "sys.exit(' '.join({'torch', 'mlflow', 'matplotlib'} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", told + heavy], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_of_torch_it_tells_what_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    assert environment("auto")["torch_threads"] == torch.get_num_threads()
    assert environment("cpu")["device"] == "cpu"
    monkeypatch.delitem(sys.modules, "torch")
    assert environment("auto")["gpus"] is None
    assert environment("auto")["device"] is None
    assert environment("cuda:1")["device"] == "cuda:1"


@pytest.mark.parametrize("content", [None, "", "[1]", "{"])
def test_environment_that_cannot_be_read_is_unknown(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / ENVIRONMENT).write_text(content)
    assert read_environment(tmp_path) is None


def test_run_that_takes_a_stored_result_tells_where_that_was_measured(tmp_path: Path) -> None:
    result, run = tmp_path / "result", tmp_path / "run"
    result.mkdir()
    run.mkdir()
    (result / ENVIRONMENT).write_text('{"cpu": "of then"}')
    keep_environment(result, run, "cpu", None, reused=True)
    assert read_environment(run) == {"cpu": "of then"}
    keep_environment(result, run, "cpu", None, reused=False)
    assert read_environment(run) == read_environment(result) != {"cpu": "of then"}


def test_torn_environment_of_a_result_is_not_handed_on(tmp_path: Path) -> None:
    result, run = tmp_path / "result", tmp_path / "run"
    for folder, content in ((result, '{"cpu": "of'), (run, '{"cpu": "of an earlier run"}')):
        folder.mkdir()
        (folder / ENVIRONMENT).write_text(content)
    keep_environment(result, run, "cpu", None, reused=True)
    assert not (run / ENVIRONMENT).exists()
    keep_environment(result, run, "cpu", None, reused=False)
    assert read_environment(result)
    assert read_environment(run) == read_environment(result)


def test_environment_that_cannot_be_kept_does_not_end_the_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        keep_environment(tmp_path / "nowhere", tmp_path, "cpu", None, reused=False)
    assert "cannot be written" in caplog.text
    keep_environment(tmp_path / "nowhere", tmp_path, "cpu", None, reused=True)  # a result of an older version
    assert read_environment(tmp_path) is None
