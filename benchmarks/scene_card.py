"""The card of the sample encoder, and the README's table: texts made of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scene_split
from glyphrank.datasets.sample_clips_design import Clip, Expected, expected
from glyphrank.report.compared import Compared

FOLDER = Path(__file__).parents[1] / "src" / "glyphrank" / "samples" / "scene_encoder"
RECIPROCAL, HIT = "reciprocal_rank_at_10", "hit_rate_at_1"
_SHOWN = {
    "visual": "sees (`sample_scenes`)",
    "text": "reads, dense (`minilm`)",
    "lexical": "reads, words (`bm25_words`)",
    "fused": "sees and reads, fused",
}
_TEMPLATE = Path(__file__).with_name("scene_card.md")


@dataclass(frozen=True)
class Measured:
    """What came of one test seed.

    Attributes:
        runs: channel, or `fused` -> its row of the comparison in which the fused run is the baseline.
        scenes: share of queries whose first clip, by sight alone, shows the query's scene.
        passed: whether fusion is above every channel by enough, and not by chance.
    """

    seed: int
    runs: Mapping[str, Compared]
    scenes: float
    passed: bool


def card(
    training: Mapping[str, Any], tried: Mapping[str, float], chosen: str, machine: str, measured: Sequence[Measured]
) -> str:
    """The card, in Markdown.

    Args:
        training: of training.json.
        tried: rule of fusion -> its mean over the validation seeds.
        chosen: the rule that the test was run with.
        machine: what it was trained on.
        measured: of the test seeds.
    """
    validation = "\n".join(f"* {value:.1%} of {name}" for name, value in training["validation"].items())
    rules = ", ".join(f"{name} {value:.3f}" for name, value in tried.items())
    return _TEMPLATE.read_text(encoding="utf-8").format(
        **{
            name: training[name]
            for name in ("parameters", "clips", "steps", "batch", "seed", "threads", "seconds", "words")
        },
        megabytes=training["bytes"] / 1e6,
        machine=machine,
        versions=", ".join(f"{name} {version}" for name, version in training["versions"].items()),
        training=len(scene_split.training_scenes()),
        validation_seeds=_listed(scene_split.validation_seeds()),
        validation=len(_scenes(scene_split.validation_seeds())),
        test_seeds=_listed(scene_split.TEST_SEEDS),
        test=len(_scenes(scene_split.TEST_SEEDS)),
        reciprocal=RECIPROCAL,
        hit=HIT,
        tried=rules,
        chosen=chosen,
        validation_results=validation,
        clips_a_seed=scene_split.CLIPS,
        queries=3 * scene_split.CLIPS,
        ceiling=f"{1 / scene_split.CLIPS_A_SCENE:.2f}",
        table=table(measured),
        scenes=", ".join(f"{one.scenes:.1%}" for one in measured),
    )


def table(measured: Sequence[Measured]) -> str:
    """Every seed's channels and fusion beside chance and the ceilings of the design."""
    lines = [f"| seed | who | {HIT} | {RECIPROCAL} | fused is above by | p |", "|---|---|---|---|---|---|"]
    for one in measured:
        clips = list(scene_split.clips_of(one.seed).values())
        lines += [
            _known(one.seed, "a random order", expected(clips, lambda _: None)),
            _known(one.seed, "ceiling: sees all, reads nothing", expected(clips, _scene)),
            _known(one.seed, "ceiling: reads all, sees nothing", expected(clips, _text)),
            *(_row(one.seed, shown, one.runs[name]) for name, shown in _SHOWN.items()),
        ]
    return "\n".join(lines)


def section(measured: Sequence[Measured]) -> str:
    """The table for the README, with one sentence that says what it shows."""
    gains = [-(row.difference or 0) for one in measured for name, row in one.runs.items() if name != "fused"]
    return (
        f"{table(measured)}\n\nOver {len(measured)} seeds, whoever sees and reads is above each channel alone by "
        f"{min(gains):.3f} to {max(gains):.3f} of {RECIPROCAL} (paired sign flips by clip, Holm for three channels).\n"
    )


def _scene(clip: Clip) -> object:
    return clip.scene


def _text(clip: Clip) -> object:
    return clip.text


def _scenes(seeds: Sequence[int]) -> set[object]:
    return {scene for seed in seeds for scene in scene_split.scenes_of(seed)}


def _known(seed: int, who: str, values: Expected) -> str:
    return f"| {seed} | {who} | {values.hit_rate_at_1:.3f} | {values.reciprocal_rank_at_10:.3f} | | |"


def _row(seed: int, who: str, row: Compared) -> str:
    values = f"| {seed} | {who} | {row.values[HIT]:.3f} | {row.values[RECIPROCAL]:.3f} |"
    if row.difference is None or row.p_adjusted is None:
        return f"{values} | |"
    low, high = row.difference_interval or (row.difference, row.difference)
    shown = f"{row.p_adjusted:.4f}" if row.p_adjusted >= 0.0001 else "< .0001"
    return f"{values} {-row.difference:.3f} [{-high:.3f}, {-low:.3f}] | {shown} |"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
