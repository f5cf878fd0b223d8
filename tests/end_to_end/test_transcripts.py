"""Windows and misses from the command line: texts by windows, shares that cost no OCR, poor texts that are told of."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from clip_files import write_clip
from command import corpus, ran, refused, reports
from pictures import write_picture
from slow_parts import install

CLIPS = {"a.mp4": 9, "b.mp4": 12, "c.mp4": 2}
QUERIES = [{"id": "q1", "text": "1 2 3"}, {"id": "q2", "text": "250 250 250"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three clips and a picture, and an engine and an encoder that write down what they work on."""
    (tmp_path / "data").mkdir()
    for name, count in CLIPS.items():
        write_clip(tmp_path / "data" / name, count)
    write_picture(tmp_path / "data" / "d.png", "red")
    items: list[dict[str, Any]] = [{"id": name, "media": name} for name in (*CLIPS, "d.png")]
    corpus(tmp_path / "data", items, QUERIES, ["q1\ta.mp4\t1", "q2\td.png\t1"])
    return tmp_path


def command(folder: Path, *options: str) -> tuple[str, ...]:
    """A run of the text channel over the clips, with the slow parts."""
    chosen = [option for option in install(folder / "own") if "visual" not in option]
    flags = [option for option in options if option == "-m"]
    rest = [option for option in options if option != "-m"]
    return ("run", *flags, *chosen, "dataset=folder", "dataset.root=data", "metrics=clips", "tracking=none", *rest)


def worked(folder: Path, kind: str) -> list[str]:
    """The inputs that were read, or the texts that were encoded."""
    log = folder / "log"
    lines = [line.split(" ") for line in log.read_text().splitlines()] if log.exists() else []
    return [what for _, stage, what in lines if stage == kind]


def environment(folder: Path) -> dict[str, str]:
    return {"SLOW_PARTS_LOG": str(folder / "log")}


def test_a_sweep_of_shares_and_windows_reads_every_clip_once(folder: Path) -> None:
    shares = ("transcript=misses", "transcript.share=0,0.2,0.4,0.6", "transcript.written.unique=none")
    ran(*command(folder, "-m", *shares), cwd=folder, env=environment(folder))
    read = worked(folder, "reading")
    assert len(read) == len(set(read)) == len(CLIPS) + 1
    pooled = ("transcript=windows", "transcript.pooling=mean,best", "transcript.written.unique=none")
    ran(*command(folder, "-m", *pooled), cwd=folder, env=environment(folder))
    ran(*command(folder, "transcript=confident", "transcript.unique=none"), cwd=folder, env=environment(folder))
    assert worked(folder, "reading") == read
    found = [json.loads(path.read_text()) for path in folder.glob("outputs/sweeps/**/report.json")]
    assert len({report["identity"] for report in found}) == len(found) == 6


def test_windows_become_texts_of_their_own_and_one_score_an_item(folder: Path) -> None:
    """With three frames, nine words of a clip stand in three texts; a short clip has two, a picture one."""
    options = ("encoder@lexical=none", "frames.count=3", "transcript.written.unique=none")
    for pooling in ("mean", "best"):
        done = ran(
            *command(folder, *options, "transcript=windows", f"transcript.pooling={pooling}"),
            cwd=folder,
            env=environment(folder),
        )
        assert "seen: text: text (scene), vectors of 3, not projected" in done.stdout
    texts = [text for text in worked(folder, "texts") if text.startswith("colour")]
    assert len(texts) == len(set(texts))
    assert all(re.fullmatch(r"colour_\d+_\d+_\d+", text) for text in texts)  # one frame each
    mean, best = reports(folder)
    assert mean["identity"] != best["identity"]
    assert mean["counts"]["items_without_text"] == best["counts"]["items_without_text"] == 0
    assert mean["metrics"]["mean_rank"] <= 4
    assert {"v2t/mean_rank", "mean_rank"} <= set(best["metrics"])


def test_windows_of_frames_without_a_count_are_refused_by_name(folder: Path) -> None:
    message = refused("run", "frames=fps_1", "transcript=windows", cwd=folder)
    assert message.count("\n") == 2
    assert "transcript.windows: Interpolation key 'frames.count' not found; give transcript.windows=VALUE" in message


TEXTS = {
    "whole": "the capital of France is Paris, " * 4,
    "thin": "page of Paris",
    "blank": " ",
    "garbled": "(cid:12)(cid:7)(cid:99) Paris",
}


def poor(folder: Path, *options: str) -> tuple[dict[str, Any], str]:
    """The report and the output of a run over texts of every state."""
    items = [{"id": name, "text": text} for name, text in TEXTS.items()]
    corpus(folder / "texts", items, [{"id": "q", "text": "Paris"}], ["q\tgarbled\t1"])
    done = ran("run", "dataset=folder", "dataset.root=texts", "tracking=none", *options, cwd=folder)
    return reports(folder)[-1], done.stdout


def test_poor_texts_are_counted_and_listed_and_garbled_ones_refused(tmp_path: Path) -> None:  # case P01, P02
    report, shown = poor(tmp_path)
    assert report["listed"] == {"thin": ["thin"], "blank": ["blank"], "garbled": ["garbled"]}
    names = ("thin_items", "blank_items", "garbled_items", "image_only_items", "items_without_text", "failed_items")
    assert counts(report, names) == [1, 1, 1, 0, 2, 1]
    assert set(report["failures"]) == {"garbled"}
    assert report["metrics"]["hit_rate_at_10"] == 0
    assert report["views"] == {"lexical": {"view": "text", "source": "embedded"}}
    lines = shown.splitlines()
    assert lines[0].startswith("incomplete: 1 of 4 items")
    assert "seen: lexical: text (embedded)" in lines
    assert "note: items with little text (ocr.thin_below): 1" in lines
    assert "note: items whose text is not readable: 1" in lines


def test_garbled_texts_that_are_not_refused_are_used_and_counted(tmp_path: Path) -> None:  # case P01
    report, shown = poor(tmp_path, "ocr.refuse_garbled=false", "ocr.thin_below=0")
    assert report["listed"] == {"blank": ["blank"], "garbled": ["garbled"]}
    names = ("thin_items", "blank_items", "garbled_items", "items_without_text", "failed_items")
    assert counts(report, names) == [0, 1, 1, 1, 0]
    assert report["failures"] == {}
    assert report["metrics"]["hit_rate_at_10"] == 1
    assert "note: items whose text is not readable: 1" in shown.splitlines()


def counts(report: dict[str, Any], names: Sequence[str]) -> list[int]:
    return [report["counts"][name] for name in names]


def test_text_that_a_protocol_does_not_allow_is_refused_before_any_work(tmp_path: Path) -> None:
    message = refused("run", "metrics=textvr", cwd=tmp_path)
    assert "text of the source embedded is read by the ocr, but the metrics protocol allows published, scene" in message
    message = refused("run", "metrics=kopub_task1", "ocr=embedded_else_easyocr", cwd=tmp_path)
    assert "text of the source scene is read by the ocr, but the metrics protocol allows embedded, published" in message
    assert not (tmp_path / "outputs" / "cache").exists()
