"""How long work took is left beside the shards, for the estimates of `plan`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from capitals import TEXTS, Upper, digest, stage
from counting_parts import Colours
from glyphrank.cache import recall, remember
from glyphrank.media.sampling import Middles
from glyphrank.rates import Rate, note_rate, read_rate
from glyphrank.records import FloatArray, Frames
from glyphrank.runtime import Runtime
from glyphrank.shard_folder import read_manifest
from glyphrank.sight import Sight, looks_stage
from glyphrank.visual import encode_frames, frames_stage
from pictures import pictured, write_picture


def slow(seconds: float) -> Callable[[Sequence[int]], list[str]]:
    def work(positions: Sequence[int]) -> list[str]:
        time.sleep(seconds)
        return ["done" for _ in positions]

    return work


def rate_of(folder: Path) -> Rate:
    rate = read_rate(folder)
    assert rate is not None
    return rate


def test_work_leaves_its_rate_and_looking_up_leaves_it_alone(tmp_path: Path) -> None:
    inputs = [digest(text) for text in TEXTS[:6]]
    remember(stage(tmp_path, spacing=100), inputs, slow(0.2))
    rate = rate_of(stage(tmp_path).folder)
    assert rate.inputs == 6
    assert 0.2 <= rate.seconds < 2
    assert rate.start == 0
    remember(stage(tmp_path, spacing=100), inputs, slow(0.2))
    assert rate_of(stage(tmp_path).folder) == rate
    assert set(recall(stage(tmp_path), [*inputs, digest("new")])) == set(inputs)


def test_the_first_piece_tells_what_beginning_costs_and_the_newest_run_counts_most(tmp_path: Path) -> None:
    note_rate(tmp_path, [(10, 7.0), (10, 2.0), (20, 4.0)])
    assert read_rate(tmp_path) == Rate(30, 6.0, 5.0)
    assert rate_of(tmp_path).estimate(100) == 25
    assert rate_of(tmp_path).estimate(0) == 0
    note_rate(tmp_path, [(10, 6.0)])  # one piece: 5 s of it are taken for the beginning
    assert read_rate(tmp_path) == Rate(25, 4.0, 5.0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"inputs": 0, "seconds": 1, "start": 0}', '{"inputs": "x"}'])
def test_a_rate_that_cannot_be_read_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / ".rate.json").write_text(text)
    assert read_rate(tmp_path) is None
    (tmp_path / "manifest.json").write_text("[]")
    assert read_manifest(tmp_path) == {}


def test_a_rate_is_no_shard(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Upper()(stage(tmp_path), TEXTS[:3])
    assert rate_of(stage(tmp_path).folder).inputs == 3
    Upper()(stage(tmp_path), TEXTS[:4])
    assert "is no shard" not in caplog.text


def test_what_is_interrupted_leaves_the_rate_of_what_it_kept(tmp_path: Path) -> None:
    done: list[int] = []

    def work(positions: Sequence[int]) -> list[str]:
        if done:
            raise KeyboardInterrupt
        done.extend(positions)
        return ["done" for _ in positions]

    with pytest.raises(KeyboardInterrupt):
        remember(stage(tmp_path, spacing=1), [digest(text) for text in TEXTS[:5]], work)
    assert rate_of(stage(tmp_path).folder).inputs == len(done)


def test_work_inside_another_stages_work_is_counted_once(tmp_path: Path) -> None:
    def outer(positions: Sequence[int]) -> list[str]:
        remember(stage(tmp_path, "inner", 100), [digest(TEXTS[at]) for at in positions], slow(0.4))
        return slow(0.1)(positions)

    began = time.perf_counter()
    remember(stage(tmp_path, "outer", 100), [digest(text) for text in TEXTS[:3]], outer)
    inside, outside = (rate_of(stage(tmp_path, name).folder).seconds for name in ("inner", "outer"))
    assert inside >= 0.4
    assert 0.1 <= outside <= time.perf_counter() - began - inside


class Dawdling(Colours):
    """Takes its time for each item."""

    def encode_frames(self, frames: Iterable[Frames], runtime: Runtime) -> FloatArray:
        def slowly() -> Iterator[Frames]:
            for one in frames:
                time.sleep(0.2)
                yield one

        return super().encode_frames(slowly(), runtime)


def test_encoding_while_frames_are_decoded_counts_as_encoding(tmp_path: Path) -> None:
    runtime = Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")
    sampler = Middles(2, 100, 10_000)
    items = [pictured(write_picture(tmp_path / f"{colour}.png", colour)) for colour in ("red", "blue")]
    with Sight(sampler, runtime) as sight:
        began = time.perf_counter()
        encode_frames(Dawdling(1.0), items, sight, runtime)
        whole = time.perf_counter() - began
    encoding = rate_of(frames_stage(Dawdling(1.0), runtime).folder).seconds
    assert encoding >= 0.4
    assert rate_of(looks_stage(sampler, runtime).folder).seconds <= whole - encoding
