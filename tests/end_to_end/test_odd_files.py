"""A run over a folder of odd files: each bad one is named with its cause, and the good ones are ranked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clip_files import ffmpeg, write_h264
from command import corpus, ran, refused, reports
from odd_media import bad_files, good_files
from strange_eyes import install

pytest.importorskip("decord")
CAUSES = {
    "empty": "the file is empty",
    "not_media": "",
    "no_video": "",
    "damaged": "damaged",
    "unsupported": "not decoded",
    "truncated": "cut off",
    "missing": "no such file",
    "too_large": "",
    "too_slow": "3",
    "crashed": "",
}


def made_by_ffmpeg(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Files that only ffmpeg makes: sound alone, AV1; and clips that are turned. Nothing where there is no ffmpeg."""
    if shutil.which("ffmpeg") is None:
        return {}, []
    sound = ("-f", "lavfi", "-i", "sine=frequency=440:duration=1")
    ffmpeg(*sound, "-c:a", "aac", folder / "sound.mp4")
    write_h264(folder / "straight.mp4", 30)
    turned = []
    for degrees in (90, 180, 270):
        name = f"turned_{degrees}.mp4"
        turn = ("-metadata:s:v:0", f"rotate={degrees}")
        ffmpeg("-i", folder / "straight.mp4", "-c", "copy", *turn, folder / name)
        turned.append(name)
    return {"sound.mp4": "no_video"}, [*turned, "straight.mp4"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset of all of them."""
    (tmp_path / "data").mkdir()
    return tmp_path


def test_a_run_over_fifty_odd_files_names_each_and_ranks_the_rest(folder: Path) -> None:  # case M18, V01, V03, E13
    data = folder / "data"
    more, turned = made_by_ffmpeg(data)
    causes, good = {**bad_files(data), **more}, [*good_files(data), *turned, "good_clip.mp4"]
    names = sorted([*causes, *good])
    assert len(causes) + len(good) >= 50
    queries = [{"id": "q", "text": "anything"}]
    corpus(data, [{"id": name, "media": name} for name in names], queries, [f"q\t{name}\t1" for name in good[:2]])
    command = (
        *("run", *install(folder / "own"), "dataset=folder", "dataset.root=data", "encoder@lexical=none"),
        *("metrics=clips", "tracking=none", "runtime.media_seconds=3", "runtime.media_memory=1"),
    )
    done = ran(*command, cwd=folder)
    (report,) = reports(folder)
    assert set(report["failures"]) == set(causes)
    for name, why in report["failures"].items():
        assert why.startswith((f"channel visual: {name}: ", f"channel visual: {name} has the content of ")), why
        assert CAUSES[causes[name]] in why, why
    assert report["counts"]["failed_items"] == len(causes)
    assert report["counts"]["items"] == len(names)
    first = done.stdout.splitlines()[0]
    assert first.startswith(f"incomplete: {len(causes)} of {len(names)} items could not be read; channels that needed")
    strict = refused(*command, "on_bad_media=error", cwd=folder)
    assert f"{len(causes)} of {len(names)} items cannot be read or encoded" in strict
