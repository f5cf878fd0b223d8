"""The faults of all files of a folder come at once, and none is told twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora import CORPUS, QRELS, QUERIES, Corpus
from pdf_files import write_pdf


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "fruit", tmp_path / "cache")


def test_faults_of_all_files_come_in_one_message(corpus: Corpus) -> None:
    write_pdf(corpus.root / "x.pdf", "1")
    corpus.write(
        corpus=CORPUS + '{"id": "c", "text": 3}\n{"id": "d", "media": "x.pdf", "page": 9}\n',
        queries=QUERIES + '{"id": "s", "text": " "}\n{"id": 1.5, "text": "x"}\n',
        qrels=QRELS + "q\tp9\t1\ns\tc\t1\ns\td\t1\n",
    )
    assert corpus.fault().splitlines() == [
        f"{corpus.root}/corpus.jsonl: line 3: 'c': text is 3; wanted text",
        f"{corpus.root}/corpus.jsonl: line 4: 'd': page 9 of x.pdf, which has 1; pages are numbered from 1",
        f"{corpus.root}/queries.jsonl: line 4: the id is 1.5; wanted text or a whole number",
        f"{corpus.root}/queries.jsonl: line 3: the query 's' has no text",
        f"{corpus.root}/qrels.tsv: query 'q' names the item 'p9', not among the 4 items of corpus.jsonl",
    ]


def test_missing_files_are_all_named(corpus: Corpus) -> None:
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        (corpus.root / name).unlink()
    message = corpus.fault()
    assert len(message.splitlines()) == 3
    assert all(name in message for name in ("corpus.jsonl: cannot", "queries.jsonl: cannot", "qrels.tsv nor"))


def test_faults_of_two_kinds_of_media_come_together(corpus: Corpus) -> None:
    write_pdf(corpus.root / "x.pdf", "1")
    message = corpus.pages('"media": "../x.pdf"', '"media": "x.pdf", "page": 2').fault()
    assert "2 faults" in message
    assert "line 1: 'a': media is '../x.pdf'" in message
    assert "line 2: 'b': page 2 of x.pdf" in message


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "c"}',
        '{"id": "c", "text": ["x"]}',
        '{"id": "c", "page": 2, "text": "x"}',
        '{"id": "c", "text": "x", "text": "y"}',
        '{"id": "c", "text": "\\ud83d"}',
        '{"id": "c", "media": "../c.pdf"}',
    ],
)
def test_an_id_on_a_faulty_line_is_known(corpus: Corpus, line: str) -> None:
    message = corpus.write(corpus=f"{CORPUS}{line}\n", qrels=QRELS + "q\tc\t1\n").fault()
    assert "corpus.jsonl: line 3: " in message
    assert "\n" not in message


def test_an_id_that_repeats_that_of_a_faulty_line_is_told_with_it(corpus: Corpus) -> None:
    message = corpus.write(corpus='{"id": "a"}\n' + CORPUS).fault()
    assert "line 1: the item 'a' has neither" in message
    assert "line 2: the id 'a' stands on line 1 already" in message


def test_unknown_ids_are_judged_against_what_could_be_read(corpus: Corpus) -> None:
    message = corpus.write(corpus=CORPUS + "{\n", qrels=QRELS + "q\tp9\t1\n").fault()
    assert "corpus.jsonl: line 3: not JSON" in message
    assert "names the item 'p9', not among the 2 items of corpus.jsonl that could be read (1 could not)" in message


def test_ids_behind_the_end_of_a_damaged_file_are_not_called_unknown(corpus: Corpus) -> None:
    (corpus.root / "corpus.jsonl").write_bytes(CORPUS.encode() + '{"id": "c", "text": "한국"}'.encode("cp949"))
    message = corpus.write(qrels=QRELS + "q\tc\t1\nx\ta\t1\n").fault()
    assert "corpus.jsonl, line 3: bytes that are not UTF-8" in message
    assert "'c'" not in message
    assert "the query 'x' is not among the 2 queries of queries.jsonl" in message


def test_damaged_judgements_do_not_hide_other_faults(corpus: Corpus) -> None:
    message = corpus.write(corpus='{"id": "a"}\n', qrels="q\ta\tmuch\n").fault()
    assert "corpus.jsonl: line 1: " in message
    assert "qrels.tsv: line 1: " in message


def test_faulty_lines_of_judgements_do_not_hide_unknown_ids_on_others(corpus: Corpus) -> None:
    message = corpus.write(qrels=QRELS + "q\ta\tmuch\nq\tp9\t1\nq\tb\tmore\n").fault()
    for part in ("the score 'much'", "the score 'more'", "query 'q' names the item 'p9'"):
        assert part in message


def test_a_query_and_an_item_that_are_both_unknown_are_both_named(corpus: Corpus) -> None:
    message = corpus.write(qrels=QRELS + "x\tp9\t1\n").fault()
    assert "the query 'x' is not among" in message
    assert "query 'x' names the item 'p9'" in message
