"""Two engines in turn: what the first does not read well enough, the second reads."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from glyphrank.errors import DataError
from glyphrank.ids import nfc
from glyphrank.ocr import OcrEngine
from glyphrank.records import Frames, Item, Reading, Source, TextState
from glyphrank.runtime import NeedsFiles, Runtime

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ElseRead:
    """An engine for text layers with one for pixels behind it, for pages whose layer is missing, thin or garbled.

    A page that is blank needs no second reading, and an item without media has nothing for an engine that looks. Where
    the second engine finds nothing, what the first has read stands.

    Attributes:
        first: the engine that reads text layers.
        second: the engine that reads where the first found too little.
        thin_below: characters, in NFC and white space aside, that the first reading must have.
    """

    VERSION: ClassVar[int] = 2
    first: OcrEngine
    second: OcrEngine
    thin_below: int

    def __post_init__(self) -> None:
        if self.thin_below < 0:
            raise ValueError(f"thin_below is {self.thin_below}; wanted at least 0")

    @property
    def needs_frames(self) -> bool:
        """Whether one of the two looks at frames."""
        return self.first.needs_frames or self.second.needs_frames

    @property
    def sources(self) -> tuple[Source, ...]:
        """Those of both engines."""
        return tuple(dict.fromkeys((*self.first.sources, *self.second.sources)))

    def find(self, runtime: Runtime) -> None:
        """Looks for the files of both engines, and fetches them where that is allowed.

        Whether the second engine is needed is known only when the first has read, and a corpus of good text layers
        needs none of its weights. What it lacks is therefore said at once, as a warning, and ends the run where an
        item needs it: after the first engine, whose readings are kept, and before anything is decoded for the second.

        Raises:
            DataError: a file of the first engine is missing.
        """
        if isinstance(self.first, NeedsFiles):
            self.first.find(runtime)
        if isinstance(self.second, NeedsFiles):
            try:
                self.second.find(runtime)
            except DataError as error:
                _warn(str(error))

    def enough(self, reading: Reading) -> bool:
        """Whether a reading of the first engine can stand."""
        if reading.failure is not None or reading.state is TextState.garbled:
            return False
        characters = sum(len("".join(nfc(line.text).split())) for line in reading.lines)
        return reading.state is TextState.blank or characters >= self.thin_below

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        """The first engine's reading where it is enough, else the second's; a `failure` when neither can read."""
        first = self.first.read(item, frames, runtime)
        if self.enough(first) or (item.media is None and self.second.needs_frames):
            return first
        return self.choose(first, self.second.read(item, frames, runtime))

    def choose(self, first: Reading, second: Reading) -> Reading:
        """The second reading, or the first where it has lines and the second found nothing.

        Where the second engine fails, its failure stands together with the lines that the first has: the item is
        listed, its result is measured again, and what is there of its text is used.
        """
        if second.failure is not None:
            reasons = filter(None, (first.failure, second.failure))
            return replace(first, failure="; ".join(reasons))
        return first if first.failure is None and first.lines and not second.lines else second


@functools.lru_cache(maxsize=64)
def _warn(lack: str) -> None:
    """Says once what the second engine lacks: files are looked for several times in a run."""
    logger.warning("the run ends where an item needs the second engine of the pair, which lacks files: %s", lack)
