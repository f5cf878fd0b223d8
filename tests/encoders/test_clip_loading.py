"""Loading CLIP: the right weights, activation and device or a sentence, and what makes two encoders the same."""

from __future__ import annotations

import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.encoders.clip import OpenClip
from glyphrank.encoders.clip_crop import Crop
from glyphrank.encoders.clip_model import load_model
from glyphrank.encoders.precision import Precision
from glyphrank.errors import ConfigError, DataError
from glyphrank.identity import FileDigests, key
from glyphrank.runtime import Runtime
from tiny_clip import TINY, loaded, prepared, tiny_encoder, write_tiny_clip


def test_activation_changes_vectors_and_is_said(
    encoder: OpenClip, runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:  # case E01
    load_model.cache_clear()
    item = [prepared(encoder, runtime, 1)]
    with caplog.at_level(logging.INFO):
        values = {
            asked: replace(encoder, quick_gelu=asked).encode_frames(item, runtime) for asked in (True, False, None)
        }
    assert not np.allclose(values[True], values[False], atol=1e-4)
    assert np.array_equal(values[None], values[False])
    said = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert [level for level, _ in said] == ["INFO", "INFO", "WARNING"]
    assert "activation QuickGELU, as quick_gelu=true asks" in said[0][1]
    assert "activation GELU, as quick_gelu=false asks" in said[1][1]
    assert "do not name one; weights of OpenAI and some others need quick_gelu=true" in said[2][1]


def test_activation_of_the_settings_is_followed(runtime: Runtime, caplog: pytest.LogCaptureFixture) -> None:  # case E01
    quick = replace(
        tiny_encoder(write_tiny_clip(runtime.outputs / "quick", {**TINY, "quick_gelu": True})), quick_gelu=None
    )
    with caplog.at_level(logging.INFO):
        item = [prepared(quick, runtime, 1)]
        values = quick.encode_frames(item, runtime)
    assert "activation QuickGELU, as its settings say" in caplog.text
    assert np.array_equal(replace(quick, quick_gelu=True).encode_frames(item, runtime), values)
    assert not np.allclose(replace(quick, quick_gelu=False).encode_frames(item, runtime), values, atol=1e-4)


def test_random_weights_are_refused_unless_asked_for(
    folder: Path, runtime: Runtime, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:  # case E08
    bare = tmp_path / "bare"
    bare.mkdir()
    shutil.copy(folder / "open_clip_config.json", bare)
    with pytest.raises(DataError, match=r"bare: no weights \(open_clip_model\.safetensors or "):
        tiny_encoder(bare).preparation(runtime)
    asked = replace(tiny_encoder(bare), random_weights=True, seed=3)
    item = [prepared(asked, runtime, 1)]
    values = asked.encode_frames(item, runtime)
    assert "random weights, seed 3, as random_weights=true asks" in caplog.text
    load_model.cache_clear()
    assert np.array_equal(asked.encode_frames(item, runtime), values)
    assert not np.allclose(replace(asked, seed=4).encode_frames(item, runtime), values, atol=1e-3)


def test_drawing_weights_leaves_other_random_numbers_alone(folder: Path, runtime: Runtime) -> None:
    import torch

    torch.manual_seed(0)
    wanted = torch.rand(3)
    torch.manual_seed(0)
    loaded(replace(tiny_encoder(folder), random_weights=True, seed=11), runtime)
    assert torch.equal(torch.rand(3), wanted)


@pytest.mark.parametrize(("random_weights", "seed"), [(True, None), (False, 0)])
def test_seed_and_random_weights_go_together(random_weights: bool, seed: int | None, encoder: OpenClip) -> None:
    with pytest.raises(ValueError, match="wanted a seed with random weights, and null without"):
        replace(encoder, random_weights=random_weights, seed=seed)


def test_seed_when_it_is_negative(encoder: OpenClip) -> None:
    with pytest.raises(ValueError, match="seed is -1; wanted 0 or more"):
        replace(encoder, random_weights=True, seed=-1)


def test_every_field_is_part_of_the_key(encoder: OpenClip, tmp_path: Path) -> None:  # case C01
    changes: list[dict[str, Any]] = [
        {},
        {"precision": Precision.bfloat16},
        {"quick_gelu": True},
        {"quick_gelu": None},
        {"crop": Crop.pad},
        {"query_prompt": "x"},
        {"text_prompt": "x"},
        {"random_weights": True, "seed": 0},
        {"random_weights": True, "seed": 1},
    ]
    digests = FileDigests(tmp_path / "memory")
    assert len({key(replace(encoder, **change), digests) for change in changes}) == len(changes)


def test_key_follows_the_weights_and_not_their_place(encoder: OpenClip, folder: Path, tmp_path: Path) -> None:
    digests = FileDigests(tmp_path / "memory")
    assert key(tiny_encoder(shutil.copytree(folder, tmp_path / "copy")), digests) == key(encoder, digests)
    assert key(tiny_encoder(write_tiny_clip(tmp_path / "other", seed=1)), digests) != key(encoder, digests)


@pytest.mark.parametrize("damage", [b"not tensors", b""])
def test_loading_when_the_weights_are_damaged(damage: bytes, folder: Path, runtime: Runtime, tmp_path: Path) -> None:
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    (damaged / "open_clip_model.safetensors").write_bytes(damage)
    with pytest.raises(DataError, match="damaged: the model cannot be loaded on cpu"):
        tiny_encoder(damaged).encode_queries(["a"], runtime)


def test_loading_when_weights_and_settings_are_of_two_models(folder: Path, runtime: Runtime, tmp_path: Path) -> None:
    other = write_tiny_clip(tmp_path / "other", {**TINY, "vision_cfg": {**TINY["vision_cfg"], "width": 96}})
    shutil.copy(folder / "open_clip_model.safetensors", other)
    with pytest.raises(DataError, match=r"other: the model cannot be loaded on cpu \(RuntimeError"):
        tiny_encoder(other).encode_queries(["a"], runtime)


def test_device_when_it_is_not_there(encoder: OpenClip, runtime: Runtime) -> None:
    with pytest.raises(ConfigError, match=r"runtime\.device is 'cuda:99'; this machine has cpu"):
        encoder.encode_queries(["a"], replace(runtime, device="cuda:99"))


def test_loading_and_encoding_print_and_log_nothing_of_open_clips(
    encoder: OpenClip, runtime: Runtime, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    load_model.cache_clear()
    with caplog.at_level(logging.DEBUG):
        encoder.encode_queries(["가" * 500], runtime)
        encoder.encode_frames([prepared(encoder, runtime, 1)], runtime)
    assert capfd.readouterr() == ("", "")
    assert {record.name for record in caplog.records} <= {"glyphrank.encoders.clip_model"}
    assert logging.root.manager.disable == 0


def test_weights_replaced_under_the_same_path_are_loaded_anew(
    folder: Path, runtime: Runtime, tmp_path: Path
) -> None:  # case C01
    place = shutil.copytree(folder, tmp_path / "model")
    encoder = tiny_encoder(place)
    before = encoder.encode_queries(["a cat"], runtime).values
    other = write_tiny_clip(tmp_path / "other", seed=5)
    shutil.copy(other / "open_clip_model.safetensors", place)
    after = encoder.encode_queries(["a cat"], runtime).values
    assert not np.allclose(before, after)
    assert np.array_equal(after, tiny_encoder(other).encode_queries(["a cat"], runtime).values)
