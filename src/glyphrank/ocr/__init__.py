"""Engines that find the text of an item."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from glyphrank.records import Frames, Item, Reading, Source
from glyphrank.runtime import Runtime


class OcrEngine(Protocol):
    """Finds the lines of one item; its work is cached by what it looked at."""

    @property
    def needs_frames(self) -> bool:
        """Whether it looks at frames. Its work is then addressed by their pixels alone, else by text and file."""
        ...

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where its lines may come from, so that a protocol can refuse what its task does not let a channel see."""
        ...

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        """All lines of the item in the order of the source; an item that cannot be read gives a `failure`.

        Args:
            item: what to read.
            frames: decodes the item when it is called, and only then; a `media.faults.MediaError` where it cannot.
            runtime: device, permission to fetch weights.
        """
        ...


@runtime_checkable
class Pair(OcrEngine, Protocol):
    """Two engines: the second reads what the first does not read well enough.

    The stage that reads items goes through `first` and `second`, so that each keeps a cache of its own, shared with
    runs that use it alone, and nothing is decoded for items that the first engine reads.
    """

    @property
    def first(self) -> OcrEngine:
        """Reads every item."""
        ...

    @property
    def second(self) -> OcrEngine:
        """Reads the items whose first reading is not enough."""
        ...

    def enough(self, reading: Reading) -> bool:
        """Whether the first engine's reading can stand."""
        ...

    def choose(self, first: Reading, second: Reading) -> Reading:
        """What stands of two readings of an item, the first of which was not enough."""
        ...
