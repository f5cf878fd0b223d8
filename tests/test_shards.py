"""Shards as bytes: what was put in comes out, and no changed byte goes unseen."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import zstandard

from glyphrank.array_shards import ArraysCodec
from glyphrank.shards import Codec, DamagedError, LinesCodec, TokensCodec

DIGESTS = ["0a", "1b", "2c"]
LINES: list[Any] = [{"lines": ["한국어", "a\nb\u2028c"], "failure": None}, ["서울", "은"], "lone \ud800 surrogate"]
ARRAYS = [{"values": np.array([1.5, -0.0, row], dtype=np.float32), "truncated": np.array(row == 1)} for row in range(3)]
CODECS: list[tuple[Codec[Any, Any], list[Any]]] = [(LinesCodec(), LINES), (ArraysCodec(), ARRAYS)]
both = pytest.mark.parametrize(("codec", "values"), CODECS, ids=["lines", "arrays"])


def test_lines_come_back_as_they_were() -> None:
    digests, values = LinesCodec().load(LinesCodec().dump(DIGESTS, LINES))
    assert (digests, values) == (DIGESTS, LINES)


def test_arrays_come_back_with_their_shapes_types_and_bits() -> None:
    digests, values = ArraysCodec().load(ArraysCodec().dump(DIGESTS, ARRAYS))
    assert digests == DIGESTS
    for found, wanted in zip(values, ARRAYS, strict=True):
        assert found["values"].dtype == np.float32
        assert found["values"].tobytes() == wanted["values"].tobytes()
        assert found["truncated"].dtype == np.bool_
        assert found["truncated"].shape == ()
        assert found["truncated"] == wanted["truncated"]


def test_arrays_of_width_zero_come_back() -> None:
    value = {"values": np.zeros(0, dtype=np.float32)}
    _, (found,) = ArraysCodec().load(ArraysCodec().dump(["0a"], [value]))
    assert found["values"].shape == (0,)


def test_arrays_of_other_byte_orders_and_strides_come_back() -> None:
    value = {"values": np.arange(8, dtype=">f4")[::2]}
    _, (found,) = ArraysCodec().load(ArraysCodec().dump(["0a"], [value]))
    assert found["values"].tolist() == [0, 2, 4, 6]


@both
def test_digests_are_read_without_the_values(codec: Codec[Any, Any], values: list[Any]) -> None:
    data = codec.dump(DIGESTS, values)
    start = data[: len(data) - 45]  # without the last value, and for lines without the checksum
    assert codec.digests(io.BytesIO(start)) == DIGESTS


@both
def test_digests_of_a_long_shard_are_read_whole(codec: Codec[Any, Any], values: list[Any]) -> None:
    digests = [f"{number:064x}" for number in range(3000)]
    assert codec.digests(io.BytesIO(codec.dump(digests, values * 1000))) == digests


@both
def test_every_flipped_bit_is_found(codec: Codec[Any, Any], values: list[Any]) -> None:  # case C02
    data = codec.dump(DIGESTS, values)
    for place in range(len(data)):
        for bit in (0x01, 0x80):
            changed = data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]
            with pytest.raises(DamagedError):
                codec.load(changed)


@both
def test_every_truncation_is_found(codec: Codec[Any, Any], values: list[Any]) -> None:  # case C02
    data = codec.dump(DIGESTS, values)
    for length in range(len(data)):
        with pytest.raises(DamagedError):
            codec.load(data[:length])
    with pytest.raises(DamagedError):
        codec.load(data + b"\0")


@both
def test_foreign_bytes_are_no_shard(codec: Codec[Any, Any], values: list[Any]) -> None:
    compressed = zstandard.ZstdCompressor().compress(b'["a list"]\n')
    header = json.dumps({"__metadata__": {"format": "pt"}}).encode()
    foreign = len(header).to_bytes(8, "little") + header
    deep = b"[" * 100_000
    for data in (b"", b"PK\3\4 not ours", b"\xff" * 100, compressed, foreign, len(deep).to_bytes(8, "little") + deep):
        with pytest.raises(DamagedError):
            codec.digests(io.BytesIO(data))
        with pytest.raises(DamagedError):
            codec.load(data)


def test_lines_can_be_read_by_any_zstd() -> None:
    data = LinesCodec().dump(["0a"], [{"text": "서울"}])
    text = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read().decode()
    assert text == '{"digests": ["0a"]}\n{"text": "서울"}\n'


def test_a_value_that_is_not_plain_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        LinesCodec().dump(["0a"], [np.float32(1)])


def test_arrays_of_other_names_are_refused() -> None:
    with pytest.raises(ValueError, match="wanted the same names"):
        ArraysCodec().dump(["0a", "1b"], [{"values": np.zeros(2)}, {"vectors": np.zeros(2)}])


def test_gathered_lines_stand_in_their_rows() -> None:
    gatherer = LinesCodec().gather(3)
    gatherer.put(2, "last")
    gatherer.put(0, "first")
    assert gatherer.result() == ["first", None, "last"]


def test_gathered_arrays_stand_in_their_rows_and_missing_rows_are_zero() -> None:
    gatherer = ArraysCodec().gather(3)
    gatherer.put(2, {"values": np.array([1, 2], dtype=np.float32), "truncated": np.array(True)})
    arrays = gatherer.result()
    assert arrays["values"].tolist() == [[0, 0], [0, 0], [1, 2]]
    assert arrays["values"].dtype == np.float32
    assert arrays["truncated"].tolist() == [False, False, True]


@pytest.mark.parametrize("other", [np.zeros(3, np.float32), np.zeros(2, np.float64), np.zeros((), np.float32)])
def test_gathered_arrays_have_one_shape_and_type(other: Any) -> None:
    gatherer = ArraysCodec().gather(2)
    gatherer.put(0, {"values": np.zeros(2, dtype=np.float32)})
    with pytest.raises(ValueError, match="one shape and type"):
        gatherer.put(1, {"values": other})


def test_tokens_gathered_from_several_shards_are_one_object_each() -> None:
    codec = TokensCodec()
    gathered = codec.gather(2)
    for row in range(2):
        _, (tokens,) = codec.load(codec.dump(["0a"], [["서울", "page"]]))
        gathered.put(row, tokens)
    first, second = gathered.result()
    assert first == second == ["서울", "page"]
    assert all(one is other for one, other in zip(first, second, strict=True))


def with_header(changes: dict[str, Any], body: bytes = bytes(24)) -> bytes:
    """A safetensors file of our own making whose checksum is right and whose header is as told."""
    blank = "0" * 64
    entry = {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]}
    header = {"__metadata__": {"digests": json.dumps(DIGESTS), "checksum": blank}, "values": {**entry, **changes}}
    text = json.dumps(header, separators=(",", ":")).encode()
    data = len(text).to_bytes(8, "little") + text + body
    return data.replace(blank.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


def test_a_shard_of_a_right_header_is_read() -> None:
    digests, values = ArraysCodec().load(with_header({}))
    assert (digests, len(values)) == (DIGESTS, 3)


@pytest.mark.parametrize(
    "changes",
    [
        *({"dtype": kind} for kind in ("BF16", "F8_E4M3", "C64", None, 4)),
        *({"shape": shape} for shape in ([3], [4, 2], [2, 3], [], [-3, -2], ["3", 2], None)),
        *({"data_offsets": place} for place in ([0, 20], [4, 28], [0], [-24, 0], None, ["0", 24], [0, 24.0 + 2**53])),
    ],
)
def test_a_header_that_does_not_fit_is_damage_whatever_the_checksum(changes: dict[str, Any]) -> None:
    with pytest.raises(DamagedError):
        ArraysCodec().load(with_header(changes))


def test_fewer_values_than_inputs_are_damage() -> None:
    with pytest.raises(DamagedError, match="2 values for 3 inputs"):
        LinesCodec().load(LinesCodec().dump(DIGESTS, LINES[:2]))
    with pytest.raises(DamagedError, match="not as long as its list"):
        ArraysCodec().load(ArraysCodec().dump(DIGESTS, ARRAYS[:2]))


def test_arrays_in_the_order_of_columns_come_back() -> None:
    value = {"values": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))}
    _, values = ArraysCodec().load(ArraysCodec().dump(["0a", "1b"], [value, value]))
    assert [found["values"].tolist() for found in values] == [value["values"].tolist()] * 2


def test_numbers_of_a_type_that_no_shard_holds_are_refused() -> None:
    with pytest.raises(ValueError, match="values of type complex64; wanted one of BOOL, F16, F32"):
        ArraysCodec().dump(["0a"], [{"values": np.zeros(2, dtype=np.complex64)}])


@pytest.mark.parametrize("kind", ["?", "<f2", "<f4", "<f8", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8"])
def test_numbers_of_every_type_come_back(kind: str) -> None:
    array = np.array([[0, 1], [1, 0], [1, 1]], dtype=kind)
    _, values = ArraysCodec().load(ArraysCodec().dump(DIGESTS, [{"values": row} for row in array]))
    assert [value["values"].tolist() for value in values] == array.tolist()
    assert values[0]["values"].dtype == np.dtype(kind)
    assert safetensors.numpy.load(ArraysCodec().dump(DIGESTS, [{"values": row} for row in array]))[
        "values"
    ].tolist() == (array.tolist())
