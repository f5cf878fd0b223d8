"""What is read of an open_clip folder without a model library, and what is said to be missing there."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glyphrank.encoders.clip_folder import OPEN_CLIP, TEXT_MODEL, UNTRAINED, needed_files, read_settings, weight_files
from glyphrank.encoders.clip_weights import ClipWeights, TextModel
from glyphrank.errors import DataError
from glyphrank.runtime import Runtime
from model_folders import write_model

MODEL: dict[str, Any] = {"embed_dim": 4, "vision_cfg": {"image_size": 32}, "text_cfg": {}}
SETTINGS = "open_clip_config.json"
REVISION = "0123456789abcdef0123456789abcdef01234567"
HUB = ClipWeights(repository="team/clip", revision=REVISION, sha256=None, package=None, folder=None)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "outputs" / "cache")


def settings(model: object = MODEL, picture: object = None) -> str:
    return json.dumps({"model_cfg": model, "preprocess_cfg": picture})


def folder(place: Path, model: object = MODEL, picture: object = None, **files: str) -> Path:
    return write_model(place, {SETTINGS: settings(model, picture), "open_clip_model.safetensors": "w", **files})


def test_settings_are_open_clips_defaults_where_nothing_is_said(tmp_path: Path) -> None:
    from open_clip.transform import PreprocessCfg

    found, default = read_settings(folder(tmp_path / "own", {**MODEL, "vision_cfg": {}})), PreprocessCfg()
    assert found.size == (default.size, default.size)
    assert (found.mean, found.std) == (default.mean, default.std)
    assert (found.interpolation, found.fill) == (default.interpolation, default.fill_color)


def test_settings_are_those_of_the_folder(tmp_path: Path) -> None:
    picture = {"mean": [0.5, 0.4, 0.3], "std": 0.5, "interpolation": "bilinear", "fill_color": 255, "size": 999}
    found = read_settings(folder(tmp_path / "own", {**MODEL, "vision_cfg": {"image_size": [24, 40]}}, picture))
    assert found.size == (24, 40)
    assert (found.mean, found.std) == ((0.5, 0.4, 0.3), (0.5, 0.5, 0.5))
    assert (found.interpolation, found.fill) == ("bilinear", 255)


@pytest.mark.parametrize(
    ("model", "picture", "said"),
    [
        ({**MODEL, "vision_cfg": {"image_size": 0}}, None, "image_size is 0"),
        ({**MODEL, "vision_cfg": {"image_size": [1, 2, 3]}}, None, "too many values"),
        (MODEL, {"mean": [0.5, 0.5]}, "found 2 numbers, wanted 3"),
        (MODEL, {"std": "wide"}, "could not convert"),
        (MODEL, {"fill_color": "white"}, "white"),
    ],
)
def test_settings_when_numbers_are_damaged(model: object, picture: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"{SETTINGS}: its sizes or colours are damaged \(.*{said}"):
        read_settings(folder(tmp_path / "own", model, picture))


JUNK = ["", "{", "null", "3", "[]", "{}", '{"model_cfg": []}', "[" * 100_000, "\x00", '{"model_cfg": {"text_cfg": {}}}']


@pytest.mark.parametrize("junk", JUNK)
def test_settings_when_they_are_any_json_say_so(junk: str, tmp_path: Path) -> None:
    own = folder(tmp_path / "own")
    (own / SETTINGS).write_text(junk)
    with pytest.raises(DataError, match=rf"own/{SETTINGS}: its? "):
        read_settings(own)
    assert (OPEN_CLIP.lacks(own) or "").startswith(f"a damaged {SETTINGS} (it")


def test_lacks_nothing_when_settings_and_weights_are_there(tmp_path: Path) -> None:
    for name in ("open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin"):
        assert OPEN_CLIP.lacks(write_model(tmp_path / name, {SETTINGS: settings(), name: "w"})) is None


def test_lacks_names_what_is_not_there(tmp_path: Path) -> None:  # case E08
    assert OPEN_CLIP.lacks(tmp_path / "nowhere") == "no such folder"
    assert OPEN_CLIP.lacks(tmp_path / ("x" * 5000)) == "no such folder"
    assert OPEN_CLIP.lacks(write_model(tmp_path / "bare", {"model.safetensors": "w"})) == f"no {SETTINGS}"
    of_transformers = write_model(tmp_path / "other", {SETTINGS: settings(), "model.safetensors": "w"})
    assert (OPEN_CLIP.lacks(of_transformers) or "").startswith("no weights (open_clip_model.safetensors or ")
    assert UNTRAINED.lacks(of_transformers) is None
    assert TEXT_MODEL.lacks(of_transformers) == "no config.json"


def test_lacks_a_tokeniser_only_when_the_settings_ask_for_one(tmp_path: Path) -> None:
    model = {**MODEL, "text_cfg": {"hf_tokenizer_name": "some/tokeniser"}}
    own = folder(tmp_path / "own", model)
    assert (OPEN_CLIP.lacks(own) or "").startswith("no tokeniser")
    (own / "tokenizer.json").write_text("{}")
    assert OPEN_CLIP.lacks(own) is None


def test_needed_files_are_settings_tokeniser_and_the_best_weights() -> None:
    tokeniser = ["merges.txt", "sentencepiece.bpe.model", "special_tokens_map.json", "tokenizer.json", "vocab.json"]
    others = [
        "README.md",
        "config.json",
        "model.safetensors",
        "pytorch_model.bin",
        "onnx/tokenizer.json",
        "metrics.png",
    ]
    weights = ["open_clip_model.safetensors", "open_clip_pytorch_model.bin"]
    assert needed_files([*others, *tokeniser, *weights, SETTINGS]) == sorted([SETTINGS, *tokeniser, weights[0]])
    assert TEXT_MODEL.needed_files([*others, *tokeniser]) == ["config.json"]


def test_weight_files_is_the_one_that_is_loaded(tmp_path: Path) -> None:
    own = folder(tmp_path / "own", **{"open_clip_pytorch_model.bin": "w", "model.safetensors": "w"})
    assert weight_files(own) == [own / "open_clip_model.safetensors"]


def test_find_in_the_hubs_cache_needs_no_model_library(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    snapshot = tmp_path / "hub" / "models--team--clip" / "snapshots" / REVISION
    with pytest.raises(DataError, match=r"team/clip at revision .* not on this machine.*\n.*runtime.download=true"):
        HUB.find(runtime)
    write_model(snapshot, {SETTINGS: settings()})
    with pytest.raises(DataError, match=r"incomplete in .*no weights"):
        HUB.find(runtime)
    assert HUB.find_settings(runtime) == snapshot
    folder(snapshot)
    assert HUB.find(runtime) == snapshot


def test_find_when_the_folder_is_mistyped(runtime: Runtime, tmp_path: Path) -> None:  # case E08
    with pytest.raises(DataError, match="nowhere: no such folder; wanted the folder of an open_clip model"):
        replace(HUB, folder=tmp_path / "nowhere").find(runtime)
    text = TextModel(repository=None, revision=None, sha256=None, package=None, folder=tmp_path / "nowhere")
    with pytest.raises(DataError, match="nowhere: no such folder; wanted the folder of a transformers model"):
        text.find(runtime)


def test_find_when_the_digest_is_another(runtime: Runtime, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"open_clip_model\.safetensors: has the SHA-256 .*; wanted 0000"):
        replace(HUB, folder=folder(tmp_path / "own"), sha256="0" * 64).find(runtime)


def test_looking_for_a_model_imports_neither_torch_nor_open_clip(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from glyphrank.encoders.clip import OpenClip\n"
        "from glyphrank.encoders.clip_folder import OPEN_CLIP, read_settings\n"
        f"own = Path({str(folder(tmp_path / 'own'))!r}); print(OPEN_CLIP.lacks(own), read_settings(own).size)\n"
        "print(sorted({'torch', 'open_clip', 'torchvision', 'transformers', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "None (32, 32)\n[]\n", "")
