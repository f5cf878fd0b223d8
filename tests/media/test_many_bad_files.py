from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from clip_files import number_in, numbered, taking
from glyphrank.media.decoder import Decoder, Look, Seen
from glyphrank.media.faults import MediaError
from glyphrank.records import Media
from odd_media import bad_files, good_files
from strange_looks import acting

pytest.importorskip("decord")


def test_each_of_fifty_odd_files_is_named_with_its_cause_and_the_good_ones_are_right(tmp_path: Path) -> None:
    causes, good = bad_files(tmp_path), good_files(tmp_path)
    assert len(causes) + len(good) >= 50
    names = [name for pair in zip(sorted(causes), good * 3, strict=False) for name in pair] + ["good_clip.mp4"]
    start = time.monotonic()
    with Decoder(2, 3, 1) as decoder:
        media = [Media(tmp_path / name, None, name) for name in names]
        found = dict(zip(names, decoder.run(media, Look(taking(4), acting, True)), strict=True))
    assert time.monotonic() - start < 60
    errors = {name: error for name, error in found.items() if isinstance(error, MediaError)}
    assert {name: error.fault.value for name, error in errors.items()} == causes
    assert all(str(error).startswith(f"{name}: ") for name, error in errors.items())
    seen = {name: one.frames.images for name, one in found.items() if isinstance(one, Seen) and one.frames}
    assert all(images[0].min() >= 250 for name, images in seen.items() if name != "good_clip.mp4")
    assert [number_in(np.repeat(np.repeat(image, 2, 0), 2, 1)) for image in seen["good_clip.mp4"]] == [7, 22, 37, 52]
    assert number_in(numbered(37)) == 37
