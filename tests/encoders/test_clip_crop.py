"""Pictures made square: pixel for pixel what open_clip's own transform makes, and what of a picture is left."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from glyphrank.encoders.clip_crop import Crop, Preparation
from glyphrank.records import UInt8Array

MODES = {Crop.squash: "squash", Crop.pad: "longest", Crop.centre_crop: "shortest"}
SHAPES = [(32, 32), (48, 48), (20, 31), (90, 41), (41, 90), (33, 32), (7, 300), (1, 1), (32, 57)]


def picture(shape: tuple[int, int]) -> UInt8Array:
    return np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)


def as_open_clip_makes_it(image: UInt8Array, preparation: Preparation) -> UInt8Array:
    """Through open_clip's evaluation transform, whose shift and scale are taken back."""
    from open_clip.transform import PreprocessCfg, image_transform_v2
    from PIL import Image

    settings = PreprocessCfg(
        size=preparation.size,
        mean=(0, 0, 0),
        std=(1, 1, 1),
        interpolation=preparation.interpolation,
        resize_mode=MODES[preparation.crop],
        fill_color=preparation.fill,
    )
    tensor: Any = image_transform_v2(settings, is_train=False)(Image.fromarray(image))
    return np.asarray((tensor * 255).round().byte().permute(1, 2, 0).numpy(), dtype=np.uint8)


@pytest.mark.parametrize("crop", Crop)
@pytest.mark.parametrize("interpolation", ["bicubic", "bilinear"])
@pytest.mark.parametrize("shape", SHAPES)
def test_preparation_makes_what_open_clip_makes(crop: Crop, interpolation: str, shape: tuple[int, int]) -> None:
    preparation = Preparation(crop, (32, 32), interpolation, 7)
    image = picture(shape)
    assert np.array_equal(preparation(image), as_open_clip_makes_it(image, preparation))


@pytest.mark.parametrize("crop", Crop)
@pytest.mark.parametrize("shape", SHAPES)
def test_preparation_for_a_model_that_is_not_square(crop: Crop, shape: tuple[int, int]) -> None:
    preparation = Preparation(crop, (24, 40), "bicubic", 0)
    image = picture(shape)
    assert np.array_equal(preparation(image), as_open_clip_makes_it(image, preparation))


def page() -> UInt8Array:
    """A tall page, its first tenth red and its last blue."""
    image = np.full((2240, 224, 3), 255, dtype=np.uint8)
    image[:224], image[-224:] = (255, 0, 0), (0, 0, 255)
    return image


def has(image: UInt8Array, colour: tuple[int, int, int]) -> bool:
    return bool((np.abs(image.astype(int) - colour).max(axis=2) < 10).any())


@pytest.mark.parametrize(("crop", "whole"), [(Crop.squash, True), (Crop.pad, True), (Crop.centre_crop, False)])
def test_top_and_bottom_of_a_page_are_kept_unless_its_centre_is_asked_for(crop: Crop, whole: bool) -> None:  # case E09
    made = Preparation(crop, (224, 224), "bicubic", 0)(page())
    assert made.shape == (224, 224, 3)
    assert has(made, (255, 0, 0)) is whole
    assert has(made, (0, 0, 255)) is whole


def test_padding_keeps_proportions_and_fills_both_sides() -> None:
    made = Preparation(Crop.pad, (20, 20), "bilinear", 9)(np.full((40, 20, 3), 200, dtype=np.uint8))
    assert np.unique(made[:, 5:15]).tolist() == [200]
    assert np.unique(made[:, :5]).tolist() == np.unique(made[:, 15:]).tolist() == [9]


def test_padding_a_line_leaves_a_row_of_it() -> None:
    made = Preparation(Crop.pad, (32, 32), "bicubic", 0)(np.full((1, 4000, 3), 200, dtype=np.uint8))
    assert (made.max(axis=(1, 2)) > 0).sum() == 1


def test_preparation_pickles_and_takes_views() -> None:
    preparation = Preparation(Crop.squash, (16, 16), "bicubic", 0)
    assert pickle.loads(pickle.dumps(preparation)) == preparation
    image = picture((40, 40))
    turned = np.rot90(image)
    assert np.array_equal(preparation(turned), preparation(turned.copy()))
