"""The published test files of TextVR as a task, without videos: what a test needs of the real captions."""

from __future__ import annotations

import json
from pathlib import Path

from glyphrank.records import Item, Query, Task


def read_captions(folder: Path) -> Task:
    """Captions ask for videos, whose ids are their paths; `rand` is the other published order of the videos."""
    records = json.loads((folder / "TextVR_test.json").read_text(encoding="utf-8"))
    shuffled = json.loads((folder / "TextVR_test_rand.json").read_text(encoding="utf-8"))
    videos = [record["path"] for record in records]
    queries = [
        Query(f"caption-{row}", record["captions_info"][0]["caption"], {"scenario": record["path"].partition("/")[0]})
        for row, record in enumerate(records)
    ]
    return Task(
        name="textvr/test",
        queries=tuple(queries),
        items=tuple(Item(video, None, None) for video in videos),
        relevant={query.id: {video: 1.0} for query, video in zip(queries, videos, strict=True)},
        fingerprint="",
        orders={"rand": tuple(record["path"] for record in shuffled)},
    )
