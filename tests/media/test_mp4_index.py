from __future__ import annotations

import io
import struct
from collections.abc import Sequence

import pytest

from glyphrank.media.mp4_index import Mp4Track, played_track

RUNS = (0, 3, 1, 2, 4, 7, 5, 6)
"""When each frame is shown, in the order in which they are stored: two closed groups of four."""
UPRIGHT = (1, 0, 0, 1)


def box(name: bytes, content: bytes) -> bytes:
    return (8 + len(content)).to_bytes(4, "big") + name + content


def table(name: bytes, *numbers: int, count: int) -> bytes:
    """A table of four-byte numbers behind a version and a number of entries."""
    return box(name, bytes(4) + struct.pack(f">{len(numbers) + 1}i", count, *numbers))


def matrix(*values: int) -> bytes:
    a, b, c, d = (65536 * value for value in values)
    return struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)


def tables(shown: Sequence[int], keys: Sequence[int] | None, size: int = 10) -> dict[bytes, bytes]:
    """The tables of a track whose frames lie behind each other from byte 1000 on, two a chunk."""
    count = len(shown)
    delays = [number for place, time in enumerate(shown) for number in (1, time - place)]
    chunks = [1000 + 2 * size * chunk for chunk in range((count + 1) // 2)]
    last = (len(chunks), count % 2, 1) if count % 2 else ()
    runs = (1, 2, 1, *last) if len(chunks) > 1 or not last else last
    found = {
        b"stts": table(b"stts", count, 1, count=1),
        b"ctts": table(b"ctts", *delays, count=count),
        b"stsz": box(b"stsz", bytes(4) + struct.pack(">2i", size, count)),
        b"stsc": table(b"stsc", *runs, count=len(runs) // 3),
        b"stco": table(b"stco", *chunks, count=len(chunks)),
    }
    if keys is not None:
        found[b"stss"] = table(b"stss", *(key + 1 for key in keys), count=len(keys))
    return found


def track(
    parts: dict[bytes, bytes],
    settings: bytes = b"",
    size: tuple[int, int] = (64, 48),
    turned: Sequence[int] = UPRIGHT,
    entries: int = 1,
) -> bytes:
    entry = bytes(24) + struct.pack(">2H", *size) + bytes(50) + settings
    table_of_entries = box(b"stsd", bytes(4) + entries.to_bytes(4, "big") + box(b"mp4v", entry))
    media = box(b"hdlr", bytes(8) + b"vide" + bytes(12))
    media += box(b"mdhd", bytes(12) + (25).to_bytes(4, "big") + bytes(8))
    media += box(b"minf", box(b"stbl", table_of_entries + b"".join(parts.values())))
    return box(b"trak", box(b"tkhd", bytes(40) + matrix(*turned) + bytes(8)) + box(b"mdia", media))


def played(*tracks: bytes) -> Mp4Track:
    found = played_track(box(b"moov", b"".join(tracks)))
    assert found is not None
    return found


def test_key_frames_that_part_the_clip_in_two_are_proven_with_their_places() -> None:
    found = played(track(tables(RUNS, keys=[0, 4])))
    assert (found.frames, found.rate, found.keys) == (8, 250.0, ((1000, 10), (1040, 10)))
    assert found.is_seekable(io.BytesIO())


@pytest.mark.parametrize(
    ("shown", "keys"),
    [
        ((0, 3, 1, 2, 6, 4, 5), [0, 4]),  # 4 and 5 are stored after the key frame 6 and shown before it
        ((2, 0, 1, 3, 4, 5, 6), [0]),  # as at the start of a clip that was cut there
        ((0, 5, 1, 2, 4, 7, 6), [0, 4]),  # 5 is stored before the key frame 4 and shown after it
        ((0, 2, 1, 3), None),  # all are key frames, and they are not shown as they are stored
        ((0, 1, 2, 3), [0, 4]),
        ((0, 1, 2, 3), [-1, 2]),
        ((0, 1, 2, 3), []),
    ],
)
def test_key_frames_that_part_nothing_are_not_proven(shown: Sequence[int], keys: list[int] | None) -> None:  # case V15
    assert played(track(tables(shown, keys))).keys is None


def test_without_a_list_of_key_frames_or_of_delays_all_are_keys_in_their_order() -> None:
    parts = tables((0, 1, 2), None)
    del parts[b"ctts"]
    assert played(track(parts)).keys == ((1000, 10), (1010, 10), (1020, 10))


@pytest.mark.parametrize(
    ("more", "proven"),
    [
        ({}, True),
        ({b"stps": table(b"stps", 5, count=1)}, False),
        ({b"sbgp": box(b"sbgp", bytes(4) + b"rap " + bytes(12))}, False),
        ({b"sbgp": box(b"sbgp", bytes(4) + b"tscl" + bytes(12))}, True),
        ({b"stts": table(b"stts", 7, 1, count=1)}, False),
        ({b"stts": table(b"stts", 2**31 - 1, 1, count=1)}, False),
        ({b"ctts": table(b"ctts", 9, 0, count=1)}, False),
        ({b"stsz": box(b"stsz", bytes(4) + struct.pack(">2i", 10, 2**31 - 1))}, False),
        ({b"stsz": box(b"stsz", bytes(4) + struct.pack(">2i", 0, 8))}, False),
        ({b"stsc": table(b"stsc", 1, 3, 1, count=1)}, False),
        ({b"stsc": b""}, False),
        ({b"stco": table(b"stco", 1000, count=1)}, False),
        ({b"stss": box(b"stss", bytes(4) + struct.pack(">2i", 9, 1))}, False),
    ],
)
def test_other_lists_of_key_frames_and_tables_that_contradict_one_another_prove_nothing(
    more: dict[bytes, bytes], proven: bool
) -> None:
    assert (played(track(tables(RUNS, [0, 4]) | more)).keys is not None) is proven


def test_a_fragmented_file_or_one_whose_coding_changes_proves_nothing() -> None:
    parts = tables(RUNS, [0, 4])
    assert played(track(parts), box(b"mvex", b"")).keys is None
    assert played(track(parts, entries=2)).keys is None


AVC, HEVC = box(b"avcC", bytes(4) + b"\xff" + bytes(9)), box(b"hvcC", bytes(21) + b"\xff" + bytes(9))


def unit(head: bytes, length: int = 3) -> bytes:
    return length.to_bytes(4, "big") + head + bytes(length - 1)


@pytest.mark.parametrize(
    ("settings", "units", "seekable"),
    [
        (AVC, unit(b"\x65"), True),
        (AVC, unit(b"\x06", 1) + unit(b"\x65"), True),
        (AVC, unit(b"\x41"), False),
        (AVC, unit(b"\x06", 1) + unit(b"\x41"), False),
        (AVC, unit(b"\x06", 1000), False),
        (AVC, b"", False),
        (HEVC, unit(b"\x26"), True),
        (HEVC, unit(b"\x2a"), True),
        (HEVC, unit(b"\x40", 1) + unit(b"\x02"), False),
    ],
)
def test_key_frames_of_h264_and_hevc_must_begin_anew(settings: bytes, units: bytes, seekable: bool) -> None:
    found = played(track(tables((1, 2), [0], size=20), settings))
    assert found.is_seekable(io.BytesIO(bytes(1000) + units)) is seekable


@pytest.mark.parametrize(
    ("settings", "units", "seekable"),
    [
        (AVC, unit(b"\x65"), True),
        (HEVC, unit(b"\x28"), True),
        (HEVC, unit(b"\x26"), False),
        (HEVC, unit(b"\x2a"), False),
        (b"", b"", False),
    ],
)
def test_without_times_of_showing_only_key_frames_that_nothing_leads_are_sought(
    settings: bytes, units: bytes, seekable: bool
) -> None:  # case V15
    found = played(track(tables((0, 1), [0], size=20), settings))
    assert found.is_seekable(io.BytesIO(bytes(1000) + units)) is seekable


@pytest.mark.parametrize(
    ("turned", "flip"),
    [
        (UPRIGHT, None),
        ((0, 1, -1, 0), None),
        ((-1, 0, 0, -1), None),
        ((1, 0, 0, -1), 0),
        ((-1, 0, 0, 1), 0),
        ((0, 1, 1, 0), 1),
        ((0, -1, -1, 0), 1),
        ((0, 0, 0, 0), None),
    ],
)
def test_a_matrix_that_mirrors_is_told_from_one_that_turns(turned: Sequence[int], flip: int | None) -> None:  # case V05
    assert played(track({}, turned=turned)).flip == flip
    assert played(box(b"mvhd", bytes(36) + matrix(*turned)), track({})).flip == flip


def test_mirroring_of_the_clip_and_of_its_track_undo_each_other() -> None:
    assert played(box(b"mvhd", bytes(36) + matrix(-1, 0, 0, 1)), track({}, turned=(-1, 0, 0, 1))).flip is None


def test_the_track_with_most_bytes_a_second_is_played_and_a_still_picture_only_alone() -> None:
    cover = track(tables((0,), None, size=10**6), size=(900, 900))
    small, large = (track(tables(RUNS, [0], size=size), size=(size, size)) for size in (20, 30))
    assert played(cover, small, large).width == 30
    assert played(large, small, cover).width == 30
    assert played(cover).width == 900


@pytest.mark.parametrize("index", [b"", box(b"moov", b""), box(b"moov", box(b"trak", b"\xff" * 50))])
def test_an_index_without_video_has_no_track(index: bytes) -> None:
    assert played_track(index) is None


def test_an_index_cut_off_anywhere_proves_nothing_and_never_fails() -> None:
    whole = box(b"moov", box(b"mvhd", bytes(36) + matrix(*UPRIGHT)) + track(tables(RUNS, [0, 4]), AVC))
    for length in range(len(whole) - 1):
        found = played_track(whole[:length])
        assert found is None or found.keys is None
