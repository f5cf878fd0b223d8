"""One dataset in every layout of the hub: the same ids, texts, pictures and relevance; and what is no fault."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from PIL import Image

from beir_miniature import (
    COLOURS,
    LAYOUTS,
    QUESTIONS,
    RELEVANT,
    SCORES,
    SUBSETS,
    TEXTS,
    WITHOUT_PICTURES,
    WITHOUT_TEXT,
    judged,
    lines,
    picture,
    picture_files,
    plain,
    structs,
    table,
)
from glyphrank.datasets.beir_hub import BeirHub
from glyphrank.media.parquet import cell_bytes
from glyphrank.records import Media, Task
from glyphrank.runtime import Runtime


def load(folder: Path, subset: str | None = None, split: str = "test") -> Task:
    runtime = Runtime("cpu", 1, 0, 60, 4, False, folder.parent / "outputs", folder.parent / "cache")
    return BeirHub(folder, None, None, subset, split).load(runtime)


def colour(media: Media | None) -> str:
    """The name of the colour that a picture of the miniature has."""
    assert media is not None
    encoded = media.path.read_bytes() if media.cell is None else cell_bytes(media.path, media.cell)
    page = Image.open(io.BytesIO(encoded)).convert("RGB")
    known = {Image.new("RGB", (1, 1), name).getpixel((0, 0)): name for name in COLOURS.values()}
    return known[page.getpixel((0, 0))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "fruit"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_ids_texts_pictures_and_relevance(layout: str, folder: Path) -> None:
    LAYOUTS[layout](folder)
    task = load(folder, SUBSETS.get(layout))
    assert [item.id for item in task.items] == list(map(str, TEXTS))
    assert {query.id: query.text for query in task.queries} == {str(name): text for name, text in QUESTIONS.items()}
    assert task.relevant == RELEVANT
    texts = [None] * len(TEXTS) if layout in WITHOUT_TEXT else list(TEXTS.values())
    assert [item.text for item in task.items] == texts
    if layout in WITHOUT_PICTURES:
        assert [item.media for item in task.items] == [None] * len(TEXTS)
    else:
        assert [colour(item.media) for item in task.items] == list(COLOURS.values())
        assert len({item.media.digest for item in task.items if item.media}) == len(TEXTS)
    assert task.notes == ()


def test_layouts_differ_in_nothing_else_where_they_hold_the_same(folder: Path) -> None:
    tasks = []
    for layout in ("old_card", "plain_lines"):
        LAYOUTS[layout](folder / layout)
        tasks.append(load(folder / layout))
    assert tasks[0].fingerprint == tasks[1].fingerprint


def test_the_name_of_a_task_is_that_of_its_folder_and_subset(folder: Path) -> None:
    LAYOUTS["per_language"](folder)
    assert load(folder, "english").name == "fruit-english"
    french = load(folder, "french")
    assert (french.name, [item.id for item in french.items]) == ("fruit-french", ["a"])
    LAYOUTS["mteb"](folder.parent / "other")
    assert load(folder.parent / "other").name == "other"


def test_a_split_has_the_queries_that_its_judgements_name(folder: Path) -> None:
    LAYOUTS["beir"](folder)
    task = load(folder, split="dev")
    assert [query.id for query in task.queries] == ["8"]
    assert task.relevant == {"8": {"1": 1.0}}


def test_judgements_that_are_not_divided_speak_of_all_queries(folder: Path) -> None:
    plain(folder)
    table(folder / "queries.parquet", {"id": ["1", "2", "7", "8"], "text": ["a", "b", "c", "d"]})
    assert [query.id for query in load(folder).queries] == ["1", "2", "7", "8"]


def test_ids_are_text_as_written(folder: Path) -> None:  # case M12
    table(folder / "corpus.parquet", {"id": ["0001", "1", " a/b+（c）_1"], "text": ["x", "y", "z"]})
    table(folder / "queries.parquet", {"id": pyarrow.array([7, 8], pyarrow.int8()), "text": ["x", "y"]})
    rows = {"query-id": ["7", "8", "8"], "corpus-id": ["0001", "1", " a/b+（c）_1"], "score": [1, 1, 1]}
    table(folder / "qrels.parquet", rows)
    task = load(folder)
    assert [item.id for item in task.items] == ["0001", "1", " a/b+（c）_1"]
    assert task.relevant == {"7": {"0001": 1.0}, "8": {"1": 1.0, " a/b+（c）_1": 1.0}}


def test_whole_numbers_and_their_digits_are_the_same_id(folder: Path) -> None:  # case M12
    plain(folder)
    table(folder / "qrels.parquet", judged(kind=int))
    assert load(folder).relevant == RELEVANT


def test_ids_are_compared_in_nfc_and_kept_as_published(folder: Path) -> None:  # case P04
    apart = unicodedata.normalize("NFD", "각")
    table(folder / "corpus.parquet", {"id": [apart], "text": ["x"]})
    table(folder / "queries.parquet", {"id": ["q"], "text": ["x"]})
    table(folder / "qrels.parquet", {"query-id": ["q"], "corpus-id": ["각"], "score": [1]})
    assert load(folder).relevant == {"q": {apart: 1.0}}


@pytest.mark.parametrize("scores", [[2, 1, 0, 1, 1, 2, -1], [2.0, 1.0, 0.0, 1.0, 1.0, 2.0, -1.0]])
def test_scores_above_0_are_gains(folder: Path, scores: list[float]) -> None:
    plain(folder)
    table(folder / "qrels.parquet", {**judged(), "score": scores})
    assert load(folder).relevant == RELEVANT


def test_many_relevant_items_keep_their_grades(folder: Path) -> None:
    names = [f"p{number}" for number in range(200)]
    table(folder / "corpus.parquet", {"id": names, "text": names}, group=64)
    table(folder / "queries.parquet", {"id": ["q"], "text": ["x"]})
    grades = [1 + number % 2 for number in range(113)]
    table(folder / "qrels.parquet", {"query-id": ["q"] * 113, "corpus-id": names[:113], "score": grades})
    assert load(folder).relevant == {"q": dict(zip(names, map(float, grades), strict=False))}


def test_repeated_judgements_and_titles_are_noted(folder: Path) -> None:  # case M08
    plain(folder)
    rows = judged()
    table(folder / "qrels.parquet", {name: [*values, values[0], values[2]] for name, values in rows.items()})
    names = list(map(str, TEXTS))
    table(folder / "corpus.parquet", {"id": names, "text": names, "title": ["A", None, "", None, "B"]})
    task = load(folder)
    assert task.relevant == RELEVANT
    assert task.notes == (
        "qrels.parquet: 2 repeated rows were dropped",
        "corpus.parquet: 2 items have a title, which is kept as a slice and not searched",
    )
    assert task.items[0].slices == {"title": "A"}


@pytest.mark.parametrize("form", ["parquet", "lines"])
def test_columns_of_texts_and_numbers_are_slices(folder: Path, form: str) -> None:
    plain(folder)
    names = list(map(str, QUESTIONS))
    missing = float("nan") if form == "parquet" else None
    more = {"type": ["a", None, "b"], "year": [2020, 2021, 2022], "weight": [0.5, 1.0, missing], "of": [["x"]] * 3}
    rows = {"id": names, "text": names, **more}
    if form == "parquet":
        table(folder / "queries.parquet", rows)
    else:
        (folder / "queries.parquet").unlink()
        lines(folder / "queries.jsonl", rows)
    slices = [dict(query.slices) for query in load(folder).queries]
    assert slices == [
        {"type": "a", "year": "2020", "weight": "0.5"},
        {"year": "2021", "weight": "1.0"},
        {"type": "b", "year": "2022"},
    ]


def of_column(**columns: Any) -> dict[str, Any]:
    return {"id": list(map(str, TEXTS)), **columns}


def test_a_null_beside_texts_is_an_empty_text(folder: Path) -> None:
    plain(folder)
    table(folder / "corpus.parquet", of_column(text=["a", None, "", "b", None], image=structs()))
    assert [item.text for item in load(folder).items] == ["a", "", "", "b", ""]


@pytest.mark.parametrize("column", [pyarrow.nulls(len(TEXTS)), pyarrow.nulls(len(TEXTS), pyarrow.string())])
def test_a_column_without_any_text_publishes_none(folder: Path, column: Any) -> None:
    plain(folder)
    table(folder / "corpus.parquet", of_column(text=column, image=structs()))
    assert [item.text for item in load(folder).items] == [None] * len(TEXTS)
    markdown = ["# a", None, "b", "c", "d"]
    table(folder / "corpus.parquet", of_column(text=column, markdown=markdown, image=structs()))
    assert [item.text for item in load(folder).items] == ["# a", "", "b", "c", "d"]


def test_text_comes_before_markdown(folder: Path) -> None:
    plain(folder)
    table(folder / "corpus.parquet", of_column(markdown=["m"] * 5, text=["t", None, "t", "t", "t"], image=structs()))
    items = load(folder).items
    assert [item.text for item in items] == ["t", "", "t", "t", "t"]
    assert items[0].slices == {}


PICTURES: dict[str, Callable[[], Any]] = {
    "structs": structs,
    "bytes": lambda: pyarrow.array([picture(item) for item in TEXTS], pyarrow.binary()),
    "large bytes": lambda: pyarrow.array([picture(item) for item in TEXTS], pyarrow.large_binary()),
    "structs without a path": lambda: pyarrow.array([{"bytes": picture(item)} for item in TEXTS]),
}


@pytest.mark.parametrize("form", PICTURES)
def test_pictures_in_a_table(folder: Path, form: str) -> None:  # case C05
    plain(folder, PICTURES[form]())
    assert [colour(item.media) for item in load(folder).items] == list(COLOURS.values())


@pytest.mark.parametrize("form", ["paths", "structs of a path", "lines", "lines of structs"])
def test_pictures_beside_a_table(folder: Path, form: str) -> None:  # case C05
    paths = picture_files(folder)
    kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    objects = [{"bytes": None, "path": path} for path in paths]
    if form == "paths":
        plain(folder, paths)
    elif form == "structs of a path":
        plain(folder, pyarrow.array(objects, kind))
    else:
        plain(folder, paths if form == "lines" else objects, lines, "jsonl")
    items = load(folder).items
    assert [item.media.path for item in items if item.media] == [folder / path for path in paths]
    assert [item.slices for item in items] == [{}] * len(items)


def test_pictures_beside_a_table_in_a_folder_of_its_own(folder: Path) -> None:
    plain(folder, picture_files(folder / "data"), lines, "jsonl")
    (folder / "corpus.jsonl").rename(folder / "data" / "corpus.jsonl")
    assert [colour(item.media) for item in load(folder).items] == list(COLOURS.values())


def test_a_picture_file_has_the_same_digest_wherever_it_is_named(folder: Path) -> None:
    digests = []
    for name, write, suffix in (("a", table, "parquet"), ("b", lines, "jsonl")):
        plain(folder / name, picture_files(folder / name), write, suffix)
        digests.append([item.media.digest for item in load(folder / name).items if item.media])
    assert digests[0] == digests[1]


def test_a_picture_file_that_is_missing_keeps_its_item(folder: Path) -> None:
    paths = picture_files(folder)
    (folder / paths[1]).unlink()
    plain(folder, paths, lines, "jsonl")
    media = load(folder).items[1].media
    assert media is not None
    assert (media.path, media.stamp) == (folder / paths[1], None)


@pytest.mark.parametrize("position", [0, 4])
def test_a_null_picture_beside_a_text_is_an_item_without_media(folder: Path, position: int) -> None:  # case C05
    values = structs().to_pylist()
    values[position] = None
    plain(folder, pyarrow.array(values, structs().type))
    items = load(folder).items
    assert [item.media is None for item in items] == [row == position for row in range(len(items))]


def test_the_fingerprint_is_that_of_the_content_wherever_it_lies(folder: Path) -> None:
    LAYOUTS["mteb"](folder)
    LAYOUTS["mteb"](folder.parent / "elsewhere")
    first = load(folder).fingerprint
    assert load(folder.parent / "elsewhere").fingerprint == first
    table(folder / "qrels/test-00000-of-00001.parquet", {**judged(), "score": [1] * len(SCORES)})
    assert load(folder).fingerprint != first


def test_loading_reads_no_picture(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow.parquet import ParquetFile

    asked: list[str] = []
    real = ParquetFile.iter_batches

    def watched(self: ParquetFile, *arguments: Any, columns: list[str], **options: Any) -> Any:
        asked.extend(columns)
        return real(self, *arguments, columns=columns, **options)

    monkeypatch.setattr(ParquetFile, "iter_batches", watched)
    for layout in ("vidore_v1", "mteb", "miracl_vision"):
        LAYOUTS[layout](folder / layout)
        load(folder / layout, SUBSETS.get(layout))
    assert asked
    assert not [name for name in asked if name.startswith("image") and name != "image_id"]
