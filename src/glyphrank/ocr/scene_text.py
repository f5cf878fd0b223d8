"""Text in pictures and clips, found and read by EasyOCR (github.com/JaidedAI/EasyOCR)."""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from glyphrank.identity import Location
from glyphrank.media.faults import MediaError
from glyphrank.ocr.scene_files import DETECTOR, RECOGNISERS
from glyphrank.ocr.scene_languages import GREEDY, model_for
from glyphrank.ocr.scene_reader import is_of_the_machine, load_reader, read_picture
from glyphrank.ocr.scene_weights import find_weights
from glyphrank.records import Frames, Item, Line, Reading, Source, UInt8Array
from glyphrank.runtime import Runtime

LEAST_SIDE = 4
"""Pixels, as the detector sees them, that a frame must have in both directions: no letter is smaller, and EasyOCR
fails on frames that its reduction leaves without a side."""

Box = tuple[float, float, float, float]
Detection = tuple[str, float | None, Box]
Found = list[Detection] | str
"""What a frame holds, or why it could not be read."""

logger = logging.getLogger(__name__)


class Decoder(StrEnum):
    """How the recogniser's probabilities become text."""

    greedy = "greedy"
    beamsearch = "beamsearch"


@dataclass(frozen=True)
class EasyOcr:
    """Reads every frame that differs from those before it; lines come raw, in the engine's order, with confidence.

    Lines of a frame that repeats are repeated under its own number and time. What is not a field here keeps EasyOCR's
    default, and paragraphs are never joined, since that loses the confidence.

    Attributes:
        languages: codes of EasyOCR, e.g. `ko`, `en`; which go together is said in `scene_languages`.
        folder: folder with the weights, looked at before EasyOCR's own; its whole content is part of the key.
        canvas_size: pixels of the long side at which text is looked for at most, at least 32.
        mag_ratio: factor by which a frame is enlarged before, above 0.
        text_threshold: score of the detector, in [0, 1], that one place of a text must have.
        low_text: score of the detector, in [0, 1], above which a pixel belongs to a text.
        link_threshold: score of the detector, in [0, 1], above which neighbouring letters belong together.
        min_size: pixels of the long side that a detection must exceed.
        slope_ths: slope up to which a box is taken as level, at least 0.
        width_ths: distance up to which boxes of a line are joined, in heights of the box, at least 0.
        add_margin: how much each box is widened, in heights of the box, at least 0.
        contrast_ths: confidence, in [0, 1], below which a box is read again with more contrast.
        adjust_contrast: contrast of that second reading, in [0, 1].
        decoder: how the recogniser's output is decoded.
        beam_width: texts that `beamsearch` keeps in sight, at least 1; without effect on `greedy`.
        rotations: degrees by which every box is turned for another try, e.g. [90, 180, 270]; the surest one stays.
        quantize: whether the recogniser computes with 8-bit weights on a CPU (faster, and other numbers).
        same_frame: mean absolute difference, in [0, 1] of the range of pixels, up to which a frame counts as the last
            one that was read; 0 takes only identical frames as the same.
    """

    VERSION: ClassVar[int] = 2
    PACKAGES: ClassVar[tuple[str, ...]] = ("easyocr", "torch", "torchvision", "opencv-python-headless", "pillow")
    needs_frames: ClassVar[bool] = True
    sources: ClassVar[tuple[Source, ...]] = (Source.scene,)

    languages: tuple[str, ...]
    folder: Location | None
    canvas_size: int
    mag_ratio: float
    text_threshold: float
    low_text: float
    link_threshold: float
    min_size: int
    slope_ths: float
    width_ths: float
    add_margin: float
    contrast_ths: float
    adjust_contrast: float
    decoder: Decoder
    beam_width: int
    rotations: tuple[int, ...]
    quantize: bool
    same_frame: float

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise ValueError("; ".join(faults))

    def _faults(self) -> Iterator[str]:
        for name in ("text_threshold", "low_text", "link_threshold", "contrast_ths", "adjust_contrast", "same_frame"):
            if not 0 <= getattr(self, name) <= 1:
                yield f"{name} is {getattr(self, name)}; wanted a number from 0 to 1"
        for name, least in (
            ("slope_ths", 0),
            ("width_ths", 0),
            ("add_margin", 0),
            ("min_size", 0),
            ("canvas_size", 32),
        ):
            if not getattr(self, name) >= least:
                yield f"{name} is {getattr(self, name)}; wanted at least {least}"
        if self.beam_width < 1:
            yield f"beam_width is {self.beam_width}; wanted at least 1"
        if not self.mag_ratio > 0:
            yield f"mag_ratio is {self.mag_ratio}; wanted more than 0"
        if any(not 0 < angle < 360 for angle in self.rotations):
            yield f"rotations are {list(self.rotations)}; wanted degrees between 0 and 360"
        try:
            if model_for(self.languages) in GREEDY and self.decoder is not Decoder.greedy:
                yield f"decoder is {self.decoder}; wanted greedy: EasyOCR decodes Chinese in no other way"
        except ValueError as error:
            yield str(error)

    def find(self, runtime: Runtime) -> tuple[Path, ...]:
        """The files of the detector and the recogniser; EasyOCR is not imported.

        Raises:
            DataError: a file is nowhere that may be looked at, or is not the one that its digest names.
        """
        return find_weights((DETECTOR, RECOGNISERS[model_for(self.languages)]), self.folder, runtime)

    def read(self, item: Item, frames: Callable[[], Frames], runtime: Runtime) -> Reading:
        """The lines of all frames of an item, frame by frame; a `failure` where it or its frames cannot be read.

        A frame on which EasyOCR fails costs its own lines: the item fails only where every frame did. Such a reading
        is a reading like others, and kept: what EasyOCR trips over lies in the frame, and other versions of it have
        another key. The log names the frames when they are read. Want of memory and faults of an accelerator are of
        the moment instead: they fail the item, so that the next run reads it whole.

        Raises:
            DataError: the weights cannot be found, fetched or loaded.
            ConfigError: EasyOCR cannot be imported, or the device is not on this machine.
        """
        try:
            seen = frames()
        except MediaError as error:
            return _failed(str(error))
        detector, recogniser = self.find(runtime)
        reader = load_reader(self.languages, detector, recogniser, self.quantize, runtime.device)
        try:
            found = self._found(reader, seen.images)
        except Exception as error:  # the machine's: see `_read`
            return _failed(_why(error))
        faults = {number: why for number, why in enumerate(found) if isinstance(why, str)}
        if len(faults) == len(found):
            return _failed(faults[0])
        for number, why in faults.items():
            logger.warning("item %r: nothing is read in frame %d of %d: %s", item.id, number + 1, len(found), why)
        return Reading(Source.scene, tuple(_lines(found, seen.times)), length=len(found))

    def _found(self, reader: Any, images: Sequence[UInt8Array]) -> list[Found]:
        """What each frame holds; a frame that repeats shares what was found in the one that was read."""
        known: dict[tuple[tuple[int, ...], bytes], Found] = {}
        found: list[Found] = []
        last: tuple[UInt8Array, Found] | None = None
        for image in images:
            same = (image.shape, hashlib.sha256(image.tobytes()).digest())
            if same not in known:
                if last is not None and self.same_frame > 0 and _difference(last[0], image) <= self.same_frame:
                    known[same] = last[1]
                else:
                    known[same] = self._read(reader, image)
                    last = last if isinstance(known[same], str) else (image, known[same])
            found.append(known[same])
        return found

    def _read(self, reader: Any, image: UInt8Array) -> Found:
        """What a frame holds, or why EasyOCR fails on it; a fault of the machine is raised."""
        height, width = image.shape[:2]
        if min(height, width) * min(1.0, self.canvas_size / max(height, width)) < LEAST_SIDE:
            return []
        try:
            results = read_picture(reader, image, self._options())
            return [(str(result[1]), _confidence(result), _box(result[0], width, height)) for result in results]
        except Exception as error:  # EasyOCR trips over boxes without area, and more
            if is_of_the_machine(error):
                raise
            return _why(error)

    def _options(self) -> dict[str, object]:
        """The arguments of `readtext` under EasyOCR's names."""
        names = ("canvas_size", "mag_ratio", "text_threshold", "low_text", "link_threshold", "min_size", "slope_ths")
        more = ("width_ths", "add_margin", "contrast_ths", "adjust_contrast")
        return {
            **{name: getattr(self, name) for name in (*names, *more)},
            "decoder": self.decoder.value,
            "beamWidth": self.beam_width,
            "rotation_info": list(self.rotations) or None,
        }


def _failed(why: str) -> Reading:
    return Reading(Source.scene, failure=why)


def _why(error: Exception) -> str:
    return f"EasyOCR failed: {type(error).__name__}: {error}"


def _lines(found: Sequence[Found], times: Sequence[float] | None) -> list[Line]:
    """The lines of all frames that could be read."""
    lines = []
    for number, detections in enumerate(found):
        if not isinstance(detections, str):
            time = None if times is None else float(times[number])
            lines += [Line(text, confidence, box, number, time) for text, confidence, box in detections]
    return lines


def _difference(before: UInt8Array, after: UInt8Array) -> float:
    """Mean absolute difference of two frames in [0, 1]; 1 where their sizes differ."""
    if before.shape != after.shape:
        return 1.0
    return float(np.abs(before.astype(np.int16) - after).mean()) / 255


def _confidence(result: Sequence[Any]) -> float | None:
    """Of a detection, in [0, 1]; None where EasyOCR gives none, 0 where it was left without any probability."""
    if len(result) < 3:
        return None
    value = float(result[2])
    return 0.0 if math.isnan(value) else min(max(value, 0.0), 1.0)


def _box(corners: Sequence[Sequence[Any]], width: int, height: int) -> Box:
    """Left, top, right and bottom of four corners in pixels, as fractions of the frame and inside it."""
    across = [min(max(float(x) / width, 0.0), 1.0) for x, _ in corners]
    down = [min(max(float(y) / height, 0.0), 1.0) for _, y in corners]
    return min(across), min(down), max(across), max(down)
