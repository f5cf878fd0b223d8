"""The videos of TextVR as items: with their files, without those that are missing where that is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from glyphrank.datasets.textvr_files import ARCHIVE, OCR, Files, TextVrFiles, is_there
from glyphrank.datasets.textvr_records import Clip
from glyphrank.errors import DataError
from glyphrank.faults import shown
from glyphrank.records import Item


class Missing(StrEnum):
    """What to do where videos are not there.

    `error` stops; `keep` leaves them in the gallery, where whoever looks at them fails by name; `drop` takes them and
    their captions out, and the run is tagged.
    """

    error = "error"
    keep = "keep"
    drop = "drop"


@dataclass(frozen=True)
class Gallery:
    """The clips that take part, as items in the same order, with what their task says of them."""

    clips: Sequence[Clip]
    items: Sequence[Item]
    tags: Mapping[str, str]
    notes: Sequence[str]
    listed: Mapping[str, tuple[str, ...]]


def gallery(clips: Sequence[Clip], files: TextVrFiles, annotations: Path, policy: Missing) -> Gallery:
    """The items of clips.

    Args:
        annotations: the file that holds the records, for messages.

    Raises:
        DataError: videos are missing and the policy is `error`, or all are and it is `drop`; a name leads out of the
            folder or fits two files.
    """
    found = files.find(clips, annotations)
    missing = [clip for clip in clips if not is_there(found[clip.path].video)]
    if missing and (policy is Missing.error or (policy is Missing.drop and len(missing) == len(clips))):
        told = f"{annotations}: {_count(missing, clips)}: {_named(missing, 10)}; {files.looked_for(missing)}"
        raise DataError(f"{told}.\n{_advice(policy)}")
    kept, tags = list(clips), {}
    if missing and policy is Missing.drop:
        gone = {clip.path for clip in missing}
        kept = [clip for clip in clips if clip.path not in gone]
        tags = {"gallery": f"{len(kept)} of {len(clips)} videos: the others are missing and dropped"}
    items = [_item(clip, found[clip.path], files) for clip in kept]
    oddities = _odd_ocr(kept, found, files, annotations.name)
    notes = [_note(clips, missing, files, policy)] if missing else []
    listed = {"missing_videos": missing} | {odd.name: odd.clips for odd in oddities}
    ids = {name: tuple(clip.path for clip in odd) for name, odd in listed.items() if odd}
    return Gallery(kept, items, tags, [*notes, *(odd.note for odd in oddities)], ids)


def _item(clip: Clip, found: Files, files: TextVrFiles) -> Item:
    video = files.media(found.video, clip.path)
    ocr = None if found.ocr is None else files.media(found.ocr, clip.ocr or "")
    return Item(clip.path, video, None, {"scenario": clip.scenario}, ocr)


def _note(clips: Sequence[Clip], missing: Sequence[Clip], files: TextVrFiles, policy: Missing) -> str:
    """What became of missing videos."""
    what = _count(missing, clips)
    if policy is Missing.drop:
        return f"{what}, and dropped with their captions, which makes the task easier: {_named(missing)}"
    kept = "and kept in the gallery, where channels that look at frames cannot retrieve them"
    return f"{what}, {kept}: {_named(missing)}; {files.looked_for(missing)}"


def _count(missing: Sequence[Clip], clips: Sequence[Clip]) -> str:
    return f"{len(missing)} of {len(clips)} videos missing"


def _advice(policy: Missing) -> str:
    keep = "dataset.missing=keep goes on with them in the gallery, for channels that read published OCR"
    if policy is Missing.drop:
        return f"Nothing is left to rank; fetch {ARCHIVE}, or check dataset.root. {keep}"
    drop = "dataset.missing=drop without them, which changes the task and is tagged"
    return f"Fetch {ARCHIVE}, or check dataset.root. {keep}; {drop}"


@dataclass(frozen=True)
class _Odd:
    """Clips that show an oddity, and a sentence with their count and the first of them."""

    name: str
    clips: Sequence[Clip]
    note: str


def _odd_ocr(clips: Sequence[Clip], found: Mapping[str, Files], files: TextVrFiles, annotations: str) -> list[_Odd]:
    """What is odd about the OCR that the records name."""
    unnamed = [clip for clip in clips if clip.ocr is None]
    wrong = [clip for clip in clips if not clip.is_matched]
    named = [(clip, path) for clip in clips if (path := found[clip.path].ocr) is not None]
    absent = [clip for clip, path in named if not is_there(path)]
    elsewhere = [clip for clip, _ in named if clip.scenario != clip.ocr_folder]

    def odd(name: str, those: Sequence[Clip], what: str, follows: str) -> _Odd:
        said = f"{annotations}: Kwai_OCR {what} in {len(those)} of {len(clips)} records, {follows}: {_named(those)}"
        return _Odd(name, those, said)

    oddities = (
        odd("ocr_not_named", unnamed, "is not given", "which have no published OCR"),
        odd("ocr_of_another_video", wrong, "names the OCR of another video", "where it is left out"),
        _Odd("missing_ocr", absent, _note_of_absent(absent, clips, files, annotations)),
        odd("ocr_in_another_folder", elsewhere, "names another folder than the scenario", "where it is used as it is"),
    )
    return [odd for odd in oddities if odd.clips]


def _note_of_absent(absent: Sequence[Clip], clips: Sequence[Clip], files: TextVrFiles, annotations: str) -> str:
    """What OCR files are not there: one by one, or as a whole."""
    count = f"{len(absent)} of {len(clips)} records"
    if not files.has_ocr:
        gone = f"there is no folder {OCR}, so that ocr=published cannot read the files that {count} name"
        return f"{annotations}: {gone}: {files.looked_for_ocr(absent)}"
    gone = f"Kwai_OCR names a file below {OCR} that is not there in {count}, which ocr=published cannot read"
    return f"{annotations}: {gone}: {_named(absent)}; {files.looked_for_ocr(absent)}"


def _named(clips: Sequence[Clip], most: int = 3) -> str:
    """The first of the clips and how many more there are."""
    more = f" and {len(clips) - most} more" if len(clips) > most else ""
    return ", ".join(shown(clip.path, longest=120) for clip in clips[:most]) + more
