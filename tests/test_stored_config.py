from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from command import corpus
from glyphrank.composition import plain_here
from glyphrank.datasets.folder import Folder
from glyphrank.errors import ConfigError
from glyphrank.redaction import REDACTED, redact_text
from glyphrank.run import Run
from glyphrank.stored_config import Here, Stored, build_stored, places_of
from glyphrank.tracking.local import Local
from glyphrank.tracking.server import Server

PLUGIN = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from glyphrank.identity import Location
from glyphrank.records import Encoded

@dataclass(frozen=True)
class Letters:
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    api_key: str
    folders: tuple[Location, ...]
    url: str = "http://127.0.0.1:9"

    def encode_queries(self, texts, runtime): ...
    def encode_texts(self, texts, runtime): ...
"""


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    """What a run over a folder leaves behind."""
    return plain_here(["dataset=folder", "dataset.root=pages", "encoder@lexical=bm25_words"])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of launch that holds the dataset."""
    monkeypatch.delenv("GLYPHRANK_OUTPUTS", raising=False)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    corpus(tmp_path / "pages", [{"id": "a", "text": "x"}], [{"id": "q", "text": "x"}], ["q\ta\t1"])
    return tmp_path


def built(config: dict[str, Any], place: Path, *overrides: str, **more: Any) -> Stored:
    return build_stored(config, Here(place, overrides, **more))


def refused(config: dict[str, Any], place: Path, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        built(config, place, *overrides)
    return str(caught.value)


def test_run_is_built_as_it_was(stored: dict[str, Any], place: Path) -> None:
    found = built({**stored, "hydra": {"job": "x"}}, place)
    assert found.run.dataset == Folder(place / "pages", "test")
    assert found.run.channels == ("lexical",)
    assert (found.run.runtime.outputs, found.run.runtime.cache) == (place / "outputs", place / "outputs" / "cache")
    assert isinstance(found.run.tracking, Local)
    assert found.config == stored


def test_places_and_ways_of_working_may_be_others(stored: dict[str, Any], place: Path) -> None:
    (place / "pages").rename(place / "쪽 1")
    found = built(stored, place, "dataset.root=쪽 1", "runtime.batch_size=8", "runtime.device=cuda:1", "tracking=none")
    assert found.run.dataset == Folder(place / "쪽 1", "test")
    assert (found.run.runtime.batch_size, found.run.runtime.device) == (8, "cuda:1")
    assert found.run.tracking is None
    assert found.overrides[0] == "dataset.root=쪽 1"
    assert stored["runtime"]["batch_size"] == 32


@pytest.mark.parametrize(
    "override", ["lexical.k1=1.2", "dataset.split=dev", "metrics=clips", "dataset=folder", "rerun=true"]
)
def test_what_may_change_a_number_is_another_experiment(override: str, stored: dict[str, Any], place: Path) -> None:
    message = refused(stored, place, override)
    assert "that is another experiment" in message
    assert f"[override {override}]" in message
    assert "dataset.root" in message


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("runtime.device=3", "runtime.device: found 3 (int), wanted a valid string [override runtime.device=3]"),
        ("runtime.devise=cpu", "did you mean 'device'?"),
        ("runtime", "wanted KEY=VALUE"),
        ("dataset.root=elsewhere", "there is no"),
        ("tracking=nowhere", "tracking/nowhere"),
        ("tracking=null", "tracking: found None, wanted none, local or server"),
        ("tracking=3", "tracking: found 3, wanted none, local or server"),
        ("paths=3", "paths: holds other settings; give one of them: paths.outputs, paths.cache [override paths=3]"),
        ("runtime=null", "runtime: holds other settings; give one of them: runtime.device, runtime.batch_size"),
        ("paths.outputs=null", "runtime.outputs: found None (NoneType), wanted a valid string [override paths.outputs"),
    ],
)
def test_overrides_that_do_not_fit_are_named(override: str, words: str, stored: dict[str, Any], place: Path) -> None:
    message = refused(stored, place, override)
    assert words in message
    assert "faults" not in message


def test_all_faults_are_told_at_once(stored: dict[str, Any], place: Path) -> None:
    message = refused(stored, place, "lexical.k1=2.0", "runtime.workers=-1", "dataset.root=gone")
    assert all(name in message for name in ("lexical.k1", "workers is -1", "dataset.root"))


def test_place_that_is_not_here_is_asked_for(stored: dict[str, Any], tmp_path: Path) -> None:
    assert f"there is no {tmp_path / 'pages'}; where it lies now is said by dataset.root=PATH" in refused(
        stored, tmp_path
    )


def test_secret_that_was_removed_is_asked_for(stored: dict[str, Any], place: Path) -> None:  # case L15
    config = {**stored, "dataset": {**stored["dataset"], "root": f"/data?token={REDACTED}"}}
    assert "dataset.root: is '/data?token=<redacted>', for secrets are not stored" in refused(config, place)
    assert built(config, place, "dataset.root=pages").run.dataset == Folder(place / "pages", "test")


def test_component_of_a_plugin_is_found_and_its_places_and_secrets_may_be_given(
    stored: dict[str, Any], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (place / "own").mkdir()
    (place / "own" / "letters_of_mine.py").write_text(PLUGIN)
    text = {
        "_target_": "letters_of_mine.Letters",
        "api_key": REDACTED,
        "folders": ["gone"],
        "url": "http://127.0.0.1:9",
    }
    config = {**stored, "plugins": ["letters_of_mine"], "text": text}
    overrides = ("text.api_key=hush-hush", "text.folders=[pages, own]")
    found = built(config, place, *overrides, config_dir=place / "own")
    assert vars(found.run.text) == {
        "api_key": "hush-hush",
        "folders": (place / "pages", place / "own"),
        "url": "http://127.0.0.1:9",
    }
    with_user = built(config, place, *overrides, "text.url=http://kim:hush-hush@127.0.0.1:9").run.text
    assert vars(with_user)["url"] == "http://kim:hush-hush@127.0.0.1:9"
    assert "text.url: may change what is measured" in refused(config, place, *overrides, "text.url=http://kim@other:9")
    assert "hush" not in str((found.config, found.overrides))
    asked = redact_text(refused(config, place, "text.folders=[pages]"))
    assert "text.api_key: is '<redacted>', for secrets are not stored; pass it as text.api_key=... [" in asked
    assert "'letters_of_mine.Letters' is outside glyphrank" in refused({**config, "plugins": []}, place)


def test_places_are_found_wherever_they_stand() -> None:
    node = {
        "dataset": {"_target_": "glyphrank.datasets.folder.Folder", "root": "x", "split": "test"},
        "text": {"_target_": "elsewhere.Text", "folder": "y"},
        "ocr": [{"inner": {"_target_": "glyphrank.datasets.textvr.TextVr", "root": "z"}}],
    }
    assert list(places_of(node, Run, {"glyphrank"})) == ["dataset.root", "ocr[0].inner.root"]


def outputs_of(found: Stored) -> tuple[Path, Path]:
    return found.run.runtime.outputs, found.run.runtime.cache


def test_outputs_go_where_this_command_says_and_a_shared_cache_is_used_again(
    stored: dict[str, Any], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {**stored, "paths": {"outputs": str(place / "theirs"), "cache": str(place / "shared")}}
    assert outputs_of(built(config, place)) == (place / "outputs", place / "outputs" / "cache")
    (place / "theirs").mkdir()
    (place / "shared").mkdir()
    assert outputs_of(built(config, place)) == (place / "theirs", place / "shared")
    monkeypatch.setenv("GLYPHRANK_OUTPUTS", str(place / "mine"))
    assert outputs_of(built(config, place)) == (place / "mine", place / "shared")
    assert outputs_of(built(config, place, outputs=Path("here"))) == (place / "here", place / "shared")
    given: Sequence[str] = ("paths.outputs=a", "paths.cache=b")
    assert outputs_of(built(config, place, *given)) == (place / "a", place / "b")


def test_what_an_older_version_did_not_know_is_as_it_is_today(stored: dict[str, Any], place: Path) -> None:
    older = {name: node for name, node in stored.items() if name not in ("launch", "probe", "tracking")}
    older["runtime"] = {name: value for name, value in stored["runtime"].items() if name != "media_memory"}
    assert built(older, place).run == built(stored, place).run
    del older["index"]
    assert "index: is missing" in refused(older, place)


def test_credentials_of_the_surroundings_open_the_store_that_the_run_names(
    stored: dict[str, Any], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case L15
    server = {"_target_": "glyphrank.tracking.server.Server", "experiment": "e", "uri": "http://127.0.0.1:5000"}
    config = {**stored, "tracking": server}
    assert built(config, place).run.tracking == Server("e", "http://127.0.0.1:5000")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://kim:hush-hush@127.0.0.1:5000")
    found = built(config, place)
    assert found.run.tracking == Server("e", "http://kim:hush-hush@127.0.0.1:5000")
    assert "hush" not in str(found.config)
    other = {**config, "tracking": {**server, "uri": "http://127.0.0.1:5001"}}
    assert built(other, place).run.tracking == Server("e", "http://127.0.0.1:5001")


def test_another_tracker_keeps_the_experiments_name(stored: dict[str, Any], place: Path) -> None:
    config = {**stored, "tracking": {**stored["tracking"], "experiment": "of theirs"}}
    assert built(config, place, "tracking=local").run.tracking == Local("of theirs")
    assert built(config, place, "tracking.experiment=mine").run.tracking == Local("mine")
    assert built({**config, "tracking": {}}, place, "tracking=local").run.tracking == Local("glyphrank")
