"""What is cached, what is left to do and what is unknown, of runs that are built and partly done."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from command import corpus
from composing import built
from counting_parts import Colours, Counting, Letters, Looking, Twofold
from glyphrank.errors import DataError
from glyphrank.pipeline import execute
from glyphrank.plan import BuiltCell, plan_cells
from glyphrank.records import Task
from glyphrank.report.planned import Other, Plan, PlannedStage
from glyphrank.run import Run
from glyphrank.runtime import Runtime
from pictures import write_picture

TEXTS = {"p": "aa", "q": "ab", "r": "b a"}
READINGS, TOKENS, TEXT_VECTORS, QUERY_VECTORS = "readings", "tokens", "vectors of texts", "vectors of queries"


@pytest.fixture
def read(tmp_path: Path) -> Run:
    """A run over three texts and two queries, with the channels `text` and `lexical`."""
    items = [{"id": name, "text": text} for name, text in TEXTS.items()]
    asked = [{"id": "x", "text": "a"}, {"id": "y", "text": "b"}]
    corpus(tmp_path / "data", items, asked, ["x\tp\t1", "y\tr\t1"])
    run, _ = built(tmp_path, "dataset=folder", "dataset.root=data", "encoder@lexical=bm25_words", "tracking=none")
    return replace(run, text=Letters(1.0))


@pytest.fixture
def seen(tmp_path: Path) -> Run:
    """A run over two pictures, with the channel `visual`."""
    (tmp_path / "data").mkdir()
    items = []
    for number, colour in enumerate(("red", "blue")):
        write_picture(tmp_path / "data" / f"{colour}.png", colour, 3 + number, 4)
        items.append({"id": colour, "media": f"{colour}.png"})
    corpus(tmp_path / "data", items, [{"id": "x", "text": "red"}], ["x\tred\t1"])
    over = ("ocr=none", "encoder@lexical=none", "tracking=none", "runtime.workers=0")
    run, _ = built(tmp_path, "dataset=folder", "dataset.root=data", *over, "encoder@visual=clip_vit_b_32")
    return replace(run, visual=Colours(1.0))


def planned(*runs: Run, why: bool = False) -> Plan:
    return plan_cells([BuiltCell(number, (), run) for number, run in enumerate(runs)], why=why)


def stages(plan: Plan) -> dict[str, PlannedStage]:
    return {stage.name: stage for stage in plan.stages}


def counts(plan: Plan) -> dict[str, tuple[int, int, int, int]]:
    """Name of a stage -> inputs, cached, to do, unknown."""
    return {stage.name: (stage.inputs, stage.cached, stage.todo, stage.unknown) for stage in plan.stages}


def is_of_texts(manifest: Path) -> bool:
    return bool(json.loads(manifest.read_text())["recipe"]["side"] == "text")


def forget_results(run: Run) -> None:
    shutil.rmtree(run.runtime.outputs / "results")


def test_before_a_run_texts_are_unknown_until_they_are_read(read: Run) -> None:
    plan = planned(read)
    assert counts(plan) == {
        READINGS: (3, 0, 3, 0),
        TEXT_VECTORS: (0, 0, 0, 3),
        QUERY_VECTORS: (2, 0, 2, 0),
        TOKENS: (2, 0, 2, 3),
    }
    assert stages(plan)[TEXT_VECTORS].until == "read"
    assert not (read.runtime.outputs / "runs").exists()
    assert not plan.is_done
    assert not plan.is_faulty


def test_after_a_run_nothing_is_to_be_done(read: Run) -> None:
    execute(read, {}, {})
    plan = planned(read)
    assert plan.is_done
    assert counts(plan) == {
        READINGS: (3, 3, 0, 0),
        TEXT_VECTORS: (3, 3, 0, 0),
        QUERY_VECTORS: (2, 2, 0, 0),
        TOKENS: (5, 5, 0, 0),
    }
    again = planned(replace(read, rerun=True))
    assert not again.is_done
    assert all(stage.is_done for stage in again.stages)


def test_one_field_changed_costs_exactly_its_stage_and_is_named(read: Run) -> None:
    execute(read, {}, {})
    plan = planned(replace(read, text=Letters(2.0)), why=True)
    assert {name for name, stage in stages(plan).items() if not stage.is_done} == {TEXT_VECTORS, QUERY_VECTORS}
    near = stages(plan)[TEXT_VECTORS].neighbour
    assert near is not None
    assert near.others == (Other("bias", "2.0", "1.0"),)
    assert not stages(plan)[TEXT_VECTORS].has_folder
    assert stages(plan)[TOKENS].neighbour is None


def test_half_way_what_is_read_is_looked_up_and_the_rest_is_unknown(read: Run, tmp_path: Path) -> None:
    execute(read, {}, {})
    forget_results(read)
    more = [{"id": name, "text": text} for name, text in {**TEXTS, "s": "new"}.items()]
    corpus(tmp_path / "data", more, [{"id": "x", "text": "a"}], ["x\tp\t1"])
    plan = planned(read, why=True)
    assert counts(plan)[READINGS] == (4, 3, 1, 0)
    assert counts(plan)[TEXT_VECTORS] == (3, 3, 0, 1)
    assert stages(plan)[READINGS].has_folder
    shutil.rmtree(read.runtime.cache / "reading")
    assert counts(planned(read))[TEXT_VECTORS] == (0, 0, 0, 4)


def test_cells_share_stages_and_a_stage_works_for_those_whose_result_is_not_stored(read: Run) -> None:
    alone = replace(read, text=None)
    execute(alone, {}, {})
    plan = planned(alone, read)
    assert [cell.stored for cell in plan.cells] == [True, False]
    assert stages(plan)[READINGS].cells == (0, 1)
    assert stages(plan)[TEXT_VECTORS].cells == (1,)
    shutil.rmtree(read.runtime.cache)
    assert counts(planned(alone))[READINGS] == (3, 0, 0, 0)


def test_frames_are_looked_at_first(seen: Run) -> None:
    assert counts(planned(seen)) == {
        "looks at frames": (2, 0, 2, 0),
        "vectors of frames": (0, 0, 0, 2),
        QUERY_VECTORS: (1, 0, 1, 0),
    }
    execute(seen, {}, {})
    assert planned(seen).is_done
    forget_results(seen)
    other = planned(replace(seen, visual=Colours(2.0)))
    assert counts(other)["looks at frames"] == (2, 2, 0, 0)
    assert counts(other)["vectors of frames"] == (2, 0, 2, 0)


def test_of_a_pair_of_engines_the_second_reads_what_the_first_does_not(tmp_path: Path, seen: Run) -> None:
    words, _ = built(tmp_path, "dataset=folder", "dataset.root=data", "tracking=none", "runtime.workers=0")
    items = [{"id": "red", "media": "red.png", "text": "bad"}, {"id": "p", "text": "fine"}]
    corpus(tmp_path / "data", items, [{"id": "x", "text": "red"}], ["x\tred\t1"])
    run = replace(words, ocr=Twofold(Counting(True), Looking(True)))
    first = [stage for stage in planned(run).stages if stage.name == READINGS]
    assert [(stage.component, stage.todo, stage.unknown) for stage in first] == [("Counting", 2, 0), ("Looking", 0, 2)]
    execute(run, {}, {})
    assert planned(run).is_done


def test_failed_inputs_are_tried_again_and_told_as_left_to_do(read: Run, tmp_path: Path) -> None:
    corpus(
        tmp_path / "data",
        [{"id": "p", "text": "a"}, {"id": "q", "text": "cc"}],
        [{"id": "x", "text": "a"}],
        ["x\tp\t1"],
    )
    execute(read, {}, {})  # "cc" has a zero vector
    plan = planned(read)
    assert counts(plan)[TEXT_VECTORS] == (2, 1, 1, 0)
    assert not plan.is_done


@dataclass(frozen=True)
class Faulty:
    """A dataset that cannot be loaded, and counts."""

    loads: ClassVar[list[Runtime]] = []
    name: str

    def load(self, runtime: Runtime) -> Task:
        self.loads.append(runtime)
        raise DataError(f"{self.name}: corpus.jsonl is not there; token=hush-hush")


def test_a_dataset_is_loaded_once_offline_and_its_fault_is_told_as_a_run_tells_it(read: Run) -> None:  # case L15
    Faulty.loads.clear()
    broken = replace(read, dataset=Faulty("tiny"))
    plan = planned(broken, replace(broken, text=None), read)
    assert [runtime.download for runtime in Faulty.loads] == [False]
    assert [dataset.cells for dataset in plan.datasets] == [(0, 1), (2,)]
    assert plan.cells[0].faults == ("tiny: corpus.jsonl is not there; token=<redacted>",)
    assert plan.cells[2].faults == ()
    assert plan.is_faulty
    fetching = planned(replace(broken, runtime=replace(broken.runtime, download=True)))
    assert not fetching.is_faulty
    assert Faulty.loads[-1].download is False


def test_missing_weights_are_named_with_the_cells_that_need_them(read: Run, tmp_path: Path) -> None:  # case E08
    other, _ = built(tmp_path, "dataset=folder", "dataset.root=data", "encoder@visual=clip_vit_b_32", "tracking=none")
    plan = planned(read, replace(other, lexical=read.lexical))
    (lack,) = plan.lacks
    assert lack.cells == (1,)
    assert lack.ends
    assert "laion/CLIP-ViT-B-32-laion2B-s34B-b79K" in lack.message
    assert plan.cells[1].faults == (lack.message,)
    fetching = replace(other, runtime=replace(other.runtime, download=True))
    assert [lack.ends for lack in planned(fetching).lacks] == [False]
    assert not planned(fetching).is_faulty


def test_a_gallery_without_a_text_is_told_once_it_is_read(read: Run, tmp_path: Path) -> None:
    corpus(tmp_path / "data", [{"id": "p", "text": " "}], [{"id": "x", "text": "a"}], ["x\tp\t1"])
    assert not planned(read).is_faulty
    with pytest.raises(DataError, match="none of the 1 items has a text"):
        execute(read, {}, {})
    assert "none of the 1 items has a text" in planned(read).cells[0].faults[0]


def test_time_is_estimated_by_the_rate_of_the_key_else_of_its_nearest_neighbour(read: Run) -> None:
    assert stages(planned(read))[READINGS].seconds is None
    assert len(planned(read).unrated) == 4
    execute(read, {}, {})
    forget_results(read)
    (folder,) = (path.parent for path in read.runtime.cache.glob("vectors/*/manifest.json") if is_of_texts(path))
    (folder / ".rate.json").write_text('{"inputs": 10, "seconds": 20, "start": 5}')
    near = planned(replace(read, text=Letters(2.0)))
    assert stages(near)[TEXT_VECTORS].seconds == 5 + 3 * 2
    for shard in folder.glob("*.safetensors"):
        shard.unlink()
    assert stages(planned(read))[TEXT_VECTORS].seconds == 5 + 3 * 2
    (folder / ".rate.json").write_text("{")
    assert stages(planned(read))[TEXT_VECTORS].seconds is None


def test_a_cell_that_cannot_be_built_is_told_and_the_others_are_planned(read: Run) -> None:
    cells: Sequence[BuiltCell] = [BuiltCell(0, ("a=b",), None, "a is unknown"), BuiltCell(1, (), read)]
    plan = plan_cells(cells)
    assert plan.cells[0].faults == ("a is unknown",)
    assert plan.is_faulty
    assert stages(plan)[READINGS].cells == (1,)
