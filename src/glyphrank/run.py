"""One experiment, built: the root of the config as an object, whose parts go together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glyphrank.bad_items import BadMedia
from glyphrank.datasets import Dataset
from glyphrank.encoders import Lexical, TextEncoder
from glyphrank.fusion import Fusion
from glyphrank.indexes import Index
from glyphrank.metrics import Protocol
from glyphrank.ocr import OcrEngine
from glyphrank.records import Runtime, View
from glyphrank.tracking import Tracker
from glyphrank.transcript import Transcript

CHANNELS = {"text": View.text, "lexical": View.text}
"""Channels and the view of an item that each sees."""


@dataclass(frozen=True)
class Run:
    """One experiment, built; its fields are the root keys of the config, `paths` and `runtime` being one.

    Raises:
        ValueError: the parts do not go together: no channel, text channels without a source of text, a view that the
            protocol forbids, a fusion that lacks a channel.
    """

    dataset: Dataset
    ocr: OcrEngine | None
    transcript: Transcript
    text: TextEncoder | None
    lexical: Lexical | None
    index: Index
    fusion: Fusion
    metrics: Protocol
    tracking: Tracker | None
    runtime: Runtime
    on_bad_media: BadMedia
    rerun: bool
    plugins: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.channels:
            raise ValueError("there is no channel; choose encoder@lexical=... or encoder@text=...")
        if self.ocr is None:
            raise ValueError(f"channel {self.channels[0]!r} needs text but ocr=none; choose ocr=embedded")
        for name in self.channels:
            if CHANNELS[name] not in self.metrics.views:
                allowed = ", ".join(self.metrics.views)
                raise ValueError(
                    f"channel {name!r} sees {CHANNELS[name]}, but the metrics protocol allows {allowed} only"
                )
        if len(self.channels) > 1:
            self.fusion.fuse({name: np.zeros((1, 1), dtype=np.float32) for name in self.channels})

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels that are filled."""
        return tuple(name for name in CHANNELS if getattr(self, name) is not None)
