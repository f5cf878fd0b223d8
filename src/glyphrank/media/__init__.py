"""Media: from a file as published to upright RGB frames or a text layer, within limits of time, memory and pixels."""

from collections.abc import Sequence
from typing import Protocol


class Sampler(Protocol):
    """Which frames of an item are looked at, and how large they may be."""

    @property
    def long_side(self) -> int:
        """Pixels of the long side at which a PDF page is rendered; a larger picture or frame is reduced to it."""
        ...

    @property
    def most_pixels(self) -> int:
        """Width times height that a file may declare; one with more fails, undecoded, so that it cannot eat memory."""
        ...

    def places(self, times: Sequence[float]) -> list[int]:
        """Which of n frames of a clip to take: 0-based, ascending, none twice, at least one of n >= 1.

        Args:
            times: seconds at which each of the n frames is shown, ascending.
        """
        ...
