from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.media.sampling import Fps, Middles

LIMITS = (1600, 89_000_000)


@pytest.mark.parametrize(
    ("count", "n", "expected"),
    [
        (8, 1, [0]),
        (13, 1, [0]),
        (8, 3, [0, 1, 2]),
        (13, 3, [0, 1, 2]),
        (8, 15, [0, 2, 4, 6, 8, 10, 12, 14]),
        (13, 15, [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14]),
        (4, 8, [1, 3, 5, 7]),
        (1, 7, [3]),
    ],
)
def test_middles_are_in_order_and_short_clips_give_each_frame_once(
    count: int, n: int, expected: list[int]
) -> None:  # case V07
    assert Middles(count, *LIMITS).places([0.1 * i for i in range(n)]) == expected


@given(st.integers(1, 500), st.integers(1, 5000))
def test_middles_never_leave_the_clip_and_never_repeat(count: int, n: int) -> None:  # case V07
    places = Middles(count, *LIMITS).places([0.0] * n)
    assert len(places) == min(n, count)
    assert sorted(set(places)) == places
    assert 0 <= places[0] <= places[-1] < n


def test_middles_stay_exact_where_floating_point_would_not() -> None:
    n, count = 10**17 + 1, 3
    places = [(2 * i + 1) * n // (2 * count) for i in range(count)]
    assert Middles(count, *LIMITS).places(range(n)) == places
    assert places[1] == n // 2


def test_fps_takes_the_first_frame_of_each_second() -> None:
    times = [i / 10 for i in range(25)]
    assert Fps(1.0, 100, *LIMITS).places(times) == [0, 10, 20]
    assert Fps(2.0, 100, *LIMITS).places(times) == [0, 5, 10, 15, 20]
    assert Fps(0.5, 100, *LIMITS).places(times) == [0, 20]


def test_fps_counts_from_the_first_frame_and_skips_seconds_without_one() -> None:
    assert Fps(1.0, 100, *LIMITS).places([7.3, 7.9, 8.2, 8.4, 11.0]) == [0, 3, 4]


def test_fps_takes_all_frames_of_a_clip_slower_than_asked() -> None:
    assert Fps(30.0, 100, *LIMITS).places([0.0, 0.333, 0.667, 1.0]) == [0, 1, 2, 3]


def test_fps_takes_every_frame_at_the_rate_of_the_clip_although_times_are_rounded() -> None:
    assert Fps(30.0, 1000, *LIMITS).places([round(i / 30, 3) for i in range(300)]) == list(range(300))


def test_fps_thins_evenly_what_is_too_much() -> None:
    assert Fps(1.0, 4, *LIMITS).places([float(i) for i in range(12)]) == [1, 4, 7, 10]


@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=200, unique=True), st.floats(0.01, 60), st.integers(1, 50))
def test_fps_gives_at_least_one_place_ascending_and_no_more_than_most(
    times: list[float], per_second: float, most: int
) -> None:
    places = Fps(per_second, most, *LIMITS).places(sorted(times))
    assert 1 <= len(places) <= most
    assert sorted(set(places)) == places
    assert places[-1] < len(times)


@pytest.mark.parametrize("field", ["count", "long_side", "most_pixels"])
def test_numbers_below_one_are_refused_by_name(field: str) -> None:
    fields = {"count": 4, "long_side": 10, "most_pixels": 10} | {field: 0}
    with pytest.raises(ValueError, match=f"^{field} is 0; wanted at least 1$"):
        Middles(**fields)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), 2000.0])
def test_a_rate_out_of_range_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="per_second is"):
        Fps(rate, 4, *LIMITS)
