"""Which clips were cut from one video, and that shares of the clips part no video."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from glyphrank.datasets.textvr_records import Clip, read_clips
from glyphrank.datasets.textvr_sources import share_of, source_of, sources_in


def clips(*stems: str) -> list[Clip]:
    return [Clip(number, f"Sports/{stem}.mp4", ("x",), (None,), None) for number, stem in enumerate(stems)]


MANY = clips(*(f"name{number // 3:04}_{number % 3:05}_{number % 3 + 1:05}" for number in range(1500)))


@pytest.mark.parametrize(
    ("stem", "source"),
    [
        ("G7ll8RnSgvU_00360_00370", "G7ll8RnSgvU"),
        ("klgE_vXcRiw_00045_00055", "klgE_vXcRiw"),
        ("tz7zsLJqZ7Ma_00150_00165", "tz7zsLJqZ7Ma"),
        ("video2_00100_00110", "video2"),
        ("zxg9hOCpljUlistPLEU8J8CVRu8_V_RqmaaV_XQeCIXIC5lzindex15_02000_02010", "zxg9hOCpljU"),
        ("zxg9hOCpljUlistPLEU8J8CVRu8_V_RqmaaV_XQeCIXIC5lzindex17_01320_01330", "zxg9hOCpljU"),
        ("mF2PQlcWaklistPLEU8J8CVRu8_V_RqmaaV_XQeCIXIC5lzindex4_00160_00170", "mF2PQlcWak"),
        ("mylistabcdelistPL_listindexindex3_00000_00010", "mylistabcde"),
        ("v_xW1M8k9A-gk_1", "xW1M8k9A-gk"),
        ("v_-t_Zhm1b0FI_0", "-t_Zhm1b0FI"),
        ("v__JE5T2RKZvo_1", "_JE5T2RKZvo"),
        ("b_uKIQ4dn3A_1", "b_uKIQ4dn3A"),
        ("_eUYGNVVUD0_10", "_eUYGNVVUD0"),
        ("v_abcdefgh_2", "v_abcdefgh"),
        ("629", "629"),
        ("a name", "a name"),
    ],
)
def test_source_of_names_the_video_that_a_clip_was_cut_from(stem: str, source: str) -> None:
    assert source_of(stem) == source


def test_a_share_keeps_the_clips_of_a_video_together_and_in_order() -> None:
    share = share_of(MANY, 0.3, 7)
    assert set(Counter(source_of(clip.stem) for clip in share).values()) == {3}
    assert [clip.number for clip in share] == sorted(clip.number for clip in share)
    assert 100 < len(sources_in(share)) < 200


def test_a_share_depends_on_names_and_seed_and_not_on_the_order_or_on_other_clips() -> None:
    share = {clip.path for clip in share_of(MANY, 0.3, 7)}
    assert {clip.path for clip in share_of(MANY[::-1], 0.3, 7)} == share
    assert {clip.path for clip in share_of(MANY[:300], 0.3, 7)} == {clip.path for clip in MANY[:300]} & share
    assert {clip.path for clip in share_of(MANY, 0.3, 8)} != share


def test_a_larger_share_contains_a_smaller_one() -> None:
    shares = [{clip.path for clip in share_of(MANY, share, 7)} for share in (0, 0.1, 0.5, 1)]
    assert shares[0] == set()
    assert shares[0] < shares[1] < shares[2] < shares[3]
    assert len(shares[3]) == len(MANY)


@pytest.mark.shared
def test_every_stem_of_the_real_test_file_has_a_source(shared_data: Path) -> None:
    found = read_clips(shared_data / "textvr" / "TextVR_test.json")
    sources = Counter(source_of(clip.stem) for clip in found)
    assert len(sources) == 1411
    assert sources["zxg9hOCpljU"] == 29
    lengths = Counter(len(source) for source in sources)
    assert lengths[11] + lengths[10] == 1283  # YouTube's names, some of which have lost a hyphen
    assert sum(source.isdigit() for source in sources) == 122
    assert not [source for source in sources if "index" in source]
