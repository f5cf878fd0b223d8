"""The encoder that the package carries for its sample: what it was kept from, what it knows, how it is made."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import scene_split
from composing import CONF, composed
from glyphrank.builder import Builder
from glyphrank.datasets.sample_clips import SampleClips
from glyphrank.datasets.sample_clips_design import Clip, Scene
from glyphrank.datasets.sample_clips_video import FRAMES, draw_clip
from glyphrank.datasets.sample_clips_words import COLOURS, MOTIONS, PLACES, TEXTS, THINGS, queries
from glyphrank.digests import digest_file
from glyphrank.encoders.clip import OpenClip
from glyphrank.records import Frames
from glyphrank.report.compared import Compared
from glyphrank.runtime import Runtime
from scene_card import FOLDER, Measured, table
from scene_pictures import Caption, captions

ROOT = Path(__file__).parents[1]
CHOICE = "sample_scenes"
WEIGHTS = FOLDER / "open_clip_model.safetensors"
HALVES = (FRAMES // 4, FRAMES - FRAMES // 4)
ENOUGH = 0.9
TWICE = """
import sys, train_sample_encoder as training
for folder in sys.argv[1:]:
    training.main(["--folder", folder, *"--steps 2 --clips 8 --batch 4 --threads 1 --processes 1".split()])
"""


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 32, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def encoder() -> OpenClip:
    """The choice as a run has it."""
    import yaml

    node = yaml.safe_load((CONF / "encoder" / f"{CHOICE}.yaml").read_text(encoding="utf-8"))
    builder = Builder({"glyphrank"}, Path("/nowhere"))
    built = builder.build(OpenClip, node)
    assert not builder.faults
    assert isinstance(built, OpenClip)
    return built


def test_no_scene_of_test_or_validation_looks_like_one_that_is_trained_on() -> None:
    trained = {scene_split.look(scene) for scene in scene_split.training_scenes()}
    tested = scene_split.looks(scene_split.TEST_SEEDS)
    validated = scene_split.looks(scene_split.validation_seeds())
    assert not trained & tested
    assert not trained & validated
    assert not tested & validated
    assert len(trained) + len(tested) + len(validated) == 125


def test_the_tested_clips_are_those_that_the_sample_draws(runtime: Runtime) -> None:
    fields = {"clips": 60, "clips_a_text": 4, "clips_a_scene": 4}
    for seed in scene_split.TEST_SEEDS:
        clips = scene_split.clips_of(seed)
        assert list(clips.values()) == SampleClips(**fields, seed=seed)._design()
        assert next(iter(clips)) == "clip01"
        assert {scene_split.look(clip.scene) for clip in clips.values()} <= scene_split.looks(scene_split.TEST_SEEDS)


def test_no_sign_of_the_training_bears_a_word_of_the_sample() -> None:
    from open_clip.tokenizer import SimpleTokenizer

    words = scene_split.training_words(SimpleTokenizer().encoder)
    of_signs = {word for text in TEXTS for word in text.lower().split()}
    assert len(words) > 10_000
    assert not set(words) & of_signs
    assert of_signs < scene_split.sample_words()
    assert all(re.fullmatch("[a-z]{3,7}", word) for word in words)


def test_captions_name_what_is_seen_and_a_part_fits_other_scenes_too() -> None:
    from random import Random

    chance, (scene, *others) = Random(1), scene_split.training_scenes()
    pairs = [captions(scene, "Harbour Lantern", chance) for _ in range(50)]
    assert all(whole.fits(scene) and part.fits(scene) for whole, part in pairs)
    assert {whole.text for whole, _ in pairs} == set(asked(scene, "Harbour Lantern"))
    assert not any(whole.fits(other) for whole, _ in pairs for other in others)
    assert any(part.fits(other) for _, part in pairs for other in others)
    assert not Caption("In a forest.", (("place", "forest"),)).fits(scene)


def asked(scene: Scene, text: str) -> list[str]:
    return queries(scene.place, scene.thing, scene.colour, scene.motion, text)


def test_the_choice_pins_the_weights_that_the_package_carries(runtime: Runtime) -> None:
    assert encoder().weights.sha256 == digest_file(WEIGHTS)
    assert encoder().find(runtime) == FOLDER
    assert WEIGHTS.stat().st_size <= 9_000_000


def test_no_choice_outside_the_samples_uses_it() -> None:
    named = [path for path in (ROOT / "experiments").glob("*.yaml") if CHOICE in path.read_text(encoding="utf-8")]
    assert all("/dataset: sample_clips" in path.read_text(encoding="utf-8") for path in named)
    others = {path for path in CONF.rglob("*.yaml") if "experiment" not in path.parts} - {
        CONF / "encoder" / f"{CHOICE}.yaml"
    }
    assert not [path for path in others if CHOICE in path.read_text(encoding="utf-8")]


def test_it_builds_in_the_slot_of_sight_and_truncates_no_query_of_the_sample(tmp_path: Path, runtime: Runtime) -> None:
    assert composed(tmp_path, f"encoder@visual={CHOICE}").visual.weights.package == "glyphrank/samples/scene_encoder"
    longest = max(TEXTS, key=len)
    every = itertools.product(PLACES, THINGS, COLOURS[:1], MOTIONS)
    texts = [text for names in every for text in queries(*names, longest)]
    assert not encoder().encode_queries(texts, runtime).truncated.any()


def test_it_finds_scenes_that_look_like_none_it_was_trained_on(runtime: Runtime) -> None:
    scenes = list(
        dict.fromkeys(scene for seed in scene_split.validation_seeds() for scene in scene_split.scenes_of(seed))
    )
    seeing, prepare = encoder(), encoder().preparation(runtime)
    frames = []
    for number, scene in enumerate(scenes):
        drawn = list(itertools.islice(draw_clip(Clip(scene, TEXTS[number]), f"unseen/{number}"), HALVES[1] + 1))
        frames.append(Frames(tuple(prepare(drawn[place]) for place in HALVES)))
    clips = seeing.encode_frames(iter(frames), runtime)
    clips /= np.linalg.norm(clips, axis=1, keepdims=True)
    texts = [asked(scene, TEXTS[-1 - number])[number % 3] for number, scene in enumerate(scenes)]
    nearest = (seeing.encode_queries(texts, runtime).values @ clips.T).argmax(axis=1)
    looks = [scene_split.look(scene) for scene in scenes]
    assert np.mean([looks[best] == looks[place] for place, best in enumerate(nearest)]) >= ENOUGH


def test_the_card_says_what_it_is_and_holds_the_measured_tables() -> None:
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    for said in ("Apache-2.0", "no encoder for pictures of the", "benchmarks/train_sample_encoder.py"):
        assert said in card
    assert f"seeds {', '.join(map(str, scene_split.TEST_SEEDS))}" in card
    for line in table([]).splitlines():
        assert line in card
    assert card.count("| sees and reads, fused |") == len(scene_split.TEST_SEEDS)


def test_what_the_card_says_of_the_training_is_what_the_training_wrote() -> None:
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    trained = json.loads((FOLDER / "training.json").read_text(encoding="utf-8"))
    shown = [f"{trained[name]:,}" for name in ("parameters", "clips", "steps", "words")]
    shown += [
        f"seed {trained['seed']}",
        f"{trained['seconds']:,} s",
        f"{trained['steps']:,} steps of {trained['batch']} ",
    ]
    shown += [f"{share:.1%} of {what}" for what, share in trained["validation"].items()]
    shown += [f"{package.replace('_', '-')} {number}" for package, number in trained["versions"].items()]
    assert [text for text in shown if text not in " ".join(card.split())] == []


def test_the_table_sets_every_channel_beside_chance_and_ceilings() -> None:
    values = {"hit_rate_at_1": 0.25, "reciprocal_rank_at_10": 0.5}
    alone = {
        name: Compared(name, "", {}, values, {}, False, -0.4, (-0.5, -0.3), 0.001, 0.002)
        for name in ("visual", "text", "lexical")
    }
    both = Compared("fused", "", {}, {"hit_rate_at_1": 0.9, "reciprocal_rank_at_10": 0.9}, {}, True)
    lines = table([Measured(7, {**alone, "fused": both}, 1.0, True)]).splitlines()
    assert lines[2] == "| 7 | a random order | 0.017 | 0.049 | | |"
    assert lines[3] == "| 7 | ceiling: sees all, reads nothing | 0.250 | 0.521 | | |"
    assert lines[6] == "| 7 | reads, dense (`minilm`) | 0.250 | 0.500 | 0.400 [0.300, 0.500] | 0.0020 |"
    assert lines[8] == "| 7 | sees and reads, fused | 0.900 | 0.900 | | |"


@pytest.mark.timeout(240)
def test_training_writes_a_folder_that_loads_and_the_same_weights_again(tmp_path: Path, runtime: Runtime) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    command = [sys.executable, "-c", TWICE, *map(str, folders)]
    done = subprocess.run(command, cwd=ROOT / "benchmarks", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    digests = [digest_file(folder / WEIGHTS.name) for folder in folders]
    assert digests[0] == digests[1]
    assert digests[0] in done.stdout
    told = json.loads((folders[0] / "training.json").read_text(encoding="utf-8"))
    assert (told["steps"], told["clips"], told["seed"]) == (2, 8, 0)
    settings = [json.loads((folder / "open_clip_config.json").read_text()) for folder in (folders[0], FOLDER)]
    assert settings[0] == settings[1]
