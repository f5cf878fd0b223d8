"""Which frames of a clip are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

_HALF_A_MILLISECOND = 0.0005


@dataclass(frozen=True)
class Middles:
    """The frames at the middles of `count` equal intervals of the clip; all of them where it has no more than that.

    Frame i of `count` is floor((i + 1/2) * n / count) of n, in whole numbers: no place is beyond the end, none stands
    twice, and a clip with fewer frames than asked for gives each of its own once.

    Attributes:
        count: frames of a clip, at least 1; a page or picture is one frame.
        long_side: pixels of the longer side: a page is rendered at it, a larger picture or frame is reduced to it.
        most_pixels: width times height, in pixels, that a file may declare; a larger one fails, undecoded.
    """

    VERSION: ClassVar[int] = 1

    count: int
    long_side: int
    most_pixels: int

    def __post_init__(self) -> None:
        _check_at_least_one(count=self.count, long_side=self.long_side, most_pixels=self.most_pixels)

    def places(self, times: Sequence[float]) -> list[int]:
        """The middles; see the class.

        >>> Middles(4, 1600, 1).places([0.0] * 10), Middles(4, 1600, 1).places([0.0] * 3)
        ([1, 3, 6, 8], [0, 1, 2])
        """
        return middles(len(times), self.count)


@dataclass(frozen=True)
class Fps:
    """The first frame of each interval of 1 / `per_second` seconds, from the first frame's time on.

    An interval in which no frame begins gives none. Where more than `most` would be taken, those at the middles of
    `most` equal parts of them are.

    Attributes:
        per_second: frames a second, above 0 and at most 1000.
        most: frames of a clip at most, at least 1.
        long_side: pixels of the longer side: a page is rendered at it, a larger picture or frame is reduced to it.
        most_pixels: width times height, in pixels, that a file may declare; a larger one fails, undecoded.
    """

    VERSION: ClassVar[int] = 1

    per_second: float
    most: int
    long_side: int
    most_pixels: int

    def __post_init__(self) -> None:
        _check_at_least_one(most=self.most, long_side=self.long_side, most_pixels=self.most_pixels)
        if not 0 < self.per_second <= 1000:
            raise ValueError(f"per_second is {self.per_second}; wanted more than 0 and at most 1000")

    def places(self, times: Sequence[float]) -> list[int]:
        """The first frame of each interval; see the class.

        >>> Fps(1.0, 100, 1600, 1).places([0.0, 0.4, 0.8, 1.2, 1.6, 3.1])
        [0, 3, 5]
        """
        taken: list[int] = []
        last = -1
        for place, time in enumerate(times):
            # Times are whole milliseconds: a frame at 0.333 s begins the second third of a second.
            interval = int((time - times[0] + _HALF_A_MILLISECOND) * self.per_second)
            if interval > last:
                taken.append(place)
                last = interval
        return [taken[place] for place in middles(len(taken), self.most)]


def middles(n: int, count: int) -> list[int]:
    """The middles of `count` equal intervals of n things, 0-based and ascending; all n where n <= count."""
    if n <= count:
        return list(range(n))
    return [(2 * i + 1) * n // (2 * count) for i in range(count)]


def _check_at_least_one(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} is {number}; wanted at least 1")
