"""How many frames a clip has, by what its container declares."""

from __future__ import annotations

from pathlib import Path

from glyphrank.media.boxes import movie_index
from glyphrank.media.files import check_file
from glyphrank.media.mp4_index import played_track


def declared_frames(path: Path) -> int | None:
    """How many frames the index of a clip lists for the video that is played; nothing is decoded.

    None where that is not told in one place: for files that are not of the MP4 family, or cut into fragments, and for
    those without a video or whose index makes no sense.

    Raises:
        MediaError: the file is missing, empty, or no file.
        OSError: it cannot be read.
    """
    check_file(path)
    with path.open("rb") as stream:
        index, _ = movie_index(stream, path.stat().st_size)
    track = played_track(index) if index else None
    return (track.frames or None) if track else None
