"""What flows between the stages: frozen records of plain types and numpy arrays.

Arrays are given with their shape; ids are text exactly as published and are compared in NFC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glyphrank.errors import DataError
from glyphrank.ids import nfc, unique

FloatArray = NDArray[np.float32]
Scores = NDArray[np.float32] | NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
UInt8Array = NDArray[np.uint8]


@dataclass(frozen=True)
class Cell:
    """One picture in a parquet file: the 0-based row over all row groups, and the column that holds the pictures."""

    column: str
    row: int


@dataclass(frozen=True)
class Media:
    """Where the content of an item lies: a file, one page of a document, or one cell of a parquet file.

    Attributes:
        path: absolute path; the file may be missing, then reading the item fails.
        page: 1-based page of a document, None for a file that is one item.
        digest: fingerprint of the content (of the file, with the page or row), not of the place.
        stamp: `identity.stamp_of` the file when its digest was taken, None where nobody asked.
        cell: which cell of a parquet file, None for any other file.
    """

    path: Path
    page: int | None
    digest: str
    stamp: tuple[str | int, ...] | None = field(default=None, compare=False)
    cell: Cell | None = None


@dataclass(frozen=True)
class Query:
    """What is asked. `slices` are the fields by which metrics are broken down, e.g. `{"type": "visual"}`."""

    id: str
    text: str
    slices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """What is ranked: a page or a clip.

    Attributes:
        text: the publisher's text layer; None when none was published (an empty one is "").
        published_ocr: what the publisher's OCR found: a text, or a file of lines; None when none was published.
    """

    id: str
    media: Media | None
    text: str | None
    slices: Mapping[str, str] = field(default_factory=dict)
    published_ocr: str | Media | None = None


@dataclass(frozen=True)
class Task:
    """Queries, items and what is relevant to what.

    Attributes:
        relevant: query id -> {item id: gain}, gains above 0. A query without an entry has nothing relevant.
        fingerprint: digest of declared revision, ids, texts, slices, relevance and media fingerprints.
        notes: what loading found odd and mended (e.g. dropped repeats), for the log and the report.
        tags: what a reader of the numbers must know of the gallery, e.g. `{"gallery": "2600 of 2727 videos"}`.
        listed: what was odd -> ids of the items that show it, e.g. `missing_videos`.
        orders: name -> all item ids in another published order, that of the columns of a score matrix.

    Raises:
        DataError: no query or no item, ids that are equal in NFC, relevance that names an unknown id.
    """

    name: str
    queries: tuple[Query, ...]
    items: tuple[Item, ...]
    relevant: Mapping[str, Mapping[str, float]]
    fingerprint: str
    notes: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.items:
            raise DataError(f"{self.name}: the corpus is empty; wanted at least one item")
        if not self.queries:
            raise DataError(f"{self.name}: there is no query; wanted at least one")
        queries = unique((query.id for query in self.queries), "query", self.name)
        items = unique((item.id for item in self.items), "item", self.name)
        for query_id, gains in self.relevant.items():
            if nfc(query_id) not in queries:
                raise DataError(f"{self.name}: relevance names the query {query_id!r}, which is not among the queries")
            for item_id, gain in gains.items():
                if nfc(item_id) not in items:
                    raise DataError(
                        f"{self.name}: query {query_id!r} names the item {item_id!r}, "
                        f"which is not among the {len(items)} items"
                    )
                if not (np.isfinite(gain) and gain > 0):
                    raise DataError(f"{self.name}: query {query_id!r}, item {item_id!r}: gain {gain} is not above 0")
        if not any(self.relevant.values()):
            raise DataError(f"{self.name}: no query has a relevant item; wanted at least one")


@dataclass(frozen=True)
class Frames:
    """What of an item can be seen: the sampled frames of a clip, or the one frame of a page or picture.

    Attributes:
        images: each (h, w, 3) uint8, upright RGB; sizes may differ. At least one.
        times: seconds from the start of the clip for each image, None for a page or picture.
    """

    images: tuple[UInt8Array, ...]
    times: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.images:
            raise ValueError("there is no frame; wanted at least one")
        for image in self.images:
            if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
                raise ValueError(f"a frame is {image.dtype} of shape {image.shape}; wanted uint8 of (h, w, 3)")
        if self.times is not None and len(self.times) != len(self.images):
            raise ValueError(f"{len(self.times)} times for {len(self.images)} frames; wanted one each")


class Source(StrEnum):
    """Where lines come from: a text layer, the publisher's OCR, or our own reading of the frames."""

    embedded = "embedded"
    published = "published"
    scene = "scene"


class TextState(StrEnum):
    """What an item's own text is worth.

    Text; little of it; none, but something is drawn (it needs OCR); none at all; no language.
    """

    text = "text"
    thin = "thin"
    image_only = "image_only"
    blank = "blank"
    garbled = "garbled"


@dataclass(frozen=True)
class Line:
    """One detection.

    Attributes:
        confidence: in [0, 1]; it and the box are None where the source gives none.
        box: left, top, right, bottom as fractions of the frame.
        frame: 0-based number of the frame, of which the reading knows `length`.
        time: seconds from the start of a clip, None for a page.
        spans: stretches of frames, (first, last), in which the line was followed, ascending; empty where it was seen
            in `frame` alone.
    """

    text: str
    confidence: float | None = None
    box: tuple[float, float, float, float] | None = None
    frame: int = 0
    time: float | None = None
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Reading:
    """All that was read in an item, in the order of the source.

    Attributes:
        lines: what there is of text.
        failure: why the item could not be read, or not by the engine that it needed.
        length: number of frames that `Line.frame` counts, at least 1: those looked at, or all of the clip's.
        length_known: False where the clip may be longer than `length`, which is then where its text ends.
    """

    source: Source
    lines: tuple[Line, ...] = ()
    failure: str | None = None
    state: TextState = TextState.text
    length: int = 1
    length_known: bool = True


@dataclass(frozen=True)
class Encoded:
    """What a text encoder returns for n texts.

    Attributes:
        values: (n, d) float32, of any length; they are made unit rows in one place, `scoring.unit_rows`.
        truncated: (n,) bool, texts that were longer than the model reads.
    """

    values: FloatArray
    truncated: BoolArray


@dataclass(frozen=True)
class Vectors:
    """Ids with their vectors: `values` is (n, d) float32 with unit rows, row i belongs to `ids[i]`.

    Raises:
        ValueError: shapes disagree, or a row is not a finite unit vector (its id is named).
    """

    ids: tuple[str, ...]
    values: FloatArray

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or len(self.ids) != len(self.values):
            raise ValueError(f"{len(self.ids)} ids for vectors of shape {self.values.shape}; wanted one row an id")
        lengths = np.einsum("ij,ij->i", self.values, self.values)
        bad = np.flatnonzero(~(np.abs(lengths - 1) < 1e-3))
        if len(bad):
            raise ValueError(f"the vector of {self.ids[bad[0]]!r} has squared length {lengths[bad[0]]}; wanted 1")


class Direction(StrEnum):
    """Which side asks: queries rank items (`t2v`), or items rank queries (`v2t`)."""

    t2v = "t2v"
    v2t = "v2t"


class View(StrEnum):
    """What of an item a channel may see."""

    text = "text"
    frames = "frames"


@dataclass(frozen=True)
class Ranks:
    """Where the relevant items of every query stand, exactly and with their ties, and the top of each list.

    One entry for each (query, relevant item) pair, m in all, ordered by query. In the reverse direction the
    "queries" are items and the "items" are queries.

    Attributes:
        query_ids: all q queries. One without an entry has nothing relevant: every mean leaves it out.
        item_ids: the whole gallery, n ids.
        query, item: (m,) index into query_ids, ascending, and into item_ids.
        gain: (m,) float64, above 0.
        higher: (m,) how many items are scored strictly higher.
        tied: (m,) size of the group of items with this very score, itself included.
        before: (m,) how many items of the tied group stand before it in trec_eval's order (id descending).
        retrieved: (m,) bool, False where the score is -inf; then higher, tied and before are 0.
        top: for each of the q queries, (indices into item_ids, scores), best first, equal scores by id descending,
            without items at -inf.
        truncated: whether the lists the scores come from were cut, so that the rank of an item that is missing, or
            level with the end of its list, is unknown.
    """

    direction: Direction
    query_ids: tuple[str, ...]
    item_ids: tuple[str, ...]
    query: IntArray
    item: IntArray
    gain: NDArray[np.float64]
    higher: IntArray
    tied: IntArray
    before: IntArray
    retrieved: BoolArray
    top: Sequence[tuple[IntArray, Scores]] = ()
    truncated: bool = False
