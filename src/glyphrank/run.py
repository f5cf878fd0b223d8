"""One experiment, built: the root of the config as an object, whose parts go together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glyphrank.bad_items import BadMedia
from glyphrank.datasets import Dataset
from glyphrank.encoders import Lexical, TextEncoder, VisualEncoder
from glyphrank.encoders.precision import Precision
from glyphrank.fusion import Fusion
from glyphrank.indexes import Index
from glyphrank.media import Sampler
from glyphrank.metrics import Protocol, prefix
from glyphrank.ocr import OcrEngine
from glyphrank.records import Direction, View
from glyphrank.runtime import Launch, Runtime
from glyphrank.tracking import Tracker
from glyphrank.transcript import Transcript

CHANNELS = {"visual": View.frames, "text": View.text, "lexical": View.text}
"""Channels and the view of an item that each sees."""

CHANGES_NO_NUMBER = frozenset(
    (
        "launch",
        "on_bad_media",
        "paths",
        "plugins",
        "probe",
        "probe_precision",
        "rerun",
        "runtime",
        "save_scores",
        "tracking",
    )
)
"""Root keys of the config that say where and how a run works, and what it leaves; all others count."""


@dataclass(frozen=True)
class Run:
    """One experiment, built; its fields are the root keys of the config, `paths` and `runtime` being one.

    Attributes:
        dataset: what is asked, what is ranked, and what is relevant to what.
        frames: which frames of a clip are looked at, and at which size pages, pictures and frames.
        ocr: where the text of items comes from, if a channel needs any.
        transcript: how the lines of a reading are made into one text, or into several.
        visual: the channel that holds queries against frames, if there is one.
        text: the channel that holds queries against transcripts, both as dense vectors, if there is one.
        lexical: the channel that holds queries against transcripts by the tokens they share, if there is one.
        index: how vectors are searched.
        fusion: how the scores of several channels become one.
        metrics: how rankings become numbers: cut-offs, directions, ties, what channels may see, the primary metric.
        tracking: the MLflow store that is told of the run, if one is.
        runtime: how and where the run works.
        on_bad_media: what to do about items that cannot be read or encoded.
        rerun: true measures again although the result is stored.
        save_scores: true keeps the scores of all queries and items, `scores.npy` and, in a published order of columns,
            `scores_rand.npy`.
        probe: true encodes a sample again at other batch sizes, and tells how many ranks change.
        probe_precision: numbers in which the sample is encoded once more; only with `probe`.
        plugins: packages of one's own whose components may be used.
        launch: how the cells of a sweep are started.

    Raises:
        ValueError: the parts do not go together: no channel, text channels without a source of text, a view that the
            protocol forbids, a fusion that lacks a channel, a precision to probe without a probe or where no encoder
            has one.
    """

    dataset: Dataset
    frames: Sampler
    ocr: OcrEngine | None
    transcript: Transcript
    visual: VisualEncoder | None
    text: TextEncoder | None
    lexical: Lexical | None
    index: Index
    fusion: Fusion
    metrics: Protocol
    tracking: Tracker | None
    runtime: Runtime
    on_bad_media: BadMedia
    rerun: bool
    save_scores: bool
    probe: bool
    probe_precision: Precision | None
    plugins: tuple[str, ...]
    launch: Launch

    def __post_init__(self) -> None:
        if not self.channels:
            raise ValueError("there is no channel; choose encoder@lexical=..., encoder@text=... or encoder@visual=...")
        for name in self.channels:
            if CHANNELS[name] not in self.metrics.views:
                allowed = ", ".join(self.metrics.views)
                raise ValueError(
                    f"channel {name!r} sees {CHANNELS[name]}, but the metrics protocol allows {allowed} only"
                )
        if self.reads and self.ocr is None:
            name = next(name for name in self.channels if CHANNELS[name] is View.text)
            allowed = " or ".join(self.metrics.sources)
            raise ValueError(f"channel {name!r} needs text but ocr=none; choose one that reads {allowed}")
        if self.reads and self.ocr is not None:
            foreign = [source for source in self.ocr.sources if source not in self.metrics.sources]
            if foreign:
                raise ValueError(
                    f"text of the source {', '.join(foreign)} is read by the ocr, but the metrics protocol allows "
                    f"{', '.join(self.metrics.sources)} only; choose another ocr, or metrics=pages or clips"
                )
        if self.is_approximate and self.metrics.primary.startswith(prefix(Direction.v2t)):
            raise ValueError(
                f"the index is approximate and answers t2v only, but the primary metric is {self.metrics.primary!r}"
            )
        if self.probe_precision is not None and not self.probe:
            raise ValueError(f"probe_precision is {self.probe_precision} without a probe; wanted probe=true with it")
        if self.probe_precision is not None and not self._have_precision:
            raise ValueError(
                f"probe_precision is {self.probe_precision}, but none of the channels {', '.join(self.channels)} has "
                f"an encoder with the field precision; leave probe_precision=null"
            )
        if len(self.channels) > 1:
            self.fusion.fuse({name: np.zeros((1, 1), dtype=np.float32) for name in self.channels})

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels that are filled."""
        return tuple(name for name in CHANNELS if getattr(self, name) is not None)

    @property
    def reads(self) -> bool:
        """Whether a channel needs the text of items."""
        return any(CHANNELS[name] is View.text for name in self.channels)

    @property
    def sees(self) -> bool:
        """Whether anything may look at frames."""
        return self.visual is not None or (self.reads and self.ocr is not None and self.ocr.needs_frames)

    @property
    def is_approximate(self) -> bool:
        """Whether a channel of vectors is searched approximately."""
        return self.index.approximate and bool({"visual", "text"} & set(self.channels))

    @property
    def _have_precision(self) -> bool:
        """Whether an encoder says in which numbers its model computes."""
        return any(isinstance(getattr(getattr(self, name), "precision", None), Precision) for name in self.channels)

    @property
    def random_weights(self) -> tuple[str, ...]:
        """Names of the channels whose encoder has weights that nobody trained."""
        return tuple(name for name in self.channels if getattr(getattr(self, name), "random_weights", False))
