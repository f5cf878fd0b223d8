"""The page of misses as text: what is shown, what is escaped, and what is hidden."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from glyphrank.known_secrets import _known, remember
from glyphrank.report.page import language, place, render, score, write_page
from glyphrank.report.page_numbers import slices_of, tables_of
from glyphrank.report.page_plots import bars_of, curves_of
from glyphrank.report.page_records import Kind, Page, Pictures, Placed, ShownItem, ShownQuery, Spot
from tracked_runs import report_with

EVIL = "</script><script>alert(1)</script> \" ' & <b>예산</b>"
NONE = Pictures()
SPOTS = {"lexical": Spot(None), "fused": Spot(0.25, 2, 3)}
METRICS = {"hit_rate_at_1": 0.5, "recall_at_1": 0.5, "ndcg_at_10": 0.75, "median_rank": 1.0, "mean_rank": 1.5}


class Visible(HTMLParser):
    """Text and elements of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, Mapping[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page(texts: tuple[str, ...] = ("what was read",), pictures: Pictures = NONE, **changes: Any) -> Page:
    query = ShownQuery(
        id="q1",
        number=0,
        text=changes.pop("text", "a query"),
        cut=0,
        slices=changes.pop("slices", {"type": "표"}),
        best_ranks={"lexical": 12.0, "fused": 2.5},
        kinds=("missed_1",),
        top=(Placed("p1", 1.0, SPOTS),),
        relevant=(),
    )
    report = report_with(metrics=METRICS, channels={"lexical": METRICS}, **changes.pop("report", {}))
    item = ShownItem("p1", texts, 0, "" if texts else "nothing was read", pictures)
    kinds = (Kind("missed_1", "Missed: not at 1", 3),)
    given: dict[str, Any] = {"kinds": kinds, "fields": {"type": ("표", EVIL)}, **changes}
    return Page(given.pop("name", "a run"), report, ("lexical", "fused"), (2.5,), (query,), {"p1": item}, **given)


def test_text_of_the_data_can_neither_run_nor_leave_its_place() -> None:
    evil = page((EVIL,), Pictures(("data:image/webp;base64,AA==",)), text=EVIL, name=EVIL, slices={"type": EVIL})
    seen = Visible(render(evil))
    assert [tag for tag, _ in seen.tags].count("script") == 2
    assert [tag for tag, _ in seen.tags].count("b") == 1  # the headline's
    assert EVIL in seen.text
    (article,) = [attributes for tag, attributes in seen.tags if tag == "article"]
    assert json.loads(str(article["data-slices"])) == [1]
    assert not [name for _, attributes in seen.tags for name in attributes if name.startswith("on")]


def test_the_page_refers_to_nothing_outside_itself() -> None:
    seen = Visible(render(page(pictures=Pictures(("data:image/webp;base64,AA==",)))))
    references = [attributes[name] for _, attributes in seen.tags for name in ("src", "href") if name in attributes]
    assert references == ["#queries"]
    policies = [str(attributes["content"]) for _, attributes in seen.tags if "http-equiv" in attributes]
    assert policies[0].startswith("default-src 'none'; img-src data:;")


def test_ranks_scores_and_what_was_not_retrieved_are_told_apart() -> None:
    assert (place(Spot(0.5, 3, 3)), place(Spot(0.5, 3, 7)), place(Spot(None))) == ("3", "3–7", "–")
    assert (score(Spot(0.03, 1, 1)), score(Spot(None))) == ("0.03000", "not retrieved")
    text = " ".join(Visible(render(page())).text)
    assert "2–3" in text
    assert "not retrieved" in text
    assert "Missed: not at 1 (1 of 3)" in text


def test_text_in_hangul_has_its_language() -> None:
    assert (language("예산 2026"), language("ひらがな"), language("budget")) == ("ko", "ja", None)
    seen = Visible(render(page(("예산 보고",), text="강남구 예산")))
    headings = [attributes for tag, attributes in seen.tags if tag == "h3"]
    assert headings == [{"id": "q0", "dir": "auto", "lang": "ko"}]


def test_long_texts_unfold_and_say_what_is_cut() -> None:
    shown = render(page(("word " * 100,)))
    assert '<details class="text">' in shown
    assert '<details class="text">' not in render(page(("a short text",)))
    assert '<details class="text">' in render(page(("first window", "second window")))


@pytest.mark.parametrize("why", ["p1.png: the picture is damaged", "left out: too many"])
def test_an_item_without_its_picture_says_why(why: str) -> None:
    assert f"no picture: {why}" in " ".join(Visible(render(page(pictures=Pictures(why_none=why)))).text)
    assert "no picture" not in render(page())


def test_an_item_of_which_nothing_was_read_says_so() -> None:
    assert "nothing was read" in render(page(()))


def test_secrets_do_not_reach_the_page(monkeypatch: pytest.MonkeyPatch) -> None:  # case L15
    monkeypatch.setattr("glyphrank.known_secrets._known", set(_known))
    remember(["swordfish"])
    config = {
        "tracking": {"uri": "http://user:hunter2@host/x", "token": "abc123"},
        "hydra": {"x": "y"},
        "k": "swordfish",
    }
    shown = render(page(report={"config": config, "notes": ("password=opensesame",), "choices": {"k": "swordfish"}}))
    for secret in ("hunter2", "abc123", "opensesame", "swordfish"):
        assert secret not in shown


def test_signs_that_html_or_utf_8_cannot_hold_are_replaced(tmp_path: Path) -> None:
    write_page(tmp_path / "report.html", page(("half \ud800 nul \0 bell \a",), text="tab\there"))
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "half \ufffd nul \ufffd bell \ufffd" in text
    assert "tab\there" in text


def test_a_run_without_channels_in_common_shows_each_direction_its_own_table() -> None:
    both = {**METRICS, **{f"v2t/{name}": value for name, value in METRICS.items()}}
    report = report_with(
        metrics=both,
        channels={"visual": both, "text": METRICS},
        primary="v2t/ndcg_at_10",
        intervals={"ndcg_at_10": (0.5, 0.9)},
        bounds={"mean_rank": (1.75, 1.25)},
    )
    forward, backward = tables_of(report)
    assert forward.titles == ("visual", "text", "fused", "95 %")
    assert backward.titles == ("visual", "text", "fused")
    assert (forward.marked, backward.marked) == ("", "nDCG@10")
    rows = dict(forward.rows)
    assert [cell.text for cell in rows["nDCG@10"]] == ["0.750", "0.750", "0.750", "0.500–0.900"]
    assert rows["MnR"][2].small == "1.8–1.2"
    assert [cell.text for cell in dict(backward.rows)["nDCG@10"]] == ["0.750", "", "0.750"]
    assert render(page(report={"primary": "mean_rank"}))


def test_slices_stand_with_their_numbers() -> None:
    values = {"표": {"queries": 3.0, "hit_rate_at_1": 0.5}, "": {"queries": 0.0}}
    (table,) = slices_of(report_with(slices={"type": values, "one": {"a": {}}}))
    assert [name for name, _ in table.rows] == ["표", '""']
    assert [cell.text for cell in table.rows[0][1]][:2] == ["3", "0.500"]


def test_plots_hold_every_cut_off_and_every_query() -> None:
    metrics = {"recall_at_1": 0.25, "recall_at_10": 1.0, "hit_rate_at_1": 0.25, "hit_rate_at_10": 1.0}
    (plot,) = curves_of(report_with(metrics=metrics, channels={"lexical": metrics}))
    (curve,) = plot.curves
    assert [point.text for point in curve.points] == ["lexical: 0.250 at 1", "lexical: 1.000 at 10"]
    first, last = curve.points
    assert first.x < last.x
    assert first.y > last.y
    assert len(curves_of(report_with(metrics={**metrics, "hit_rate_at_1": 0.5}, channels={"a": {}, "b": {}}))) == 2
    assert [(bar.ranks, bar.count) for bar in bars_of([1, 1, 2, 7.5], 8)] == [
        ("1", 2),
        ("2", 1),
        ("3-5", 0),
        ("6-8", 1),
    ]
    assert [bar.ranks for bar in bars_of([], 1)] == ["1"]


def test_ids_and_values_are_cut_as_texts_are() -> None:
    long = "x" * 200_000
    query = replace(page().queries[0], id=long, slices={"type": long}, top=(Placed(long, None, SPOTS),))
    changes: dict[str, Any] = {"fields": {"type": ("", long)}, "report": {"failures": {long: long}, "notes": (long,)}}
    slices = {"type": {value: {"queries": 1.0, "hit_rate_at_1": 0.5} for value in ("", long)}}
    changes["report"]["slices"] = slices
    whole = replace(page(**changes), queries=(query,), items={long: ShownItem(long, pictures=Pictures((), long))})
    shown = render(whole)
    assert "x" * 200 in shown
    assert "x" * 1001 not in shown
    assert "… 199800 more characters" in shown


def test_what_is_left_out_is_said() -> None:
    assert "5 of 9 queries are shown." in render(page(notes=("5 of 9 queries are shown",)))
    assert re.search(r"incomplete: 1 of 2 items could not be read", render(page(report={"failures": {"p2": "torn"}})))
