from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from finished_runs import finished, from_ranks
from glyphrank.compare import How, compare
from glyphrank.records import Direction
from glyphrank.report import drawing
from glyphrank.report.figures import write_figures
from glyphrank.report.finished import Finished

ALL = ["recall_at_k.svg", "rank_histogram.svg", "slices.svg"]


def sliced(run: Finished, values: Mapping[str, float], field: str = "type") -> Finished:
    """The run with the primary metric of a field's values, and an interval for the first of them."""
    numbers = {value: {"ndcg_at_10": number, "queries": 2.0} for value, number in values.items()}
    first = next(iter(values))
    limits = {first: {"ndcg_at_10": (0.1, 0.9)}}
    report = replace(run.report, slices={field: numbers}, slice_intervals={field: limits})
    return replace(run, report=report)


def written(folder: Path, runs: list[Finished], how: How | None = None) -> dict[str, str]:
    """Name of each figure -> its text."""
    paths = write_figures(folder, runs, compare(runs, None, how or How()))
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


@pytest.fixture(autouse=True)
def _without_hangul(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text stays text in all tests but that of a font."""
    if "a_font" not in request.node.name:
        monkeypatch.setattr(drawing, "_hangul", lambda fonts: [])


def test_figures_show_cells_under_the_fields_in_which_they_differ(tmp_path: Path) -> None:
    first, second = from_ranks("one", [1, 1, 2, 9]), from_ranks("two", [3, 1, 2, 20])
    found = written(tmp_path / "figures", [sliced(run, {"표": 0.5, "글": 0.25}) for run in (first, second)])
    assert list(found) == ALL
    assert all(text.startswith("<?xml") for text in found.values())
    assert ">lexical=one<" in found["recall_at_k.svg"]
    assert ">lexical=two<" in found["rank_histogram.svg"]


def test_without_fonts_hangul_stays_text_for_the_browsers_own_font(tmp_path: Path) -> None:
    runs = [sliced(from_ranks(name, [1, 2, 3]), {"표": 0.5, "글": 0.25}, "유형") for name in ("가나", "다라")]
    found = written(tmp_path, runs)["slices.svg"]
    assert all(f">{text}<" in found for text in ("표 (2)", "글 (2)", "유형", "lexical=가나"))


def test_hangul_is_drawn_where_there_is_a_font(tmp_path: Path) -> None:
    pytest.importorskip("koreanize_matplotlib")
    runs = [sliced(from_ranks(name, [1, 2, 3]), {"표": 0.5, "글": 0.25}, "유형") for name in ("가나", "다라")]
    found = written(tmp_path, runs)["slices.svg"]
    assert "NanumGothic-" in found
    assert "<text" not in found


def test_dollar_signs_begin_no_formula(tmp_path: Path) -> None:
    runs = [sliced(from_ranks(name, [1, 2, 3]), {"$a$": 0.5, "b_c^": 0.25}) for name in ("x$_{", "y$")]
    found = written(tmp_path, runs)
    assert ">lexical=x$_{<" in found["recall_at_k.svg"]
    assert ">$a$ (2)<" in found["slices.svg"]


def test_many_cells_are_drawn_the_best_first_and_the_title_says_so(tmp_path: Path) -> None:
    runs = [from_ranks(f"cell{number}", [1 + number, 1 + number, 2]) for number in range(14)]
    found = written(tmp_path, runs)
    assert "(12 of 14 cells, the best first)" in found["recall_at_k.svg"]
    assert "(3 of 14 cells, the best first)" in found["rank_histogram.svg"]
    assert ">lexical=cell0<" in found["recall_at_k.svg"]
    assert ">lexical=cell13<" not in found["recall_at_k.svg"]
    assert "slices.svg" not in found


def test_a_baseline_stands_beside_the_best(tmp_path: Path) -> None:
    runs = [from_ranks(f"cell{number}", [1 + number, 1 + number, 2]) for number in range(5)]
    text = written(tmp_path, runs, How(baseline="cell4"))["rank_histogram.svg"]
    assert [f">lexical=cell{number}<" in text for number in range(5)] == [True, False, False, False, True]


def test_hit_rate_has_a_panel_where_it_is_not_recall(tmp_path: Path) -> None:
    relevant = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"c": 1.0}}
    one = finished("one", {"q1": [3, 1, 2], "q2": [1, 2, 3]}, relevant)
    assert ">hit rate at k<" in written(tmp_path, [one])["recall_at_k.svg"]
    single = from_ranks("single", [1, 2])
    assert "recall (hit rate is the same) at k" in written(tmp_path, [single])["recall_at_k.svg"]


def test_reverse_metric_counts_items(tmp_path: Path) -> None:
    rows = {"q0": [3.0, 2.0, 1.0], "q1": [3.0, 2.0, 1.0], "q2": [1.0, 2.0, 3.0]}
    relevant = {query: {item: 1.0} for query, item in zip(rows, "abc", strict=True)}
    run = finished("both", rows, relevant, directions=(Direction.t2v, Direction.v2t))
    paths = write_figures(tmp_path, [run], compare([run], "v2t/ndcg_at_10"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    assert ">v2t/recall at k<" in texts[0]
    assert ">items<" in texts[1]


def test_equal_figures_are_equal_files(tmp_path: Path) -> None:
    runs = [from_ranks("one", [1, 2, 3])]
    assert written(tmp_path / "a", runs) == written(tmp_path / "b", runs)
