"""JSON lines of a folder dataset: from bytes to records, with every fault named by file, line and id."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from glyphrank.errors import DataError
from glyphrank.identity import kind_of_file
from glyphrank.ids import nfc

_ID_FIELDS = ("id", "_id")
_MEDIA_FIELDS = ("media", "page")
_WANTED = 'wanted one JSON object a line (JSON lines), such as {"id": ..., "text": ...}'


class NoObjectError(ValueError):
    """A line is no JSON object; in a file that was written for people to read, hundreds of lines are none."""


def shown(value: object, spell: Callable[[object], str] = repr, longest: int = 80) -> str:
    """A value for a message, its middle left out where it is long.

    >>> shown("a" * 200, longest=12)
    "'aaaaa...aa'"
    """
    text = spell(value)
    return text if len(text) <= longest else f"{text[: longest - 6]}...{text[-3:]}"


class Faults:
    """Gathers what is wrong with a file, so that a person sees all of it at once.

    Args:
        path: the file.
        shown: how many faults the message spells out; the rest is counted.
    """

    def __init__(self, path: Path, shown: int = 5) -> None:
        self._path = path
        self._shown = shown
        self._found: dict[str, None] = {}

    def add(self, fault: str) -> None:
        """Notes a fault; one that was noted before counts once."""
        self._found[fault] = None

    def put_first(self, fault: str) -> None:
        """Notes a fault that is shown before all others, since it explains them."""
        self._found = {fault: None, **self._found}

    def stop(self) -> None:
        """Raises a DataError if anything was noted."""
        if not self._found:
            return
        found = list(self._found)
        if len(found) == 1:
            raise DataError(f"{self._path}: {found[0]}")
        more = [f"and {len(found) - self._shown} more"] if len(found) > self._shown else []
        raise DataError("\n  ".join([f"{self._path}: {len(found)} faults:", *found[: self._shown], *more]))


@dataclass(frozen=True)
class Record:
    """One line of `corpus.jsonl` or `queries.jsonl`; `line` is its number from 1."""

    line: int
    id: str
    text: str | None
    media: str | None
    page: int | None
    slices: Mapping[str, str]


def read_records(path: Path, with_media: bool) -> list[Record]:
    """The records of a file, in its order.

    Ids are text as written: `"0001"` stays so, the whole number 12 is "12", anything else is refused. Further fields
    become slices: texts as they are, other values as JSON, null is left out.

    Args:
        path: a file of JSON objects, one a line; a byte order mark, CRLF and blank lines are tolerated.
        with_media: whether `media` and `page` are read as such; otherwise they are slices like any other field.

    Raises:
        DataError: the file is missing, empty or not UTF-8, a line is no JSON object, an id is missing, of another
            type or there twice (compared in NFC), a key stands twice in one object, a field has the wrong type, an item
            has neither text nor media.
    """
    faults = Faults(path)
    records: list[Record] = []
    seen: dict[str, tuple[int, str]] = {}
    no_objects = _NoObjects()
    for number, line in _lines(path):
        try:
            record = _record(number, line, with_media)
        except NoObjectError as error:
            no_objects.add(number, error)
            continue
        except ValueError as error:
            faults.add(f"line {number}: {error}")
            continue
        first, published = seen.setdefault(nfc(record.id), (number, record.id))
        if first != number:
            form = "" if published == record.id else f" (there as {shown(published)}, equal in NFC)"
            faults.add(
                f"line {number}: the id {shown(record.id)} stands on line {first} already{form}; ids must be unique"
            )
        records.append(record)
    no_objects.report(faults)
    faults.stop()
    if not records:
        raise DataError(f"{path}: the file is empty; wanted one JSON object a line")
    return records


class _NoObjects:
    """The lines that are no JSON object: the first is spelt out, the rest is counted."""

    def __init__(self) -> None:
        self._first: tuple[int, ValueError] | None = None
        self._count = 0

    def add(self, number: int, error: ValueError) -> None:
        self._first = self._first or (number, error)
        self._count += 1

    def report(self, faults: Faults) -> None:
        if self._first is None:
            return
        number, error = self._first
        more = {1: "", 2: ", and 1 more line"}.get(self._count, f", and {self._count - 1} more lines")
        faults.put_first(f"line {number}: {error}{more}; {_WANTED}")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of every line that is not blank."""
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
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); wanted one JSON object a line") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, line {number}: bytes that are not UTF-8 ({error.reason}); save it as UTF-8"
        ) from error


def _record(number: int, line: str, with_media: bool) -> Record:
    """A record of one line; a ValueError says what is wrong with it."""
    try:
        fields = json.loads(line, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        # A number ends after a leading zero, so that the decoder stumbles over the digit behind it.
        zero = re.match(r"0\d", line[max(error.pos - 1, 0) :])
        hint = "; numbers with leading zeros must stand in quotes" if zero else ""
        raise NoObjectError(f"not JSON ({error.msg}, column {error.colno}){hint}") from error
    except RecursionError as error:
        raise NoObjectError("not JSON (nested too deeply)") from error
    if not isinstance(fields, dict):
        raise NoObjectError(f"JSON of the type {type(fields).__name__}")
    _check_characters(line, fields)
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


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON, at any depth; a key that stands twice would silently take the last value."""
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the key {shown(name)} stands twice in one object; wanted it once")
        fields[name] = value
    return fields


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
    name = given[0]
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
