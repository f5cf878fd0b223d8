"""`queries.csv`: what every query got, as it reads back, whatever stands in its id."""

from __future__ import annotations

import csv
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glyphrank.errors import DataError
from glyphrank.records import Direction
from glyphrank.report.queries import PerQuery, read_queries, write_queries
from per_query import assert_same_tables, table_of
from ranked import MISS, rank

ODD = [
    "q, 1",
    'say "yes"',
    "two\nlines",
    "cr\rlf\r\n",
    unicodedata.normalize("NFD", "한국어"),
    " 가 %20",
    "0001",
    '"',
    "",
]


def _table() -> PerQuery:
    ranks = rank(
        {"q1": [3.0, 2, 1], "q2": [1.0, 1, MISS], "none": [1.0, 2, 3]}, "abc", {"q1": {"b": 1}, "q2": {"c": 2}}
    )
    return table_of(ranks, slices={"type": {"q1": "글", "none": "표"}}, channels={"lexical": ranks})


def test_every_query_has_its_line_with_empty_cells_where_nothing_is_relevant(tmp_path: Path) -> None:  # case M05
    write_queries(tmp_path / "queries.csv", {Direction.t2v: _table()})
    with (tmp_path / "queries.csv").open(encoding="utf-8", newline="") as stream:
        first, second, last = csv.DictReader(stream)
    assert list(first)[:4] == ["direction", "query_id", "group", "slice/type"]
    assert list(first)[-1] == "channel/lexical/best_rank"
    assert (first["direction"], first["query_id"], first["group"], first["slice/type"]) == ("t2v", "q1", "0", "글")
    assert (first["best_rank"], first["hit_rate_at_1"], first["recall_at_5"]) == ("2.0", "0.0", "1.0")
    assert (second["best_rank"], second["slice/type"]) == ("3.0", "")
    assert last == {**dict.fromkeys(last, ""), "direction": "t2v", "query_id": "none", "group": "2", "slice/type": "표"}


def test_the_table_reads_back_as_it_was_in_both_directions(tmp_path: Path) -> None:
    back = rank({"a": [1.0, 0, 2], "b": [1.0, 2, 0]}, ["q1", "q2", "none"], {"b": {"q1": 1}})
    reverse = table_of(back, slices={"scene": {"a": "street"}}, channels={"lexical": back})
    tables = {Direction.t2v: _table(), Direction.v2t: reverse}
    write_queries(tmp_path / "queries.csv", tables)
    assert_same_tables(read_queries(tmp_path / "queries.csv"), tables)


def test_long_ids_and_slices_come_back_and_the_limit_of_others_stays(tmp_path: Path) -> None:
    long = "가," * 100_000
    ranks = rank({long: [3.0, 2, 1]}, "abc", {long: {"b": 1}})
    table = {Direction.t2v: table_of(ranks, slices={long: {long: long}}, channels={})}
    limit = csv.field_size_limit()
    write_queries(tmp_path / "queries.csv", table)
    assert_same_tables(read_queries(tmp_path / "queries.csv"), table)
    with pytest.raises(DataError):
        read_queries(tmp_path / "nowhere.csv")
    assert csv.field_size_limit() == limit


def test_odd_ids_and_slices_come_back_as_published(tmp_path: Path) -> None:  # case M12
    count = len(ODD)
    ranks = rank(
        {name: list(np.eye(count)[row]) for row, name in enumerate(ODD)}, ODD, {name: {name: 1} for name in ODD}
    )
    slices = {"a/b, c": dict(zip(ODD, reversed(ODD), strict=True)), "channel/x/best_rank": {ODD[0]: "1"}}
    tables = {Direction.t2v: table_of(ranks, slices=slices)}
    write_queries(tmp_path / "queries.csv", tables)
    assert_same_tables(read_queries(tmp_path / "queries.csv"), tables)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(
    st.lists(texts, min_size=1, max_size=4, unique=True),
    st.lists(st.floats(allow_infinity=False), min_size=4, max_size=4).filter(lambda some: not np.isnan(some[0])),
    st.lists(st.none() | texts, min_size=4, max_size=4),
)
def test_any_ids_numbers_and_slices_read_back(ids: list[str], numbers: list[float], values: list[str | None]) -> None:
    own = {name: value for name, value in zip(ids, values, strict=False) if value is not None}
    table = PerQuery(
        tuple(ids),
        np.arange(len(ids))[::-1].copy(),
        {"field": own} if own else {},
        {"ndcg_at_10": np.array(numbers[: len(ids)])},
        {},
    )
    path = Path("queries.csv")
    write_queries(path, {Direction.v2t: table})
    assert_same_tables(read_queries(path), {Direction.v2t: table})


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the header begins"),
        ("direction,query_id\n", "the header begins"),
        ("direction,query_id,group\n", "no line below the header"),
        ("direction,query_id,group,x,x\nt2v,q,0,1,1\n", "each once"),
        ("direction,query_id,group,x\nt2v,q,0\n", "row 2 has 3 cells; wanted 4"),
        ("direction,query_id,group\nt2v,q,0\nt2v,p,none\n", "row 3: invalid literal"),
        ("direction,query_id,group\nup,q,0\n", "row 2: 'up' is not a valid Direction"),
        ("direction,query_id,group,x\nt2v,q,0,one\n", "column 'x': could not convert"),
        ("direction,query_id,group\nt2v,q,0\nt2v,q,1\n", "a query stands twice"),
        ('direction,query_id,group,slice/x\nt2v,q,0,"""a"\n', "Unterminated string"),
        ('direction,query_id,group\nt2v,"q', "row 2 has 2 cells; wanted 3"),
    ],
)
def test_a_damaged_table_is_refused_with_its_name(tmp_path: Path, text: str, message: str) -> None:  # case C02
    (tmp_path / "queries.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"queries\.csv: .*run the experiment again") as caught:
        read_queries(tmp_path / "queries.csv")
    assert message in str(caught.value)


def test_a_table_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"queries\.csv: cannot be read \(No such file"):
        read_queries(tmp_path / "queries.csv")
    (tmp_path / "queries.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"queries\.csv: 'utf-8' codec"):
        read_queries(tmp_path / "queries.csv")
