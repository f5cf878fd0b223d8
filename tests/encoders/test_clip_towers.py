"""Towers that open_clip takes from elsewhere: text of transformers, pictures of timm; all from the folder, offline."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.encoders.clip import OpenClip
from glyphrank.encoders.clip_crop import Crop
from glyphrank.encoders.clip_tokens import ClipTokeniser
from glyphrank.encoders.clip_weights import ClipWeights, TextModel
from glyphrank.encoders.precision import Precision
from glyphrank.errors import ConfigError, DataError
from glyphrank.records import Frames
from glyphrank.runtime import Runtime
from tiny_clip import TINY, write_tiny_clip

SYLLABLES = list("가나다라마바사아자차카타파하")
WORDS = ["<s>", "<pad>", "</s>", "<unk>", *SYLLABLES]


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 2, 0, 60, 4, False, tmp_path, tmp_path / "cache")


def clip(folder: Path, text_model: Path | None = None) -> OpenClip:
    text = None if text_model is None else TextModel(None, None, None, None, text_model)
    weights = ClipWeights(None, None, None, None, folder)
    return OpenClip(weights, text, Precision.float32, False, Crop.squash, "", "", False, None)


def write_tokeniser(folder: Path) -> None:
    """A tokeniser of words with the special tokens of RoBERTa, in the files of transformers."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    tokeniser = PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    tokeniser.save_pretrained(folder)


@pytest.fixture
def roberta(tmp_path: Path) -> Path:
    """The settings of a tiny text model of transformers, without weights."""
    from transformers import XLMRobertaConfig

    XLMRobertaConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        pad_token_id=1,
    ).save_pretrained(tmp_path / "roberta")
    return tmp_path / "roberta"


@pytest.fixture
def multilingual(tmp_path: Path, roberta: Path) -> Path:
    """A model with that text tower, whose settings name it as the hub's repositories do."""
    text = {"hf_tokenizer_name": "xlm-roberta-base", "hf_pooler_type": "mean_pooler", "context_length": 12}
    model = {"embed_dim": 32, "vision_cfg": TINY["vision_cfg"], "text_cfg": {**text, "hf_model_name": str(roberta)}}
    folder = write_tiny_clip(tmp_path / "multilingual", model)
    named = {**model, "text_cfg": {**text, "hf_model_name": "xlm-roberta-base"}}
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": named}))
    write_tokeniser(folder)
    return folder


def spaced(count: int) -> str:
    return " ".join(SYLLABLES[number % len(SYLLABLES)] for number in range(count))


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_text_tower_of_transformers_reads_up_to_its_context(
    form: Any, multilingual: Path, roberta: Path, runtime: Runtime
) -> None:  # case E04
    encoder = clip(multilingual, roberta)
    texts = [spaced(count) for count in (1, 10, 11, 45)]
    encoded = encoder.encode_queries([unicodedata.normalize(form, text) for text in texts], runtime)
    assert encoded.truncated.tolist() == [False, False, True, True]
    assert encoded.values.shape == (4, 32)
    assert np.array_equal(encoder.encode_queries(texts, runtime).values, encoded.values)
    ids, _ = encoder._model(runtime).tokeniser.ids(texts)
    assert ids.shape == (4, 12)
    assert ids[0, :4].tolist() == [0, WORDS.index("가"), 2, 1]
    assert ids[2:, -1].tolist() == [2, 2]


def test_text_tower_of_transformers_without_its_settings(multilingual: Path, runtime: Runtime, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"architecture 'xlm-roberta-base' of transformers; wanted text_model"):
        clip(multilingual).find(runtime)
    with pytest.raises(DataError, match="nowhere: no such folder; wanted the folder of a transformers model"):
        clip(multilingual, tmp_path / "nowhere").find(runtime)


def test_text_model_for_a_tower_of_open_clip(roberta: Path, runtime: Runtime, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="english: its text tower is one of open_clip; wanted text_model=null"):
        clip(write_tiny_clip(tmp_path / "english"), roberta).find(runtime)


def test_tokeniser_that_is_not_in_the_folder(multilingual: Path, roberta: Path, runtime: Runtime) -> None:  # case E08
    (multilingual / "tokenizer.json").unlink()
    with pytest.raises(DataError, match=r"multilingual: no tokeniser \(tokenizer\.json, "):
        clip(multilingual, roberta).encode_queries(["가"], runtime)


def test_frames_of_a_model_with_a_tower_of_timm(runtime: Runtime, tmp_path: Path) -> None:
    vision = {"timm_model_name": "test_vit", "timm_pool": "", "timm_proj": "linear", "image_size": 32}
    text = {**TINY["text_cfg"], "context_length": 16}
    model = {"embed_dim": 32, "custom_text": True, "vision_cfg": vision, "text_cfg": text}
    encoder = clip(write_tiny_clip(tmp_path / "timm", model, {"mean": [0.5] * 3, "std": [0.5] * 3}))
    preparation = encoder.preparation(runtime)
    images = np.random.default_rng(0).integers(0, 256, (3, 60, 40, 3), dtype=np.uint8)
    values = encoder.encode_frames([Frames(tuple(preparation(image) for image in images))], runtime)
    assert values.shape == (1, 32)
    assert np.isfinite(values).all()
    assert encoder.encode_queries(["word " * 15], runtime).truncated.tolist() == [True]


class ClassLast:
    """A tokeniser of open_clip that puts a start, an end and a class token round a text itself."""

    tokenizer_mode = "clips"
    context_length = 6

    def clean_fn(self, text: str) -> str:
        return text

    def tokenizer(self, text: str, add_special_tokens: bool, verbose: bool) -> dict[str, list[int]]:
        assert not add_special_tokens
        return {"input_ids": [5] * len(text.split())}

    def __call__(self, texts: list[str]) -> Any:
        import torch

        return torch.zeros(len(texts), 6, dtype=torch.long)


def test_class_token_at_the_end_counts_too() -> None:  # case E04
    _, truncated = ClipTokeniser(ClassLast()).ids(["a b c", "a b c d"])
    assert truncated.tolist() == [False, True]


def test_two_models_in_one_run_are_each_their_own(multilingual: Path, roberta: Path, runtime: Runtime) -> None:
    english, other = clip(write_tiny_clip(runtime.outputs / "english")), clip(multilingual, roberta)
    first = english.encode_queries(["가"], runtime).values
    second = other.encode_queries(["가"], runtime).values
    assert not np.array_equal(first, second)
    assert np.array_equal(english.encode_queries(["가"], runtime).values, first)
    pinned = replace(other, quick_gelu=None)
    assert np.isfinite(pinned.encode_queries(["가"], runtime).values).all()
