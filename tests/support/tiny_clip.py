"""Tiny models of open_clip in its own layout, with random weights: built and saved by open_clip, without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from glyphrank.encoders.clip import OpenClip
from glyphrank.encoders.clip_crop import Crop
from glyphrank.encoders.clip_weights import ClipWeights
from glyphrank.encoders.precision import Precision
from glyphrank.records import Frames, UInt8Array
from glyphrank.runtime import Runtime

WEIGHTS = "open_clip_model.safetensors"
TINY: Mapping[str, Any] = {
    "embed_dim": 32,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "patch_size": 8, "head_width": 32},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1},
}
"""One layer of text, two of pictures; the vocabulary is that of CLIP, whose tokeniser comes with open_clip."""


def write_tiny_clip(
    folder: Path,
    model: Mapping[str, Any] = TINY,
    picture: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Path:
    """A folder with open_clip_config.json and open_clip_model.safetensors.

    Args:
        model, picture: the `model_cfg` and the `preprocess_cfg` of the settings.
        seed: of the weights.
    """
    import open_clip
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    settings = {"model_cfg": dict(model), "preprocess_cfg": dict(picture or {})}
    (folder / "open_clip_config.json").write_text(json.dumps(settings))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = open_clip.create_model(
            f"local-dir:{folder}", load_weights=False, pretrained_image=False, pretrained_text=False
        )
        # As made, every picture's vector is nearly the same one; wider weights tell pictures apart.
        with torch.no_grad():
            for weight in network.visual.parameters():
                weight.add_(torch.randn_like(weight) * 0.1)
    save_file({name: tensor.contiguous() for name, tensor in network.state_dict().items()}, folder / WEIGHTS)
    return folder


def tiny_encoder(folder: Path) -> OpenClip:
    """An encoder of the model in a folder, every choice plain."""
    weights = ClipWeights(repository=None, revision=None, sha256=None, package=None, folder=folder)
    return OpenClip(
        weights=weights,
        text_model=None,
        precision=Precision.float32,
        quick_gelu=False,
        crop=Crop.squash,
        query_prompt="",
        text_prompt="",
        random_weights=False,
        seed=None,
    )


def tiny_picture(seed: int, shape: tuple[int, int] = (48, 60)) -> UInt8Array:
    """A few large patches of colour; the same seed gives the same picture."""
    patches = np.random.default_rng(seed).integers(0, 256, (3, 4, 3), dtype=np.uint8)
    return np.asarray(np.kron(patches, np.ones((shape[0] // 3, shape[1] // 4, 1))), dtype=np.uint8)


def prepared(encoder: OpenClip, runtime: Runtime, *seeds: int) -> Frames:
    """An item with a picture for each seed, as the encoder wants them."""
    preparation = encoder.preparation(runtime)
    return Frames(tuple(preparation(tiny_picture(seed)) for seed in seeds))


def loaded(encoder: OpenClip, runtime: Runtime) -> Any:
    """The model that the encoder has loaded, or loads now."""
    return encoder._model(runtime)
