"""The OCR that was published with an item, as it is: nothing is recognised here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from glyphrank.garble import check_thresholds, judge
from glyphrank.media.faults import MediaError
from glyphrank.media.frame_count import declared_frames
from glyphrank.ocr.kwai_lines import read_kwai, told
from glyphrank.records import Frames, Item, Line, Media, Reading, Source
from glyphrank.runtime import Runtime


@dataclass(frozen=True)
class Published:
    """Takes over the lines that the publisher's OCR found: a text, or one of TextVR's files (`kwai_lines`).

    They are used as they were published; how many items have little text or none that can be read is counted. A file
    gives one line for each text that was followed, with the stretches of frames in which it was seen and without a box.
    Nothing of the item itself is read but, for a file of lines, how many frames its clip declares to have; where it
    does not tell, the reading is as long as its text, and says that this is all that is known.

    An item without published OCR, and a file that is missing or damaged, is a failure. Where only some texts of a file
    are damaged, the failure stands beside the others, which take part.

    Attributes:
        thin_below: characters, white space aside, below which a text is counted as thin; a file of lines never is, as
            scene text is a word or two.
        garbled_above: share of garbled characters (`garble.garble_share`), in [0, 1], above which it counts as garbled.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    needs_frames: ClassVar[bool] = False
    sources: ClassVar[tuple[Source, ...]] = (Source.published,)
    thin_below: int
    garbled_above: float

    def __post_init__(self) -> None:
        check_thresholds(self.thin_below, self.garbled_above)

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        """The published lines, or a `failure`."""
        if item.published_ocr is None:
            return Reading(Source.published, failure="no OCR was published with it")
        if isinstance(item.published_ocr, Media):
            return self._followed(item.published_ocr, item.media)
        lines = (line.strip() for line in item.published_ocr.splitlines())
        return self._reading(tuple(Line(line) for line in lines if line), self.thin_below)

    def _followed(self, file: Media, clip: Media | None) -> Reading:
        """The lines of a file.

        The length is that of the clip where its container tells it, unless text was seen beyond it: then the file was
        made from another copy of the clip, and speaks of more frames, nobody knows of how many.
        """
        declared = _frames_of(clip)
        try:
            found = read_kwai(file.path, declared)
        except MediaError as error:
            return Reading(Source.published, failure=str(error))
        reading = replace(self._reading(found.lines, 0), failure=told(file.path, found.faults))
        if declared is None or declared < found.frames:
            return replace(reading, length=found.frames, length_known=False)
        return replace(reading, length=declared)

    def _reading(self, lines: tuple[Line, ...], thin_below: int) -> Reading:
        state = judge("\n".join(line.text for line in lines), thin_below, self.garbled_above)
        return Reading(Source.published, lines, state=state)


def _frames_of(clip: Media | None) -> int | None:
    """How many frames a clip declares to have, None where it does not tell."""
    try:
        return declared_frames(clip.path) if clip is not None and clip.page is None else None
    except (MediaError, OSError):
        return None
