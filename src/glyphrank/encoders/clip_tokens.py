"""Texts to the numbers that a text tower reads, and how many texts were longer than that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glyphrank.records import BoolArray, IntArray


@dataclass(frozen=True)
class ClipTokeniser:
    """The tokeniser of a model: open_clip's byte pairs of the original CLIP, or one of transformers.

    Attributes:
        tokeniser: open_clip's own object.
    """

    tokeniser: Any

    def ids(self, texts: Sequence[str]) -> tuple[IntArray, BoolArray]:
        """Token numbers (n, context length) int64, cut at the end with the end token kept, and (n,) bool: which were.

        The numbers are those of calling open_clip's tokeniser with its usual way of cutting (`tokenizer_kwargs` of the
        settings may name others, some of them random, for training).
        """
        if hasattr(self.tokeniser, "tokenizer"):
            ids = self.tokeniser(list(texts)).numpy()
            lengths = [self._length(self.tokeniser.clean_fn(text)) for text in texts]
            return ids, np.array(lengths, dtype=np.int64) > ids.shape[1]
        return self._byte_pairs(texts)

    def _byte_pairs(self, texts: Sequence[str]) -> tuple[IntArray, BoolArray]:
        """Done here in one go: the tokeniser is written in Python and slow, and its own call does not tell lengths."""
        size, end = int(self.tokeniser.context_length), self.tokeniser.eot_token_id
        ids = np.zeros((len(texts), size), dtype=np.int64)
        long = np.zeros(len(texts), dtype=np.bool_)
        for row, text in enumerate(texts):
            found = [self.tokeniser.sot_token_id, *self.tokeniser.encode(text), end]
            ids[row, : min(len(found), size)] = found[:size]
            if len(found) > size:
                ids[row, -1], long[row] = end, True
        return ids, long

    def _length(self, text: str) -> int:
        """Tokens of a text uncut, special ones included."""
        if self.tokeniser.tokenizer_mode == "clips":  # open_clip puts three special tokens round the text itself
            return len(self.tokeniser.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]) + 3
        return len(self.tokeniser.tokenizer(text, verbose=False)["input_ids"])


def load_tokeniser(folder: Path) -> ClipTokeniser:
    """The tokeniser that a model's settings ask for, from its folder alone."""
    import open_clip

    return ClipTokeniser(open_clip.get_tokenizer(f"local-dir:{folder}"))
