"""`glyphrank reproduce` on cells of a sweep that the real command made."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from command import corpus, glyphrank, ran, refused

PAGES = [
    {"id": "a", "text": "서울 강남 예산 예산 2026"},
    {"id": "b", "text": "부산 해운대 예산 항만 교통"},
    {"id": "c", "text": "대전 과학 연구 예산 2026 2026 교통"},
]
QUERIES = [
    {"id": "q1", "text": "서울 예산"},
    {"id": "q2", "text": "항만 교통"},
    {"id": "q3", "text": "과학 2026"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a sweep of two cells ran over a small corpus."""
    folder = tmp_path_factory.mktemp("reproduce")
    corpus(folder / "pages", PAGES, QUERIES, ["q1\ta\t1", "q2\tb\t1", "q3\tc\t1"])
    lexical = ("encoder@lexical=bm25_words", "lexical.k1=1.5,0.9", "runtime.workers=0")
    ran("run", "-m", "dataset=folder", "dataset.root=pages", *lexical, cwd=folder)
    return folder


def cell(folder: Path) -> Path:
    """The folder of the sweep's second cell."""
    (found,) = folder.glob("outputs/sweeps/*/*/1")
    return found


def tags(folder: Path) -> dict[str, dict[str, str]]:
    """Run id -> its tags, of all runs in the store."""
    found: dict[str, dict[str, str]] = {}
    with sqlite3.connect(folder / "outputs" / "mlflow.db") as store:
        for run, key, value in store.execute("select run_uuid, key, value from tags"):
            found.setdefault(run, {})[key] = value
    return found


def outcome(output: str) -> dict[str, Any]:
    """What the new run's folder says of the reproduction."""
    (place,) = re.findall(r"^files: (.*)$", output, re.MULTILINE)
    found: dict[str, Any] = json.loads((Path(place) / "reproduction.json").read_text(encoding="utf-8"))
    return found


def test_cell_of_a_sweep_comes_out_equal_under_its_id_and_says_so_in_the_store(folder: Path) -> None:
    before = tags(folder)
    identity = json.loads((cell(folder) / "report.json").read_text(encoding="utf-8"))["identity"]
    (run_id,) = [run for run, own in before.items() if own.get("identity") == identity]
    kept = (folder / "outputs" / "results" / identity / "report.json").stat().st_mtime_ns
    done = ran("reproduce", run_id[:10], "--rerun", cwd=folder)
    assert "bit for bit" in done.stdout.splitlines()[-1]
    assert "nothing that is known differs" in done.stdout
    assert "0 inputs from the cache" in done.stderr
    (new,) = [own for run, own in tags(folder).items() if run not in before]
    assert (new["reproduces"], new["reproduced"], new["identity"]) == (run_id, "equal", identity)
    assert (new["reused"], new["complete"]) == ("false", "true")
    assert f"glyphrank reproduce {run_id[:10]} --rerun" in new["mlflow.note.content"]
    assert outcome(done.stdout)["verdict"] == "equal"
    # what is put to the test is not replaced by it, and nothing temporary is left
    assert (folder / "outputs" / "results" / identity / "report.json").stat().st_mtime_ns == kept
    assert not list((folder / "outputs").glob(".reproduce*"))


def test_moved_run_over_a_moved_dataset_is_equal_and_an_edited_query_is_not(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(cell(folder), tmp_path / "run")
    shutil.copytree(folder / "pages", tmp_path / "쪽")
    moved = ("reproduce", "run", "dataset.root=쪽", "tracking=none", "runtime.batch_size=4")
    assert "dataset.root" in refused("reproduce", "run", "tracking=none", cwd=tmp_path)
    done = ran(*moved, cwd=tmp_path)
    assert outcome(done.stdout)["verdict"] == "equal"
    assert "runtime.batch_size: 32 then, 4 now" in outcome(done.stdout)["differences"]
    corpus(
        tmp_path / "쪽", PAGES, [{"id": "q1", "text": "교통 2026"}, *QUERIES[1:]], ["q1\ta\t1", "q2\tb\t1", "q3\tc\t1"]
    )
    done = glyphrank(*moved, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "differs now: data: " in done.stdout
    assert outcome(done.stdout)["moved"] == 1
    assert done.stdout.splitlines()[-1].startswith("different: ")


def test_another_experiment_is_refused_before_anything_is_made(folder: Path) -> None:
    runs = len(list(folder.glob("outputs/runs/*/*")))
    message = refused("reproduce", str(cell(folder)), "lexical.k1=2.0", cwd=folder)
    assert "lexical.k1: may change what is measured; that is another experiment" in message
    assert len(list(folder.glob("outputs/runs/*/*"))) == runs
