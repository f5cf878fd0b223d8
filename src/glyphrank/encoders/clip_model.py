"""One open_clip model in memory: built from a folder, offline, and run over pictures and texts in batches."""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from glyphrank.encoders.clip_folder import ClipSettings, read_settings, weight_files
from glyphrank.encoders.clip_tokens import ClipTokeniser, load_tokeniser
from glyphrank.encoders.precision import Precision
from glyphrank.errors import DataError
from glyphrank.identity import Stamp
from glyphrank.packages import import_package
from glyphrank.records import Encoded, FloatArray, UInt8Array

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class ClipSource:
    """What a model is made from.

    Attributes:
        folder: with open_clip's settings, and the weights unless `seed` is given.
        text_model: folder with the config.json of a text tower of transformers, None for open_clip's own.
        quick_gelu: activation of both towers, None for what the folder's settings say.
        seed: of random weights; None loads those of the folder.
        stamps: of the folders' files: a model in memory is used while they stay as they were.
    """

    folder: Path
    text_model: Path | None
    quick_gelu: bool | None
    seed: int | None
    stamps: tuple[Stamp, ...] = field(repr=False)


@dataclass(frozen=True)
class ClipModel:
    """A model on a device, in float32; lower precision is autocast's while it runs, so that sums stay exact."""

    network: Any
    tokeniser: ClipTokeniser
    settings: ClipSettings
    device: str
    mean: Any = field(repr=False)
    std: Any = field(repr=False)

    def encode_texts(self, texts: Sequence[str], precision: Precision, batch_size: int) -> Encoded:
        """Vectors of n texts as the text tower gives them, (n, d) float32, and which were longer than it reads."""
        import torch

        ids, truncated = self.tokeniser.ids(texts)
        parts = []
        with self._running(precision):
            for start in range(0, len(texts), batch_size):
                batch = self._there(torch.from_numpy(ids[start : start + batch_size]))
                parts.append(self.network.encode_text(batch).float())
        return Encoded(_gathered(parts), truncated)

    def encode_images(self, images: Iterable[UInt8Array], precision: Precision, batch_size: int) -> FloatArray:
        """Unit vectors of n pictures, (n, d) float32; they are taken as the device needs them.

        Args:
            images: each (h, w, 3) uint8 of the size in `settings`; other sizes raise ValueError.
        """
        import torch

        stream = iter(images)
        parts = []
        with self._running(precision):
            while batch := list(itertools.islice(stream, batch_size)):
                pixels = self._there(torch.from_numpy(np.stack([self._checked(image) for image in batch])))
                scaled = pixels.permute(0, 3, 1, 2).float().div_(255)
                features = self.network.encode_image(scaled.sub_(self.mean).div_(self.std)).float()
                # Vectors stay on the device: fetching them would wait for it, and decoding would wait for that.
                parts.append(torch.nn.functional.normalize(features, dim=-1))
        return _gathered(parts)

    def _checked(self, image: UInt8Array) -> UInt8Array:
        if image.shape != (*self.settings.size, 3) or image.dtype != np.uint8:
            raise ValueError(
                f"a frame is {image.dtype} of shape {image.shape}; wanted uint8 of {(*self.settings.size, 3)}, "
                f"as `preparation` makes it"
            )
        return image

    def _there(self, tensor: Any) -> Any:
        if self.device.startswith("cuda"):
            return tensor.pin_memory().to(self.device, non_blocking=True)
        return tensor.to(self.device)

    @contextlib.contextmanager
    def _running(self, precision: Precision) -> Iterator[None]:
        import torch

        self.network.eval()
        lower = precision is not Precision.float32
        kind = self.device.partition(":")[0]
        with torch.no_grad(), torch.autocast(kind, getattr(torch, precision.value) if lower else None, enabled=lower):
            yield


@functools.lru_cache(maxsize=2)
def load_model(source: ClipSource, device: str) -> ClipModel:
    """The model of a source on a device, ready to run; the last two are kept for the process.

    Nothing is asked of a network, and of a pickle only tensors are read.

    Raises:
        DataError: the files cannot be loaded, or do not fit each other.
        ConfigError: open_clip cannot be imported.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    settings = read_settings(source.folder)
    _import_open_clip()  # before what is blamed on the files
    _say_activation(source, settings)
    try:
        network = _weighted(source) if source.seed is None else _random(source, source.seed)
        with _quiet():
            tokeniser = load_tokeniser(source.folder)
        channels = [_channels(numbers, device) for numbers in (settings.mean, settings.std)]
        return ClipModel(network.to(device).eval(), tokeniser, settings, device, *channels)
    except Exception as error:  # damaged settings surface as whatever the libraries trip over (TypeError, ...)
        raise DataError(
            f"{source.folder}: the model cannot be loaded on {device} ({type(error).__name__}: {error}); "
            f"are the files complete, of one model, and in open_clip's layout?"
        ) from error


def _import_open_clip() -> Any:
    return import_package("open_clip", "open-clip-torch")


def _weighted(source: ClipSource) -> Any:
    network = _built(source)
    _import_open_clip().load_checkpoint(network, str(weight_files(source.folder)[0]), strict=True, weights_only=True)
    return network


def _random(source: ClipSource, seed: int) -> Any:
    import torch

    LOG.warning(
        "%s: random weights, seed %d, as random_weights=true asks; its scores mean nothing", source.folder, seed
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _built(source)


def _built(source: ClipSource) -> Any:
    """The network of the settings, with weights still to be loaded, on the CPU."""
    open_clip = _import_open_clip()
    changes: dict[str, Any] = {} if source.quick_gelu is None else {"quick_gelu": source.quick_gelu}
    if source.text_model is not None:
        text = dict(read_settings(source.folder).model["text_cfg"])
        changes["text_cfg"] = {**text, "hf_model_name": str(source.text_model), "hf_model_pretrained": False}
    with _quiet():
        return open_clip.create_model(
            f"local-dir:{source.folder}", load_weights=False, pretrained_image=False, pretrained_text=False, **changes
        )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps open_clip's account of each step, and its warning that weights are random, off the root logger."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _say_activation(source: ClipSource, settings: ClipSettings) -> None:
    """Names the activation: with the wrong one a model loads without a fault and scores worse."""
    said = settings.model.get("quick_gelu")
    name = {True: "QuickGELU", False: "GELU"}[bool(said) if source.quick_gelu is None else source.quick_gelu]
    if source.quick_gelu is not None:
        LOG.info("%s: activation %s, as quick_gelu=%s asks", source.folder, name, str(source.quick_gelu).lower())
    elif said is not None:
        LOG.info("%s: activation %s, as its settings say", source.folder, name)
    else:
        LOG.warning(
            "%s: activation GELU, since its settings do not name one; weights of OpenAI and some others need "
            "quick_gelu=true. Set quick_gelu to true or false to settle it",
            source.folder,
        )


def _channels(numbers: Sequence[float], device: str) -> Any:
    import torch

    return torch.tensor(numbers, dtype=torch.float32, device=device).view(1, 3, 1, 1)


def _gathered(parts: Sequence[Any]) -> FloatArray:
    import torch

    if not parts:
        return np.empty((0, 0), dtype=np.float32)
    return np.ascontiguousarray(torch.cat(list(parts)).cpu().numpy(), dtype=np.float32)
