"""A plan as a person reads it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.errors import DataError
from glyphrank.report.plan_table import as_json, as_text, write_plan
from glyphrank.report.planned import Lack, Neighbour, Other, Plan, PlannedCell, PlannedDataset, PlannedStage

CELLS = (
    PlannedCell(0, ("experiment=tiny", "lexical.k1=1"), "a" * 32, True, ()),
    PlannedCell(1, ("experiment=tiny", "lexical.k1=2"), "b" * 32, False, ()),
)
PAGES = PlannedDataset("pages", 24, 1, (0, 1), "")
READINGS = PlannedStage("readings", "Embedded", "reading", "c" * 32, (0, 1), 24, 20, 4, 0, "", 130.0, True)
TEXTS = PlannedStage("vectors of texts", "Model", "vectors", "d" * 32, (1,), 20, 0, 20, 4, "read", None, False)
PLAN = Plan(CELLS, (PAGES,), (READINGS, TEXTS), ())


def lines(plan: Plan) -> list[str]:
    return [" ".join(line.split()) for line in as_text(plan).splitlines()]


def test_cells_stages_and_time_stand_in_lines() -> None:
    shown = lines(PLAN)
    assert shown[:6] == [
        "2 cells",
        "cell state overrides",
        "0 stored lexical.k1=1",
        "1 to do lexical.k1=2",
        "each cell also has experiment=tiny",
        "",
    ]
    assert "dataset pages: 1 query, 24 items; in 2 cells" in shown
    assert "readings Embedded cccccccc 2 24 20 4 2 min" in shown
    assert "vectors of texts Model dddddddd 1 20 0 20 4 until read ?" in shown
    assert shown[-2] == "results: 1 of 2 stored"
    assert shown[-1].startswith("time: about 2 min for the stages in one process, by earlier rates; no earlier rate of")


def test_why_names_the_fields_that_the_nearest_key_has_otherwise() -> None:
    others = (Other("size", "3", "4"), Other("prompt", json.dumps("x" * 100), '""'))
    near = Neighbour("e" * 32, others)
    (why,) = [
        line for line in lines(replace(PLAN, stages=(replace(TEXTS, neighbour=near),), why=True)) if "a new key" in line
    ]
    assert "other than in eeeeeeee: size 3 (there 4); prompt" in why
    assert "xxx..." in why
    known = replace(PLAN, stages=(READINGS, TEXTS), why=True)
    assert "readings (Embedded, cccccccc): the key is in the cache, 4 inputs of 24 are not" in lines(known)
    assert "vectors of texts (Model, dddddddd): a new key, and the cache has no other of this class" in lines(known)
    assert not [line for line in lines(PLAN) if "key" in line and "cells" not in line]


def test_where_all_is_stored_nothing_is_to_be_done() -> None:
    done = replace(PLAN, cells=(CELLS[0], replace(CELLS[0], number=1)), stages=())
    assert lines(done)[-1] == "nothing is to be done: the results of all 2 cells are stored"
    assert lines(replace(PLAN, cells=(), stages=()))[-1] == "nothing is to be done: there is no cell"


def test_where_all_is_cached_only_measuring_is_left() -> None:
    cached = replace(READINGS, cached=24, todo=0, seconds=0.0)
    assert "all stages are cached" in lines(replace(PLAN, stages=(cached,)))[-1]


def test_no_time_is_told_for_cells_that_could_not_be_planned() -> None:
    unknown, faulty = replace(CELLS[1], number=2, identity=""), replace(CELLS[1], number=3, faults=("torn",))
    for cell in (unknown, faulty):
        assert lines(replace(PLAN, cells=(cell,), stages=()))[-1] == "results: 0 of 1 stored"
    mixed = lines(replace(PLAN, cells=(*CELLS, unknown, faulty)))
    assert mixed[-1].startswith("time: about 2 min")
    assert mixed[-1].endswith("; nothing is known of cells 2, 3, which could not be planned")


def test_each_fault_is_told_once_with_its_cells_and_no_sign_reaches_the_terminal() -> None:
    broken = replace(CELLS[1], faults=("k1 is \x1b[31m2", "weights are not here"))
    lack = Lack("Model", "weights are not here", (1, 2), True)
    plan = replace(PLAN, cells=(CELLS[0], broken, replace(broken, number=2)), lacks=(lack,))
    assert "1 cannot run lexical.k1=2" in lines(plan)
    assert "cells 1, 2 cannot be run: k1 is ?[31m2" in lines(plan)
    assert "Model (cells 1, 2) lacks files: weights are not here" in lines(plan)
    assert as_text(plan).count("weights are not here") == 1
    missing = replace(PLAN, datasets=(PlannedDataset("Folder", 0, 0, (0, 1), "no corpus.jsonl"),))
    assert "no corpus.jsonl" in lines(missing)


def test_files_of_a_plan_hold_all_of_it(tmp_path: Path) -> None:
    written = write_plan(tmp_path, PLAN)
    assert [path.name for path in written] == ["plan.md", "plan.json"]
    assert as_text(PLAN) in written[0].read_text()
    stored = json.loads(written[1].read_text())
    assert stored == as_json(PLAN) | json.loads(json.dumps(as_json(PLAN)))
    assert stored["cells"][1]["overrides"] == ["experiment=tiny", "lexical.k1=2"]
    assert stored["stages"][1]["seconds"] is None
    assert stored["without_rate"] == ["d" * 32]
    with pytest.raises(DataError, match="the plan cannot be written"):
        write_plan(tmp_path / "nowhere", PLAN)
