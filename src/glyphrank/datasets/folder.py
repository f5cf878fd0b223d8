"""A corpus on disk in the BEIR layout: `corpus.jsonl`, `queries.jsonl`, and `qrels.tsv` or `qrels/<split>.tsv`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from glyphrank.datasets.fingerprint import fingerprint
from glyphrank.datasets.folder_media import MediaFinder
from glyphrank.datasets.folder_records import Records, read_records
from glyphrank.datasets.relevance import Known, Relevance, notes_of, relevance
from glyphrank.datasets.roots import readable_folder, readable_or_none
from glyphrank.errors import DataError
from glyphrank.faults import Blocks, Faults, shown
from glyphrank.identity import FileDigests, Location
from glyphrank.records import Item, Media, Query, Task
from glyphrank.runtime import Runtime
from glyphrank.trec import Qrels, gather_qrels

_NAMED = 5


@dataclass(frozen=True)
class Folder:
    """Any corpus on disk.

    `corpus.jsonl` has a line for each item: `id` (or `_id`), `media` (a path below the folder: a PDF, a picture or a
    clip), `page` (of a PDF, from 1), `text` (the publisher's text); `queries.jsonl` has `id` and `text`; anything else
    is kept as slices. `qrels.tsv` has a header (`query-id`, `corpus-id`, `score`) and speaks of all queries; with
    `qrels/<split>.tsv` only the queries that the file names belong to the split. Gains above 0 are relevant, 0 or less
    was judged not relevant.

    A file that is missing, damaged or encrypted is no fault of the dataset: its items stay, and fail when read.

    Attributes:
        root: the folder.
        split: name of the file in `qrels/`; without effect where the folder has `qrels.tsv`.
    """

    VERSION: ClassVar[int] = 1
    root: Location
    split: str

    def __post_init__(self) -> None:
        if not self.split or Path(self.split).name != self.split:
            raise ValueError(f"split is {self.split!r}; wanted the name of a file in qrels/, without folder and .tsv")

    def files(self, runtime: Runtime) -> tuple[Path, ...] | None:
        """The three files; see `loading.ReadsFiles`."""
        root = readable_or_none(self.root)
        names = ("corpus.jsonl", "queries.jsonl", "qrels.tsv", f"qrels/{self.split}.tsv")
        return None if root is None else tuple(root / name for name in names)

    def load(self, runtime: Runtime) -> Task:
        """Queries, items and relevance in the order of the files.

        Raises:
            DataError: a file is missing or damaged, an id is empty or stands twice, a page does not exist, relevance
                names an unknown id. The message names file, line and id; the faults of all files come together.
        """
        root, blocks = readable_folder(self.root, "corpus.jsonl, queries.jsonl and qrels.tsv"), Blocks()
        corpus = read_records(root / "corpus.jsonl", True, blocks)
        items = _items(root, corpus, runtime, blocks)
        asked = read_records(root / "queries.jsonl", False, blocks)
        queries = _queries(root, asked, blocks)
        judgements = _judgements(root, self.split, _row(asked, corpus), blocks)
        found = _relevant(judgements, asked, corpus, blocks)
        blocks.stop()
        if judgements.is_split:
            queries = [query for query in queries if query.id in found.judged]
        return Task(
            name=root.name,
            queries=tuple(queries),
            items=tuple(items),
            relevant=found.relevant,
            fingerprint=fingerprint(queries, items, found.relevant),
            notes=(
                *notes_of(judgements.qrels, judgements.path.name, items, "corpus.jsonl"),
                *_unjudged(queries, found, judgements.path.name),
            ),
        )


@dataclass(frozen=True)
class _Judgements:
    """The file of judgements, whether it makes a split, and what of it could be read."""

    path: Path
    is_split: bool
    qrels: Qrels


def _qrels_path(root: Path, split: str) -> tuple[Path, bool]:
    """The file of judgements and whether it makes a split; a DataError where there is none, or no single one."""
    whole, part = root / "qrels.tsv", root / "qrels" / f"{split}.tsv"
    is_whole, is_part = _is_file(whole), _is_file(part)
    if is_whole and is_part:
        raise DataError(f"{root}: holds both qrels.tsv and qrels/{split}.tsv; keep one of them")
    if not is_whole and not is_part:
        others = sorted(path.stem for path in (root / "qrels").glob("*.tsv"))
        hint = f"; qrels/ has the splits {', '.join(others)}: set dataset.split" if others else ""
        raise DataError(f"{root}: holds neither qrels.tsv nor qrels/{split}.tsv; wanted one of them{hint}")
    return (whole, False) if is_whole else (part, True)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # a folder without permission, a name too long
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def _items(root: Path, corpus: Records, runtime: Runtime, blocks: Blocks) -> list[Item]:
    """The items of the corpus that have no fault, or only that their id stands twice."""
    path = root / "corpus.jsonl"
    finder = MediaFinder(root, path, FileDigests(runtime.cache / "files"))
    faults = Faults(path, shown=50)
    media: dict[str, Media | None] = {}
    for record in corpus.records:  # one by one, so that names and pages at fault are told together
        try:
            media |= finder.find([record])
        except DataError as error:
            faults.add(str(error).removeprefix(f"{path}: "))
    with blocks.keep():
        faults.stop()
    return [
        Item(record.id, media[record.id], record.text, record.slices) for record in corpus.records if record.id in media
    ]


def _queries(root: Path, asked: Records, blocks: Blocks) -> list[Query]:
    faults = Faults(root / "queries.jsonl")
    for record in asked.records:
        if not (record.text or "").strip():
            faults.add(f"line {record.line}: the query {shown(record.id)} has no text")
    with blocks.keep():
        faults.stop()
    return [Query(record.id, record.text or "", record.slices) for record in asked.records]


def _judgements(root: Path, split: str, row: str, blocks: Blocks) -> _Judgements:
    """The judgements; `row` is what one looks like, for the message where there is none."""
    with blocks.keep():
        path, is_split = _qrels_path(root, split)
        faults = Faults(path)
        qrels = gather_qrels({"": path}, faults)
        with blocks.keep():
            try:
                faults.stop()
            except DataError as error:
                if qrels.gains or len(error.faults) > 1:
                    raise
                raise DataError(f"{error}, such as {row} (with tabs)") from error
        return _Judgements(path, is_split, qrels)
    return _Judgements(root / "qrels.tsv", False, Qrels({}, {}, 0))


def _row(asked: Records, corpus: Records) -> str:
    """A row of judgements, by ids that are there, tabs as `<TAB>`."""
    query, item = next(iter(asked.ids), "q1"), next(iter(corpus.ids), "ID")
    return f"{shown(query, str)}<TAB>{shown(item, str)}<TAB>1"


def _unjudged(queries: Sequence[Query], found: Relevance, judgements: str) -> list[str]:
    """A note that names the first queries of which the judgements do not speak."""
    names = [query.id for query in queries if query.id not in found.judged]
    if not names:
        return []
    first = ", ".join(shown(name) for name in names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    have = "1 query has" if len(names) == 1 else f"{len(names)} queries have"
    return [f"queries.jsonl: {have} no row in {judgements} ({first})"]


def _relevant(judgements: _Judgements, asked: Records, corpus: Records, blocks: Blocks) -> Relevance:
    faults = Faults(judgements.path, shown=50)
    queries = Known(asked.ids, "queries.jsonl", asked.unnamed, asked.whole)
    items = Known(corpus.ids, "corpus.jsonl", corpus.unnamed, corpus.whole)
    found = relevance(judgements.qrels, queries, items, faults)
    with blocks.keep():
        faults.stop()
    return found
