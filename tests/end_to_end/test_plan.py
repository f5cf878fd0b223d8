"""A plan before, half-way through and after a real sweep."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from command import ran
from glyphrank.plan_command import run_plan

SWEEP = ("dataset=sample_pages", "tracking=none", "encoder@lexical=bm25_words,bm25_ngrams")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    ran("run", "-m", *SWEEP, cwd=folder)
    return folder


@pytest.fixture(autouse=True)
def launch(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(swept)
    monkeypatch.setenv("GLYPHRANK_OUTPUTS", "outputs")


def planned(capsys: pytest.CaptureFixture[str], *overrides: str) -> Mapping[str, Any]:
    capsys.readouterr()
    assert run_plan([*overrides, "--json", "--why"]) == 0
    plan: Mapping[str, Any] = json.loads(capsys.readouterr().out)
    return plan


def left(plan: Mapping[str, Any]) -> dict[str, int]:
    """Class of a component -> what it has to do."""
    return {stage["component"]: stage["todo"] for stage in plan["stages"] if stage["todo"]}


def test_after_the_sweep_nothing_is_to_be_done_and_this_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert planned(capsys, *SWEEP)["done"]
    assert run_plan(SWEEP) == 0
    assert "nothing is to be done: the results of all 2 cells are stored" in capsys.readouterr().out
    assert not Path("outputs", "runs").exists()


def test_one_more_cell_costs_what_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    plan = planned(capsys, *SWEEP, "lexical.k1=1.0,2.0")
    assert [cell["stored"] for cell in plan["cells"]] == [False] * 4
    assert left(plan) == {}  # tokens do not depend on it
    plan = planned(capsys, *SWEEP, "transcript.normal_form=nfc,none")
    assert len([cell for cell in plan["cells"] if cell["stored"]]) == 2
    plan = planned(capsys, *SWEEP[:2], "encoder@lexical=bm25_ngrams", "lexical.analyser.n=2,3")
    assert [cell["stored"] for cell in plan["cells"]] == [True, False]
    assert left(plan) == {"Ngrams": 104}
    (near,) = [stage["neighbour"] for stage in plan["stages"] if stage["todo"]]
    assert near["others"] == [{"field": "n", "here": "3", "there": "2"}]


def test_half_way_what_a_lost_shard_held_is_left_to_do(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shard, *_) = sorted((swept / "outputs" / "cache" / "reading").glob("*/*.jsonl.zst"))
    shard.unlink()
    assert left(planned(capsys, *SWEEP)) == {}  # results are stored
    plan = planned(capsys, *SWEEP, "rerun=true")
    stages = {stage["component"]: stage for stage in plan["stages"]}
    lost = stages["Embedded"]["todo"]
    assert 0 < lost <= 24
    assert stages["Words"]["unknown"] == lost
    assert stages["Words"]["until"] == "read"
