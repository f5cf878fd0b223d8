from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from glyphrank.errors import DataError
from glyphrank.ocr import Pair, else_read
from glyphrank.ocr.else_read import ElseRead
from glyphrank.records import Frames, Item, Line, Media, Reading, Source, TextState
from glyphrank.runtime import NeedsFiles, Runtime
from scene_parts import of_yaml
from unseen import unseen

ITEM = Item("p", Media(Path("p.pdf"), 1, "digest"), None)


@dataclass(frozen=True)
class Says:
    """Gives one reading, and counts."""

    asked: ClassVar[list[str]] = []
    name: str
    reading: Reading
    needs_frames: bool

    @property
    def sources(self) -> tuple[Source, ...]:
        return (self.reading.source,)

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        self.asked.append(self.name)
        return self.reading


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    Says.asked.clear()
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def layer(*lines: str, failure: str | None = None, state: TextState = TextState.text) -> Reading:
    return Reading(Source.embedded, tuple(map(Line, lines)), failure, state)


@dataclass(frozen=True)
class Lacks(Says):
    """An engine whose weights are nowhere."""

    def find(self, runtime: Runtime) -> None:
        raise DataError(f"weights of {self.name} are nowhere")


SCENE = Reading(Source.scene, (Line("seen", 0.9),))


def pair(first: Reading, second: Reading = SCENE) -> ElseRead:
    return ElseRead(Says("first", first, False), Says("second", second, True), thin_below=8)


@pytest.mark.parametrize(
    ("reading", "enough"),
    [
        (layer("eight", "cha r"), True),
        (layer("seven  ", "c h"), False),
        (layer("서울시청앞에서"), False),
        (layer(unicodedata.normalize("NFD", "서울시청앞에서")), False),  # case P04
        (layer(failure="no text layer"), False),
        (layer(failure="torn", state=TextState.blank), False),
        (layer("many characters", failure="garbled: 60 %", state=TextState.garbled), False),
        (layer("many characters", state=TextState.garbled), False),
        (layer(state=TextState.image_only), False),
        (layer(state=TextState.blank), True),
    ],
)
def test_enough_counts_characters_without_white_space(reading: Reading, enough: bool) -> None:  # case P01, P02
    assert pair(layer()).enough(reading) is enough


def test_read_asks_the_second_engine_only_where_the_first_is_not_enough(runtime: Runtime) -> None:
    good = layer("a whole page")
    assert pair(good).read(ITEM, unseen, runtime) == good
    assert Says.asked == ["first"]
    assert pair(layer("12")).read(ITEM, unseen, runtime) == SCENE
    assert Says.asked == ["first", "first", "second"]


def test_read_keeps_a_thin_text_and_the_failure_of_the_second_engine(runtime: Runtime) -> None:
    failed = Reading(Source.scene, failure="no media")
    assert pair(layer("12"), failed).read(ITEM, unseen, runtime) == replace(layer("12"), failure="no media")
    assert pair(layer(), failed).read(ITEM, unseen, runtime).failure == "no media"
    nothing = Reading(Source.scene)
    assert pair(layer("12"), nothing).read(ITEM, unseen, runtime) == layer("12")
    assert pair(layer(failure="no layer"), nothing).read(ITEM, unseen, runtime) == nothing
    both = pair(layer(failure="no layer"), failed).read(ITEM, unseen, runtime)
    assert both.failure == "no layer; no media"


def test_find_says_before_anything_is_read_what_the_second_engine_lacks(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:  # case O05
    else_read._warn.cache_clear()
    good, lacks = Says("first", layer("a whole page"), False), Lacks("second", SCENE, True)
    engine = ElseRead(good, lacks, 8)
    assert isinstance(engine, NeedsFiles)
    engine.find(runtime)
    engine.find(runtime)
    [said] = caplog.messages
    assert said.endswith("lacks files: weights of second are nowhere")
    assert Says.asked == []
    with pytest.raises(DataError, match="weights of second are nowhere"):
        ElseRead(lacks, good, 8).find(runtime)
    caplog.clear()
    ElseRead(good, good, 8).find(runtime)
    assert caplog.messages == []


def test_read_leaves_an_item_without_media_to_the_first_engine(runtime: Runtime) -> None:
    bare = Item("p", None, "No. 7")
    assert pair(layer("No. 7")).read(bare, unseen, runtime) == layer("No. 7")
    assert Says.asked == ["first"]


def test_else_read_is_a_pair_that_looks_where_one_of_the_two_does() -> None:
    assert isinstance(pair(layer()), Pair)
    assert pair(layer()).needs_frames
    assert pair(layer()).sources == (Source.embedded, Source.scene)
    texts = Says("first", layer(), False)
    assert not ElseRead(texts, texts, 8).needs_frames
    assert ElseRead(texts, texts, 8).sources == (Source.embedded,)
    with pytest.raises(ValueError, match="thin_below is -1; wanted at least 0"):
        ElseRead(texts, texts, -1)


def test_the_engines_of_the_yaml_are_those_of_their_own_yamls_so_that_they_share_a_cache() -> None:
    built = of_yaml("embedded_else_easyocr")
    assert built.first == of_yaml("embedded")
    assert built.second == of_yaml("easyocr_ko_en")
