"""From which video a clip of TextVR was cut, and a share of the clips that no other clip of its videos stands outside.

The stems of the published files name the video and the part of it in four ways, by where they were collected:

* `G7ll8RnSgvU_00360_00370`: a name (mostly YouTube's, of 11 characters) and the seconds from and to;
* `zxg9hOCpljUlistPLEU...lzindex15_02000_02010`: the same of a video in a list, whose place in it may differ;
* `v_xW1M8k9A-gk_1` and `b_uKIQ4dn3A_1`: a name and the number of the part;
* `629`: a clip that is a video of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from glyphrank.datasets.textvr_records import Clip
from glyphrank.digests import digest_text
from glyphrank.ids import nfc

_SECONDS = re.compile(r"(.+)_\d{5,}_\d{5,}")
_IN_A_LIST = re.compile(r"(.{8,12}?)list.+index\d+")
_ACTIVITY = re.compile(r"v_(.{10,12})_\d+")
_PART = re.compile(r"(.+)_\d{1,3}")


def source_of(stem: str) -> str:
    """The name of the video that a clip was cut from.

    Clips of one video have one name, whichever way they were named. Where a stem could be read in two ways it is the
    one that gives fewer names: clips that are wrongly taken for one video stay together, which does no harm.

    >>> source_of("zxg9hOCpljUlistPLEU8J8CVRu8_V_RqmaaV_XQeCIXIC5lzindex15_02000_02010")
    'zxg9hOCpljU'
    >>> source_of("v_xW1M8k9A-gk_1"), source_of("b_uKIQ4dn3A_1"), source_of("629")
    ('xW1M8k9A-gk', 'b_uKIQ4dn3A', '629')
    """
    name = nfc(stem)
    if seconds := _SECONDS.fullmatch(name):
        name = seconds[1]
        in_a_list = _IN_A_LIST.fullmatch(name)
        return in_a_list[1] if in_a_list else name
    if part := _ACTIVITY.fullmatch(name) or _PART.fullmatch(name):
        return part[1]
    return name


def sources_in(clips: Sequence[Clip]) -> set[str]:
    """The videos that clips were cut from."""
    return {source_of(clip.stem) for clip in clips}


def share_of(clips: Sequence[Clip], share: float, seed: int) -> list[Clip]:
    """About a share of the clips, in their order: all clips of every video that falls into it.

    Whether a video does follows from its name and the seed alone, whatever else the file holds and in which order.

    Args:
        share: of the videos, in [0, 1].
    """
    return [clip for clip in clips if _place(source_of(clip.stem), seed) < share]


def _place(source: str, seed: int) -> float:
    """A number in [0, 1), evenly spread over sources and seeds."""
    return int(digest_text("textvr", str(seed), source)[:13], 16) / 16**13
