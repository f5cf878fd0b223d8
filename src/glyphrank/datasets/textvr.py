"""TextVR (arXiv:2305.03347) as it was published: clips whose scene text must be read, asked for by sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from glyphrank.datasets.fingerprint import fingerprint
from glyphrank.datasets.roots import readable_folder, readable_or_none
from glyphrank.datasets.textvr_checks import check_ocr, check_pairs, random_order
from glyphrank.datasets.textvr_files import ARCHIVE, REPOSITORY, TextVrFiles, places_of
from glyphrank.datasets.textvr_gallery import Gallery, Missing, gallery
from glyphrank.datasets.textvr_records import Clip, read_clips
from glyphrank.datasets.textvr_sources import share_of, sources_in
from glyphrank.errors import DataError
from glyphrank.identity import FileDigests, Location
from glyphrank.records import Query, Task
from glyphrank.runtime import Runtime

_TEST, _RANDOM, _TRAIN = "TextVR_test.json", "TextVR_test_rand.json", "TextVR_train.json"
_FETCH = {
    _TEST: f"fetch data/TextVR/{_TEST} (0.9 MB) of github.com/{REPOSITORY}",
    _TRAIN: f"it comes only with {ARCHIVE}",
}


class Split(StrEnum):
    """Which clips: those of the test file, or of the two parts that the train file is cut into."""

    test = "test"
    train = "train"
    val = "val"


@dataclass(frozen=True)
class TextVr:
    """The published files of TextVR, unpacked anywhere below `root`: nothing has to be converted.

    An item is a video, with the `path` of its record as id; a query is a caption, with the id `<path>#<n>`, n counted
    from 0 within the record, and its own video relevant. White space round a caption is left out: 1,136 of the 2,727
    published ones begin with some, which says nothing. Both have the slice `scenario`.

    The published OCR of a video is the file that its record names under `Kwai_VideoOCR/`, unless the names of the two
    say that it is another video's. There is no validation split: `val` is a share of the train file, cut by source
    video, so that no two clips of one video stand on both sides, and `train` is the rest of it.

    The columns of a competition's score matrix stand in `Task.orders["rand"]`, with `split=test` where
    `TextVR_test_rand.json` is there.

    Attributes:
        root: the folder with the annotation files, `Videos/` (or `Video/`) and `Kwai_VideoOCR/`.
        split: which clips: of the test file, or of `train` or `val`, the parts of the train file.
        missing: what to do where a video is not there.
        val_share: share of the source videos of the train file that make `val`, from 0 to below 1.
        val_seed: decides which they are.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    root: Location
    split: Split
    missing: Missing
    val_share: float
    val_seed: int

    def __post_init__(self) -> None:
        if not 0 <= self.val_share < 1:
            raise ValueError(f"val_share is {self.val_share}; wanted a share from 0 to below 1")
        if self.split is Split.val and self.val_share == 0:
            raise ValueError("val_share is 0 with split val; wanted more than 0")

    def files(self, runtime: Runtime) -> tuple[Path, ...] | None:
        """The annotation files of the split wherever they may lie, and the folders; see `loading.ReadsFiles`."""
        root = readable_or_none(self.root)
        return None if root is None else places_of(root, self._annotations)

    def load(self, runtime: Runtime) -> Task:
        """Captions, videos and their OCR files, in the order of the annotation file.

        Raises:
            DataError: a file is missing or damaged, most records name the OCR of another video, videos are missing
                and the policy is `error`, or all of them are and it is `drop`.
        """
        files = TextVrFiles(
            readable_folder(self.root, "TextVR_test.json and Videos/"), FileDigests(runtime.cache / "files")
        )
        name = self._annotations[0]
        path = files.annotations(name)
        if path is None:
            raise DataError(f"{self.root}: holds no {name}, nor do folders such as TextVR/ in it; {_FETCH[name]}")
        clips = read_clips(path)
        check_ocr(clips, path)
        orders: dict[str, tuple[str, ...]] = {}
        if self.split is Split.test:
            check_pairs(clips, path)
            orders, notes = random_order(clips, files.annotations(_RANDOM))
        else:
            clips, notes = self._part(clips, path)
        found = gallery(clips, files, path, self.missing)
        return _task(f"textvr/{self.split}", found, orders, notes)

    @property
    def _annotations(self) -> tuple[str, ...]:
        """The annotation file of the split, and what else is read of it."""
        return (_TEST, _RANDOM) if self.split is Split.test else (_TRAIN,)

    def _part(self, clips: Sequence[Clip], path: Path) -> tuple[list[Clip], list[str]]:
        """The clips of `val` or of `train`, and what a reader of the numbers must know of them."""
        val = share_of(clips, self.val_share, self.val_seed)
        paths = {clip.path for clip in val}
        part = val if self.split is Split.val else [clip for clip in clips if clip.path not in paths]
        if not part:
            raise DataError(
                f"{path}: none of the {len(clips)} clips is in {self.split}, with val_share {self.val_share:g} "
                f"and val_seed {self.val_seed}; change one of them"
            )
        said = f"{len(part)} of the {len(clips)} clips, from {len(sources_in(part))} of {len(sources_in(clips))} videos"
        if not self.val_share:
            return part, []
        return part, [
            f"TextVR has no published validation split: val is {self.val_share:g} of the source videos of {path.name} "
            f"(val_seed {self.val_seed}), train the others; {self.split} has {said}"
        ]


def _task(name: str, found: Gallery, orders: Mapping[str, Sequence[str]], notes: Sequence[str]) -> Task:
    """The task of a gallery; the orders lose the videos that are not in it."""
    queries: list[Query] = []
    relevant: dict[str, dict[str, float]] = {}
    for clip in found.clips:
        for number, caption in enumerate(clip.captions):
            queries.append(Query(f"{clip.path}#{number}", caption.strip(), {"scenario": clip.scenario}))
            relevant[queries[-1].id] = {clip.path: 1.0}
    ids = {item.id for item in found.items}
    return Task(
        name=name,
        queries=tuple(queries),
        items=tuple(found.items),
        relevant=relevant,
        fingerprint=fingerprint(queries, found.items, relevant),
        notes=(*notes, *found.notes),
        tags=found.tags,
        listed=found.listed,
        orders={order: tuple(item for item in all_items if item in ids) for order, all_items in orders.items()},
    )
