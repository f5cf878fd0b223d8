"""A corpus on disk in the BEIR layout: `corpus.jsonl`, `queries.jsonl`, and `qrels.tsv` or `qrels/<split>.tsv`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from glyphrank.datasets.folder_files import Faults, read_records, shown
from glyphrank.datasets.folder_media import MediaFinder
from glyphrank.errors import DataError
from glyphrank.identity import FileDigests, Location, digest_json
from glyphrank.ids import nfc
from glyphrank.records import Item, Media, Query, Runtime, Task
from glyphrank.trec import Qrels, read_qrels


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

    def load(self, runtime: Runtime) -> Task:
        """Queries, items and relevance in the order of the files.

        Raises:
            DataError: a file is missing or damaged, an id is empty or stands twice, a page does not exist, relevance
                names an unknown id. The message names file, line and id; faults of one kind come together.
        """
        root = _folder(self.root)
        qrels_path, is_split = _qrels_path(root, self.split)
        items = _items(root, runtime)
        queries = _queries(root)
        qrels = read_qrels(qrels_path)
        relevant, judged = _relevant(qrels, queries, items, qrels_path)
        if is_split:
            queries = [query for query in queries if query.id in judged]
        return Task(
            name=root.name,
            queries=tuple(queries),
            items=tuple(items),
            relevant=relevant,
            fingerprint=_fingerprint(queries, items, relevant),
            notes=_notes(qrels, qrels_path, items),
        )


def _notes(qrels: Qrels, qrels_path: Path, items: Sequence[Item]) -> tuple[str, ...]:
    """What is odd and no fault: repeated judgements, and the titles of BEIR, whose convention is to search them."""
    titled = sum(1 for item in items if item.slices.get("title"))
    found = [f"{qrels_path.name}: {qrels.repeats} repeated rows were dropped"] if qrels.repeats else []
    if titled:
        have = "1 item has" if titled == 1 else f"{titled} items have"
        found.append(f"corpus.jsonl: {have} a title, which is kept as a slice and not searched")
    return tuple(found)


def _folder(root: Path) -> Path:
    try:
        absolute = root.resolve()
        if absolute.is_dir():
            return absolute
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links; ValueError: a NUL
        reason = error.strerror if isinstance(error, OSError) else None
        raise DataError(f"{str(root)!r}: the folder cannot be read ({reason or error}); check dataset.root") from error
    raise DataError(
        f"{root}: no such folder; wanted one with corpus.jsonl, queries.jsonl and qrels.tsv; check dataset.root"
    )


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


def _items(root: Path, runtime: Runtime) -> list[Item]:
    path = root / "corpus.jsonl"
    records = read_records(path, with_media=True)
    finder = MediaFinder(root, path, FileDigests(runtime.cache / "files"))
    media = finder.find(records)
    return [Item(record.id, media[record.id], record.text, record.slices) for record in records]


def _queries(root: Path) -> list[Query]:
    path = root / "queries.jsonl"
    records = read_records(path, with_media=False)
    faults = Faults(path)
    for record in records:
        if not (record.text or "").strip():
            faults.add(f"line {record.line}: the query {shown(record.id)} has no text")
    faults.stop()
    return [Query(record.id, record.text or "", record.slices) for record in records]


def _relevant(
    qrels: Qrels, queries: Sequence[Query], items: Sequence[Item], path: Path
) -> tuple[dict[str, dict[str, float]], set[str]]:
    """Relevance under the ids of the dataset, and the queries that were judged at all."""
    query_ids = {nfc(query.id): query.id for query in queries}
    item_ids = {nfc(item.id): item.id for item in items}
    faults = Faults(path, shown=50)
    for query, item in _pairs(qrels):
        if nfc(query) not in query_ids:
            faults.add(f"the query {shown(query)} is not among the {len(query_ids)} queries of queries.jsonl")
        elif nfc(item) not in item_ids:
            faults.add(
                f"query {shown(query)} names the item {shown(item)}, "
                f"not among the {len(item_ids)} items of corpus.jsonl"
            )
    faults.stop()
    relevant = {
        query_ids[nfc(query)]: {item_ids[nfc(item)]: gain for item, gain in gains.items()}
        for query, gains in qrels.gains.items()
        if gains
    }
    return relevant, {query_ids[nfc(query)] for query in qrels.gains}


def _pairs(qrels: Qrels) -> list[tuple[str, str]]:
    """Every judged pair, those with a gain of 0 or less too."""
    return [
        (query, item)
        for query, gains in qrels.gains.items()
        for item in [*gains, *sorted(qrels.irrelevant.get(query, ()))]
    ]


def _fingerprint(queries: Sequence[Query], items: Sequence[Item], relevant: Mapping[str, Mapping[str, float]]) -> str:
    """What the task is, wherever it lies: ids, texts, slices and media by content, in order, and relevance."""
    return digest_json(
        {
            "queries": [[query.id, query.text, dict(query.slices)] for query in queries],
            "items": [[item.id, item.text, dict(item.slices), _media_fingerprint(item.media)] for item in items],
            "relevant": {query: dict(gains) for query, gains in relevant.items()},
        }
    )


def _media_fingerprint(media: Media | None) -> str | None:
    return media.digest if media else None
