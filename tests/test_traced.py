"""A result is never stored under an identity that was taken of other weights or sources than those that made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from command import corpus
from composing import built
from glyphrank.builder import find_component
from glyphrank.cache import remember
from glyphrank.errors import DataError
from glyphrank.identity import Location, recipe
from glyphrank.loading import load
from glyphrank.pipeline import execute, trace
from glyphrank.rankings import rank_once
from glyphrank.records import Encoded, Frames, Item, Line, Reading, Source
from glyphrank.run import Run
from glyphrank.runtime import Runtime
from glyphrank.shards import LinesCodec
from glyphrank.sources import changed_sources, digest_held, digest_sources, hold_sources
from glyphrank.stages import component_stage, encode_texts, text_stage
from glyphrank.traced import held_to
from glyphrank.tracking.start import Start

PLUG_IN = """
from dataclasses import dataclass

SIGN = 1


@dataclass(frozen=True)
class Part:
    number: int
"""


@dataclass(frozen=True)
class Signed:
    """Counts of a and b, of texts multiplied by the number in a file of weights."""

    VERSION: ClassVar[int] = 1
    weights: Location

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        counts = [[text.count("a"), text.count("b")] for text in texts]
        return Encoded(np.array(counts, dtype=np.float32), np.zeros(len(texts), dtype=bool))

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        found = self.encode_queries(texts, runtime)
        return replace(found, values=found.values * float(self.weights.read_text()))


@dataclass(frozen=True)
class Eventful:
    """Reads published texts; meanwhile something happens."""

    VERSION: ClassVar[int] = 1
    needs_frames: ClassVar[bool] = False
    sources: ClassVar[tuple[Source, ...]] = (Source.embedded,)
    meanwhile: ClassVar[list[Callable[[], object]]] = []

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        while self.meanwhile:
            self.meanwhile.pop()()
        text = item.text or ""
        return Reading(Source.embedded, (Line(text),), length=len(text))


@pytest.fixture(autouse=True)
def nothing_happens() -> Iterator[None]:
    Eventful.meanwhile.clear()
    yield
    Eventful.meanwhile.clear()


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """Weights with which the relevant item comes first, beside a corpus."""
    items = [{"id": "p", "text": "a a a"}, {"id": "r", "text": "a b b"}]
    corpus(tmp_path / "data", items, [{"id": "q", "text": "a"}], ["q\tp\t1"])
    (tmp_path / "weights").write_text("1")
    return tmp_path / "weights"


def run_with(weights: Path, *overrides: str) -> tuple[Run, Start]:
    folder = weights.parent
    options = ("dataset=folder", f"dataset.root={folder / 'data'}", "tracking=none")
    run, start = built(folder, *options, *overrides)
    return replace(run, ocr=Eventful(), text=Signed(weights), lexical=None), start


def cell(weights: Path, *overrides: str) -> float:
    """Whether the relevant item came first."""
    run, start = run_with(weights, *overrides)
    return dict(execute(run, start.config, start.choices).report.metrics)["hit_rate_at_1"]


def stored(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "outputs" / "results").glob("*/report.json"))


def test_weights_replaced_while_items_are_read_give_no_result(tmp_path: Path, weights: Path) -> None:  # case C04
    Eventful.meanwhile.append(lambda: weights.write_text("-1"))
    with pytest.raises(DataError, match="text: a file that the component runs on changed after the run began"):
        cell(weights)
    assert stored(tmp_path) == []
    assert cell(weights, "metrics.cutoffs=[1,2]") == 0.0
    weights.write_text("1")
    assert cell(weights) == 1.0


def test_weights_replaced_while_items_are_ranked_give_no_result(
    tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case C04
    def ranked(*arguments: Any, **options: Any) -> Any:
        weights.write_text("-1")
        return rank_once(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr("glyphrank.pipeline.rank_once", ranked)
        with pytest.raises(DataError, match="text: a file that the component runs on changed"):
            cell(weights)
    assert stored(tmp_path) == []
    assert cell(weights) == 0.0


def test_a_stage_works_on_nothing_but_what_its_runs_identity_was_taken_of(weights: Path) -> None:
    run, _ = run_with(weights)
    encoder = Signed(weights)
    with held_to(run, trace(run, load(run.dataset, run.runtime))):
        assert len(encode_texts(encoder, ["a"], run.runtime).vectors.ids) == 1
        weights.write_text("-1")
        with pytest.raises(DataError, match="vectors: a file that the component runs on changed"):
            text_stage(encoder, run.runtime)
    assert text_stage(encoder, run.runtime).key  # outside of a run nothing is expected


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The source of a plug-in that this process has imported."""
    source = tmp_path / f"plug_{tmp_path.name}.py"
    source.write_text(PLUG_IN)
    monkeypatch.syspath_prepend(tmp_path)
    find_component(f"{source.stem}.Part", {"glyphrank", source.stem})
    return source


def test_a_plug_in_is_what_was_imported_whatever_becomes_of_its_file(plug_in: Path) -> None:  # case C04
    name, before = plug_in.stem, digest_held({plug_in.stem})
    assert digest_sources({name}) == before
    plug_in.write_text(PLUG_IN.replace("SIGN = 1", "SIGN = -1"))
    hold_sources({name})
    assert digest_held({name}) == before != digest_sources({name})
    assert changed_sources({name, "glyphrank"}) == [name]
    plug_in.unlink()
    assert changed_sources({name}) == [name]
    plug_in.write_text(PLUG_IN)
    assert changed_sources({name}) == []


def test_a_shard_that_old_code_made_is_kept_under_no_key(plug_in: Path, weights: Path) -> None:  # case C04
    part = find_component(f"{plug_in.stem}.Part", {plug_in.stem})(3)
    run, _ = run_with(weights)
    plug_in.write_text(PLUG_IN.replace("SIGN = 1", "SIGN = -1"))
    stage = component_stage("reading", lambda files: recipe(part, files), LinesCodec(), 8, run.runtime)
    with pytest.raises(DataError, match=f"the sources of {plug_in.stem} changed while it ran; .* start again"):
        remember(stage, ["0" * 32], lambda at: [{"value": 1} for _ in at])
    assert not list(run.runtime.cache.rglob(f"*{LinesCodec.suffix}"))


def test_a_run_whose_plug_in_was_edited_stores_nothing(plug_in: Path, weights: Path) -> None:
    run, start = run_with(weights, f"plugins=[{plug_in.stem}]")
    Eventful.meanwhile.append(lambda: plug_in.write_text(PLUG_IN.replace("SIGN = 1", "SIGN = -1")))
    with pytest.raises(DataError, match=f"the sources of {plug_in.stem} changed"):
        execute(run, start.config, start.choices)
    assert stored(weights.parent) == []


def test_a_plug_in_that_changes_while_it_is_imported_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "restless_plug.py"
    source.write_text(f"{PLUG_IN}\nimport pathlib\npathlib.Path(__file__).write_text('SIGN = 2')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LookupError, match="the sources of restless_plug changed while it was imported; start again"):
        find_component("restless_plug.Part", {"glyphrank", "restless_plug"})
