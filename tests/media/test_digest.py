from __future__ import annotations

import numpy as np

from glyphrank.media.digest import digest_frames
from glyphrank.records import Frames

BLACK = np.zeros((2, 6, 3), dtype=np.uint8)


def test_equal_frames_have_one_digest_wherever_their_memory_lies() -> None:
    wide = np.zeros((4, 12, 3), dtype=np.uint8)
    digests = {digest_frames(Frames((image,), (0.5,))) for image in (BLACK, BLACK.copy(), wide[::2, ::2])}
    assert len(digests) == 1
    assert len(digests.pop()) == 32


def test_shape_pixels_times_and_number_all_count() -> None:
    other = BLACK.copy()
    other[1, 5, 2] = 1
    different = [
        Frames((BLACK,)),
        Frames((BLACK,), (0.0,)),
        Frames((BLACK,), (0.001,)),
        Frames((other,)),
        Frames((BLACK.reshape(6, 2, 3),)),
        Frames((BLACK, BLACK)),
        Frames((BLACK, other), (0.0, 1.0)),
        Frames((other, BLACK), (0.0, 1.0)),
        Frames((np.concatenate([BLACK, BLACK]),)),
    ]
    assert len({digest_frames(frames) for frames in different}) == len(different)


def test_times_count_in_whole_milliseconds() -> None:
    assert digest_frames(Frames((BLACK,), (0.1,))) == digest_frames(Frames((BLACK,), (0.1000004,)))
