"""TREC and BEIR files: ids survive, faults name file and line."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from glyphrank.errors import DataError
from glyphrank.faults import Faults
from glyphrank.ranking import RankCounter
from glyphrank.records import Direction
from glyphrank.trec import gather_qrels, read_qrels, read_run, write_qrels, write_run
from ranked import rank

ODD = "공고/2024 + (안) [3]_9 100%\u3000ｆ%20"


def _file(folder: Path, text: str, name: str = "qrels.tsv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_read_qrels_of_trecs_four_columns(tmp_path: Path) -> None:
    qrels = read_qrels(_file(tmp_path, "q1 0 a 1\nq1 0 b 2\nq2\t0\tc\t0\nq1 0 d -1\n"))
    assert qrels.gains == {"q1": {"a": 1.0, "b": 2.0}, "q2": {}}
    assert qrels.irrelevant == {"q1": frozenset("d"), "q2": frozenset("c")}


def test_read_qrels_of_beir_takes_spaces_in_ids_as_published(tmp_path: Path) -> None:
    qrels = read_qrels(_file(tmp_path, "query-id\tcorpus-id\tscore\nq 1\tdoc a%20b_1\t1\nq 1\tdoc_2\t0.5\r\n"))
    assert qrels.gains == {"q 1": {"doc a%20b_1": 1.0, "doc_2": 0.5}}


def test_read_qrels_finds_the_columns_by_the_headers_names(tmp_path: Path) -> None:
    qrels = read_qrels(_file(tmp_path, "\ufeffcorpus-id\tscore\tquery-id\tbox\na\t2\tq\t[0, 1]\n"))
    assert qrels.gains == {"q": {"a": 2.0}}


def test_read_qrels_of_three_columns_without_header(tmp_path: Path) -> None:
    assert read_qrels(_file(tmp_path, "q\ta\t1\nq\tb\t1\n")).gains == {"q": {"a": 1.0, "b": 1.0}}


def test_ids_are_text_as_written(tmp_path: Path) -> None:  # case M12
    assert read_qrels(_file(tmp_path, "007 0 0001 1\n7 0 1 1\n7 0 12.0 1\n")).gains == {
        "007": {"0001": 1.0},
        "7": {"1": 1.0, "12.0": 1.0},
    }


def test_read_qrels_drops_and_counts_exact_repeats(tmp_path: Path) -> None:  # case M08
    qrels = read_qrels(_file(tmp_path, "q 0 a 1\nq 0 b 1\nq 0 a 1.0\nq 0 a 1\n"))
    assert qrels.gains == {"q": {"a": 1.0, "b": 1.0}}
    assert qrels.repeats == 2


def test_read_qrels_names_both_lines_of_a_contradiction(tmp_path: Path) -> None:  # case M08
    path = _file(tmp_path, "query-id\tcorpus-id\tscore\nq\ta\t1\nq\tb\t1\nq\ta\t2\n")
    with pytest.raises(DataError, match=r"qrels\.tsv: line 2 .* line 4"):
        read_qrels(path)


def test_read_qrels_sees_repeats_across_unicode_forms(tmp_path: Path) -> None:  # case P04
    composed, decomposed = "\ud55c", "\u1112\u1161\u11ab"
    qrels = read_qrels(_file(tmp_path, f"q 0 {composed} 1\nq 0 {decomposed} 1\n"))
    assert qrels.gains == {"q": {composed: 1.0}}
    assert qrels.repeats == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n  \n", "the file is empty"),
        ("query-id\tcorpus-id\tscore\n", "only a header"),
        ("\nquery-id\tcorpus-id\tscore\n\n", "only a header"),
        ("a\tb\tc\n", r"line 1: the header .*query-id"),
        ("q 0 a 1\nq 0 a b 1\n", "line 2: 5 columns"),
        ("q 0 a one\n", "line 1: the gain 'one'"),
        ("q 0 a nan\n", "line 1: the gain 'nan'"),
        ("q 0 a 1_0\n", "line 1: the gain '1_0'"),
        ("query-id\tcorpus-id\tscore\nq\ta\n", "line 2: 2 tab-separated columns"),
        ("query-id\tcorpus-id\tscore\nq a 1\n", "line 2: 1 tab-separated .*mixes spaces and tabs"),
        ("query-id\tcorpus-id\tscore\nq a\t1\n", "line 2: 2 tab-separated .*mixes spaces and tabs"),
        ("q\ta\t1\nq 0 b 1\n", "line 2: 1 tab-separated .*mixes spaces and tabs"),
        ("q\ta\t1\nq\t0\t12\t1\n", "line 2: 4 tab-separated columns"),
        ("query-id corpus-id\tscore\nq\ta\t1\n", "line 1: 3 columns.*a header needs tabs"),
        ("query-id corpus-id score\nq a 1\n", "line 1: 3 columns.*a header needs tabs"),
        ("q 0 a 1\nq a 1\n", "line 2: 3 columns.*score$"),
        ("q\t0\ta\t1\nq\ta\t1\n", "line 2: 3 columns.*score$"),
        ("q\t0\ta\t1\nq 0 a b\t1\n", "line 2: 5 columns.*mixes spaces and tabs"),
        ("q 0 a 1\nq\ta\t1\n", "line 2: 3 columns.*mixes spaces and tabs"),
        ("query-id\tcorpus-id\tscore\nq\ta\t\n", "line 2: the score ''"),
        ("query-id\tcorpus-id\tscore\nq\t\t1\n", "line 2: an empty item id"),
        ("query-id\tcorpus-id\tscore\n\ta\t1\n", "line 2: an empty query id"),
    ],
)
def test_read_qrels_names_file_and_line_of_a_fault(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"qrels\.tsv.*{message}"):
        read_qrels(_file(tmp_path, text))


def test_the_faults_of_all_lines_of_judgements_come_together(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_qrels(_file(tmp_path, "q\ta\t1\nq\tb\tmuch\nq\ta\t2\nq\n\n\ta\t1\n" + "q\tc\tx\n" * 9))
    assert str(caught.value).endswith("and 8 more")
    faults = [fault.removeprefix(f"{tmp_path / 'qrels.tsv'}: ") for fault in caught.value.faults]
    assert faults[:4] == [
        "line 2: the score 'much'; wanted a finite number",
        "line 1 gives query 'q', item 'a' the gain 1 and line 3 the gain 2; wanted one gain for a pair; "
        "remove the wrong one",
        "line 4: 1 tab-separated columns; wanted query, item and score",
        "line 6: an empty query id; wanted text",
    ]
    assert [fault.partition(":")[0] for fault in faults[4:]] == [f"line {number}" for number in range(7, 16)]


def test_files_that_make_one_table_are_read_as_one(tmp_path: Path) -> None:
    texts = {
        "a": "query-id\tcorpus-id\tscore\nq\ta\t1\n",
        "b": "q 0 a 2\nq 0 b 1\nr 0 a x\n",
        "c": "",
        "d": "x\ty\tz\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    faults = Faults(tmp_path)
    qrels = gather_qrels({name: tmp_path / name for name in texts}, faults)
    assert qrels.gains == {"q": {"a": 1.0, "b": 1.0}}
    with pytest.raises(DataError) as caught:
        faults.stop()
    first, second, *rest = (fault.removeprefix(f"{tmp_path}: ") for fault in caught.value.faults)
    assert first.startswith("a line 2 gives query 'q', item 'a' the gain 1 and b line 1 the gain 2")
    assert second == "b line 3: the gain 'x'; wanted a finite number"
    assert [fault[:9] for fault in rest] == ["c: the fi", "d: line 1"]


def test_files_that_are_missing_or_not_utf8_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.trec: cannot be read"):
        read_run(tmp_path / "none.trec")
    path = tmp_path / "cp949.trec"
    path.write_bytes("q Q0 a 1 0.5 t\nq Q0 한글 2 0.4 t\n".encode("cp949"))
    with pytest.raises(DataError, match=r"cp949\.trec: line 2: bytes that are not UTF-8"):
        read_run(path)


def test_read_run_keeps_the_order_of_lines(tmp_path: Path) -> None:
    run = read_run(_file(tmp_path, "q Q0 b 9 0.25 tag\np Q0 x 1 1e-3 tag\nq\tQ0\ta\t1\t0.5\ttag\n"))
    assert run.items == {"q": ["b", "a"], "p": ["x"]}
    assert run.scores == {"q": [0.25, 0.5], "p": [0.001]}


@pytest.mark.parametrize(
    ("line", "message"),
    [("q Q0 a 1 0.5", "5 columns"), ("q Q0 a 1 inf t", "the score 'inf'"), ("q Q0 a 1 nan t", "the score 'nan'")],
)
def test_read_run_names_file_and_line_of_a_fault(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"run\.trec: line 2: {message}"):
        read_run(_file(tmp_path, f"q Q0 z 1 0.9 t\n{line}\n", "run.trec"))


def test_ids_with_white_space_and_percent_survive_run_and_qrels(tmp_path: Path) -> None:
    ranks = rank({ODD: [0.1, 0.3]}, [ODD, "b\tc"], {ODD: {ODD: 1}})
    write_run(tmp_path / "run.trec", ranks, "my run")
    write_qrels(tmp_path / "qrels", {ODD: {ODD: 1.0, "b\tc": 0.5}})
    assert all(len(line.split()) == 6 for line in (tmp_path / "run.trec").read_text().splitlines())
    assert read_run(tmp_path / "run.trec").items == {ODD: ["b\tc", ODD]}
    assert read_qrels(tmp_path / "qrels").gains == {ODD: {ODD: 1.0, "b\tc": 0.5}}


def test_every_white_space_survives(tmp_path: Path) -> None:
    names = [f"a{chr(code)}b" for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    ranks = rank({"q": [-place for place in range(len(names))]}, names, {"q": {names[0]: 1}}, depth=len(names))
    write_run(tmp_path / "run", ranks, "t")
    assert all(len(line.split()) == 6 for line in (tmp_path / "run").read_text().split("\n")[:-1])
    assert read_run(tmp_path / "run").items == {"q": names}


def test_white_space_and_percent_are_written_as_utf8_escapes(tmp_path: Path) -> None:
    write_qrels(tmp_path / "qrels", {"q 1": {"50%\u3000쪽": 1.0}})
    assert (tmp_path / "qrels").read_text(encoding="utf-8") == "q%201 0 50%25%E3%80%80쪽 1\n"


def test_whole_gains_have_no_decimal_point_and_fractions_keep_all_their_digits(tmp_path: Path) -> None:
    gains = {"q": {"a": 3.0, "b": 0.1 + 0.2, "c": 1e300}}
    write_qrels(tmp_path / "qrels", gains)
    lines = (tmp_path / "qrels").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["q 0 a 3", "q 0 b 0.30000000000000004"]
    assert lines[2].split()[3].isdigit()
    assert read_qrels(tmp_path / "qrels").gains == gains


def test_reading_decodes_its_own_escapes_only(tmp_path: Path) -> None:
    run = read_run(_file(tmp_path, "q Q0 a%2Fb%20c%2520d%zz 1 1 t\n"))
    assert run.items == {"q": ["a%2Fb c%20d%zz"]}


def test_write_run_numbers_places_and_keeps_scores_exactly(tmp_path: Path) -> None:
    ranks = rank({"q": [0.1, 0.3, 0.1, float("-inf")], "none": [float("-inf")] * 4}, "abcd", {"q": {"a": 1}})
    write_run(tmp_path / "run", ranks, "t")
    assert (tmp_path / "run").read_text() == "q Q0 b 1 0.300000012 t\nq Q0 c 2 0.100000001 t\nq Q0 a 3 0.100000001 t\n"


def test_write_run_writes_the_ranking_that_it_is_given_and_not_the_one_before(tmp_path: Path) -> None:
    written = []
    for row, tag in (([0.5, 0.25], "t"), ([0.25, 0.5], "t"), ([0.25, 0.5], "u")):
        write_run(tmp_path / "run", rank({"q": row}, "ab", {"q": {"a": 1}}), tag)
        written.append((tmp_path / "run").read_text())
    assert written[0] == "q Q0 a 1 0.5 t\nq Q0 b 2 0.25 t\n"
    assert written[1] == "q Q0 b 1 0.5 t\nq Q0 a 2 0.25 t\n"
    assert written[2] == written[1].replace(" t\n", " u\n")


def test_write_run_keeps_float64_scores_apart(tmp_path: Path) -> None:
    counter = RankCounter(Direction.t2v, ["q"], "abcd", {"q": {"a": 1.0}}, 4)
    scores = [0.1, np.nextafter(0.1, 1), 1e300, 0.1]
    counter.add(np.array([0]), np.array([scores]))
    write_run(tmp_path / "run", counter.finish(), "t")
    run = read_run(tmp_path / "run")
    assert (run.items["q"], run.scores["q"]) == (["c", "b", "d", "a"], [1e300, scores[1], 0.1, 0.1])


def test_read_run_takes_an_id_as_written_where_only_so_it_is_known(tmp_path: Path) -> None:
    path = _file(tmp_path, "q%20 Q0 a%20b 1 2 t\nq%20 Q0 c%20d 2 1 t\nq%20 Q0 e%20f 3 0 t\n", "run")
    assert read_run(path).items == {"q ": ["a b", "c d", "e f"]}
    known = read_run(path, queries=["q%20"], items=["a%20b", "c%20d", "c d"])
    assert known.items == {"q%20": ["a%20b", "c d", "e f"]}
    assert known.written == {"q%20": ["a%20b", "c%20d", "e%20f"]}


def test_an_empty_id_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="empty id"):
        write_qrels(tmp_path / "qrels", {"": {"a": 1.0}})


@pytest.mark.shared
def test_read_qrels_of_the_real_guide(shared_data: Path) -> None:
    qrels = read_qrels(shared_data / "guide_ko" / "qrels.tsv")
    assert len(qrels.gains) == 228
    assert qrels.gains["s0.0"] == {"install.ko_136": 1.0}
