"""TextVR's annotation files: from JSON to clips with their captions, every fault named by record and path."""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from glyphrank.errors import DataError
from glyphrank.faults import Faults, shown
from glyphrank.identity import kind_of_file
from glyphrank.ids import nfc
from glyphrank.json_objects import JsonObject, refuse_repeated

_WANTED = 'wanted a list of records such as {"path": ..., "captions_info": [...], "videos_info": {...}}'
_NO_DATA = {
    "<": "; it looks like a web page: fetch the file itself, not the page that shows it",
    "version https://git-lfs": "; it is a Git LFS pointer: fetch the file that it stands for",
}
"""How files begin that were fetched in the wrong way, and what to do."""


@dataclass(frozen=True)
class Clip:
    """One record of an annotation file.

    Attributes:
        number: place in the list, from 0.
        path: `<Scenario>/<stem>.mp4`, which names the video and is its id.
        captions: at least one, as they were published; many begin with white space.
        durations: seconds of the clip as they stand with each caption, 0 when unknown, None when not given.
        ocr: `<folder>/<stem>.json`, the file of its OCR below `Kwai_VideoOCR`; None when none is named. Its folder is
            not always the scenario.
    """

    number: int
    path: str
    captions: tuple[str, ...]
    durations: tuple[float | None, ...]
    ocr: str | None

    @property
    def scenario(self) -> str:
        """The folder of the video: one of eight kinds of places and programmes."""
        return PurePosixPath(self.path).parts[0]

    @property
    def ocr_folder(self) -> str:
        """The first part of the name of its OCR, empty where there is none."""
        return next(iter(PurePosixPath(self.ocr or "").parts), "")

    @property
    def stem(self) -> str:
        """The video's name without folder and ending, in NFC."""
        return nfc(PurePosixPath(self.path).stem)

    @property
    def is_matched(self) -> bool:
        """Whether the OCR that is named is that of this video: their stems are the same. True where none is named."""
        return self.ocr is None or nfc(PurePosixPath(self.ocr).stem) == self.stem

    @property
    def label(self) -> str:
        """The record in a message."""
        return f"record [{self.number}], {shown(self.path)}"


def read_clips(path: Path) -> list[Clip]:
    """The records of an annotation file, in its order.

    Raises:
        DataError: the file cannot be read, is not JSON or no list, or records have no path, one that stood before
            (compared in NFC) or one that is not `<Scenario>/<name>`, a key twice in one object, no captions, a caption
            that is blank or no text, a duration that is no number of seconds, or no `videos_info`; all of them are told
            together.
    """
    faults = Faults(path, shown=10)
    clips: list[Clip] = []
    seen: dict[str, int] = {}
    for number, record in enumerate(_records(path)):
        try:
            clip = _clip(number, record)
        except ValueError as error:
            faults.add(f"record [{number}]{_named(record)}: {error}")
            continue
        first = seen.setdefault(nfc(clip.path), number)
        if first != number:
            faults.add(f"{clip.label}: the path stands in record [{first}] already; wanted each video once")
        clips.append(clip)
    faults.stop()
    if not clips:
        raise DataError(f"{path}: holds no record; {_WANTED}")
    return clips


def _records(path: Path) -> list[object]:
    text = _text(path)
    try:
        records = json.loads(text, object_pairs_hook=JsonObject)
    except RecursionError as error:
        raise DataError(f"{path}: not JSON (nested too deeply); {_WANTED}") from error
    except ValueError as error:  # also for whole numbers of thousands of digits
        hint = next((hint for start, hint in _NO_DATA.items() if text.lstrip().startswith(start)), f"; {_WANTED}")
        raise DataError(f"{path}: not JSON ({error}){hint}") from error
    if not isinstance(records, list):
        kind = "object" if isinstance(records, JsonObject) else type(records).__name__
        raise DataError(f"{path}: JSON of the type {kind}; {_WANTED}")
    return records


def _text(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # opening a named pipe would wait for ever
            raise DataError(f"{path}: cannot be read ({kind_of_file(mode)}); wanted a file of JSON")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: bytes that are not UTF-8 ({error.reason}); fetch it anew") from error


def _clip(number: int, record: object) -> Clip:
    """The clip of a record; a ValueError says what is wrong with it."""
    if not isinstance(record, Mapping):
        raise ValueError(f"JSON of the type {type(record).__name__}; wanted an object")
    refuse_repeated(record, shown)
    path = _path(record.get("path"))
    captions = record.get("captions_info")
    if not isinstance(captions, list) or not captions:
        raise ValueError(f"captions_info is {_json(captions)}; wanted a list of at least one caption")
    texts = tuple(_caption(place, caption) for place, caption in enumerate(captions))
    video = record.get("videos_info")
    if not isinstance(video, Mapping):
        raise ValueError(f"videos_info is {_json(video)}; wanted an object with Kwai_OCR")
    ocr = video.get("Kwai_OCR")
    durations = tuple(_duration(place, caption) for place, caption in enumerate(captions))
    return Clip(number, path, texts, durations, None if ocr is None else _written(ocr, "Kwai_OCR"))


def _path(value: object) -> str:
    """A path in the one spelling that is published: the same file under another would be another id."""
    path = _written(value, "path")
    parts = path.split("/")
    if len(parts) < 2:
        raise ValueError("path has no folder; wanted '<Scenario>/<name>.mp4'")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"path is {shown(path)}; wanted '<Scenario>/<name>.mp4' as published")
    return path


def _caption(place: int, caption: object) -> str:
    field = f"captions_info[{place}].caption"
    if not isinstance(caption, Mapping):
        raise ValueError(f"captions_info[{place}] is {_json(caption)}; wanted an object with a caption")
    return _written(caption.get("caption"), field)


def _duration(place: int, caption: Mapping[str, object]) -> float | None:
    info = caption.get("caption_info")
    duration = info.get("duration") if isinstance(info, Mapping) else None
    if not isinstance(duration, int | float):
        return None
    try:
        seconds = float(duration)
    except OverflowError:  # a whole number of hundreds of digits
        seconds = math.inf
    if not math.isfinite(seconds):
        field = f"captions_info[{place}].caption_info.duration"
        raise ValueError(f"{field} is {_json(duration)}; wanted a number of seconds")
    return seconds


def _written(value: object, field: str) -> str:
    """A text that is there and that a file can hold."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{field} is {_json(value)}; wanted text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise ValueError(f"{field} holds {half}, half of a character (a surrogate without its pair)") from error
    return value


def _named(record: object) -> str:
    path = record.get("path") if isinstance(record, Mapping) else None
    return f", {shown(path)}" if isinstance(path, str) else ""


def _json(value: object) -> str:
    try:
        return shown(value, lambda given: json.dumps(given, ensure_ascii=True))
    except RecursionError:  # reading goes a few levels deeper than writing
        return "nested too deeply"
