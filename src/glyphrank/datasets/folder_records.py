"""JSON lines of a folder dataset: from bytes to records, with every fault named by file, line and id."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from glyphrank.datasets.folder_files import Ids, Record
from glyphrank.errors import DataError
from glyphrank.faults import Blocks, Faults, shown
from glyphrank.identity import kind_of_file
from glyphrank.json_objects import JsonObject, refuse_repeated

_ID_FIELDS = ("id", "_id")
_MEDIA_FIELDS = ("media", "page")
_WANTED = 'wanted one JSON object a line (JSON lines), such as {"id": ..., "text": ...}'
_ITEMS = (
    'wanted a line for each item, such as {"id": "budget#1", "media": "budget.pdf", "page": 1}; `glyphrank new` writes '
    "them for a folder of documents"
)
_QUERIES = 'wanted a line for each query, such as {"id": "q1", "text": "What does the library cost?"}'


class NoObjectError(ValueError):
    """A line is no JSON object; in a file that was written for people to read, hundreds of lines are none."""


@dataclass(frozen=True)
class Records:
    """What could be read of a file.

    Attributes:
        records: those without a fault, and those whose only fault is that their id stands twice.
        ids: every distinct id that could be read, those of faulty lines too.
        unnamed: how many lines have no id that could be read.
        whole: whether the file was read to its end.
    """

    records: tuple[Record, ...]
    ids: tuple[str, ...]
    unnamed: int
    whole: bool


def read_records(path: Path, with_media: bool, blocks: Blocks) -> Records:
    """The records of a file, in its order.

    Ids are text as written: `"0001"` stays so, the whole number 12 is "12", anything else is refused. Further fields
    become slices: texts as they are, other values as JSON, null is left out.

    Args:
        path: a file of JSON objects, one a line; a byte order mark, CRLF and blank lines are tolerated.
        with_media: whether `media` and `page` are read as such; otherwise they are slices like any other field.
        blocks: gets what is wrong: the file is missing, empty or not UTF-8, a line is no JSON object, an id is missing,
            of another type or there twice (compared in NFC), a key stands twice in one object, a field has the wrong
            type, an item has neither text nor media.
    """
    reader = _Reader(path, with_media)
    with blocks.keep():
        for number, line in lines_of(path, reader.wanted):
            reader.take(number, line)
        reader.whole = True
    with blocks.keep():
        reader.stop()
    return Records(tuple(reader.records), reader.ids.names, reader.unnamed, reader.whole)


class _Reader:
    """Turns lines into records and gathers what is wrong with them."""

    def __init__(self, path: Path, with_media: bool) -> None:
        self._path = path
        self._with_media = with_media
        self.wanted = _ITEMS if with_media else _QUERIES
        self._faults = Faults(path)
        self._no_objects = NoObjects()
        self.ids = Ids(self._faults)
        self.records: list[Record] = []
        self.unnamed = 0
        self.whole = False

    def take(self, number: int, line: str) -> None:
        try:
            record = _record(number, line, self._with_media)
        except ValueError as error:
            if isinstance(error, NoObjectError):
                self._no_objects.add(number, error)
            else:
                self._faults.add(f"line {number}: {error}")
            name = _readable_id(line)
        else:
            name = record.id
            self.records.append(record)
        if name is None:
            self.unnamed += 1
        else:
            self.ids.add(name, f"line {number}")

    def stop(self) -> None:
        self._no_objects.report(self._faults)
        self._faults.stop()
        if self.whole and not self.records:
            raise DataError(f"{self._path}: the file is empty; {self.wanted}")


def _readable_id(line: str) -> str | None:
    """The id of a line that has some other fault, if it can be told."""
    try:
        return _id(plain_fields(line))
    except ValueError:
        return None


def plain_fields(line: str) -> dict[str, object]:
    """The fields of a line as far as they can be read, whatever else is wrong with it; none where it has none."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


class NoObjects:
    """The lines that are no JSON object: the first is spelt out, the rest is counted."""

    def __init__(self) -> None:
        self._first: tuple[int, ValueError] | None = None
        self._count = 0

    def add(self, number: int, error: ValueError) -> None:
        """Takes such a line; `error` says what it is."""
        self._first = self._first or (number, error)
        self._count += 1

    def report(self, faults: Faults) -> None:
        """Notes one fault for all of them, before the others."""
        if self._first is None:
            return
        number, error = self._first
        more = {1: "", 2: ", and 1 more line"}.get(self._count, f", and {self._count - 1} more lines")
        faults.put_first(f"line {number}: {error}{more}; {_WANTED}")


def lines_of(path: Path, wanted: str = "wanted one JSON object a line") -> Iterator[tuple[int, str]]:
    """Number and text of every line that is not blank.

    Args:
        wanted: what the file should hold, for the message where there is none.

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    number = 0
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # opening a named pipe would wait for ever
            raise DataError(f"{path}: cannot be read ({kind_of_file(mode)}); wanted a file with one JSON object a line")
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                data = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if data.strip():
                    yield number, data.decode("utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); {wanted}") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, line {number}: bytes that are not UTF-8 ({error.reason}); save it as UTF-8"
        ) from error


def fields_of(line: str) -> dict[str, object]:
    """The fields of a line.

    Raises:
        NoObjectError: it is no JSON object.
        ValueError: a key stands twice, or a text holds half a character.
    """
    try:
        fields = json.loads(line, object_pairs_hook=JsonObject)
    except json.JSONDecodeError as error:
        # A number ends after a leading zero, so that the decoder stumbles over the digit behind it.
        zero = re.match(r"0\d", line[max(error.pos - 1, 0) :])
        hint = "; numbers with leading zeros must stand in quotes" if zero else ""
        raise NoObjectError(f"not JSON ({error.msg}, column {error.colno}){hint}") from error
    except RecursionError as error:
        raise NoObjectError("not JSON (nested too deeply)") from error
    refuse_repeated(fields, shown)
    if not isinstance(fields, dict):
        raise NoObjectError(f"JSON of the type {type(fields).__name__}")
    _check_characters(line, fields)
    return fields


def _record(number: int, line: str, with_media: bool) -> Record:
    """A record of one line; a ValueError says what is wrong with it."""
    fields = fields_of(line)
    name = _id(fields)
    known = {*_ID_FIELDS, "text", *(_MEDIA_FIELDS if with_media else ())}
    text, media = _text(fields, "text", name), _text(fields, "media", name) if with_media else None
    page = _page(fields, media, name) if with_media else None
    if with_media and text is None and media is None:
        raise ValueError(f"the item {shown(name)} has neither media nor text; wanted at least one")
    slices = {
        field: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        for field, value in fields.items()
        if field not in known and value is not None
    }
    return Record(number, name, text, media, page, slices)


def _check_characters(line: str, fields: Mapping[str, object]) -> None:
    """Refuses half of a surrogate pair, which JSON can spell with an escape and no file can hold."""
    if "\\ud" not in line.lower():
        return
    try:
        json.dumps(fields, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])
        raise ValueError(f"{half} is half of a character (a surrogate without its pair); wanted whole ones") from error


def _id(fields: Mapping[str, object]) -> str:
    given = [fields[field] for field in _ID_FIELDS if field in fields]
    if not given:
        raise ValueError(f"no id; wanted a field 'id' among {_keys(fields) or 'no fields'}")
    if len(given) == 2 and given[0] != given[1]:
        raise ValueError(f"'id' is {shown(given[0])} and '_id' is {shown(given[1])}; wanted one of them")
    return id_text(given[0])


def id_text(name: object) -> str:
    """An id as text: text as it is written, a whole number in digits.

    Raises:
        ValueError: it is of another type, empty, or holds a NUL.
    """
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise ValueError(f"the id is {shown(name, _json)}; wanted text or a whole number")
    if name == "":
        raise ValueError("the id is empty; wanted text or a whole number")
    if "\0" in str(name):
        raise ValueError(f"the id {shown(name)} holds a NUL character, where other readers end a text")
    return str(name)


def _keys(fields: Mapping[str, object]) -> str:
    return shown(", ".join(map(repr, fields)), str, longest=200)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(fields: Mapping[str, object], field: str, name: str) -> str | None:
    value = fields.get(field)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{shown(name)}: {field} is {shown(value, _json)}; wanted text")
    return value


def _page(fields: Mapping[str, object], media: str | None, name: str) -> int | None:
    page = fields.get("page")
    if page is None:
        return None
    if isinstance(page, bool) or not isinstance(page, int) or page < 1:
        raise ValueError(
            f"{shown(name)}: page is {shown(page, _json)}; wanted a whole number, pages are numbered from 1"
        )
    if media is None:
        raise ValueError(f"{shown(name)}: page {page} of no media; wanted the field 'media' beside 'page'")
    return page
