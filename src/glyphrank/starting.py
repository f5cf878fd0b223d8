"""A dataset out of a folder of documents: an item for every page, picture and clip, and files for the questions."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path, PurePosixPath

from glyphrank.datasets.folder_records import Records, read_records
from glyphrank.datasets.media_names import MediaNames
from glyphrank.errors import DataError
from glyphrank.faults import Blocks
from glyphrank.identity import kind_of_file
from glyphrank.ids import nfc
from glyphrank.starting_files import Document, Found, Skipped, find_documents
from glyphrank.whole_files import replace_whole

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels.tsv"
_FILES = (CORPUS, QUERIES, QRELS)
_HEADER = "query-id\tcorpus-id\tscore\n"
_MOST_TOLD = 10


@dataclass(frozen=True)
class Started:
    """What became of a folder of documents.

    Attributes:
        documents: all that were found, those that the dataset had already too.
        skipped: what became no item, and why.
        ids: ids of the new items, in the order of the file.
        example: id of an item, a new one if there is one.
        before: number of items that the dataset had already.
        gone: media that the dataset names and that are not there.
        link: the link in the dataset's folder that leads to the documents; None where they lie below it.
    """

    documents: tuple[Document, ...]
    skipped: tuple[Skipped, ...]
    ids: tuple[str, ...]
    example: str
    before: int
    gone: tuple[str, ...]
    link: Path | None


def start(dataset: Path, folder: Path, add: bool, outputs: Path) -> Started:
    """Writes `corpus.jsonl`, and `queries.jsonl` and `qrels.tsv` without an entry, into the folder `dataset`.

    An item names its file by a path below the dataset's folder, as the loader wants it. Where the documents lie
    elsewhere, a link in the dataset's folder leads to them, by a relative path. Nothing is copied and no file of the
    documents is touched.

    Args:
        add: whether a dataset may be there already; it gets the items that it lacks, behind the others, whose lines
            stay as they are. Items are the same where file and page are.
        outputs: folder of what glyphrank writes; not searched for documents.

    Raises:
        DataError: a folder cannot be read or written, there is a dataset and `add` is False, its corpus is damaged
            or no file, or no file became an item. Nothing was written then, but for a disk that failed meanwhile.
    """
    if not add:
        _refuse_dataset(dataset)
    dataset, folder = _resolved(dataset), _source(folder)
    before = _items_of(dataset)
    found = find_documents(folder, _passed_over(dataset, folder, outputs))
    if not found.documents:
        raise DataError(_nothing(folder, found.skipped))
    place, link = _place_of(dataset, folder)
    lines = _lines(found, place, before)
    with _written(dataset):
        dataset.mkdir(parents=True, exist_ok=True)
        if link is not None and not link.is_symlink():
            link.symlink_to(os.path.relpath(folder, dataset), target_is_directory=True)
        _write(dataset, lines)
    example = next(chain(lines, before.ids))
    return Started(
        found.documents, found.skipped, tuple(lines), example, len(before.records), _gone(dataset, before), link
    )


def _gone(dataset: Path, before: Records) -> tuple[str, ...]:
    """Media of items that are not there; names that no loader takes are told by `glyphrank check`."""
    names = MediaNames(dataset)
    gone = []
    for media in dict.fromkeys(record.media for record in before.records if record.media):
        with suppress(ValueError):
            # `os.path` answers False where pathlib raises, for names too long and folders without permission.
            if not os.path.lexists(names.find(media)):
                gone.append(media)
    return tuple(gone)


def _resolved(folder: Path) -> Path:
    """The place of the dataset, absolute and without links."""
    try:
        real = folder.resolve()
        if real.exists() and not real.is_dir():
            raise DataError(f"{folder}: is a file; wanted a folder for the dataset, there or not")
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a loop of links
        raise DataError(f"{folder}: cannot be a folder ({error}); name another DATASET") from error
    return real


def _source(folder: Path) -> Path:
    """The folder of documents, absolute and without links."""
    try:
        real = folder.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise DataError(
            f"{folder}: no such folder; wanted the one with your documents; the order is: glyphrank new DATASET FOLDER"
        ) from error
    if not real.is_dir():
        raise DataError(f"{folder}: is a file; wanted the folder that holds it")
    return real


def _refuse_dataset(dataset: Path) -> None:
    # `os.path` answers False where pathlib raises, for names too long and folders without permission.
    there = [name for name in (*_FILES, "qrels") if os.path.lexists(dataset / name)]
    if there:
        raise DataError(
            f"{dataset}: holds {', '.join(there)} already, and nothing was changed; --add appends the pages, pictures "
            "and clips that it lacks and keeps all that is there; or name another folder for the dataset"
        )


def _items_of(dataset: Path) -> Records:
    """The items of a dataset that is there; none where it has no corpus, or an empty one."""
    path = dataset / CORPUS
    try:
        if not os.path.lexists(path):
            return Records((), (), 0, True)
        if not path.is_file():
            kind = kind_of_file(path.stat().st_mode) if path.exists() else "a link to nothing"
            raise DataError(f"{path}: is {kind}; wanted a file of items, or none; move it away; nothing was written")
        if not path.read_bytes().strip():
            return Records((), (), 0, True)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    blocks = Blocks()
    records = read_records(path, True, blocks)
    blocks.stop()
    return records


def _passed_over(dataset: Path, folder: Path, outputs: Path) -> list[Path]:
    """What below the documents is glyphrank's own: the dataset's files or folder, and all outputs."""
    own = [dataset / name for name in (*_FILES, "qrels")] if dataset == folder else [dataset]
    return [*own, outputs.resolve()] if outputs.resolve() != folder else own


def _nothing(folder: Path, skipped: Sequence[Skipped]) -> str:
    told = [f"  {each.name}: {each.cause}" for each in skipped[:_MOST_TOLD]]
    more = [f"  and {len(skipped) - _MOST_TOLD} more"] if len(skipped) > _MOST_TOLD else []
    found = f"holds no PDF, picture or clip that can be read, among {len(skipped)} files and folders"
    what = found if skipped else "holds no file"
    return "\n".join([f"{folder}: {what}; wanted at least one; nothing was written", *told, *more])


def _place_of(dataset: Path, folder: Path) -> tuple[str, Path | None]:
    """How media below `folder` begin, seen from the dataset, and the link that this needs.

    A link that leads to the folder and is there already is taken again, so that media have one name.
    """
    if dataset == folder or dataset in folder.parents:
        below = folder.relative_to(dataset).as_posix()
        return ("" if below == "." else f"{nfc(below)}/"), None
    for entry in sorted(dataset.iterdir()) if dataset.is_dir() else []:
        if entry.is_symlink() and entry.exists() and entry.samefile(folder):
            return f"{nfc(entry.name)}/", entry
    wanted = folder.name if _is_text(folder.name) else "documents"
    names = chain([wanted], (f"{wanted}_{number}" for number in count(2)))
    name = next(name for name in names if not os.path.lexists(dataset / name))
    return f"{nfc(name)}/", dataset / name


def _is_text(name: str) -> bool:
    """Whether a name is there and UTF-8, which a file of JSON lines can hold."""
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _lines(found: Found, place: str, before: Records) -> dict[str, str]:
    """Id -> line of every item that the dataset lacks."""
    known = {(_plain(record.media), record.page or 1) for record in before.records if record.media}
    taken = {nfc(name) for name in before.ids}
    lines: dict[str, str] = {}
    for document in found.documents:
        media = f"{place}{document.name}"
        for page in range(1, document.pages + 1) if document.pages else [None]:
            if (media, page or 1) in known:
                continue
            name = _id(document.name, media, page, taken)
            taken.add(name)
            item = {"id": name, "media": media} | ({} if page is None else {"page": page})
            lines[name] = json.dumps(item, ensure_ascii=False)
    return lines


def _plain(media: str) -> str:
    return nfc(PurePosixPath(media).as_posix())


def _id(name: str, media: str, page: int | None, taken: Collection[str]) -> str:
    """The path below the folder, with `#` and the page; the path below the dataset where that is taken.

    Hangul and spaces stay as they are. Tabs, line ends and what else cannot be seen become `_`, as no row of
    `qrels.tsv` could hold them.
    """
    ending = "" if page is None else f"#{page}"
    paths = chain((name, media), (f"{media}~{number}" for number in count(2)))
    visible = ("".join(sign if sign.isprintable() else "_" for sign in path) + ending for path in paths)
    return next(wanted for wanted in visible if wanted not in taken)


@contextmanager
def _written(dataset: Path) -> Iterator[None]:
    """Turns what the disk refuses into a DataError."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{error.filename2 or error.filename or dataset}: cannot be written ({error.strerror or error}); make room "
            "or permission; a place that knows no links holds a dataset only in the documents' own folder or above it"
        ) from error


def _write(dataset: Path, lines: dict[str, str]) -> None:
    """Appends to the corpus, and makes the files for queries and relevance where there are none."""
    corpus = (dataset / CORPUS).resolve()  # a link to it stays one
    old = corpus.read_bytes() if corpus.exists() else b""
    end = b"" if old.endswith(b"\n") or not old else b"\n"
    new = old + end + "".join(f"{line}\n" for line in lines.values()).encode()
    if new != old + end:
        replace_whole(corpus, lambda draft: draft.write_bytes(new))
    if not os.path.lexists(dataset / QUERIES):
        replace_whole(dataset / QUERIES, lambda draft: draft.touch())
    if not os.path.lexists(dataset / QRELS) and not (dataset / "qrels").exists():
        replace_whole(dataset / QRELS, lambda draft: draft.write_text(_HEADER, encoding="utf-8"))
