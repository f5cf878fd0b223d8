"""Media of a folder dataset: names to files whatever their Unicode form, pages checked, contents fingerprinted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from glyphrank.datasets.folder_files import Record
from glyphrank.datasets.media_names import MediaNames, content_of
from glyphrank.digests import digest_text
from glyphrank.faults import Faults, shown
from glyphrank.identity import FileDigest, Stamp
from glyphrank.ids import nfc
from glyphrank.media.faults import MediaError
from glyphrank.media.kinds import is_pdf
from glyphrank.media.pdf import page_count
from glyphrank.records import Media


class MediaFinder:
    """Finds the files that the records of a corpus name; each file is looked up, counted and hashed once.

    Args:
        root: the dataset's folder.
        corpus: the file that holds the records, for messages.
        file_digest: content digest of a file.
    """

    def __init__(self, root: Path, corpus: Path, file_digest: FileDigest) -> None:
        self._corpus = corpus
        self._file_digest = file_digest
        self._path = cache(MediaNames(root).find)
        self._count = cache(_count)
        self._is_pdf = cache(is_pdf)
        self._content = cache(self._content_of)

    def find(self, records: Sequence[Record]) -> dict[str, Media | None]:
        """For each record's id its media, None where it names none.

        A file that is missing or cannot be opened has a digest that says so, and is no fault here.

        Raises:
            DataError: a name leads out of the folder, holds a NUL or fits two files, a page is missing or beyond the
                document's last one, or is of a file without pages (every such item is listed).
        """
        names, pages = Faults(self._corpus), Faults(self._corpus, shown=50)
        found: dict[str, Media | None] = {}
        for record in records:
            found[record.id] = None
            if record.media is None:
                continue
            try:
                path = self._path(record.media)
            except ValueError as error:
                names.add(f"line {record.line}: {shown(record.id)}: {error}")
                continue
            fault = self._page_fault(record, path)
            if fault:
                pages.add(f"line {record.line}: {shown(record.id)}: {fault}")
            found[record.id] = self._media(record, path)
        names.stop()
        pages.stop()
        return found

    def _media(self, record: Record, path: Path) -> Media:
        page = (record.page or 1) if self._is_pdf(path) else None
        stamp, content = self._content(path, nfc(record.media or ""))
        return Media(path, page, digest_text(content, "" if page is None else str(page)), stamp)

    def _content_of(self, path: Path, name: str) -> tuple[Stamp | None, str]:
        return content_of(path, name, self._file_digest)

    def _page_fault(self, record: Record, path: Path) -> str | None:
        """What is wrong with the page of a record; nothing where the document cannot be opened.

        A picture or clip has no pages; whoever calls it page 1 means the whole of it.
        """
        if not self._is_pdf(path):
            if record.page in (None, 1):
                return None
            return (
                f"page {record.page} of {shown(record.media, str)}, which has none; "
                "leave the field out, or rename it to keep it as a slice"
            )
        count = self._count(path)
        if count is None:
            return None
        if record.page is None and count > 1:
            return f"no page of {shown(record.media, str)}, which has {count}; wanted a field 'page' from 1 to {count}"
        if record.page is not None and record.page > count:
            return f"page {record.page} of {shown(record.media, str)}, which has {count}; pages are numbered from 1"
        return None


def _count(path: Path) -> int | None:
    """Number of pages, None for a document that cannot be opened."""
    try:
        return page_count(path)
    except MediaError:
        return None
