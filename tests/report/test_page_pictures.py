"""Thumbnails: small, each content once, within limits; what cannot be seen says why."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PIL import Image

from glyphrank.media.decoder import Decoder, Look, Seen
from glyphrank.media.faults import MediaError
from glyphrank.media.sampling import Middles
from glyphrank.records import Item, Media
from glyphrank.report.page_pictures import MOST_FRAMES, SIDE, Limits, Small, thumbnails
from pictures import pictured, write_picture
from tracked_runs import runtime_in

PLENTY = Limits(seconds=60, characters=1_000_000)
SAMPLER = Middles(count=8, long_side=1600, most_pixels=10**8)


def size(uri: str) -> tuple[int, int]:
    head, data = uri.split(",", 1)
    assert head in ("data:image/webp;base64", "data:image/jpeg;base64")
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        return image.size


def test_a_picture_is_reduced_and_one_content_is_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pictured(write_picture(tmp_path / "first.png", "red", 800, 400))
    decoded: list[int] = []
    run = Decoder.run

    def counted(self: Decoder, media: Sequence[Media], look: Look) -> Iterator[Seen | MediaError]:
        decoded.append(len(media))
        return run(self, media, look)

    monkeypatch.setattr(Decoder, "run", counted)
    found = thumbnails([first, replace(first, id="again")], SAMPLER, runtime_in(tmp_path), PLENTY)
    assert found["first"] == found["again"]
    assert [size(uri) for uri in found["first"].images] == [(SIDE, SIDE // 2)]
    assert decoded == [1]


def test_a_file_that_is_missing_or_damaged_says_so_and_the_others_are_shown(tmp_path: Path) -> None:  # case M18
    (tmp_path / "torn.png").write_bytes(write_picture(tmp_path / "whole.png", "blue", 300, 300).read_bytes()[:60])
    items = [pictured(tmp_path / f"{name}.png") for name in ("gone", "torn", "whole")]
    found = thumbnails(items, SAMPLER, runtime_in(tmp_path), PLENTY)
    assert found["gone"].why_none == "gone.png: there is no such file"
    assert found["torn"].why_none.startswith("torn.png: ")
    assert not found["torn"].images
    assert len(found["whole"].images) == 1


def test_what_lies_beyond_the_limits_is_left_out_and_says_so(tmp_path: Path) -> None:
    items = [pictured(write_picture(tmp_path / f"{name}.png", name, 300, 300)) for name in ("red", "green", "blue")]
    one = len(thumbnails(items[:1], SAMPLER, runtime_in(tmp_path), PLENTY)["red"].images[0])
    found = thumbnails(items, SAMPLER, runtime_in(tmp_path), Limits(60, one + 10))
    assert [bool(found[item.id].images) for item in items] == [True, False, False]
    assert found["blue"].why_none.startswith("left out: the pictures of a page take at most 60 s")
    late = thumbnails(items, SAMPLER, runtime_in(tmp_path), Limits(0, 10**6))
    assert [bool(late[item.id].images) for item in items] == [True, False, False]


def test_where_no_item_has_media_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glyphrank.report.page_pictures.Decoder", None)
    assert thumbnails([Item("text", None, "words")], SAMPLER, runtime_in(tmp_path), PLENTY) == {}


@dataclass(frozen=True)
class Few:
    """Takes the first frames of a clip."""

    count: int
    long_side: int = 100
    most_pixels: int = 10**6

    def places(self, times: Sequence[float]) -> list[int]:
        return list(range(self.count))


def test_a_clip_shows_some_of_the_frames_that_its_run_looks_at() -> None:
    assert Small(Few(8)).places([0.0] * 20) == [1, 3, 5, 7]
    assert Small(Few(2)).places([0.0] * 20) == [0, 1]
    assert (Small(Few(2)).long_side, Small(SAMPLER).long_side, MOST_FRAMES) == (100, SIDE, 4)
