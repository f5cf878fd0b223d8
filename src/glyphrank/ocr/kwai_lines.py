"""The OCR files of TextVR (arXiv:2305.03347), made with Kuaishou's service: text that was followed through a clip."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from glyphrank.json_objects import JsonObject, refuse_repeated
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import check_file, shown_name
from glyphrank.records import Line

_WANTED = 'wanted an object of tracks such as {"0": {"text": ..., "score": ..., "tracks": {frame: [corners]}}}'
_MOST_FRAMES = 10_000_000
"""Frames of a clip beyond which a number is no frame: 92 hours at 30 a second."""
_FAR_BEYOND = 10
"""Times the frames of a clip that no text can be seen in another copy of it, at another rate of frames."""
_ROUNDING = 1e-6
"""How far above 1 a score may be that was 1 in single precision."""
_MOST_NAMED = 5
_MOST_SHOWN = 60


@dataclass(frozen=True)
class KwaiLines:
    """What an OCR file holds.

    Attributes:
        lines: one for each track with a text: by the first frame, then by the top and the left of the box there, as a
            row of text is read; without a box, since the file does not tell the size of the frame.
        frames: how many frames the clip has at least: one more than the last in which there was text, at least 1.
        faults: what is wrong with the tracks that are left out, each named.
    """

    lines: tuple[Line, ...]
    frames: int
    faults: tuple[str, ...]


def read_kwai(path: Path, clip_frames: int | None = None) -> KwaiLines:
    """The lines of an OCR file: `{track: {"text", "score", "recommend_box", "tracks": {frame: 10 numbers}}}`.

    Frames are numbered from 0, and the numbers are four corners, x and y in pixels, and two more. A score may be
    spelled as text, as TextVR's own code allows for; one that is not given is None. Corners that make no sense only
    leave the order of lines to that of the tracks.

    A track that was lost and found again is one line of several spans. It was lost where two of its frames lie further
    apart than those that were looked at: the least distance between following frames of a track in the file.

    Args:
        clip_frames: how many frames the clip declares, None where it does not tell. A track that goes on to ten times
            as many is a fault: one stray number would move all other text into the first window.

    Raises:
        MediaError: the file is missing or cannot be read, or is no JSON object.
    """
    tracks = _tracks(path)
    found: list[_Track] = []
    faults: list[str] = []
    for number, (name, fields) in enumerate(tracks.items()):
        try:
            if name in tracks.twice:
                raise ValueError("stands twice in the file; wanted each track once")
            found.append(_track(number, fields, clip_frames))
        except ValueError as error:
            faults.append(f"track {_shown(name)}: {error}")
    step = min((later - frame for track in found for frame, later in pairwise(track.frames)), default=1)
    lines = tuple(track.line(step) for track in sorted(found, key=lambda track: track.order) if track.text)
    return KwaiLines(lines, 1 + max((track.frames[-1] for track in found), default=0), tuple(faults))


def told(path: Path, faults: Sequence[str]) -> str | None:
    """The faults of a file as one sentence, None where there are none."""
    more = f"; and {len(faults) - _MOST_NAMED} more" if len(faults) > _MOST_NAMED else ""
    return f"{shown_name(path)}: {'; '.join(faults[:_MOST_NAMED])}{more}" if faults else None


@dataclass(frozen=True)
class _Track:
    """A text that was followed.

    Attributes:
        frames: in which it was seen, ascending, each once; at least one.
        order: first frame, top and left of the box there, number in the file.
    """

    text: str
    score: float | None
    frames: tuple[int, ...]
    order: tuple[float, ...]

    def line(self, step: int) -> Line:
        """The line, where frames that were looked at lie a number of frames apart."""
        return Line(self.text, self.score, frame=self.frames[0], spans=self._spans(step))

    def _spans(self, step: int) -> tuple[tuple[int, int], ...]:
        """The stretches without a gap; none where it was seen once."""
        if len(self.frames) == 1:
            return ()
        gaps = [at for at, (frame, later) in enumerate(pairwise(self.frames), start=1) if later - frame > step]
        starts = (0, *gaps)
        return tuple(
            (self.frames[start], self.frames[end - 1])
            for start, end in zip(starts, (*gaps, len(self.frames)), strict=True)
        )


def _tracks(path: Path) -> JsonObject:
    check_file(path)
    try:
        tracks = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=JsonObject)
    except OSError as error:
        raise MediaError(
            MediaFault.unreadable, f"{shown_name(path)}: cannot be read ({error.strerror or error})"
        ) from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, numbers of thousands of digits
        raise MediaError(MediaFault.damaged, f"{shown_name(path)}: not JSON ({error}); {_WANTED}") from error
    if not isinstance(tracks, JsonObject):
        raise MediaError(MediaFault.damaged, f"{shown_name(path)}: JSON of the type {type(tracks).__name__}; {_WANTED}")
    return tracks


def _track(number: int, fields: object, clip_frames: int | None) -> _Track:
    """The track of an object; a ValueError says what is wrong with it."""
    if not isinstance(fields, Mapping):
        raise ValueError(f"it is {_shown(fields)}; wanted an object")
    refuse_repeated(fields, _shown)
    text = _text(fields.get("text"))
    followed = fields.get("tracks")
    if not isinstance(followed, Mapping) or not followed:
        raise ValueError(f"tracks is {_shown(followed)}; wanted an object of frames")
    frames = _frames(followed, clip_frames)
    first = min(frames)
    order = (first, *_top_left(followed[frames[first]]), number)
    return _Track(text, _score(fields.get("score")), tuple(sorted(frames)), order)


def _text(text: object) -> str:
    """A text without white space round it."""
    if not isinstance(text, str):
        raise ValueError(f"text is {_shown(text)}; wanted text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise ValueError(f"text holds {half}, half of a character (a surrogate without its pair)") from error
    return text.strip()


def _frames(followed: Mapping[str, object], clip_frames: int | None) -> dict[int, str]:
    """The frames of a track, each with its spelling."""
    frames: dict[int, str] = {}
    for name in followed:
        frame = _frame(name)
        if frame in frames:
            raise ValueError(f"frame {frame} stands twice, as {_shown(frames[frame])} and {_shown(name)}")
        frames[frame] = name
    last = max(frames)
    if clip_frames is not None and last >= _FAR_BEYOND * clip_frames:
        raise ValueError(f"frame {last}, far beyond the clip's {clip_frames}")
    return frames


def _frame(name: str) -> int:
    spelled = name.strip()
    if spelled.isascii() and spelled.isdecimal() and len(spelled) <= len(str(_MOST_FRAMES)):
        number = int(spelled)
        if number < _MOST_FRAMES:
            return number
    raise ValueError(f"{_shown(name)} among its tracks is no number of a frame; wanted whole numbers from 0")


def _score(score: object) -> float | None:
    """A score as a plain number in [0, 1]."""
    if score is None:
        return None
    try:
        number = float(score) if isinstance(score, str | int | float) and not isinstance(score, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= 1 + _ROUNDING:  # NaN is not either
        raise ValueError(f"score is {_shown(score)}; wanted a number from 0 to 1")
    return min(number, 1.0)


def _top_left(corners: object) -> tuple[float, float]:
    """The least y and x of four corners; (0, 0) where they are not told."""
    if not isinstance(corners, list) or len(corners) < 8:
        return 0.0, 0.0
    numbers = [number for number in corners[:8] if isinstance(number, int | float)]
    if len(numbers) < 8 or not all(-_MOST_FRAMES < number < _MOST_FRAMES for number in numbers):
        return 0.0, 0.0
    return float(min(numbers[1::2])), float(min(numbers[::2]))


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
