from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from corpora import CORPUS, QRELS, QUERIES, Corpus
from glyphrank.datasets.folder import Folder
from glyphrank.errors import DataError
from glyphrank.runtime import Runtime
from pdf_files import cut_off, write_pdf

HANGUL = "보고서"


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "fruit", tmp_path / "cache")


def test_load_gives_queries_items_and_relevance(corpus: Corpus) -> None:
    corpus.write(
        corpus='{"_id": "a", "text": "apple", "colour": "red", "year": 2020, "tags": ["x", 1], "none": null}\n'
        '{"id": "b", "text": ""}\n',
        queries='{"id": "q", "text": "fruit", "type": "text", "page": 3}\n',
        qrels="query-id\tcorpus-id\tscore\nq\ta\t2\nq\tb\t0\n",
    )
    task = corpus.load()
    assert task.name == "fruit"
    assert [(item.id, item.text) for item in task.items] == [("a", "apple"), ("b", "")]
    assert task.items[0].slices == {"colour": "red", "year": "2020", "tags": '["x",1]'}
    assert task.queries[0].slices == {"type": "text", "page": "3"}
    assert task.relevant == {"q": {"a": 2.0}}


def test_load_tolerates_byte_order_marks_crlf_and_blank_lines(corpus: Corpus) -> None:
    plain = corpus.load()
    windows = {
        name: "\ufeff" + text.replace("\n", "\r\n") + "\r\n"
        for name, text in (("corpus", CORPUS), ("queries", QUERIES), ("qrels", QRELS))
    }
    corpus.write(**windows)
    assert corpus.load() == plain


def test_ids_are_text_as_written(corpus: Corpus) -> None:  # case M12
    corpus.write(
        corpus='{"id": "0001", "text": "x"}\n{"id": 1, "text": "y"}\n{"id": 12, "text": "z"}\n',
        queries='{"id": "007", "text": "x"}\n{"id": 7, "text": "y"}\n',
        qrels="query-id\tcorpus-id\tscore\n007\t0001\t1\n7\t1\t1\n",
    )
    task = corpus.load()
    assert [item.id for item in task.items] == ["0001", "1", "12"]
    assert task.relevant == {"007": {"0001": 1.0}, "7": {"1": 1.0}}


@pytest.mark.parametrize("value", ["12.0", "true", "null", '""', '["a"]', "0001"])
def test_an_id_that_is_no_text_is_refused_with_its_line(corpus: Corpus, value: str) -> None:  # case M12
    message = corpus.write(corpus=f'{CORPUS}{{"id": {value}, "text": "x"}}\n').fault()
    assert "corpus.jsonl: line 3: " in message
    assert "id" in message


def test_a_repeated_id_names_both_lines(corpus: Corpus) -> None:
    message = corpus.write(corpus=CORPUS + '{"id": "a", "text": "again"}\n').fault()
    assert "line 3: the id 'a' stands on line 1 already" in message


def test_ids_that_become_equal_in_nfc_are_an_error(corpus: Corpus) -> None:  # case P04
    apart = unicodedata.normalize("NFD", HANGUL)
    message = corpus.write(queries=f'{{"id": "{HANGUL}", "text": "x"}}\n{{"id": "{apart}", "text": "y"}}\n').fault()
    assert "line 2" in message
    assert "equal in NFC" in message


def test_relevance_finds_ids_in_another_unicode_form(corpus: Corpus) -> None:  # case P04
    apart = unicodedata.normalize("NFD", HANGUL)
    corpus.write(corpus=f'{{"id": "{HANGUL}", "text": "x"}}\n', qrels=f"query-id\tcorpus-id\tscore\nq\t{apart}\t1\n")
    assert corpus.load().relevant == {"q": {HANGUL: 1.0}}


def test_bytes_that_are_not_utf8_are_named_by_line(corpus: Corpus) -> None:
    (corpus.root / "queries.jsonl").write_bytes(QUERIES.encode() + '{"id": "s", "text": "한국"}'.encode("cp949"))
    assert "queries.jsonl, line 3: bytes that are not UTF-8" in corpus.fault()


def test_half_of_a_surrogate_pair_is_refused(corpus: Corpus) -> None:
    whole = '{"id": "c", "text": "\\ud83d\\ude00"}\n'
    assert corpus.write(corpus=CORPUS + whole).load().items[2].text == "\U0001f600"
    assert "line 3: '\\ud83d' is half" in corpus.write(corpus=CORPUS + '{"id": "c", "text": "\\ud83d"}\n').fault()


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(corpus: Corpus, name: str) -> None:
    (corpus.root / name).unlink()
    message = corpus.fault()
    assert name in message
    assert "wanted" in message


def test_a_missing_folder_is_named(tmp_path: Path, corpus: Corpus) -> None:
    shutil.rmtree(corpus.root)
    message = corpus.fault()
    assert f"{corpus.root}: no such folder" in message
    assert "dataset.root" in message


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl"])
@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_corpus_and_no_query_are_errors(corpus: Corpus, name: str, content: str) -> None:
    (corpus.root / name).write_text(content)
    assert f"{name}: the file is empty" in corpus.fault()


def test_a_query_without_text_is_an_error(corpus: Corpus) -> None:
    message = corpus.write(queries=QUERIES + '{"id": "s", "text": " "}\n{"id": "t"}\n').fault()
    assert "line 3: the query 's' has no text" in message
    assert "line 4: the query 't' has no text" in message


def test_relevance_that_names_unknown_ids_lists_them_all(corpus: Corpus) -> None:  # case M15
    rows = "q\tp9\t1\nq\tp10\t0\nx\ta\t1\n"
    message = corpus.write(qrels=QRELS + rows).fault()
    assert "query 'q' names the item 'p9', not among the 2 items" in message
    assert "'p10'" in message
    assert "the query 'x' is not among the 2 queries" in message


def test_repeated_relevance_is_dropped_with_a_note(corpus: Corpus) -> None:
    assert corpus.write(qrels=QRELS + "q\ta\t1\n").load().notes == ("qrels.tsv: 1 repeated rows were dropped",)
    assert corpus.write(qrels=QRELS).load().notes == ()


def test_a_split_keeps_only_the_queries_it_names(corpus: Corpus) -> None:
    (corpus.root / "qrels.tsv").unlink()
    (corpus.root / "qrels").mkdir()
    (corpus.root / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nr\tb\t1\n")
    assert [query.id for query in corpus.load("dev").queries] == ["r"]
    assert "set dataset.split" in corpus.fault()
    corpus.write(qrels=QRELS)
    with pytest.raises(DataError, match="both"):
        corpus.load("dev")


def test_a_query_without_relevance_stays_when_there_are_no_splits(corpus: Corpus) -> None:
    task = corpus.write(qrels="query-id\tcorpus-id\tscore\nq\ta\t1\n").load()
    assert [query.id for query in task.queries] == ["q", "r"]
    assert task.relevant == {"q": {"a": 1.0}}


@pytest.mark.parametrize("split", ["", "qrels/test", "../x"])
def test_a_split_that_is_no_file_name_is_refused(split: str) -> None:
    with pytest.raises(ValueError, match="split is"):
        Folder(Path(), split)


def test_pages_outside_the_document_are_all_listed(corpus: Corpus) -> None:  # case M15
    write_pdf(corpus.root / "x.pdf", "1", "2", "3")
    message = corpus.pages(*(f'"media": "x.pdf", "page": {page}' for page in (4, 1, 9, 3))).fault()
    assert "2 faults" in message
    assert "line 1: 'a': page 4 of x.pdf, which has 3" in message
    assert "line 3: 'c': page 9 of x.pdf, which has 3" in message


@pytest.mark.parametrize("page", ["0", "-1", "1.5", "true", '"1"'])
def test_a_page_that_is_no_number_from_1_is_refused(corpus: Corpus, page: str) -> None:  # case M15
    write_pdf(corpus.root / "x.pdf", "1")
    message = corpus.pages(f'"media": "x.pdf", "page": {page}', '"text": "b"').fault()
    assert f"line 1: 'a': page is {page}; wanted a whole number, pages are numbered from 1" in message


def test_a_page_without_media_is_refused(corpus: Corpus) -> None:
    assert "'a': page 2 of no media" in corpus.pages('"text": "x", "page": 2', '"text": "b"').fault()


def test_a_document_of_several_pages_needs_the_page(corpus: Corpus) -> None:
    write_pdf(corpus.root / "one.pdf", "1")
    write_pdf(corpus.root / "two.pdf", "1", "2")
    assert "'b': no page of two.pdf, which has 2" in corpus.pages('"media": "one.pdf"', '"media": "two.pdf"').fault()
    task = corpus.pages('"media": "one.pdf"', '"media": "two.pdf", "page": 2').load()
    assert [item.media.page for item in task.items if item.media] == [1, 2]


def test_documents_that_cannot_be_opened_keep_their_items(corpus: Corpus) -> None:
    write_pdf(corpus.root / "locked.pdf", "x", password="word")
    cut_off(write_pdf(corpus.root / "cut.pdf", "x"))
    names = ("locked", "cut", "absent")
    task = corpus.pages(*(f'"media": "{name}.pdf", "page": 7' for name in names)).load()
    assert [item.media.path.name for item in task.items if item.media] == ["locked.pdf", "cut.pdf", "absent.pdf"]
    assert len({item.media.digest for item in task.items if item.media}) == 3


@pytest.mark.parametrize("name", ["../secret.pdf", "/etc/passwd", ""])
def test_media_outside_the_folder_is_refused(corpus: Corpus, name: str) -> None:
    message = corpus.pages(f'"media": "{name}"', '"text": "b"').fault()
    assert "wanted a path below the dataset's folder" in message


def test_media_is_found_under_a_decomposed_name(corpus: Corpus) -> None:  # case C07
    apart = unicodedata.normalize("NFD", HANGUL)
    (corpus.root / apart).mkdir()
    written = write_pdf(corpus.root / apart / f"{apart}.pdf", "x")
    task = corpus.pages(f'"media": "{HANGUL}/{HANGUL}.pdf", "page": 1', '"text": "b"').load()
    assert task.items[0].media is not None
    assert task.items[0].media.path == written


def test_two_names_equal_in_nfc_are_ambiguous(corpus: Corpus) -> None:  # case C07
    write_pdf(corpus.root / f"{HANGUL}.pdf", "x")
    write_pdf(corpus.root / unicodedata.normalize("NFD", f"{HANGUL}.pdf"), "y")
    message = corpus.pages(f'"media": "{HANGUL}.pdf", "page": 1', '"text": "b"').fault()
    assert "fits 2 names on disk that are equal in NFC" in message


def test_the_fingerprint_is_that_of_the_content_wherever_it_lies(corpus: Corpus, tmp_path: Path) -> None:
    write_pdf(corpus.root / "x.pdf", "1", "2")
    corpus.pages('"media": "x.pdf", "page": 2', '"text": "b"')
    first = corpus.load().fingerprint
    shutil.copytree(corpus.root, tmp_path / "elsewhere")
    corpus.root = tmp_path / "elsewhere"
    assert corpus.load().fingerprint == first


EDITS: dict[str, Callable[[Corpus], object]] = {
    "text": lambda corpus: corpus.write(corpus=CORPUS.replace("apple", "pear")),
    "order": lambda corpus: corpus.write(corpus="".join(reversed(CORPUS.splitlines(keepends=True)))),
    "item slice": lambda corpus: corpus.write(corpus=CORPUS.replace('"apple"', '"apple", "x": 1')),
    "query": lambda corpus: corpus.write(queries=QUERIES.replace("fruit", "fruits")),
    "gain": lambda corpus: corpus.write(qrels=QRELS.replace("a\t1", "a\t2")),
    "relevance": lambda corpus: corpus.write(qrels=QRELS + "q\tb\t1\n"),
    "media": lambda corpus: corpus.write(corpus=CORPUS.replace('"apple"', '"apple", "media": "x.mp4"')),
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_fingerprint_changes_with(corpus: Corpus, edit: str) -> None:
    first = corpus.load().fingerprint
    EDITS[edit](corpus)
    assert corpus.load().fingerprint != first


def test_the_fingerprint_changes_with_a_file_of_the_same_name(corpus: Corpus) -> None:
    write_pdf(corpus.root / "x.pdf", "before")
    corpus.pages('"media": "x.pdf"', '"text": "b"')
    first = corpus.load().fingerprint
    write_pdf(corpus.root / "x.pdf", "after, and longer")
    assert corpus.load().fingerprint != first


@pytest.mark.shared
def test_load_reads_a_real_document(shared_data: Path, tmp_path: Path) -> None:
    task = Folder(shared_data / "guide_ko", "test").load(
        Runtime("cpu", 1, 0, 60, 4, False, tmp_path, tmp_path / "cache")
    )
    assert (len(task.queries), len(task.items), len(task.relevant)) == (228, 151, 228)
    assert task.items[150].media is not None
    assert task.items[150].media.page == 151


def test_no_query_yet_says_what_a_line_looks_like(corpus: Corpus) -> None:
    message = corpus.write(queries="", qrels="query-id\tcorpus-id\tscore\n").fault()
    assert 'queries.jsonl: the file is empty; wanted a line for each query, such as {"id": "q1", "text": ' in message
    assert "qrels.tsv: only a header; wanted at least one row below it, such as q1<TAB>a<TAB>1 (with tabs)" in message


def test_no_judgement_yet_names_a_query_that_is_there(corpus: Corpus) -> None:
    assert "such as q<TAB>a<TAB>1" in corpus.write(qrels="query-id\tcorpus-id\tscore\n").fault()


def test_a_missing_corpus_names_the_command_that_writes_one(corpus: Corpus) -> None:
    (corpus.root / "corpus.jsonl").unlink()
    assert "`glyphrank new` writes them for a folder of documents" in corpus.fault()


def test_queries_without_a_row_in_the_judgements_are_named(corpus: Corpus) -> None:
    corpus.write(qrels="query-id\tcorpus-id\tscore\nq\ta\t1\n")
    assert corpus.load().notes == ("queries.jsonl: 1 query has no row in qrels.tsv ('r')",)
