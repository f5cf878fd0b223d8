from __future__ import annotations

import pytest

from glyphrank.datasets.beir_hub_shards import missing_shards


@pytest.mark.parametrize(
    ("there", "lacking"),
    [
        (["c/test-00000-of-00003.parquet", "c/test-00002-of-00003.parquet"], ["c/test-00001-of-00003.parquet"]),
        (["c/a.parquet", "c-00001-of-00002.parquet"], ["c-00000-of-00002.parquet"]),
        (["data/corpus-00000-of-00001-0123abcdef.parquet"], []),
        (["c-00000-of-00002-0a.parquet", "c-00001-of-00002-0b.parquet"], []),
        (["c-00000-of-00002-0a.parquet"], ["c-00001-of-00002-*.parquet"]),
        (["c/0000.parquet", "c/0002.parquet"], ["c/0001.parquet"]),
        (
            ["c/0001.parquet", "c/0003.parquet"],
            ["c/0000.parquet", "c/0002.parquet"],
        ),
        (["c/p0001.parquet", "c/p0003.parquet"], ["c/p0002.parquet"]),
        (["part-0.jsonl", "part-2.jsonl"], ["part-1.jsonl"]),
        (["c/part-8.tsv", "c/part-1.tsv"], [f"c/part-{number}.tsv" for number in range(2, 8)]),
        (["v2/a-1-of-b.jsonl", "v2/a-3-of-b.jsonl"], ["v2/a-2-of-b.jsonl"]),
        (["1/part-0.jsonl", "1/part-1.jsonl", "2/part-0.jsonl", "2/part-2.jsonl"], ["2/part-1.jsonl"]),
    ],
)
def test_parts_that_lack_are_named(there: list[str], lacking: list[str]) -> None:
    assert missing_shards(there) == lacking
    assert missing_shards(there[::-1]) == lacking


@pytest.mark.parametrize(
    "there",
    [
        [],
        ["corpus.parquet"],
        ["0003.parquet"],
        ["2019.parquet", "2021.parquet"],
        ["1.parquet", "20240101.parquet"],
        ["c/9.parquet", "c/10.parquet", "c/8.parquet"],
        ["c/0.parquet", "c/1.parquet", "d/3.parquet"],
        [f"c/{number}.parquet" for number in range(12)],
        [f"c/{number:04}.parquet" for number in range(12)],
    ],
)
def test_names_that_tell_of_no_gap_are_left_alone(there: list[str]) -> None:
    assert missing_shards(there) == []


def test_the_hubs_converter_counts_from_0() -> None:
    assert missing_shards(["qrels/test/0001.parquet"]) == ["qrels/test/0000.parquet"]
    assert missing_shards(["corpus/test/0002.parquet"]) == ["corpus/test/0000.parquet", "corpus/test/0001.parquet"]
    assert missing_shards(["corpus/2023.parquet"]) == []
