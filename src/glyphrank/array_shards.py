"""Shards of arrays: safetensors files with the digests of their inputs and a checksum in the metadata."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, overload

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from glyphrank.records import IntArray
from glyphrank.shards import DamagedError, Gatherer, digests_in, parse

Arrays = Mapping[str, NDArray[Any]]

_NO_CHECKSUM = "0" * 64
_LONGEST_HEADER = 100_000_000  # bytes; what safetensors itself accepts
_METADATA = "__metadata__"
_KINDS = {"BOOL": np.dtype("?")} | {
    f"{kind.upper()}{8 * size}": np.dtype(f"<{kind}{size}")
    for kind, sizes in (("f", (2, 4, 8)), ("i", (1, 2, 4, 8)), ("u", (1, 2, 4, 8)))
    for size in sizes
}
"""Names of types in safetensors -> numpy's."""


class Stacked(Sequence[Arrays]):
    """The values of a shard of arrays: name -> (n, ...) array, of which each value is a row.

    Args:
        arrays: at least one; all of one length.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    @overload
    def __getitem__(self, row: int) -> Arrays: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Arrays]: ...

    def __getitem__(self, row: int | slice) -> Arrays | Sequence[Arrays]:
        found = {name: array[row] for name, array in self.arrays.items()}
        return Stacked(found) if isinstance(row, slice) else found


@dataclass(frozen=True)
class ArraysCodec:
    """Named arrays an input, each name of one shape and type throughout; stacked in one safetensors file.

    A value is `{"values": (d,) float32, "truncated": () bool}`, say; n of them are gathered as
    `{"values": (n, d) float32, "truncated": (n,) bool}`, filled in place, so vectors stand in memory once.
    Rows of inputs without a value are zero. The metadata hold the digests and the SHA-256 of the file
    (taken with 64 zeros in its own place).
    """

    suffix: ClassVar[str] = ".safetensors"

    def dump(self, digests: Sequence[str], values: Sequence[Arrays]) -> bytes:
        """The shard of these inputs; a ValueError when their names or shapes differ."""
        names = sorted(values[0])
        for value in values:
            if sorted(value) != names:
                raise ValueError(f"arrays named {sorted(value)} beside arrays named {names}; wanted the same names")
        stacked = {name: np.ascontiguousarray(np.stack([value[name] for value in values])) for name in names}
        for name, array in stacked.items():
            if array.dtype.newbyteorder("<") not in _KINDS.values():
                raise ValueError(f"{name} of type {array.dtype}; wanted one of {', '.join(_KINDS)}")
        metadata = {"digests": json.dumps(list(digests)), "checksum": _NO_CHECKSUM}
        data = safetensors.numpy.save(stacked, metadata)
        checksum = hashlib.sha256(data).hexdigest()
        return data.replace(_checksum_field(_NO_CHECKSUM), _checksum_field(checksum), 1)

    def load(self, data: bytes) -> tuple[Sequence[str], Sequence[Arrays]]:
        """Digests and values of a shard; the values are views of its arrays (`Stacked`)."""
        stream = io.BytesIO(data)
        header = _header(stream)
        metadata = _metadata(header)
        stated = metadata.get("checksum", "")
        if _checksum(data, stated) != stated:
            raise DamagedError("its checksum does not fit its content")
        digests, arrays = _stacked_digests(metadata), _arrays(header, memoryview(data)[stream.tell() :])
        if not arrays or any(len(array) != len(digests) for array in arrays.values()):
            raise DamagedError("its arrays are not as long as its list of digests")
        return digests, Stacked(arrays)

    def digests(self, stream: BinaryIO) -> Sequence[str]:
        """The digests alone, from the header."""
        return _stacked_digests(_metadata(_header(stream)))

    def gather(self, count: int) -> Gatherer[Arrays, dict[str, NDArray[Any]]]:
        """For each name an array of `count` rows; no name at all as long as there is no value."""
        return _Rows(count)


class _Rows:
    def __init__(self, count: int) -> None:
        self._count = count
        self._arrays: dict[str, NDArray[Any]] = {}

    def put(self, row: int, value: Arrays) -> None:
        self._check({name: (array.shape, array.dtype) for name, array in value.items()})
        for name, array in value.items():
            self._arrays[name][row] = array

    def put_all(self, rows: IntArray, values: Sequence[Arrays], places: IntArray) -> None:
        if not isinstance(values, Stacked):
            for row, place in zip(rows.tolist(), places.tolist(), strict=True):
                self.put(row, values[place])
        elif len(rows):
            self._check({name: (array.shape[1:], array.dtype) for name, array in values.arrays.items()})
            is_whole = np.array_equal(places, np.arange(len(values)))
            for name, array in values.arrays.items():
                self._arrays[name][rows] = array if is_whole else array[places]

    def _check(self, found: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> None:
        """The first value decides on the shapes and types of all."""
        if not self._arrays:
            self._arrays = {name: np.zeros((self._count, *shape), dtype=kind) for name, (shape, kind) in found.items()}
        wanted = {name: (array.shape[1:], array.dtype) for name, array in self._arrays.items()}
        if found != wanted:
            raise ValueError(
                f"arrays of {found} beside arrays of {wanted}; one component must return one shape and type"
            )

    def result(self) -> dict[str, NDArray[Any]]:
        return self._arrays


def _header(stream: BinaryIO) -> Mapping[str, Any]:
    """How a safetensors file begins: 8 bytes with the header's length, then the header as JSON."""
    length = int.from_bytes(stream.read(8), "little")
    if not 0 < length <= _LONGEST_HEADER:
        raise DamagedError(f"its header would be {length} bytes long")
    header = parse(stream.read(length))
    if not isinstance(header, dict):
        raise DamagedError("its header is no table")
    return header


def _metadata(header: Mapping[str, Any]) -> dict[str, str]:
    metadata = header.get(_METADATA)
    if not isinstance(metadata, dict):
        raise DamagedError("its header holds no metadata")
    return {str(name): str(value) for name, value in metadata.items()}


def _arrays(header: Mapping[str, Any], body: memoryview) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file where they lie: safetensors would copy each, which takes longer than reading."""
    found, end = {}, 0
    entries = {name: entry for name, entry in header.items() if name != _METADATA}
    try:
        for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
            start, stop = entry["data_offsets"]
            kind, shape = _KINDS[entry["dtype"]], entry["shape"]
            if (start, stop - start) != (end, kind.itemsize * math.prod(shape)):
                raise DamagedError(f"its header puts {name} where it cannot be")
            found[name] = np.frombuffer(body[start:stop], kind).reshape(shape)
            end = stop
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"its header describes arrays of no kind that is known here ({error!r})") from error
    return found


def _checksum(data: bytes, stated: str) -> str:
    """SHA-256 of a file with zeros in the place of the checksum that it states."""
    field, whole = _checksum_field(stated), memoryview(data)
    before = data.find(field)
    if before < 0:
        return hashlib.sha256(data).hexdigest()
    hasher = hashlib.sha256(whole[:before])
    hasher.update(_checksum_field(_NO_CHECKSUM))
    hasher.update(whole[before + len(field) :])
    return hasher.hexdigest()


def _checksum_field(checksum: str) -> bytes:
    """The metadata's entry as safetensors writes it; as a key it can stand nowhere else in the header."""
    return f'"checksum":"{checksum}"'.encode("utf-8", "surrogatepass")


def _stacked_digests(metadata: Mapping[str, str]) -> Sequence[str]:
    return digests_in({"digests": parse(metadata.get("digests", ""))})
