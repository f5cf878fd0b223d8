"""What a shard is as bytes: values of many inputs with the inputs' digests and a checksum inside.

Two formats: JSON lines under zstd for anything plain, and safetensors for arrays (`array_shards`). Either can be opened
without glyphrank, either tells which inputs it holds from its first bytes, and in either any changed or missing byte is
found.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Protocol, TypeVar

import zstandard

from glyphrank.records import IntArray

Value = TypeVar("Value")
Value_contra = TypeVar("Value_contra", contravariant=True)
Values_co = TypeVar("Values_co", covariant=True)

_CHUNK = 4096  # bytes; more than the header of a usual shard


class DamagedError(Exception):
    """The bytes of a shard are not the ones that were written; the message says what was found."""


class Gatherer(Protocol[Value_contra, Values_co]):
    """Collects the values of n inputs as they come, each into its row."""

    def put(self, row: int, value: Value_contra) -> None:
        """Keeps the value of input number `row`, counted from 0."""
        ...

    def put_all(self, rows: IntArray, values: Sequence[Value_contra], places: IntArray) -> None:
        """Keeps values of a shard: for each row the one that stands at its place among them."""
        ...

    def result(self) -> Values_co:
        """All values in the order of rows."""
        ...


class Codec(Protocol[Value, Values_co]):
    """One format of shards. Digests and values are given side by side, at least one of each."""

    def __hash__(self) -> int: ...

    @property
    def suffix(self) -> str:
        """How names of files in this format end, with the dot."""
        ...

    def dump(self, digests: Sequence[str], values: Sequence[Value]) -> bytes:
        """The shard of these inputs."""
        ...

    def load(self, data: bytes) -> tuple[Sequence[str], Sequence[Value]]:
        """Digests and values of a shard; a DamagedError when the bytes are not the ones `dump` returned."""
        ...

    def digests(self, stream: BinaryIO) -> Sequence[str]:
        """The digests alone, from the start of a shard and unverified; a DamagedError when it is no shard."""
        ...

    def gather(self, count: int) -> Gatherer[Value, Values_co]:
        """An empty place for the values of `count` inputs."""
        ...


@dataclass(frozen=True)
class LinesCodec:
    """Any plain JSON value an input: a readable header line, then one line an input, in two zstd frames.

    The SHA-256 of all that stands before it follows in a skippable frame, so `zstd -dc` shows the lines.
    Values are gathered as a list, in which an input without a value is None.
    """

    suffix: ClassVar[str] = ".jsonl.zst"

    def dump(self, digests: Sequence[str], values: Sequence[Any]) -> bytes:
        """The shard of these inputs; a TypeError when a value is not plain JSON."""
        compress = zstandard.ZstdCompressor(write_checksum=True).compress
        body = compress(_line({"digests": list(digests)})) + compress(b"".join(map(_line, values)))
        return body + _trailer(body)

    def load(self, data: bytes) -> tuple[Sequence[str], Sequence[Any]]:
        """Digests and values of a shard."""
        body = data[: -len(_trailer(b""))]
        if body + _trailer(body) != data:
            raise DamagedError("its checksum does not fit its content")
        text = zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True).read()
        header, *lines = text.split(b"\n")[:-1] or [b""]
        digests = digests_in(parse(header))
        if len(digests) != len(lines):
            raise DamagedError(f"it holds {len(lines)} values for {len(digests)} inputs")
        return digests, [parse(line) for line in lines]

    def digests(self, stream: BinaryIO) -> Sequence[str]:
        """The digests alone, from the first frame."""
        frame = zstandard.ZstdDecompressor().decompressobj()
        header = b""
        try:
            while not frame.eof and (chunk := stream.read(_CHUNK)):
                header += frame.decompress(chunk)
        except zstandard.ZstdError as error:
            raise DamagedError(f"its header cannot be read ({error})") from error
        return digests_in(parse(header))

    def gather(self, count: int) -> Gatherer[Any, list[Any]]:
        """A list of `count` values."""
        return _List(count)


@dataclass(frozen=True)
class TokensCodec(LinesCodec):
    """Lists of tokens as JSON lines. In memory equal tokens are one object: a corpus repeats few words very often."""

    def gather(self, count: int) -> Gatherer[Any, list[Any]]:
        """A list of `count` lists of tokens."""
        return _Tokens(count)


class _List:
    def __init__(self, count: int) -> None:
        self._values: list[Any] = [None] * count

    def put(self, row: int, value: Any) -> None:
        self._values[row] = value

    def put_all(self, rows: IntArray, values: Sequence[Any], places: IntArray) -> None:
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            self.put(row, values[place])

    def result(self) -> list[Any]:
        return self._values


class _Tokens(_List):
    def put(self, row: int, value: Sequence[str]) -> None:
        self._values[row] = list(map(sys.intern, value))


def _line(value: Any) -> bytes:
    # Texts of broken documents hold lone surrogates; they come back as they were.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def parse(line: bytes | str) -> Any:
    """The value of a line of JSON; a DamagedError where it is none."""
    try:
        return json.loads(line.decode("utf-8", "surrogatepass") if isinstance(line, bytes) else line)
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"it holds a line that is not JSON ({error})") from error


def _trailer(body: bytes) -> bytes:
    """A skippable zstd frame (RFC 8878, 3.1.2) with the SHA-256 of what stands before it."""
    digest = hashlib.sha256(body).digest()
    return (0x184D2A50).to_bytes(4, "little") + len(digest).to_bytes(4, "little") + digest


def digests_in(header: Any) -> Sequence[str]:
    """The digests that a parsed header names; a DamagedError where it names none."""
    digests = header.get("digests") if isinstance(header, dict) else None
    if not isinstance(digests, list) or set(map(type, digests)) - {str}:
        raise DamagedError("its header names no digests")
    return digests


def cut(inputs: Iterable[str], spacing: int) -> list[tuple[str, ...]]:
    """Shards of inputs, in order, cut at places that an insertion or removal elsewhere does not move.

    Args:
        inputs: digests in hexadecimal digits.
        spacing: m: a shard ends after a digest that is 0 modulo m, at the latest after 2 m inputs.
    """
    shards: list[tuple[str, ...]] = []
    shard: list[str] = []
    for digest in inputs:
        shard.append(digest)
        if int(digest, 16) % spacing == 0 or len(shard) == 2 * spacing:
            shards.append(tuple(shard))
            shard = []
    return [*shards, tuple(shard)] if shard else shards
