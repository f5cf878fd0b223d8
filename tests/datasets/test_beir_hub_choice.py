from __future__ import annotations

import pytest

from glyphrank.datasets.beir_hub_choice import Tables, choose
from glyphrank.errors import DataError

WHOLE = ["corpus.parquet", "queries.parquet", "qrels.parquet"]


def chosen(names: list[str], split: str = "test", subset: str | None = None) -> Tables:
    return choose(names, "", split, subset, "set")


def fault(names: list[str], split: str = "test", subset: str | None = None) -> str:
    with pytest.raises(DataError) as caught:
        chosen(names, split, subset)
    return str(caught.value)


def of(subset: str) -> list[str]:
    return [f"{subset}/{name}" for name in WHOLE]


def test_tables_that_are_not_divided_make_a_dataset() -> None:
    tables = chosen(WHOLE, "anything")
    assert tables.files == tuple(WHOLE)
    assert tables.images is None


def test_corpus_and_queries_may_have_one_split_of_another_name() -> None:
    names = ["corpus/corpus.parquet", "queries/queries.parquet", "qrels/test.tsv", "qrels/dev.tsv"]
    assert chosen(names).files == ("corpus/corpus.parquet", "queries/queries.parquet", "qrels/test.tsv")


def test_the_split_is_taken_where_it_is() -> None:
    names = [f"{part}/{split}.parquet" for part in ("corpus", "queries", "qrels") for split in ("dev", "test")]
    assert chosen(names, "dev").files == ("corpus/dev.parquet", "queries/dev.parquet", "qrels/dev.parquet")


def test_judgements_of_another_split_are_not_taken() -> None:
    assert "no qrels of the split 'test'; there is dev, train: set dataset.split" in fault(
        ["corpus.parquet", "queries.parquet", "qrels/dev.tsv", "qrels/train.tsv"]
    )


def test_a_corpus_of_several_other_splits_is_not_guessed() -> None:
    message = fault(["corpus/a.parquet", "corpus/b.parquet", "queries.parquet", "qrels.parquet"])
    assert "no corpus of the split 'test'; there is a, b" in message


def test_one_subset_need_not_be_named() -> None:
    assert chosen(of("ko")).subset == "ko"
    assert chosen(of("ko")) == chosen(of("ko"), subset="ko")


def test_several_subsets_are_named() -> None:
    assert "it has the subsets en, ko: set dataset.subset" in fault(of("ko") + of("en"))
    assert chosen(of("ko") + of("en"), subset="en").files == tuple(of("en"))


def test_an_unknown_subset_is_told_those_there_are() -> None:
    assert "there is no subset 'de'; its subsets are en, ko" in fault(of("ko") + of("en"), subset="de")
    assert "there is no subset 'de'; it has none: set dataset.subset=null" in fault(WHOLE, subset="de")


def test_a_subset_may_share_the_corpus() -> None:
    names = ["corpus.parquet", *of("ko")[1:], *of("en")[1:]]
    assert chosen(names, subset="ko").files == ("corpus.parquet", "ko/queries.parquet", "ko/qrels.parquet")
    assert "set dataset.subset" in fault(names)


def test_the_whole_may_stand_beside_subsets() -> None:
    assert chosen(WHOLE + of("ko")).files == tuple(WHOLE)


def test_pictures_of_the_subset_come_with_it() -> None:
    tables = chosen([*of("ko"), "ko/images.parquet", "en/images.parquet"], subset="ko")
    assert tables.files[3:] == ("ko/images.parquet",)


def test_all_that_is_missing_is_said_at_once_with_what_there_is() -> None:
    message = fault(["corpus/dev.parquet", "corpus/train.parquet", "english-queries/test.parquet"])
    assert message.splitlines() == [
        "set: its files do not make a dataset (split 'test'):",
        "  no corpus of the split 'test'; there is dev, train",
        "  no qrels; looked for a config of that name in README.md, and for files .parquet, .jsonl or .tsv that are "
        "called qrels or lie in a folder qrels, a subset before or after it (english-qrels, qrels-en, en/qrels)",
        "  found: corpus (dev, train) · english queries (test)",
    ]


def test_every_fault_of_the_choice_is_one_of_the_errors_faults() -> None:
    with pytest.raises(DataError) as caught:
        chosen(["corpus/dev.parquet", "corpus/train.parquet"])
    assert [line.partition("; ")[0] for line in caught.value.faults] == [
        "set: no corpus of the split 'test'",
        "set: no queries",
        "set: no qrels",
        "set: found: corpus (dev, train)",
    ]


def test_nothing_at_all_is_said_too() -> None:
    assert fault(["train.csv", "README.md"]).endswith("found: no table among 2 files (README.md, train.csv)")
    assert fault([]).endswith("found: no file")


def test_two_tables_for_one_part_are_ambiguous() -> None:
    message = fault([*WHOLE, "corpus.jsonl"])
    assert "2 tables may be the corpus: corpus.jsonl and corpus.parquet; keep one of them" in message


def test_a_table_of_which_a_part_is_missing_is_incomplete() -> None:
    message = fault(["corpus-00001-of-00002.parquet", *WHOLE[1:]])
    assert "the corpus is incomplete: corpus-00000-of-00002.parquet is missing; fetch what is missing" in message
    message = fault(["corpus/0000.parquet", "corpus/0003.parquet", *WHOLE[1:]])
    assert "the corpus is incomplete: corpus/0001.parquet, corpus/0002.parquet are missing; fetch" in message


CARD = "---\nconfigs:\n- config_name: corpus\n  data_files: {}\n---\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ("absent-*", "README.md says that absent-* holds the corpus, and no such file is there"),
        ("'corpus/[z-a]*'", "README.md says that corpus/[z-a]* holds the corpus, and no such file is there"),
        ("[a.jsonl, b.jsonl]", "README.md says that b.jsonl holds the corpus, and no such file is there"),
        ("[{path: null}]", "README.md names no file for the corpus: its path is empty; wanted a name or pattern"),
        (f"'{'{a,b}' * 30}'", "more than 1000 alternatives in braces; name the files, or fewer patterns"),
        ("a.csv", "the corpus is in a.csv; wanted .jsonl, .parquet"),
        ("[a.jsonl, a.parquet]", "the corpus is in files of several kinds: a.jsonl, a.parquet"),
    ],
)
def test_a_card_that_does_not_fit_the_files_is_told(files: str, said: str) -> None:
    names = ["a.csv", "a.jsonl", "a.parquet", *WHOLE[1:]]
    with pytest.raises(DataError) as caught:
        choose(names, CARD.format(files), "test", None, "set")
    assert said in str(caught.value)
