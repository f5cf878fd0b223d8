"""CLIP and its kin, by open_clip (Radford et al. 2021, arXiv:2103.00020; Cherti et al. 2022, arXiv:2212.07143)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from glyphrank.devices import choose_device
from glyphrank.encoders.clip_crop import Crop, Preparation
from glyphrank.encoders.clip_folder import read_settings
from glyphrank.encoders.clip_model import ClipModel, ClipSource, load_model
from glyphrank.encoders.clip_weights import ClipWeights, TextModel
from glyphrank.encoders.plain import plain
from glyphrank.encoders.precision import Precision
from glyphrank.errors import ConfigError
from glyphrank.identity import stamps_of
from glyphrank.records import Encoded, FloatArray, Frames, IntArray, UInt8Array
from glyphrank.runtime import Runtime


@dataclass(frozen=True)
class OpenClip:
    """Encodes queries and frames, or queries and texts, with one model of open_clip.

    An item's vector is the mean of the unit vectors of its frames (parameter-free mean pooling of CLIP4Clip, Luo et
    al. 2021, arXiv:2104.08860); whoever compares vectors gives it length 1. Texts are put into NFC and cut at the
    context length of the model; size, colours and interpolation of pictures are those of the model's settings.

    Attributes:
        weights: the files of the model.
        text_model: the architecture of a text tower from transformers; None for models with a tower of open_clip.
        precision: numbers in which the model computes, by autocast: weights, and operations that need it, stay in
            float32.
        quick_gelu: activation of both towers: QuickGELU (true), GELU (false), or what the settings say (null). Weights
            trained with one and run with the other load without a fault and score worse.
        crop: what happens to the edges of a picture.
        query_prompt: put before every query.
        text_prompt: put before every text, where the model encodes texts.
        random_weights: true leaves the weights aside and draws them, for comparison or to try a pipeline.
        seed: of the random weights, None without them.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("open-clip-torch", "timm", "torch", "transformers", "tokenizers", "pillow")

    weights: ClipWeights
    text_model: TextModel | None
    precision: Precision
    quick_gelu: bool | None
    crop: Crop
    query_prompt: str
    text_prompt: str
    random_weights: bool
    seed: int | None

    def __post_init__(self) -> None:
        if self.random_weights != (self.seed is not None):
            raise ValueError(
                f"random_weights is {self.random_weights} and seed {self.seed}; wanted a seed with random weights, "
                f"and null without"
            )
        if self.seed is not None and not 0 <= self.seed < 2**63:
            raise ValueError(f"seed is {self.seed}; wanted 0 or more, below 2**63")

    def find(self, runtime: Runtime) -> Path:
        """The folder of the model, with everything that running it needs; no model library is imported.

        Raises:
            DataError: files are nowhere that may be looked at, incomplete, or not those of their digest.
            ConfigError: the text tower is one of transformers and `text_model` is not given, or the other way about.
        """
        return self._source(runtime).folder

    def preparation(self, runtime: Runtime) -> Preparation:
        """What makes pictures (s, s, 3) uint8 for this model; the model itself is not loaded. Errors as in `find`."""
        settings = read_settings(self.find(runtime))
        return Preparation(self.crop, settings.size, settings.interpolation, settings.fill)

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        """Vectors of n queries as the text tower gives them, (n, d) float32, and which were truncated.

        Without queries no model is loaded, and the vectors have the shape (0, 0).

        Raises:
            DataError: the weights cannot be found or loaded.
            ConfigError: the device is not there, or `text_model` is not given and wanted.
        """
        return self._encode(texts, self.query_prompt, runtime)

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        """Vectors of n texts; see `encode_queries`."""
        return self._encode(texts, self.text_prompt, runtime)

    def encode_frames(self, frames: Iterable[Frames], runtime: Runtime) -> FloatArray:
        """Vectors of n items, (n, d) float32, each the mean of its frames' unit vectors; (0, 0) for none.

        `runtime.batch_size` frames run at once, whichever items they are of: beyond rounding, an item's vector does
        not depend on the others. Without items no model is loaded. Errors as in `encode_queries`.
        """
        stream = iter(frames)
        first = next(stream, None)
        if first is None:
            return np.empty((0, 0), dtype=np.float32)
        counts: list[int] = []

        def images() -> Iterator[UInt8Array]:
            for one in itertools.chain([first], stream):
                counts.append(len(one.images))
                yield from one.images

        values = self._model(runtime).encode_images(images(), self.precision, runtime.batch_size)
        return means(values, np.array(counts, dtype=np.int64))

    def _encode(self, texts: Sequence[str], prompt: str, runtime: Runtime) -> Encoded:
        if not texts:
            return Encoded(np.empty((0, 0), dtype=np.float32), np.zeros(0, dtype=np.bool_))
        prompted = [plain(prompt + text) for text in texts]
        return self._model(runtime).encode_texts(prompted, self.precision, runtime.batch_size)

    def _model(self, runtime: Runtime) -> ClipModel:
        return load_model(self._source(runtime), choose_device(runtime.device))

    def _source(self, runtime: Runtime) -> ClipSource:
        folder = self.weights.find_settings(runtime) if self.random_weights else self.weights.find(runtime)
        wanted = read_settings(folder).text_model
        if wanted is not None and self.text_model is None:
            raise ConfigError(
                f"{folder}: its text tower has the architecture {wanted!r} of transformers; wanted text_model, the "
                f"repository or folder with its config.json"
            )
        if wanted is None and self.text_model is not None:
            raise ConfigError(f"{folder}: its text tower is one of open_clip; wanted text_model=null")
        text_model = None if self.text_model is None else self.text_model.find(runtime)
        stamps = stamps_of(folder) + (stamps_of(text_model) if text_model else ())
        return ClipSource(folder, text_model, self.quick_gelu, self.seed, stamps)


def means(values: FloatArray, counts: IntArray) -> FloatArray:
    """Means of runs of rows: the first `counts[0]` rows, the next `counts[1]`, and so on; (len(counts), d) float32.

    Only rows that are there count: nothing is padded. Every count is at least 1.

    >>> means(np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32), np.array([2, 1])).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    sums = np.add.reduceat(values, np.cumsum(counts) - counts, axis=0, dtype=np.float64)
    return np.asarray(sums / counts[:, None], dtype=np.float32)
