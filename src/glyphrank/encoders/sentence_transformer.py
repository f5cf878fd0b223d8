"""Dense text encoders in the format of sentence-transformers (Reimers and Gurevych 2019, arXiv:1908.10084)."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from glyphrank.devices import choose_device
from glyphrank.encoders.plain import plain
from glyphrank.encoders.precision import Precision
from glyphrank.encoders.weights import Weights
from glyphrank.errors import ConfigError, DataError
from glyphrank.identity import Stamp, stamps_of
from glyphrank.packages import import_package
from glyphrank.records import Encoded, IntArray
from glyphrank.runtime import Runtime


@dataclass(frozen=True)
class SentenceTransformer:
    """Encodes texts with a model whose files name its pooling.

    Texts are put into NFC; an empty one is encoded as any other. Prompts stand literally before each text; those that
    a model's files may hold are not used, so that nothing but these fields decides.

    Attributes:
        weights: the files of the model.
        max_length: tokens that are read, special ones and the prompt included; the rest of a text is cut, and the
            closing token stays.
        query_prompt: put before every query.
        text_prompt: put before every text.
        precision: numbers in which the model computes.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("sentence-transformers", "transformers", "tokenizers", "torch")

    weights: Weights
    max_length: int
    query_prompt: str
    text_prompt: str
    precision: Precision

    def __post_init__(self) -> None:
        if self.max_length < 3:
            raise ValueError(f"max_length is {self.max_length}; wanted at least 3, a token between two special ones")

    def find(self, runtime: Runtime) -> Path:
        """The folder of the model; no model library is imported. Errors as in `Weights.find`."""
        return self.weights.find(runtime)

    def encode_queries(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        """Vectors of n queries as the model gives them, (n, d) float32, and which were truncated.

        Without queries no model is loaded, and the vectors have the shape (0, 0).

        Raises:
            DataError: the weights cannot be found or loaded.
            ConfigError: the device is not there, or max_length is more than the model reads.
        """
        return self._encode(texts, self.query_prompt, runtime)

    def encode_texts(self, texts: Sequence[str], runtime: Runtime) -> Encoded:
        """Vectors of n texts; see `encode_queries`."""
        return self._encode(texts, self.text_prompt, runtime)

    def _encode(self, texts: Sequence[str], prompt: str, runtime: Runtime) -> Encoded:
        if not texts:
            return Encoded(np.empty((0, 0), dtype=np.float32), np.zeros(0, dtype=np.bool_))
        folder = self.find(runtime)
        model = load_model(folder, stamps_of(folder), self.precision, choose_device(runtime.device))
        self._check_length(model)
        model.max_seq_length = self.max_length
        plain_texts = [plain(text) for text in texts]
        values = model.encode(
            plain_texts,
            prompt=prompt,  # also where it is empty: None would call up the default prompt of the model's files
            batch_size=runtime.batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=False,
        )
        truncated = _lengths(model, [prompt + text for text in plain_texts]) > self.max_length
        return Encoded(np.ascontiguousarray(values, dtype=np.float32), truncated)

    def _check_length(self, model: Any) -> None:
        limit = _position_limit(model)
        if limit is not None and self.max_length > limit:
            raise ConfigError(
                f"max_length is {self.max_length}, but the model has {limit} positions; wanted at most that"
            )


@functools.lru_cache(maxsize=1)
def load_model(folder: Path, stamps: tuple[Stamp, ...], precision: Precision, device: str) -> Any:
    """The model of a folder on a device, ready to encode; the last one is kept while its files bear these stamps.

    No code of a model's repository is run, and nothing is asked of a network.

    Raises:
        DataError: the files cannot be loaded.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    sentence_transformers = import_package("sentence_transformers", "sentence-transformers")
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    try:
        model = sentence_transformers.SentenceTransformer(
            str(folder),
            device=device,
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, precision.value)},
        )
    except Exception as error:  # damaged settings surface as whatever the libraries trip over (TypeError, ...)
        raise DataError(
            f"{folder}: the model cannot be loaded on {device} ({type(error).__name__}: {error}); "
            f"are the files complete and of the sentence-transformers format?"
        ) from error
    return model.eval()


def _lengths(model: Any, texts: Sequence[str]) -> IntArray:
    """(n,) int64: tokens of each text uncut, with the special ones."""
    ids = model.tokenizer(list(texts), truncation=False, padding=False, verbose=False)["input_ids"]
    return np.fromiter((len(entry) for entry in ids), np.int64, len(texts))


def _position_limit(model: Any) -> int | None:
    """Tokens for which the model has learnt positions, None where it needs none."""
    network = model[0].auto_model
    positions = getattr(network.config, "max_position_embeddings", None)
    # Networks of the RoBERTa kind count positions from behind the padding token's number.
    offset = getattr(getattr(network, "embeddings", None), "padding_idx", None)
    return None if positions is None else int(positions) - (0 if offset is None else int(offset) + 1)
