"""Whether TextVR's annotation files are what their names say: pairs, their OCR, and the second order of the videos."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from glyphrank.datasets.textvr_files import REPOSITORY
from glyphrank.datasets.textvr_records import Clip, read_clips
from glyphrank.errors import DataError
from glyphrank.faults import shown
from glyphrank.ids import nfc

_ACTIVITY = "Activity"
_LEAST_JUDGED = 20
_MOST_AT_ODDS = 0.2
"""Share of clips whose caption is of another scenario; in the paired file none is, in a random order half are."""


def check_ocr(clips: Sequence[Clip], path: Path) -> None:
    """Refuses a file most of whose records name the OCR of another video, as those of the first release do.

    Raises:
        DataError: more than half of those that name one do.
    """
    wrong = [clip for clip in clips if not clip.is_matched]
    named = sum(clip.ocr is not None for clip in clips)
    if 2 * len(wrong) > named:
        raise DataError(
            f"{path}: {len(wrong)} of {named} records name the OCR of another video: Kwai_OCR of {wrong[0].label} is "
            f"{shown(wrong[0].ocr)}. The first release of TextVR_test.json had this fault in 2725 of 2727 records; "
            f"fetch the current {path.name} (github.com/{REPOSITORY})"
        )


def check_pairs(clips: Sequence[Clip], path: Path) -> None:
    """Refuses a test file whose captions stand beside other videos than theirs: the random one under its name.

    The captions of `Activity` come from another dataset, and they alone have the duration 0.

    Raises:
        DataError: more captions than a few are of another scenario than their video.
    """
    judged = [clip for clip in clips if None not in clip.durations]
    odd = [clip for clip in judged if (0.0 in clip.durations) != (clip.scenario == _ACTIVITY)]
    if len(judged) >= _LEAST_JUDGED and len(odd) > _MOST_AT_ODDS * len(judged):
        raise DataError(
            f"{path}: captions and videos are not paired: {len(odd)} of {len(judged)} captions are of another scenario "
            f"than their video, such as that of {odd[0].label}. In TextVR_test_rand.json the videos are permuted like "
            f"this; fetch data/TextVR/TextVR_test.json of github.com/{REPOSITORY}"
        )


def random_order(clips: Sequence[Clip], path: Path | None) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The order of the videos in `TextVR_test_rand.json` under the name `rand`, and what is odd about it.

    Args:
        clips: of the test file.
        path: the file, None where there is none: there is then no such order.

    Raises:
        DataError: the captions are not those of the test file in its order, or the videos are others.
    """
    if path is None:
        return {}, []
    permuted = read_clips(path)
    _check_captions(clips, permuted, path)
    ids = {nfc(clip.path): clip.path for clip in clips}
    others = [clip for clip in permuted if nfc(clip.path) not in ids]
    if others or len(permuted) != len(clips):
        found = f"{len(others)} are not, such as {others[0].label}" if others else f"{len(permuted)} are there"
        raise DataError(f"{path}: wanted the {len(clips)} videos of TextVR_test.json in another order; {found}")
    order = tuple(ids[nfc(clip.path)] for clip in permuted)
    if order == tuple(clip.path for clip in clips) and len(clips) > 1:
        # The README of TextVR advises to put the test file in its place.
        return {}, [
            f"{path.name} holds the videos in the order of TextVR_test.json: it is a copy of it, so the order 'rand' "
            "of a competition's matrix is not known"
        ]
    return {"rand": order}, []


def _check_captions(clips: Sequence[Clip], permuted: Sequence[Clip], path: Path) -> None:
    own = [caption for clip in clips for caption in clip.captions]
    theirs = [caption for clip in permuted for caption in clip.captions]
    if own == theirs:
        return
    differ = ((at, here, there) for at, (here, there) in enumerate(zip(own, theirs, strict=False)) if here != there)
    at, here, there = next(differ, (-1, "", ""))
    found = f"caption {at} is {shown(there)}, there {shown(here)}" if at >= 0 else f"{len(theirs)} are here"
    raise DataError(
        f"{path}: wanted the {len(own)} captions of TextVR_test.json in its order; {found}; fetch both from one place"
    )
