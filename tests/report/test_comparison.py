"""A comparison in its five forms: what stands where, that nothing is cut, and that odd texts survive."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from finished_runs import from_ranks
from glyphrank.compare import How, compare, compare_by
from glyphrank.report.compared import Compared, Comparison
from glyphrank.report.comparison import (
    Form,
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    as_table,
    rendered,
    write_comparisons,
)
from glyphrank.report.comparison_columns import caption, heading, title

FIELDS = {"lexical": "bm25_ngrams", "lexical.k1": "1.2", "text": "minilm", "transcript": "all_lines"}
VALUES = {
    "hit_rate_at_1": 0.5,
    "recall_at_10": 0.75,
    "ndcg_at_10": 0.6125,
    "reciprocal_rank_at_10": 0.6,
    "median_rank": 2.0,
    "mean_rank": 12.345,
    "v2t/hit_rate_at_1": 0.25,
}
SPANS = {name: (value - 0.04, value + 0.04) for name, value in VALUES.items()}


def row(name: str, **changes: Any) -> Compared:
    own = {**FIELDS, "lexical": name}
    found = Compared(name=name, identity=name[:1] * 32, fields=own, values=VALUES, intervals=SPANS, group=True)
    return replace(found, **changes)


TESTED = {
    "difference": -0.0125,
    "difference_interval": (-0.05, 0.025),
    "p_value": 0.0002,
    "p_adjusted": 0.0004,
    "improved": 12,
    "degraded": 30,
    "equal": 558,
    "group": False,
}
COMPARISON = Comparison(
    metric="ndcg_at_10",
    baseline="bm25_words",
    best="bm25_words",
    rule="pessimistic",
    queries=600,
    groups=592,
    notes=("something to know | of all",),
    runs=(row("bm25_words"), row("bm25_ngrams", **TESTED)),
)


def cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def test_the_terminal_shows_everything_where_nothing_limits_it() -> None:
    lines = as_table(COMPARISON).splitlines()
    assert lines[0] == "note: something to know | of all"
    assert lines[1] == "nDCG@10 of 2 runs on 600 queries in 592 groups; ties by the rule pessimistic"
    titles = ["lexical", "lexical.k1", "text", "transcript", "nDCG@10", "difference", "p adj", "+/-/="]
    assert cells(lines[2]) == [*titles, "hit@1", "R@10", "MdR", "MnR"]
    assert cells(lines[4]) == [
        *("*", "bm25_words", "1.2", "minilm", "all_lines", "0.613 .573-.653", "baseline"),
        *("0.500 .460-.540", "0.750 .710-.790", "2.0 2.0-2.0", "12.3 12.3-12.4"),
    ]
    assert cells(lines[5])[4:7] == ["0.613 .573-.653", "-0.013 -.050 to .025", "<.001"]
    assert cells(lines[5])[7] == "12/30/558"
    assert "* rank group: not told from the best run" in lines[-1]


@pytest.mark.parametrize("count", [3, 4, 5, 6])
def test_a_terminal_of_100_columns_shows_the_metric_and_its_test_whatever_the_fields(count: int) -> None:
    fields = {f"component.field_{number}": f"a_longer_value_{number}" for number in range(count)}
    rows = tuple(replace(run, fields=fields) for run in COMPARISON.runs)
    shown = as_table(replace(COMPARISON, runs=rows), width=100)
    assert max(cell_len(line) for line in shown.splitlines()) <= 100
    assert "…" not in shown
    for wanted in ("0.613 .573-.653", "-0.013", "<.001", "12/30/558", "baseline"):
        assert wanted in shown
    for name, value in fields.items():
        assert f"{name}={value}" in shown


def test_a_narrow_terminal_drops_other_metrics_before_it_joins_fields() -> None:
    few = tuple(replace(run, fields={"lexical": run.name}) for run in COMPARISON.runs)
    wide, narrow = (as_table(replace(COMPARISON, runs=few), width=width) for width in (110, 70))
    assert "MnR" in wide
    assert "MnR" not in narrow
    assert "lexical" in narrow
    assert "lexical=" not in narrow


def test_korean_and_brackets_in_names_are_shown_as_they_are() -> None:
    rows = tuple(replace(run, fields={"prompt": "질의 [bold]: {x}"}) for run in COMPARISON.runs)
    assert "질의 [bold]: {x}" in as_table(replace(COMPARISON, runs=rows))


def test_one_run_alone_has_no_columns_of_tests() -> None:
    alone = replace(COMPARISON, runs=COMPARISON.runs[:1])
    for text in (as_table(alone), as_markdown(alone), as_latex(alone)):
        assert "difference" not in text
        assert "Holm" not in text


def test_markdown_is_a_table_of_equal_rows_with_all_standard_metrics() -> None:
    lines = as_markdown(COMPARISON).splitlines()
    assert lines[0] == r"> something to know \| of all"
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 4
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    for name in ("hit@1", "R@10", "nDCG@10", "MdR", "MnR", "v2t/hit@1"):
        assert name in table[0]
    assert r"bm25\_ngrams" in table[3]
    assert "-0.013 -.050 to .025" in table[3]


def test_latex_is_escaped_and_balanced() -> None:
    rows = (row("50% & $x_{1}$ #2 ~ ^ \\"), COMPARISON.runs[1])
    text = as_latex(replace(COMPARISON, runs=rows))
    assert r"50\% \& \$x\_\{1\}\$ \#2 \textasciitilde{} \textasciicircum{} \textbackslash{}" in text
    assert r"\toprule" in text
    assert text.count(r"\begin") == text.count(r"\end") == 2
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body.strip().splitlines()} == {13}
    assert r"\begin{tabular}{lllllrrrrrrrrr}" in text  # the mark and four fields stand left
    assert r"Note: something to know \textbar{} of all." in text


def test_latex_keeps_the_mark_of_every_row_minus_signs_and_quotation_marks() -> None:
    rows = tuple(replace(run, group=True, fields={"b": '-0.05 "x"'}) for run in COMPARISON.runs)
    body = as_latex(replace(COMPARISON, runs=rows)).split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert [line.split(" & ")[0] for line in body] == ["{*}", "{*}"]  # a bare star would belong to the row before
    assert "$-$0.05 ''x''" in body[0]
    assert "$-$0.013 $-$.050 to .025" in body[1]


def test_csv_holds_a_line_for_each_run_with_numbers_in_full() -> None:
    found = list(csv.DictReader(io.StringIO(as_csv(COMPARISON))))
    assert [line["name"] for line in found] == ["bm25_words", "bm25_ngrams"]
    assert float(found[0]["mean_rank"]) == 12.345
    assert float(found[0]["ndcg_at_10_low"]) == 0.6125 - 0.04
    assert found[0]["difference"] == found[0]["p_value"] == ""
    assert float(found[1]["difference_high"]) == 0.025
    assert (found[1]["group"], found[1]["equal"]) == ("false", "558")
    assert found[1]["lexical.k1"] == "1.2"


def test_json_holds_everything() -> None:
    stored = json.loads(rendered([COMPARISON], Form.json))
    assert stored == json.loads(json.dumps(as_json(COMPARISON)))
    assert {name: stored[name] for name in ("metric", "baseline", "best", "queries", "groups", "notes")} == {
        "metric": "ndcg_at_10",
        "baseline": "bm25_words",
        "best": "bm25_words",
        "queries": 600,
        "groups": 592,
        "notes": ["something to know | of all"],
    }
    wanted = {"name", "fields", "values", "intervals", "difference", "difference_interval", "p_value", "p_adjusted"}
    assert stored["runs"][1].keys() >= {*wanted, "improved", "degraded", "equal", "group"}


def test_parts_stand_below_each_other_and_say_which_they_are() -> None:
    kinds = {"kind": {f"q{query}": "text" if query % 2 else "figure" for query in range(8)}}
    runs = [from_ranks(name, ranks, slices_of_queries=kinds) for name, ranks in (("a", [1] * 8), ("b", [1, 2] * 4))]
    parts = compare_by(runs, "kind")
    table = rendered(parts, Form.table)
    assert "on 4 queries, kind figure" in table
    assert "on 4 queries, kind text" in table
    assert "over 1 test of this part alone" in table
    assert rendered(parts, Form.markdown).count("rank group") == 2
    assert rendered(parts, Form.latex).count(r"\end{table}") == 2
    lines = list(csv.DictReader(io.StringIO(rendered(parts, Form.csv))))
    assert [line["slice/kind"] for line in lines] == ["figure", "figure", "text", "text"]
    stored = json.loads(rendered(parts, Form.json))
    assert stored["by"] == "kind"
    assert stored["parts"]["text"]["part"] == ["kind", "text"]


def test_csv_tells_parts_of_any_field_apart_with_rule_and_sizes() -> None:
    for field in ("name", "group", "metric"):
        kinds = {field: {f"q{query}": "text" if query < 3 else "figure" for query in range(8)}}
        parts = compare_by([from_ranks("a", [1] * 8, slices_of_queries=kinds)], field)
        lines = list(csv.DictReader(io.StringIO(as_csv(*parts))))
        assert [line[f"slice/{field}"] for line in lines] == ["figure", "text"]
        assert [(line["name"], line["group"], line["metric"]) for line in lines] == [("a", "true", "ndcg_at_10")] * 2
        assert [(line["rule"], line["queries"], line["groups"]) for line in lines] == [
            ("pessimistic", "5", "5"),
            ("pessimistic", "3", "3"),
        ]


def test_every_rule_has_a_column_in_every_form() -> None:
    # case M01
    found = compare([from_ranks("a", [1, 2]), from_ranks("b", [2, 2])], how=How(every_rule=True))
    for text in (as_table(found), as_table(found, 100), as_markdown(found), as_latex(found)):
        for rule in ("pessimistic", "optimistic", "average", "textvr"):
            assert rule in text.split("rule pessimistic")[1]
    assert "ties/average" in as_csv(found).splitlines()[0]
    assert as_json(found)["runs"][0]["rules"].keys() >= {"document_id"}


def test_the_caption_says_how_medians_and_groups_are_tested() -> None:
    assert "signs flipped group by group, adjusted by Holm over 1 test." in caption(COMPARISON)
    medians = replace(COMPARISON, metric="median_rank", groups=600)
    assert "answers exchanged query by query" in caption(medians)


def test_the_caption_says_where_nothing_can_be_told() -> None:
    assert "rank group: not told from the best" in caption(COMPARISON)
    assert "rank group: cannot be told from the best" in caption(replace(COMPARISON, groups=5))


def test_a_single_query_in_a_single_group_is_one() -> None:
    assert " on 1 query;" in heading(replace(COMPARISON, queries=1, groups=1))
    assert " on 2 items in 1 group;" in heading(replace(COMPARISON, metric="v2t/mean_rank", queries=2, groups=1))


def test_a_difference_that_rounds_to_zero_has_no_sign() -> None:
    changes = {"difference": -1e-17, "difference_interval": (-0.0004, 0.0004), "p_adjusted": 1.0, "p_value": 1.0}
    for metric, shown in (("ndcg_at_10", "0.000 .000 to .000"), ("mean_rank", "0.0 0.0 to 0.0")):
        rows = (COMPARISON.runs[0], row("other", **{**TESTED, **changes}))
        assert cells(as_table(replace(COMPARISON, metric=metric, runs=rows)).splitlines()[5])[5] == shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("hit_rate_at_50", "hit@50"),
        ("v2t/recall_at_3", "v2t/R@3"),
        ("median_rank_mean", "MdR of middles"),
        ("mean_rank_truncated", "MnR truncated"),
        ("reciprocal_rank_at_10", "RR@10"),
    ],
)
def test_metrics_have_short_titles(name: str, shown: str) -> None:
    assert title(name) == shown


def test_write_comparison_leaves_three_whole_files(tmp_path: Path) -> None:
    write_comparisons(tmp_path, [COMPARISON])
    assert {path.name for path in tmp_path.iterdir()} == {"comparison.md", "comparison.csv", "comparison.json"}
    assert (tmp_path / "comparison.md").read_text(encoding="utf-8") == as_markdown(COMPARISON) + "\n"
    assert json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))["best"] == "bm25_words"
