"""Pictures that are null, in tables and in JSON lines alike, and footers that are damaged."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from beir_miniature import TEXTS, lines, picture_files, plain, structs, table
from glyphrank.datasets.beir_hub import BeirHub
from glyphrank.errors import DataError
from glyphrank.records import Task
from glyphrank.runtime import Runtime
from parquet_damage import break_footer

ITEMS = list(map(str, TEXTS))
FORMS: dict[str, Callable[[Path, list[Any]], None]] = {
    "structs": lambda folder, values: plain(folder, pyarrow.array(values, structs().type)),
    "bytes": lambda folder, values: plain(folder, [value and value["bytes"] for value in values]),
    "paths": lambda folder, values: plain(folder, [value and f"images/{value['path']}" for value in values]),
    "structs of a path": lambda folder, values: plain(
        folder,
        pyarrow.array(
            [{"bytes": None, "path": value and f"images/{value['path']}"} for value in values], structs().type
        ),
    ),
    "lines": lambda folder, values: plain(
        folder, [value and f"images/{value['path']}" for value in values], lines, "jsonl"
    ),
    "lines of a path": lambda folder, values: plain(
        folder, [{"bytes": None, "path": value and f"images/{value['path']}"} for value in values], lines, "jsonl"
    ),
}


def load(folder: Path) -> Task:
    runtime = Runtime("cpu", 1, 0, 60, 4, False, folder.parent / "outputs", folder.parent / "cache")
    return BeirHub(folder, None, None, None, "test").load(runtime)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the pictures as files."""
    picture_files(tmp_path / "fruit")
    return tmp_path / "fruit"


@pytest.mark.parametrize("form", FORMS)
def test_null_pictures_beside_texts_are_items_without_media_in_every_form(folder: Path, form: str) -> None:  # case C05
    values = structs().to_pylist()
    values[1] = values[3] = None
    FORMS[form](folder, values)
    task = load(folder)
    assert [item.id for item in task.items] == ITEMS
    assert [item.media is None for item in task.items] == [False, True, False, True, False]
    corpus = "corpus.jsonl" if form.startswith("lines") else "corpus.parquet"
    assert task.notes == (f"{corpus}: 2 of 5 pictures are null, so that these have no media: '2', '10'",)


def test_only_the_first_items_with_null_pictures_are_named(folder: Path) -> None:
    plain(folder)
    ids = [*ITEMS, *(f"more {number}" for number in range(5))]
    table(folder / "corpus.parquet", {"id": ids, "text": ids, "image": pyarrow.nulls(10, structs().type)})
    (note,) = load(folder).notes
    assert note == (
        "corpus.parquet: 10 of 10 pictures are null, so that these have no media: '1', '2', '3', '10', '11' and 5 more"
    )


def test_one_null_picture_is_noted_and_absent_ones_are_not(folder: Path) -> None:
    plain(folder, ["images/1.png", None, "images/3.png", "images/10.png", "images/11.png"], lines, "jsonl")
    assert load(folder).notes == ("corpus.jsonl: 1 of 5 pictures is null, so that these have no media: '2'",)
    plain(folder, None, lines, "jsonl")
    assert load(folder).notes == ()


@pytest.mark.parametrize("images", [pyarrow.nulls(len(TEXTS)), pyarrow.nulls(len(TEXTS), structs().type)])
def test_a_column_of_nulls_alone_gives_no_media(folder: Path, images: Any) -> None:
    plain(folder, images)
    assert [item.media for item in load(folder).items] == [None] * len(TEXTS)


def test_a_null_in_a_table_of_pictures_is_no_media(folder: Path) -> None:
    plain(folder)
    table(folder / "corpus.parquet", {"id": ITEMS, "text": list(TEXTS.values()), "image_id": ITEMS})
    values = structs().to_pylist()
    values[4] = None
    table(folder / "images.parquet", {"id": ITEMS, "image": pyarrow.array(values, structs().type)})
    task = load(folder)
    assert [item.media is None for item in task.items] == [False, False, False, False, True]
    assert task.notes == ("corpus.parquet: 1 of 5 pictures is null, so that these have no media: '11'",)


def test_the_shards_of_a_corpus_are_looked_at_by_one_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    real = subprocess.run

    def noted(*arguments: Any, **options: Any) -> Any:
        started.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(subprocess, "run", noted)
    write_shards(folder)
    assert len(load(folder).items) == len(TEXTS)
    assert len(started) == 1


def test_shards_whose_footers_are_damaged_are_named(folder: Path) -> None:
    shards = write_shards(folder)
    for shard in shards[1:]:
        break_footer(shard)
    with pytest.raises(DataError) as caught:
        load(folder)
    messages = str(caught.value).splitlines()
    assert len(messages) == 2
    for shard, message in zip(shards[1:], messages, strict=True):
        assert message.startswith(f"{shard}: the parquet file's footer is damaged (")


def write_shards(folder: Path) -> list[Path]:
    """A corpus in three files."""
    plain(folder)
    (folder / "corpus.parquet").unlink()
    texts, pictures = list(TEXTS.values()), structs()
    return [
        table(
            folder / "corpus" / f"test-0000{number}-of-00003.parquet",
            {"id": ITEMS[start:end], "text": texts[start:end], "image": pictures[start:end]},
        )
        for number, (start, end) in enumerate([(0, 2), (2, 4), (4, 5)])
    ]
