"""One small dataset, written in every layout of the hub that is known: its ids, texts and relevance are the same."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow
from PIL import Image, ImageDraw
from pyarrow import parquet

TEXTS = {1: "apples are red", 2: "bananas are yellow", 3: "", 10: "사과는 빨갛다", 11: "plums are blue"}
QUESTIONS = {1: "which fruit is red", 2: "yellow fruit", 7: "푸른 과일"}
LANGUAGES = {1: "english", 2: "english", 7: "korean"}
SCORES = [(1, 1, 2), (1, 10, 1), (1, 2, 0), (2, 2, 1), (7, 11, 1), (7, 3, 2), (7, 1, -1)]
RELEVANT = {"1": {"1": 2.0, "10": 1.0}, "2": {"2": 1.0}, "7": {"11": 1.0, "3": 2.0}}
COLOURS = {1: "red", 2: "yellow", 3: "white", 10: "darkred", 11: "blue"}

Rows = Mapping[str, Any]
"""Columns by name: lists, or arrays of pyarrow."""


def write_beir(folder: Path) -> None:
    """The dataset as mteb copies such sets to the hub."""
    mteb(folder)


def picture(item: int) -> bytes:
    """A page of 60 x 80 pixels in the item's colour with its number, as PNG."""
    page = Image.new("RGB", (60, 80), COLOURS[item])
    ImageDraw.Draw(page).text((10, 30), str(item), fill="black")
    buffer = io.BytesIO()
    page.save(buffer, "PNG")
    return buffer.getvalue()


def structs() -> pyarrow.Array:
    """The pictures as the hub has them: structs of bytes and a name."""
    kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    return pyarrow.array([{"bytes": picture(item), "path": f"{item}.png"} for item in TEXTS], type=kind)


def table(path: Path, rows: Rows, group: int = 2) -> Path:
    """Writes a parquet file, `group` rows a row group."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.table(dict(rows)), path, row_group_size=group)
    return path


def lines(path: Path, rows: Rows) -> Path:
    """Writes a file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def card(folder: Path, configs: str) -> None:
    """Writes a dataset card whose front matter has these configs (YAML)."""
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nlicense: mit\nconfigs:\n{configs}\n---\n\n# A dataset card\n"
    (folder / "README.md").write_text(text, encoding="utf-8")


def simple_card(folder: Path, split: str = "test") -> None:
    """The card of a repository with one subset, as `datasets` writes it."""
    config = "- config_name: {0}\n  data_files:\n  - split: {1}\n    path: {0}/{1}-*"
    card(folder, "\n".join(config.format(name, split) for name in ("corpus", "qrels", "queries")))


def judged(query: str = "query-id", item: str = "corpus-id", kind: Callable[[int], Any] = str) -> dict[str, list[Any]]:
    """The judgements under the names of columns, their ids made by `kind`."""
    return {
        query: [kind(row[0]) for row in SCORES],
        item: [kind(row[1]) for row in SCORES],
        "score": [row[2] for row in SCORES],
    }


def plain(
    folder: Path, images: Any = None, write: Callable[[Path, Rows], Path] = table, suffix: str = "parquet"
) -> None:
    """`corpus`, `queries` and `qrels` at the top, without a card; ids are texts."""
    pictures = {} if images is None else {"image": images}
    write(folder / f"corpus.{suffix}", {"id": list(map(str, TEXTS)), "text": list(TEXTS.values()), **pictures})
    write(folder / f"queries.{suffix}", {"id": list(map(str, QUESTIONS)), "text": list(QUESTIONS.values())})
    write(folder / f"qrels.{suffix}", judged())


def picture_files(folder: Path) -> list[str]:
    """Writes the pictures as files below a folder; returns their paths relative to it."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for item in TEXTS:
        (folder / "images" / f"{item}.png").write_bytes(picture(item))
    return [f"images/{item}.png" for item in TEXTS]


def vidore_v1(folder: Path) -> None:
    """ViDoRe v1: pictures only, whole numbers as ids, scores that are no whole numbers."""
    simple_card(folder)
    table(folder / "corpus/test-00000-of-00001.parquet", {"corpus-id": list(TEXTS), "image": structs()})
    questions = {"query-id": list(QUESTIONS), "query": list(QUESTIONS.values())}
    table(folder / "queries/test-00000-of-00001.parquet", questions)
    scores = judged(kind=int)
    table(folder / "qrels/test-00000-of-00001.parquet", {**scores, "score": list(map(float, scores["score"]))})


def vidore_v3(folder: Path) -> None:
    """ViDoRe v3 and KoViDoRe v2: markdown, languages of queries, boxes of judgements, two files for the corpus."""
    simple_card(folder)
    rows = {
        "corpus_id": list(TEXTS),
        "image": structs(),
        "doc_id": ["fruit"] * len(TEXTS),
        "markdown": list(TEXTS.values()),
        "page_number_in_doc": [0, 1, 2, 3, 4],
    }
    for part, some in enumerate((slice(0, 3), slice(3, None))):
        table(folder / f"corpus/test-0000{part}-of-00002.parquet", {name: rows[name][some] for name in rows})
    questions = {
        "query_id": list(QUESTIONS),
        "query": list(QUESTIONS.values()),
        "language": list(LANGUAGES.values()),
        "query_types": [["open-ended"]] * len(QUESTIONS),
    }
    table(folder / "queries/test-00000-of-00001.parquet", questions)
    boxes = [[{"x1": 1, "x2": 2}]] * len(SCORES)
    rows = {**judged("query_id", "corpus_id", int), "bounding_boxes": boxes}
    table(folder / "qrels/test-00000-of-00001.parquet", rows)
    table(folder / "documents_metadata/test-00000-of-00001.parquet", {"doc_id": ["fruit"], "url": ["https://x"]})


def mteb(folder: Path) -> None:
    """mteb's copies: ids are texts, pictures and texts, a column without any value."""
    simple_card(folder)
    rows = {"id": list(map(str, TEXTS)), "text": list(TEXTS.values()), "image": structs()}
    table(folder / "corpus/test-00000-of-00001.parquet", {**rows, "modality": ["image,text"] * len(TEXTS)})
    questions = {
        "id": list(map(str, QUESTIONS)),
        "text": list(QUESTIONS.values()),
        "image": pyarrow.nulls(len(QUESTIONS)),
        "modality": ["text"] * len(QUESTIONS),
    }
    table(folder / "queries/test-00000-of-00001.parquet", questions)
    table(folder / "qrels/test-00000-of-00001.parquet", judged())


def per_language(folder: Path) -> None:
    """mteb's copies of sets in several languages: `english` is this dataset, `french` another."""
    config = "- config_name: {0}-{1}\n  data_files:\n  - split: test\n    path: {0}-{1}/test-*"
    kinds = ("corpus", "qrels", "queries")
    card(folder, "\n".join(config.format(name, kind) for name in ("english", "french") for kind in kinds))
    plain(folder / "plain", structs())
    for kind in kinds:
        (folder / f"english-{kind}").mkdir()
        (folder / "plain" / f"{kind}.parquet").rename(folder / f"english-{kind}" / "test-00000-of-00001.parquet")
    table(folder / "french-corpus/test-00000-of-00001.parquet", {"id": ["a"], "text": ["pomme"]})
    table(folder / "french-queries/test-00000-of-00001.parquet", {"id": ["q"], "text": ["fruit"]})
    rows = {"query-id": ["q"], "corpus-id": ["a"], "score": [1]}
    table(folder / "french-qrels/test-00000-of-00001.parquet", rows)


def miracl_vision(folder: Path) -> None:
    """MIRACL-Vision: a folder a language, pictures in a table of their own, in another order."""
    kinds = ("corpus", "images", "qrels", "queries")
    config = "- config_name: {0}-{1}\n  data_files:\n  - split: default\n    path: {1}/{0}.parquet"
    card(folder, "\n".join(config.format(kind, name) for kind in kinds for name in ("ko", "sw")))
    names = [f"{item}.png" for item in TEXTS]
    rows = {"_id": list(map(str, TEXTS)), "text": list(TEXTS.values()), "image_id": names}
    table(folder / "ko/corpus.parquet", rows)
    table(folder / "ko/images.parquet", {"file_name": names[::-1], "image": structs()[::-1]})
    table(folder / "ko/queries.parquet", {"_id": list(map(str, QUESTIONS)), "text": list(QUESTIONS.values())})
    table(folder / "ko/qrels.parquet", judged())


def jina(folder: Path) -> None:
    """Jina-VDR: a folder `default` in place of a language, no card."""
    rows = {"corpus-id": list(TEXTS), "image": structs(), "text_description": list(TEXTS.values())}
    table(folder / "default/corpus/test-00000-of-00001.parquet", rows)
    questions = {"query-id": list(QUESTIONS), "query": list(QUESTIONS.values())}
    table(folder / "default/queries/test-00000-of-00001.parquet", questions)
    table(folder / "default/qrels/test-00000-of-00001.parquet", judged(kind=int))


def beir(folder: Path) -> None:
    """BEIR's own layout: JSON lines, judgements of two splits with a header, pictures as files."""
    rows = {"_id": list(map(str, TEXTS)), "title": [""] * len(TEXTS), "text": list(TEXTS.values())}
    lines(folder / "corpus.jsonl", {**rows, "image": picture_files(folder)})
    more = {**QUESTIONS, 8: "a question of another split"}
    lines(folder / "queries.jsonl", {"_id": list(map(str, more)), "text": list(more.values())})
    (folder / "qrels").mkdir()
    header = "query-id\tcorpus-id\tscore\n"
    rows_of_test = "".join(f"{query}\t{item}\t{score}\n" for query, item, score in SCORES)
    (folder / "qrels/test.tsv").write_text(header + rows_of_test, encoding="utf-8")
    (folder / "qrels/dev.tsv").write_text(f"{header}8\t1\t1\n", encoding="utf-8")


def old_card(folder: Path) -> None:
    """Older repositories: `default` is relevance, splits are called as their tables, everything in JSON lines."""
    files = {
        "default": ("test", "relevance"),
        "corpus": ("corpus", "data/corpus"),
        "query": ("queries", "data/queries"),
    }
    config = '- config_name: {}\n  data_files:\n  - split: {}\n    path: ["{}.jsonl"]'
    card(folder, "\n".join(config.format(name, *rest) for name, rest in files.items()))
    lines(folder / "data/corpus.jsonl", {"id": list(map(str, TEXTS)), "text": list(TEXTS.values())})
    lines(folder / "data/queries.jsonl", {"id": list(map(str, QUESTIONS)), "text": list(QUESTIONS.values())})
    lines(folder / "relevance.jsonl", judged())


def converted(folder: Path) -> None:
    """What the hub's own converter writes: a folder a split, numbered files."""
    plain(folder / "plain", structs())
    for kind in ("corpus", "queries", "qrels"):
        (folder / kind / "test").mkdir(parents=True)
        (folder / "plain" / f"{kind}.parquet").rename(folder / kind / "test" / "0000.parquet")
    (folder / "plain").rmdir()


LAYOUTS: dict[str, Callable[[Path], None]] = {
    "vidore_v1": vidore_v1,
    "vidore_v3": vidore_v3,
    "mteb": mteb,
    "per_language": per_language,
    "miracl_vision": miracl_vision,
    "jina": jina,
    "beir": beir,
    "old_card": old_card,
    "converted": converted,
    "plain_parquet": lambda folder: plain(folder, structs()),
    "plain_lines": lambda folder: plain(folder, None, lines, "jsonl"),
}
SUBSETS = {"per_language": "english", "miracl_vision": "ko"}
WITHOUT_TEXT = ("vidore_v1", "jina")
WITHOUT_PICTURES = ("old_card", "plain_lines")
