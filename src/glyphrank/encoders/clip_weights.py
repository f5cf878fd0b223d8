"""The files of open_clip models: which folder holds them. See `weights`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from glyphrank.encoders.clip_folder import OPEN_CLIP, TEXT_MODEL, UNTRAINED
from glyphrank.encoders.layout import Layout
from glyphrank.encoders.weights import Weights
from glyphrank.runtime import Runtime


@dataclass(frozen=True)
class ClipWeights(Weights):
    """A model of open_clip: a repository of the hub, or a folder in open_clip's own layout."""

    LAYOUT: ClassVar[Layout] = OPEN_CLIP

    def find_settings(self, runtime: Runtime) -> Path:
        """A folder with the model's settings and tokeniser; weights need not be there.

        Raises:
            DataError: there is none where it may be looked for.
        """
        return self.locate(UNTRAINED, runtime)


@dataclass(frozen=True)
class TextModel(Weights):
    """The architecture of a text tower that open_clip takes from transformers: config.json, without weights."""

    LAYOUT: ClassVar[Layout] = TEXT_MODEL
