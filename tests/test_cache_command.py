"""`glyphrank cache`: what it lists, what it removes, and what it leaves alone."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from glyphrank.cache import Stage, remember
from glyphrank.cache_command import run_cache
from glyphrank.cache_folders import components, described, remove
from glyphrank.errors import DataError
from glyphrank.shards import LinesCodec

DAY = 86400.0
INPUTS = [f"{number:032x}" for number in (1, 2, 4, 5)]


def stage(cache: Path, name: str, key: str) -> Stage[Any, Any]:
    recipe = {"class": f"mine.{name.title()}", "version": 1, "packages": {}, "fields": {"k1": 1.2}}
    return Stage(cache, name, recipe, key * 32, 2, LinesCodec())


def fill(cache: Path, name: str, key: str, days: float = 0) -> Path:
    """A component's folder with three shards of four inputs, not used for so many days."""
    made = stage(cache, name, key)
    remember(made, INPUTS, lambda at: [{"at": position} for position in at])
    for path in made.folder.iterdir():
        os.utime(path, (time.time() - days * DAY,) * 2)
    return made.folder


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of a folder of outputs, with an old component, a new one, and the fingerprint of a file."""
    monkeypatch.setenv("GLYPHRANK_OUTPUTS", str(tmp_path))
    folder = tmp_path / "cache"
    fill(folder, "reading", "a", days=40)
    fill(folder, "tokens", "b", days=2)
    (folder / "files").mkdir()
    (folder / "files" / f"{'c' * 32}.json").write_text("{}")
    return folder


def test_list_names_components_with_their_fields_and_inputs(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cache([]) == 0
    shown = capsys.readouterr().out
    assert "Reading k1=1.2" in shown
    assert "Tokens k1=1.2" in shown
    assert "fingerprints of files" in shown
    assert run_cache(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(part["stage"], part["inputs"]) for part in listed["components"]] == [
        ("files", 1),
        ("reading", 4),
        ("tokens", 4),
    ]
    assert listed["size"] == sum(path.stat().st_size for path in files(cache))


def test_prune_only_shows_until_it_is_told_yes(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(cache)
    assert run_cache(["prune", "--older-than", "30d"]) == 0
    shown = capsys.readouterr().out
    assert "would be removed" in shown
    assert "Reading" in shown
    assert "Tokens" not in shown
    assert files(cache) == before
    assert run_cache(["prune", "--older-than", "30d", "--yes"]) == 0
    assert {component.stage for component in components(cache)} == {"files", "tokens"}
    assert not (cache / "reading" / ("a" * 32)).exists()


@pytest.mark.parametrize(
    ("choices", "left"),
    [
        (["--stage", "tokens"], {"files", "reading"}),
        (["--key", "aaaa"], {"files", "tokens"}),
        (["--stage", "tokens", "--older-than", "30d"], {"files", "reading", "tokens"}),
        (["--stage", "files"], {"reading", "tokens"}),
        (["--all"], set()),
        ([], {"files", "reading", "tokens"}),
    ],
)
def test_prune_removes_what_all_choices_fit(choices: list[str], left: set[str], cache: Path) -> None:
    assert run_cache(["prune", *choices, "--yes"]) == 0
    assert {component.stage for component in components(cache)} == left


def test_prune_leaves_what_is_not_of_the_cache(cache: Path) -> None:
    own = [cache / "notes.txt", cache / "reading" / ("a" * 32) / "mine.jsonl.zst", cache / "mine" / "report.json"]
    for path in own:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    assert run_cache(["prune", "--all", "--yes"]) == 0
    assert files(cache) == set(own)


def test_what_is_pruned_is_made_again(cache: Path) -> None:
    found = remember(stage(cache, "reading", "a"), INPUTS, lambda at: [{"at": position} for position in at])
    assert found.worked == 0
    assert run_cache(["prune", "--all", "--yes"]) == 0
    found = remember(stage(cache, "reading", "a"), INPUTS, lambda at: [{"at": position} for position in at])
    assert found.worked == 4


def test_pruning_beside_a_run_leaves_what_it_works_on(cache: Path) -> None:
    codes = []

    def work(at: Sequence[int]) -> list[dict[str, int]]:
        codes.append(run_cache(["prune", "--all", "--yes"]))
        return [{"at": position} for position in at]

    found = remember(stage(cache, "vectors", "d"), INPUTS, work)
    assert [value["at"] for value in found.values] == [0, 1, 2, 3]
    assert codes == [1] * len(codes)
    assert {component.stage for component in components(cache)} == {"vectors"}


def test_what_a_process_works_on_stays(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = cache / "reading" / ("a" * 32)
    with FileLock(folder / "locks" / f"{'e' * 32}.lock"):
        assert run_cache(["prune", "--all", "--yes"]) == 1
    assert "a process works on it" in capsys.readouterr().err
    assert {component.stage for component in components(cache)} == {"reading"}
    with FileLock(folder / "locks" / f"{'e' * 32}.lock"), pytest.raises(DataError, match="at this moment"):
        remove(components(cache)[0])


def test_prune_clears_what_died_processes_left(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = cache / "tokens" / ("b" * 32)
    old, new = folder / ".x.jsonl.zst.1.ab.tmp", folder / ".y.jsonl.zst.1.ab.tmp"
    lock = folder / "locks" / f"{'f' * 32}.lock"
    lock.parent.mkdir(exist_ok=True)
    for path in (old, new, lock):
        path.write_text("half")
    for path in (old, lock):
        os.utime(path, (time.time() - DAY,) * 2)
    assert run_cache(["prune"]) == 0
    assert "2 temporary and lock files" in capsys.readouterr().out
    assert old.exists()
    assert run_cache(["prune", "--yes"]) == 0
    assert (old.exists(), lock.exists(), new.exists()) == (False, False, True)
    assert {component.stage for component in components(cache)} == {"files", "reading", "tokens"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cache", "nowhere"], "there is no cache in nowhere"),
        (["prune", "--stage", "vector"], "no stage 'vector'; wanted one of files, reading, tokens"),
        (["prune", "--key", "9"], "begins no key"),
        (["prune", "--older-than", "30"], "e.g. 30d"),
        (["--yes"], "goes with prune"),
        (["remove"], "invalid choice"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    arguments: list[str], message: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(cache)
    assert run_cache(arguments) == 2
    assert message in capsys.readouterr().err
    assert files(cache) == before


def test_damaged_manifests_and_shards_are_listed_all_the_same(cache: Path) -> None:
    folder = cache / "reading" / ("a" * 32)
    (folder / "manifest.json").write_text('{"key": ')
    first, *_ = sorted(folder.glob("*.zst"))
    first.write_bytes(b"damaged")
    (part,) = (component for component in components(cache) if component.stage == "reading")
    assert part.recipe == {}
    assert len(part.shards) == 3
    assert part.inputs < 4


def test_a_component_is_described_by_its_class_and_fields() -> None:
    weights = {"class": "mine.Weights", "fields": {"repository": "someone/small-model", "folder": None}}
    encoder = {"class": "mine.Encoder", "fields": {"weights": weights, "prompt": "", "tags": ["N", "V"], "length": 8}}
    assert (
        described({"side": "text", "encoder": encoder}) == "text Encoder weights=small-model tags=(2 values) length=8"
    )
