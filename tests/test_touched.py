"""What a change costs: the looks it touches and no others, counted in calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counting_parts import Colours, Looking
from glyphrank.media.sampling import Middles
from glyphrank.reading import read_items
from glyphrank.records import Item
from glyphrank.runtime import Runtime
from glyphrank.sight import Sight
from glyphrank.visual import encode_frames
from pictures import pictured, write_picture

COUNT = 200


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


@pytest.fixture
def items(tmp_path: Path, runtime: Runtime) -> list[Item]:
    """Pictures of different sizes, all of them worked on once."""
    made = [pictured(write_picture(tmp_path / f"{number}.png", "red", 2 + number, 3)) for number in range(COUNT)]
    assert cost(made, runtime) == (COUNT, COUNT)
    return made


def cost(
    items: list[Item], runtime: Runtime, bias: float = 1.0, strict: bool = True, count: int = 2, long_side: int = 1000
) -> tuple[int, int]:
    """How many looks a run over the items encodes and reads."""
    Colours.calls.clear()
    Looking.reads.clear()
    with Sight(Middles(count, long_side, 10_000), runtime) as sight:
        encode_frames(Colours(bias), items, sight, runtime)
        read_items(Looking(strict), items, sight, runtime)
    return len(Colours.calls), len(Looking.reads)


def test_nothing_changed_costs_nothing(items: list[Item], runtime: Runtime) -> None:
    assert cost(items, runtime) == (0, 0)
    assert cost(items[::-1], runtime) == (0, 0)


def test_a_field_of_one_component_costs_that_component(items: list[Item], runtime: Runtime) -> None:  # case C01
    assert cost(items, runtime, bias=2.0) == (COUNT, 0)
    assert cost(items, runtime, strict=False) == (0, COUNT)


def test_settings_of_frames_cost_the_looks_that_they_change(items: list[Item], runtime: Runtime) -> None:
    assert cost(items, runtime, count=5) == (0, 0)  # pictures look the same
    # The 100 wider ones become 100 x 3, 100 x 2 and 100 x 1, of which the first was seen before.
    assert cost(items, runtime, long_side=100) == (2, 2)


def test_one_file_edited_removed_or_appended_costs_itself(
    items: list[Item], runtime: Runtime, tmp_path: Path
) -> None:  # case C01
    items[70] = replace(pictured(write_picture(tmp_path / "70.png", "blue", 999, 3)), id="70")
    assert cost(items, runtime) == (1, 1)
    del items[20]
    assert cost(items, runtime) == (0, 0)
    items.append(pictured(write_picture(tmp_path / "new.png", "green")))
    assert cost(items, runtime) == (1, 1)
    assert cost(items[: COUNT // 2], runtime) == (0, 0)


def test_a_file_moved_costs_nothing(items: list[Item], runtime: Runtime, tmp_path: Path) -> None:
    items[3] = pictured((tmp_path / "3.png").rename(tmp_path / "moved.png"))
    assert cost(items, runtime) == (0, 0)
