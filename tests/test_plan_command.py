"""The command `glyphrank plan`, as it is typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command import corpus
from glyphrank.plan_command import run_plan

PLAN = ("dataset=folder", "dataset.root=data")
LOOK = """
import sys
from glyphrank.__main__ import main
sys.argv = ["glyphrank", "plan", *sys.argv[1:]]
code = main()
heavy = {"torch", "mlflow", "easyocr", "transformers", "matplotlib", "pyarrow", "optuna"}
print(code, sorted(heavy & set(sys.modules)))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus(tmp_path / "data", [{"id": "p", "text": "words"}], [{"id": "x", "text": "words"}], ["x\tp\t1"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLYPHRANK_OUTPUTS", "outputs")
    return tmp_path


def test_planning_models_imports_no_model_library_and_makes_no_run(folder: Path) -> None:
    asked = (*PLAN, "encoder@text=minilm,bge_m3", "tracking=local,server", "ocr=embedded_else_easyocr")
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *asked, "--why"], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.stdout.splitlines()[-1] == "2 []", done.stdout + done.stderr  # bge_m3 and the server are not here
    assert "Traceback" not in done.stderr
    assert {path.name for path in (folder / "outputs").iterdir()} == {"cache"}
    assert {path.name for path in (folder / "outputs" / "cache").iterdir()} <= {"files"}


def test_json_holds_the_whole_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_plan([*PLAN, "-m", "lexical.k1=1,2", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [cell["overrides"][-1] for cell in plan["cells"]] == ["lexical.k1=1", "lexical.k1=2"]
    assert {stage["name"]: stage["todo"] for stage in plan["stages"]} == {"readings": 1, "tokens": 1}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("nonsense=1",), "Could not override 'nonsense'"),
        (("--config-dir", "nowhere"), "no such folder"),
        (("--nonsense",), "unrecognized arguments"),
    ],
)
def test_what_cannot_be_planned_ends_with_2(
    asked: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_plan([*PLAN, *asked]) == 2
    assert told in capsys.readouterr().err


def test_a_cell_that_cannot_be_run_ends_with_2_after_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_plan([*PLAN, "lexical.k1=1,-1"]) == 2
    out = capsys.readouterr().out
    assert "1  cannot run  lexical.k1=-1" in out
    assert "cell 1 cannot be run: 1 fault in the configuration:" in out
    assert "results: 0 of 2 stored" in out
