"""Window OCR: the scene text of each part of a clip as a text of its own.

The form in which the TextVR card (arXiv:2305.03347) gives scene text to a video encoder's frames: the clip is cut into
as many windows as frames are sampled, each centred on its frame, and the text of a window is joined into one string.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from glyphrank.records import Line, Reading
from glyphrank.transcript import Pooling, Transcript


@dataclass(frozen=True)
class Windows:
    """One text for each window of a clip that has any.

    Attributes:
        windows: number of equal windows; window i of n frames spans [i n / windows, (i + 1) n / windows), at whose
            middle `frames=middles_...` takes its frame i. A reading of no more frames than that has one a frame.
        pooling: how the windows' vectors make the item's score; BM25 reads all windows as one text.
        written: how the lines of one window are made into a text. A line that was followed over several windows
            stands in each of them.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    windows: int
    pooling: Pooling
    written: Transcript

    def __post_init__(self) -> None:
        if self.windows < 1:
            raise ValueError(f"windows is {self.windows}; wanted at least 1")
        inner: object = self.written
        while inner is not None and not isinstance(inner, Windows):
            inner = getattr(inner, "written", None)
        if inner is not None:
            raise ValueError("written cuts windows itself; wanted a transcript of one text")

    def write(self, reading: Reading) -> tuple[str, ...]:
        """The texts of the windows that have one, in the order of the clip."""
        lines: dict[int, list[Line]] = {}
        for line in reading.lines:
            for window in self._windows_of(line, reading.length):
                lines.setdefault(window, []).append(line)
        texts = (self.written.write(replace(reading, lines=tuple(lines[window]))) for window in sorted(lines))
        return tuple(text for found in texts for text in found)

    def query(self, text: str) -> str:
        """A query in the form of the texts."""
        return self.written.query(text)

    def _windows_of(self, line: Line, length: int) -> set[int]:
        """The windows in which a line was seen."""
        spans = line.spans or ((line.frame, line.frame),)
        return {
            window
            for first, last in spans
            for window in range(self._window(first, length), self._window(last, length) + 1)
        }

    def _window(self, frame: int, length: int) -> int:
        """The window in which the middle of a frame lies; a frame beyond the reading's length stands in the last."""
        return (2 * min(frame, length - 1) + 1) * min(self.windows, length) // (2 * length)
