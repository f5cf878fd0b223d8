"""SDS KoPub VDR as published, in miniature: what becomes of pages, questions and their gold pages."""

from __future__ import annotations

import time
import unicodedata
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from clip_files import taking
from glyphrank.datasets import kopub_vdr
from glyphrank.datasets.kopub_vdr import KopubVdr
from glyphrank.datasets.kopub_vdr_tables import ANNOTATIONS, CORPUS, QUESTIONS
from glyphrank.garble import judge
from glyphrank.media.decoder import Look
from glyphrank.media.faults import MediaError
from glyphrank.media.look import look
from glyphrank.records import Cell, Frames, Task
from glyphrank.runtime import Runtime
from kopub_miniature import (
    COVER,
    DOMAINS,
    EMPTY,
    GARBLED,
    PRIVATE,
    REPEATS,
    THIN,
    TYPES,
    Kopub,
    kopub,
    write_kopub,
    write_table,
)
from parquet_files import png

REVISION = "759fcae092aef58436d125e72f74a2b53cdd5640"


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "outputs" / "cache")


def load(root: Path | None, runtime: Runtime) -> Task:
    return KopubVdr(root, "team/pages", REVISION).load(runtime)


def test_pages_are_items_under_their_published_ids_with_picture_text_and_ocr(tmp_path: Path, runtime: Runtime) -> None:
    published = kopub()
    task = load(published.write(tmp_path / "k"), runtime)
    assert task.name == "kopub_vdr"
    assert [item.id for item in task.items] == [page["id"] for page in published.corpus]
    assert [item.text for item in task.items] == [page["text"] for page in published.corpus]
    assert [item.published_ocr for item in task.items] == [page["ocr"] for page in published.corpus]
    assert [item.media.cell for item in task.items if item.media] == [Cell("image", row) for row in range(18)]
    assert (task.notes, task.tags, task.orders) == ((), {}, {})


def test_questions_are_numbered_by_row_and_sliced_by_type_and_domain(tmp_path: Path, runtime: Runtime) -> None:
    published = kopub()
    task = load(published.write(tmp_path / "k"), runtime)
    assert [query.id for query in task.queries] == [f"query-{row}" for row in range(16)]
    assert [query.text for query in task.queries] == [row["query"] for row in published.questions]
    for query, row in zip(task.queries, published.questions, strict=True):
        assert query.slices == {"type": row["type"], "domain": row["domain"]}
    assert task.relevant["query-0"] == {published.corpus[0]["id"]: 1.0}
    golds = [gold for query in task.queries for gold in task.relevant[query.id]]
    assert [nfc(gold) for gold in golds] == [row["id"] for row in published.questions]


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def test_the_miniature_holds_all_that_is_odd_about_the_real_pages(tmp_path: Path, runtime: Runtime) -> None:
    for pages in (12, 18, 24):
        task = load(write_kopub(tmp_path / str(pages), pages), runtime)
        assert {query.slices["type"] for query in task.queries} == set(TYPES)
        assert {query.slices["domain"] for query in task.queries} == set(DOMAINS)
        assert len(task.items) == pages
        assert all(len(query.text) >= 24 for query in task.queries)
    ids = "".join(item.id for item in task.items)
    assert all(sign in ids for sign in "/ +（）_")
    assert {unicodedata.is_normalized("NFC", item.id) for item in task.items} == {True, False}
    states = {row: judge(task.items[row].text or "", 100, 0.1).value for row in (EMPTY, THIN, GARBLED, PRIVATE, 0)}
    assert list(states.values()) == ["blank", "thin", "garbled", "garbled", "text"]
    assert Counter(item.text for item in task.items).most_common(1)[0][1] == 1 + len(REPEATS)


def test_repeated_pages_look_alike_and_all_others_differ(tmp_path: Path, runtime: Runtime) -> None:
    task = load(write_kopub(tmp_path / "k"), runtime)
    see = Look(taking(1), None, pixels=False)
    looks = Counter(see(item.media).digest for item in task.items if item.media)
    assert sorted(looks.values()) == [1] * 15 + [3]
    assert len({item.media.digest for item in task.items if item.media}) == 18
    assert all(task.items[row].text == task.items[COVER].text for row in REPEATS)


def test_the_words_of_a_question_stand_on_its_page(tmp_path: Path, runtime: Runtime) -> None:
    task = load(write_kopub(tmp_path / "k"), runtime)
    read = {item.id: str(item.published_ocr) for item in task.items}
    for query in task.queries:
        words = query.text.split()[:3]
        found = [item for item, text in read.items() if all(word.rstrip("의가") in text for word in words)]
        assert found == list(task.relevant[query.id])


def test_equal_arguments_give_equal_files_and_one_fingerprint_wherever_they_lie(
    tmp_path: Path, runtime: Runtime
) -> None:
    first, second = write_kopub(tmp_path / "a"), write_kopub(tmp_path / "deep" / "b" / "c")
    for name in (QUESTIONS, CORPUS, ANNOTATIONS):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert load(first, runtime).fingerprint == load(tmp_path / "deep", runtime).fingerprint
    published = kopub()
    published.corpus[4]["ocr"] += "!"
    assert load(published.write(tmp_path / "d"), runtime).fingerprint != load(first, runtime).fingerprint


def test_files_are_found_below_the_folder_and_through_the_links_of_a_cache(tmp_path: Path, runtime: Runtime) -> None:
    blobs = write_kopub(tmp_path / "blobs")
    snapshot = tmp_path / "snapshot"
    for folder, name in (("a", QUESTIONS), ("b/c", CORPUS), (".", ANNOTATIONS)):
        (snapshot / folder).mkdir(parents=True, exist_ok=True)
        (snapshot / folder / name).symlink_to(blobs / name)
    task = load(snapshot, runtime)
    assert task.items[0].media is not None
    assert task.items[0].media.path == snapshot / "b" / "c" / CORPUS
    assert seen(task, 17).images[0].shape == (702, 496, 3)


def seen(task: Task, row: int) -> Frames:
    """What a page shows."""
    media = task.items[row].media
    assert media is not None
    return look(media, taking(1))


def test_the_cache_of_the_hub_is_looked_at_where_no_folder_is_given(
    tmp_path: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    write_kopub(tmp_path / "hub" / "datasets--team--pages" / "snapshots" / REVISION)
    assert len(load(None, runtime).items) == 18


def test_null_texts_count_as_empty_and_are_noted(tmp_path: Path, runtime: Runtime) -> None:
    published = kopub()
    published.corpus[0]["text"] = published.corpus[1]["text"] = published.corpus[1]["ocr"] = None
    task = load(published.write(tmp_path / "k"), runtime)
    assert [(item.text, item.published_ocr) for item in task.items[:2]] == [("", published.corpus[0]["ocr"]), ("", "")]
    assert task.notes == (
        "SDS-KoPub-corpus.parquet: 2 of 18 pages have a null text, which counts as empty",
        "SDS-KoPub-corpus.parquet: 1 of 18 pages have a null ocr, which counts as empty",
    )


def test_a_null_picture_keeps_its_page_and_fails_when_it_is_looked_at(  # case C05
    tmp_path: Path, runtime: Runtime
) -> None:
    published = kopub()
    published.corpus[2]["image"] = None
    published.corpus[3]["image"] = {"bytes": None, "path": "pages/3.png"}
    root = published.write(tmp_path / "k")
    (root / "pages").mkdir()
    (root / "pages" / "3.png").write_bytes(png("red"))
    task = load(root, runtime)
    assert len(task.items) == 18
    with pytest.raises(MediaError, match=r"^SDS-KoPub-corpus\.parquet row 2: the picture is null$"):
        seen(task, 2)
    assert seen(task, 3).images[0].shape == (6, 8, 3)


def test_several_gold_pages_and_null_slices_are_taken_as_they_are(tmp_path: Path, runtime: Runtime) -> None:
    published = kopub()
    published.questions[0] |= {"ground_truth": [0, 1], "type": None}
    task = load(published.write(tmp_path / "k"), runtime)
    assert task.relevant["query-0"] == {published.corpus[row]["id"]: 1.0 for row in (0, 1)}
    assert task.queries[0].slices == {"domain": "사회"}


def test_answers_and_further_columns_are_not_needed(tmp_path: Path, runtime: Runtime) -> None:
    published = kopub()
    for row in published.questions:
        del row["answer"]
    for row in published.annotations:
        del row["down_url"]
    assert len(load(published.write(tmp_path / "k"), runtime).queries) == 16


def test_a_corpus_of_published_size_loads_in_seconds(
    tmp_path: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, documents = 40_781, 361
    ids = [f"사회/문서（{row * documents // pages}）_{row}" for row in range(pages)]
    names = [name.rpartition("_")[0] for name in ids]
    texts = [f"{row} 가나다라마바사 " * 86 for row in range(pages)]
    picture = pa.array(
        [{"bytes": b"x", "path": None}] * pages, pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    )
    table = pa.table({"id": ids, "image": picture, "text": texts, "ocr": texts})
    root = kopub(12).write(tmp_path / "k")
    write_table(root / CORPUS, table, 100)
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    write_table(root / ANNOTATIONS, pa.table({"file_id": list(rows), "page_indices": list(rows.values())}), 400)
    golds = range(0, 40_200, 67)
    questions = {name: ["x"] * 600 for name in ("query", "type", "domain")}
    write_table(
        root / QUESTIONS,
        pa.table({**questions, "id": [ids[row] for row in golds], "ground_truth": [[row] for row in golds]}),
    )
    monkeypatch.setattr(kopub_vdr, "FileDigests", lambda _: lambda path: "digest")
    start = time.perf_counter()
    task = load(root, runtime)
    assert (len(task.items), len(task.queries)) == (pages, 600)
    assert time.perf_counter() - start < 20  # about 3 s where nothing else runs


def test_loading_twice_gives_the_same_task(tmp_path: Path, runtime: Runtime) -> None:
    root = write_kopub(tmp_path / "k")
    assert load(root, runtime) == load(root, runtime)


def test_row_groups_do_not_matter(tmp_path: Path, runtime: Runtime) -> None:
    tasks = [load(Kopub(**vars(kopub())).write(tmp_path / str(group), group), runtime) for group in (1, 5, 100)]
    assert all([item.text for item in task.items] == [item.text for item in tasks[0].items] for task in tasks)
