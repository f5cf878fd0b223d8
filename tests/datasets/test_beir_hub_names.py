from __future__ import annotations

import pytest

from glyphrank.datasets.beir_hub_names import Found, Part, find_tables


def card(configs: str) -> str:
    return f"---\nlicense: mit\nconfigs:\n{configs}\n---\nconfigs: none of these\n"


def places(names: list[str], text: str = "") -> set[tuple[str, str | None, str | None, tuple[str, ...]]]:
    return {(table.part.value, table.subset, table.split, table.files) for table in find_tables(names, text)}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("corpus.parquet", ("corpus", None, None)),
        ("corpus.jsonl", ("corpus", None, None)),
        ("query.jsonl", ("queries", None, None)),
        ("corpus/test-00000-of-00001.parquet", ("corpus", None, "test")),
        ("corpus/test-00000-of-00001-0123abcdef.parquet", ("corpus", None, "test")),
        ("corpus/corpus-00000-of-00001.parquet", ("corpus", None, "corpus")),
        ("corpus/0000.parquet", ("corpus", None, None)),
        ("corpus/part-3.parquet", ("corpus", None, None)),
        ("corpus/test/0000.parquet", ("corpus", None, "test")),
        ("data/corpus-00000-of-00001.parquet", ("corpus", None, None)),
        ("qrels/dev.tsv", ("qrels", None, "dev")),
        ("qrels/test.jsonl", ("qrels", None, "test")),
        ("qrels.tsv", ("qrels", None, None)),
        ("qrels-test.tsv", ("qrels", None, "test")),
        ("queries-train.jsonl", ("queries", None, "train")),
        ("queries-ko.jsonl", ("queries", "ko", None)),
        ("english-corpus/test-00000-of-00002.parquet", ("corpus", "english", "test")),
        ("pt-br-corpus/test.parquet", ("corpus", "pt-br", "test")),
        ("corpus-ko/test.parquet", ("corpus", "ko", "test")),
        ("ko/corpus.parquet", ("corpus", "ko", None)),
        ("ko/images.parquet", ("images", "ko", None)),
        ("ar/queries/test-00000-of-00001.parquet", ("queries", "ar", "test")),
        ("default/queries/test-00000-of-00001.parquet", ("queries", None, "test")),
        ("sets/ko/qrels/test.tsv", ("qrels", "sets-ko", "test")),
    ],
)
def test_a_table_is_known_by_the_names_of_file_and_folders(
    name: str, place: tuple[str, str | None, str | None]
) -> None:
    assert places([name]) == {(*place, (name,))}


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/test.parquet",
        "documents_metadata/test.parquet",
        "top_ranked.jsonl",
        "images/1.png",
        "corpus.csv",
        "corpus.tsv",
        "corpus.jsonl.gz",
        "corpora.parquet",
        ".cache/huggingface/download/corpus.parquet",
    ],
)
def test_other_files_are_no_tables(name: str) -> None:
    assert find_tables([name], "") == []


def test_the_parts_of_a_table_come_in_the_order_of_their_names() -> None:
    names = [f"corpus/test-0000{part}-of-00003.parquet" for part in (2, 0, 1)]
    assert places(names) == {("corpus", None, "test", tuple(sorted(names)))}


def test_tables_of_two_kinds_of_files_are_two() -> None:
    assert len(find_tables(["corpus.jsonl", "corpus.parquet", "corpus/a.parquet"], "")) == 3


CARD = """- config_name: corpus
  data_files:
  - split: test
    path: corpus/test-*
- config_name: english-queries
  data_files:
  - split: test
    path:
    - questions/en-*.parquet
    - questions/more.parquet
- config_name: docs
  data_files: docs.parquet
- config_name: qrels
  data_files:
    dev: ./rel/dev.tsv
    test: rel/test.tsv
"""


def test_the_configs_of_a_card_name_tables() -> None:
    names = ["corpus/test-00000-of-00001.parquet", "corpus/train-00000-of-00001.parquet", "docs.parquet", "x.jsonl"]
    names += ["questions/en-1.parquet", "questions/en-0.parquet", "questions/more.parquet", "rel/dev.tsv"]
    assert places(names, card(CARD)) == {
        ("corpus", None, "test", ("corpus/test-00000-of-00001.parquet",)),
        ("queries", "english", "test", ("questions/en-0.parquet", "questions/en-1.parquet", "questions/more.parquet")),
        ("qrels", None, "dev", ("rel/dev.tsv",)),
        ("qrels", None, "test", ()),
    }


def test_a_part_that_the_card_does_not_name_is_found_by_its_files() -> None:
    text = card("- config_name: corpus\n  data_files: all.parquet")
    assert places(["all.parquet", "corpus.parquet", "qrels/test.tsv"], text) == {
        ("corpus", None, None, ("all.parquet",)),
        ("qrels", None, "test", ("qrels/test.tsv",)),
    }


@pytest.mark.parametrize(
    ("configs", "files"),
    [
        ("- config_name: corpus\n  data_files: 'a/*.parquet'", ("a/x.parquet",)),
        ("- config_name: corpus\n  data_files: '**/*.parquet'", ("a/b/y.parquet", "a/x.parquet", "z.parquet")),
        ("- config_name: corpus\n  data_files: 'a/**'", ("a/b/y.parquet", "a/x.parquet")),
        ("- config_name: corpus\n  data_files: a", ("a/b/y.parquet", "a/x.parquet")),
        ("- config_name: corpus\n  data_dir: a", ("a/b/y.parquet", "a/x.parquet")),
        ("- config_name: corpus\n  data_dir: a\n  data_files: 'b/?.parquet'", ("a/b/y.parquet",)),
        ("- config_name: corpus\n  data_files: ['[xz].parquet', 'a/x.parquet']", ("a/x.parquet", "z.parquet")),
        ("- config_name: corpus\n  data_files: '[!xa].parquet'", ("z.parquet",)),
        ("- config_name: corpus\n  data_files: '{a/x,z,none}.parquet'", ("a/x.parquet", "z.parquet")),
        ("- config_name: corpus\n  data_files: 'a/{b/,}[w-y].parquet'", ("a/b/y.parquet", "a/x.parquet")),
        ("- config_name: corpus\n  data_files: 'a/[z-a]*'", ()),
        ("- config_name: corpus\n  data_files: 'a/[z-'", ()),
        ("- config_name: corpus\n  data_files: 'a/{x'", ()),
        ("- config_name: corpus\n  data_files: ['a/*', './a/x.parquet', a/x.parquet]", ("a/x.parquet",)),
        ("- config_name: corpus\n  data_files: '../a/x.parquet'", ()),
        ("- config_name: corpus", ()),
    ],
)
def test_the_patterns_of_a_card(configs: str, files: tuple[str, ...]) -> None:
    found = find_tables(["a/x.parquet", "a/b/y.parquet", "z.parquet"], card(configs))
    assert tuple(file for table in found for file in table.files) == files


def test_default_is_relevance_where_nothing_else_is() -> None:
    text = card("- config_name: default\n  data_files: a.jsonl\n- config_name: corpus\n  data_files: corpus.jsonl")
    assert ("qrels", None, None, ("a.jsonl",)) in places(["a.jsonl", "corpus.jsonl"], text)
    more = "\n- config_name: qrels\n  data_files: b.jsonl"
    assert ("qrels", None, None, ("b.jsonl",)) in places(["b.jsonl"], text.replace("\n---\nc", f"{more}\n---\nc"))
    assert ("qrels", None, None, ("a.jsonl",)) not in places(["a.jsonl"], text.replace("\n---\nc", f"{more}\n---\nc"))


def test_a_config_that_is_called_as_a_subset_is_its_relevance() -> None:
    text = card("- config_name: en\n  data_files: a.jsonl\n- config_name: corpus-en\n  data_files: corpus.jsonl")
    assert ("qrels", "en", None, ("a.jsonl",)) in places(["a.jsonl"], text)


def test_splits_may_be_called_as_tables() -> None:
    text = card("- config_name: default\n  data_files:\n  - {split: corpus, path: a}\n  - {split: queries, path: b}")
    assert places(["a", "b"], text) == {("corpus", None, None, ("a",)), ("queries", None, None, ("b",))}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# A card",
        "---\nnever ends",
        "---\n: [\n---\n",
        "---\n- a list\n---\n",
        "---\nconfigs: corpus\n---\n",
        "---\nconfigs: [corpus, 3]\n---\n",
        "---\nconfigs: [{data_files: [3, {split: test}]}]\n---\n",
    ],
)
def test_a_card_that_names_no_tables_leaves_it_to_the_files(text: str) -> None:
    assert find_tables(["corpus.parquet"], text) == [
        Found(Part.corpus, None, None, ("corpus.parquet",), "corpus.parquet")
    ]


def test_a_split_called_default_is_no_split() -> None:
    text = card("- config_name: qrels-ko\n  data_files:\n  - split: default\n    path: ko/qrels.parquet")
    assert places(["ko/qrels.parquet"], text) == {("qrels", "ko", None, ("ko/qrels.parquet",))}


def test_a_split_that_a_config_names_twice_is_one_table_whose_files_count_once() -> None:
    text = card(
        "- config_name: corpus\n  data_files:\n  - {split: test, path: 'a/*'}\n"
        "  - {split: test, path: a/x.parquet}\n  - {split: dev, path: z.parquet}"
    )
    names = ["a/x.parquet", "a/y.parquet", "z.parquet"]
    assert [(table.split, table.files) for table in find_tables(names, text)] == [
        ("test", ("a/x.parquet", "a/y.parquet")),
        ("dev", ("z.parquet",)),
    ]


def test_every_pattern_for_which_no_file_is_there_is_known() -> None:
    text = card("- config_name: corpus\n  data_files: [a.parquet, 'b/*', c.parquet]")
    (table,) = find_tables(["a.parquet"], text)
    assert table == Found(Part.corpus, None, None, ("a.parquet",), "a.parquet, b/*, c.parquet", ("b/*", "c.parquet"))
