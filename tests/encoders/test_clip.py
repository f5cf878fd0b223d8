"""CLIP on tiny models with random weights, saved in open_clip's own layout and compared with open_clip itself."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glyphrank.encoders.clip import OpenClip, means
from glyphrank.encoders.precision import Precision
from glyphrank.records import FloatArray, Frames, UInt8Array
from glyphrank.runtime import Runtime
from glyphrank.scoring import unit_rows
from tiny_clip import TINY, loaded, prepared, tiny_encoder, tiny_picture, write_tiny_clip


def cosines(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.asarray(np.sum(unit_rows(first)[0] * unit_rows(second)[0], axis=1), dtype=np.float32)


def open_clips_own(folder: Path, image: UInt8Array, texts: list[str]) -> tuple[FloatArray, FloatArray]:
    """Vectors of one picture and of texts through open_clip's own loading, transform and tokeniser."""
    import open_clip
    import torch
    from PIL import Image

    model, _, transform = open_clip.create_model_and_transforms(f"local-dir:{folder}", image_resize_mode="squash")
    tokenise = open_clip.get_tokenizer(f"local-dir:{folder}")
    with torch.no_grad():
        pixels = transform(Image.fromarray(image))[None]
        return model.eval().encode_image(pixels).numpy(), model.encode_text(tokenise(texts)).numpy()


def test_vectors_are_those_of_open_clip(encoder: OpenClip, folder: Path, runtime: Runtime) -> None:
    texts = ["a red bus", "", "한국어 간판", "long " * 200]
    image, text = open_clips_own(folder, tiny_picture(1), texts)
    assert cosines(encoder.encode_frames([prepared(encoder, runtime, 1)], runtime), image) == pytest.approx(1, abs=1e-6)
    assert encoder.encode_queries(texts, runtime).values == pytest.approx(text, abs=1e-5)
    assert encoder.encode_texts(texts, runtime).values == pytest.approx(text, abs=1e-5)


def test_pictures_differ_so_that_these_tests_can_fail(encoder: OpenClip, runtime: Runtime) -> None:
    values = encoder.encode_frames([prepared(encoder, runtime, seed) for seed in range(6)], runtime)
    likeness = values @ values.T
    assert (likeness - np.eye(6)).max() < 0.999


def test_an_item_is_the_mean_of_its_frames_that_are_there(encoder: OpenClip, runtime: Runtime) -> None:  # case V14
    two, eight = prepared(encoder, runtime, 1, 2), prepared(encoder, runtime, *range(3, 11))
    found = encoder.encode_frames([two, eight], runtime)
    frames = [encoder.encode_frames([prepared(encoder, runtime, seed)], runtime)[0] for seed in range(1, 11)]
    assert found[0] == pytest.approx(np.mean(frames[:2], axis=0), abs=1e-6)
    assert found[1] == pytest.approx(np.mean(frames[2:], axis=0), abs=1e-6)
    assert np.linalg.norm(frames, axis=1) == pytest.approx(1, abs=1e-6)


def test_means_are_those_of_runs_of_rows() -> None:  # case V14
    values = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    assert means(values, np.array([2, 1])).tolist() == [[0.5, 0.5], [1.0, 0.0]]


def test_vectors_depend_on_batches_within_a_tolerance_only(encoder: OpenClip, runtime: Runtime) -> None:
    items = [prepared(encoder, runtime, *range(start, start + count)) for start, count in ((0, 3), (3, 1), (4, 7))]
    alone = encoder.encode_frames(items, replace(runtime, batch_size=1))
    for size in (2, 5, 100):
        assert encoder.encode_frames(items, replace(runtime, batch_size=size)) == pytest.approx(alone, abs=1e-5)
    texts = ["a", "a longer query", "서울 시청"]
    wanted = encoder.encode_texts(texts, replace(runtime, batch_size=1)).values
    assert encoder.encode_texts(texts, replace(runtime, batch_size=3)).values == pytest.approx(wanted, abs=1e-5)


def test_frames_are_taken_as_the_model_needs_them(encoder: OpenClip, folder: Path, runtime: Runtime) -> None:
    taken: list[int] = []
    at_each_run: list[int] = []

    def items() -> Iterator[Frames]:
        for seed in range(12):
            taken.append(seed)
            yield prepared(encoder, runtime, seed)

    model = loaded(encoder, runtime)
    hook = model.network.visual.register_forward_pre_hook(lambda *_: at_each_run.append(len(taken)))
    encoder.encode_frames(items(), runtime)
    hook.remove()
    assert at_each_run == [4, 8, 12]


def test_encoding_twice_and_after_training_gives_the_same(encoder: OpenClip, runtime: Runtime) -> None:  # case E02
    model = {**TINY, "vision_cfg": {**TINY["vision_cfg"], "patch_dropout": 0.5}}
    dropping = tiny_encoder(write_tiny_clip(runtime.outputs / "dropping", model))
    item = prepared(dropping, runtime, 1)
    first = dropping.encode_frames([item], runtime)
    loaded(dropping, runtime).network.train()
    assert np.array_equal(dropping.encode_frames([item], runtime), first)
    assert not loaded(dropping, runtime).network.training


def test_no_item_and_no_text_load_no_model(encoder: OpenClip, runtime: Runtime, tmp_path: Path) -> None:
    nowhere = tiny_encoder(tmp_path / "nowhere")
    assert nowhere.encode_frames([], runtime).shape == (0, 0)
    assert nowhere.encode_queries([], runtime).values.shape == (0, 0)


def test_frames_that_were_not_prepared_are_refused(encoder: OpenClip, runtime: Runtime) -> None:
    with pytest.raises(ValueError, match=r"shape \(48, 60, 3\); wanted uint8 of \(32, 32, 3\), as `preparation`"):
        encoder.encode_frames([Frames((tiny_picture(1),))], runtime)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_long_korean_is_cut_counted_and_closed(encoder: OpenClip, runtime: Runtime, form: Any) -> None:  # case E04
    texts = ["가" * count for count in (37, 39, 45, 500)]
    written = [unicodedata.normalize(form, text) for text in texts]
    assert encoder.encode_queries(written, runtime).truncated.tolist() == [False, True, True, True]
    tokeniser = loaded(encoder, runtime).tokeniser
    ids, _ = tokeniser.ids(texts)
    ends = tokeniser.tokeniser.eot_token_id
    assert ids[1:, -1].tolist() == [ends] * 3
    assert (ids == ends).sum(axis=1).tolist() == [1] * 4
    assert np.array_equal(ids, tokeniser.tokeniser(texts).numpy())
    same = encoder.encode_queries(texts, runtime).values
    assert np.array_equal(encoder.encode_queries(written, runtime).values, same)


def test_a_text_is_cut_at_the_context_length_of_the_model(runtime: Runtime) -> None:  # case E04
    short = {**TINY, "text_cfg": {**TINY["text_cfg"], "context_length": 8}}
    encoder = tiny_encoder(write_tiny_clip(runtime.outputs / "short", short))
    texts = ["one two three four five six", "one two three four five six seven"]
    assert encoder.encode_queries(texts, runtime).truncated.tolist() == [False, True]
    prompted = replace(encoder, query_prompt="a ")
    assert prompted.encode_queries(texts, runtime).truncated.tolist() == [True, True]


def test_odd_texts_do_no_harm(encoder: OpenClip, runtime: Runtime) -> None:
    odd = ["", "  \n", "😀 🏳️‍🌈", "\ud83d 가", "a\x00b", "가" * 20_000, "<end_of_text> x", "&amp;" * 500]
    assert np.isfinite(encoder.encode_texts(odd, runtime).values).all()


def test_prompts_stand_on_their_own_side(encoder: OpenClip, runtime: Runtime) -> None:  # case E15
    prompted = replace(encoder, query_prompt="a photo of ", text_prompt="the words ")
    plain = encoder.encode_queries(["a photo of x", "the words x"], runtime).values
    assert prompted.encode_queries(["x"], runtime).values == pytest.approx(plain[:1], abs=1e-5)
    assert prompted.encode_texts(["x"], runtime).values == pytest.approx(plain[1:], abs=1e-5)


@pytest.mark.parametrize("precision", [Precision.float16, Precision.bfloat16])
def test_lower_precision_computes_so_and_returns_float32(
    precision: Precision, encoder: OpenClip, runtime: Runtime
) -> None:
    lower, items = replace(encoder, precision=precision), [prepared(encoder, runtime, 1, 2)]
    wanted, found = (one.encode_frames(items, runtime) for one in (encoder, lower))
    assert found.dtype == np.float32
    assert not np.array_equal(found, wanted)
    assert found == pytest.approx(wanted, abs=0.05)
    texts = [one.encode_queries(["a bus"], runtime).values for one in (encoder, lower)]
    assert not np.array_equal(texts[0], texts[1])
    assert texts[1] == pytest.approx(texts[0], abs=0.05)
