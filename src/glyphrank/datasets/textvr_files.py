"""Where TextVR's files lie: annotations, videos and OCR, below the folder that a person names."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from glyphrank.datasets.media_names import MediaNames, content_of, names_in
from glyphrank.datasets.roots import watched
from glyphrank.datasets.textvr_records import Clip
from glyphrank.digests import digest_text
from glyphrank.errors import DataError
from glyphrank.faults import Faults, shown
from glyphrank.identity import FileDigest
from glyphrank.ids import nfc
from glyphrank.records import Media

VIDEOS = ("Videos", "Video")
"""The folder of the videos: the first as the README of TextVR says, the second as its code reads it."""
OCR = "Kwai_VideoOCR"
REPOSITORY = "callsys/TextVR"
ARCHIVE = f"the archive of 5.4 GB (resized videos, annotations, OCR) that the README of github.com/{REPOSITORY} links"
_BASES = (".", "TextVR", "data/TextVR")
"""Where below the root the files may lie: the archive unpacked into it, or a clone of the repository."""
_ANNOTATIONS = (".", "annotations", "Annotations")
_LIKE_VIDEOS = ("video", "videos", "clips", "clip", "textvr_videos")
_LIKE_OCR = ("kwai_videoocr", "kwai_ocr", "ocr")
"""What else the folders may be called, in lower case."""
_MOST_HINTS = 5


@dataclass(frozen=True)
class Files:
    """Where the video of a clip lies or should lie, and its OCR, None where the record names none of its own video."""

    video: Path
    ocr: Path | None


def places_of(root: Path, names: Sequence[str]) -> tuple[Path, ...]:
    """Where annotation files of some names may lie below a folder, and all folders in which names are looked up.

    Those of videos that are missing and dropped are among them: such a video is no item, and may appear.
    """
    bases = [root / base for base in _BASES]
    annotations = [base / folder / name for base in bases for folder in _ANNOTATIONS for name in names]
    media = [path for base in bases for folder in (*VIDEOS, OCR) for path in watched(base / folder)]
    return tuple(dict.fromkeys([*bases, *annotations, *media]))


class TextVrFiles:
    """Finds the files of TextVR below a folder.

    Args:
        root: the folder, which is there.
        file_digest: content digest of a file.
    """

    def __init__(self, root: Path, file_digest: FileDigest) -> None:
        self._root = root
        self._file_digest = file_digest
        self._bases = _distinct(path for base in _BASES if _is_folder(path := root / base))
        self._folders = _distinct(
            path for base in self._bases for name in VIDEOS if _is_folder(path := base / name)
        ) or [root / VIDEOS[0]]
        self._videos = [MediaNames(folder, "path") for folder in self._folders]
        self._kwai = next((path for base in self._bases if _is_folder(path := base / OCR)), root / OCR)
        self._ocr = MediaNames(self._kwai, "Kwai_OCR")

    def annotations(self, name: str) -> Path | None:
        """The annotation file of a name, None where there is none.

        Raises:
            DataError: it stands at two places with different content, or one of two cannot be read.
        """
        places = (base / folder / name for base in self._bases for folder in _ANNOTATIONS)
        found = _distinct(path for path in places if os.path.lexists(path))
        if len(found) > 1 and all(map(os.path.isfile, found)) and len(set(map(self._file_digest, found))) > 1:
            raise DataError(f"{name} stands at {' and at '.join(map(str, found))} with different content; keep one")
        return found[0] if found else None

    def find(self, clips: Sequence[Clip], annotations: Path) -> dict[str, Files]:
        """For each clip's path its files; where there is none, the place where it was looked for.

        Raises:
            DataError: names lead out of the folder or fit two files; all of them are told.
        """
        faults = Faults(annotations, shown=10)
        found: dict[str, Files] = {}
        for clip in clips:
            try:
                ocr = self._ocr.find(clip.ocr) if clip.ocr is not None and clip.is_matched else None
                found[clip.path] = Files(self._video(clip), ocr)
            except ValueError as error:
                faults.add(f"{clip.label}: {error}")
        faults.stop()
        return found

    def media(self, path: Path, name: str) -> Media:
        """A file with its fingerprint; one that cannot be read has a digest that says so under its published name."""
        stamp, content = content_of(path, name, self._file_digest)
        return Media(path, None, digest_text(content, ""), stamp)  # as a folder dataset has it: equal files, equal work

    @property
    def has_ocr(self) -> bool:
        """Whether there is a folder of OCR."""
        return _is_folder(self._kwai)

    def looked_for(self, missing: Iterable[Clip]) -> str:
        """Where videos were looked for, and what stands there under names that are nearly theirs."""
        places = " and ".join(map(str, self._folders))
        if _is_folder(self._folders[0]):
            return f"looked for in {places}{_near({clip.scenario for clip in missing}, self._folders)}"
        return f"looked for in {places} (or {VIDEOS[1]}), which is not there{self._alike(VIDEOS[0], _LIKE_VIDEOS)}"

    def looked_for_ocr(self, absent: Iterable[Clip]) -> str:
        """Where OCR files were looked for, and what stands there under names that are nearly theirs."""
        if self.has_ocr:
            folders = {clip.ocr_folder for clip in absent}
            return f"looked for in {self._kwai}{_near(folders, [self._kwai])}"
        advice = self._alike(OCR, _LIKE_OCR) or f"; fetch {ARCHIVE}, or check dataset.root"
        return f"looked for in {self._kwai}, which is not there{advice}"

    def _alike(self, wanted: str, known: Sequence[str]) -> str:
        """What to rename, where there are folders whose name is nearly the wanted one."""
        paths = [path for base in self._bases for path in _folders_like(base, known) if path.name not in (*VIDEOS, OCR)]
        return "".join(f"; {path} is: rename it to {wanted}" for path in paths[:_MOST_HINTS])

    def _video(self, clip: Clip) -> Path:
        paths = [names.find(clip.path) for names in self._videos]
        there = [path for path in paths if is_there(path)]
        if len(_distinct(there)) > 1:
            raise ValueError(f"stands at {' and at '.join(shown(str(path), longest=200) for path in there)}; keep one")
        return there[0] if there else paths[0]


def is_there(path: Path) -> bool:
    """Whether something stands at a path; False for a link that leads nowhere."""
    return os.path.exists(path)  # noqa: PTH110 -- pathlib raises for names too long and folders without permission


def _near(wanted: Set[str], folders: Sequence[Path]) -> str:
    """What folders hold in place of those that are wanted, where a name is nearly the same."""
    hints: list[str] = []
    published = {nfc(name) for name in wanted}
    for folder in folders:
        names = set(names_in(folder))
        for name in sorted(published - names):
            near = difflib.get_close_matches(name, names, n=1)
            hints += [f"; there is no folder {name} but {near[0]}"] if near else []
    return "".join(hints[:_MOST_HINTS])


def _folders_like(base: Path, known: Sequence[str]) -> list[Path]:
    """Folders whose name is nearly one of those known."""
    names = [name for spelled in names_in(base).values() for name in spelled]
    close = (name for name in names if difflib.get_close_matches(name.strip().lower(), known, n=1, cutoff=0.65))
    return [base / name for name in close if _is_folder(base / name)]


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 -- pathlib raises for folders without permission


def _distinct(paths: Iterable[Path]) -> list[Path]:
    """The paths without those that lead to a place that stood before: links, or spellings that a disk takes for one."""
    found: dict[str, Path] = {}
    for path in paths:
        found.setdefault(os.path.realpath(path), path)  # pathlib raises for a link that leads to itself
    return list(found.values())
