"""A probe that is kept: which questions of a later run it answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.encoders.precision import Precision
from glyphrank.errors import DataError
from glyphrank.probe import PROBE, stored_probe, write_probe
from probing import STILL, run_of
from shaky_encoders import ShakyColours


def test_a_stored_probe_answers_what_it_was_asked(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    numbers = {f"{way}/{name}": 0.0 for way in ("batch_1", "batch_7", "float16") for name in ("queries", *STILL)}
    write_probe(tmp_path, run, {"text": numbers})
    plain = {name: value for name, value in numbers.items() if not name.startswith("float16")}
    assert stored_probe(tmp_path, run) == {"text": plain}
    assert stored_probe(tmp_path, replace(run, probe_precision=Precision.float16)) == {"text": numbers}
    assert stored_probe(tmp_path, replace(run, probe_precision=Precision.bfloat16)) is None
    assert stored_probe(tmp_path, replace(run, runtime=replace(run.runtime, batch_size=7))) is None
    assert stored_probe(tmp_path, replace(run, visual=ShakyColours(1))) is None
    assert stored_probe(tmp_path / "nowhere", run) is None


def test_a_stored_probe_is_of_the_device_that_auto_means_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(tmp_path)
    here = {"auto": "cpu", "cpu": "cpu"}
    monkeypatch.setattr("glyphrank.probe.choose_device", here.__getitem__)
    numbers = {f"{way}/{name}": 0.0 for way in ("batch_1", "batch_7") for name in ("queries", *STILL)}
    write_probe(tmp_path, run, {"text": numbers})
    assert stored_probe(tmp_path, run) == {"text": numbers}
    assert stored_probe(tmp_path, replace(run, runtime=replace(run.runtime, device="cpu"))) == {"text": numbers}
    here["auto"] = "cuda:0"
    assert stored_probe(tmp_path, run) is None


def test_a_device_that_is_not_here_has_no_stored_probe(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    write_probe(tmp_path, run, {"text": {"batch_1/queries": 1.0, "batch_7/queries": 1.0}})
    assert stored_probe(tmp_path, replace(run, runtime=replace(run.runtime, device="cuda:77"))) is None


@pytest.mark.parametrize("content", ["", "[]", '{"device": "cpu"}', '{"device": "cpu", "channels": {"text": 1}}'])
def test_a_damaged_probe_is_none(tmp_path: Path, content: str) -> None:  # case C02
    (tmp_path / PROBE).write_text(content)
    assert stored_probe(tmp_path, run_of(tmp_path)) is None


def test_a_probe_that_cannot_be_written_names_its_file(tmp_path: Path) -> None:  # case C04
    (tmp_path / PROBE).mkdir()
    with pytest.raises(DataError, match=r"probe\.json: the probe cannot be written .*; probe=false"):
        write_probe(tmp_path, run_of(tmp_path), {})
