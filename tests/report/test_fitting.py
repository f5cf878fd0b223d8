"""The table of a run on terminals of any width: what it has no room for is left out by name, and no number is cut."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from glyphrank.outcome import Report
from glyphrank.report.table import show
from shown_reports import BOUNDS, EVERY, METRICS, report_of


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _on_a_terminal(report: Report, width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in {"COLUMNS": str(width), "LINES": "50", "TERM": "xterm", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    stream = _Terminal()
    show(report, False, stream)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


def _check_whole(text: str, width: int) -> None:
    """Nothing is cut at the right edge, where every line of a table has its border."""
    lines = text.splitlines()
    assert all(cell_len(line) <= width for line in lines)
    ends = {"\u2502": "\u2502", "\u2503": "\u2503", "\u250f": "\u2513", "\u2521": "\u2529", "\u2514": "\u2518"}
    assert all(line[-1] == ends[line[0]] for line in lines if line and line[0] in ends)


def _wide() -> Report:
    """Three channels in both directions, with intervals, tails, and slices of long names."""
    ranks = {"median_rank": 12.0, "mean_rank": 132.8}
    forward = {**EVERY, **ranks}
    both = {**forward, **{f"v2t/{name}": value for name, value in forward.items()}}
    limits = {name: (0.512, 0.981) if not name.endswith("rank") else (9.1, 251.3) for name in forward}
    intervals = {**limits, **{f"v2t/{name}": limit for name, limit in limits.items()}}
    slices = {"scene": {name: {"queries": 103.0, **both, "v2t/queries": 60.0} for name in ("street", "a shop window")}}
    found = {"scene": {"street": {"ndcg_at_10": (0.512, 0.981), "v2t/ndcg_at_10": (0.512, 0.981)}}}
    tails = {"mean_rank": 0.414, "v2t/mean_rank": 0.1}
    channels = {"visual": both, "text": both, "lexical": both}
    return replace(
        report_of(channels, both, {}), intervals=intervals, slices=slices, slice_intervals=found, tails=tails
    )


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_a_terminal_cuts_no_number_and_always_shows_what_matters_most(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = _on_a_terminal(_wide(), width, monkeypatch)
    assert "\u2026" not in text
    _check_whole(text, width)
    heads = [line for line in text.splitlines() if "\u2503" in line]
    for title in ("hit@1 ", "nDCG@10 ", "MnR "):
        assert all(title in head for head in heads if "scene" in head or "channel" in head)
    words = text.replace("\u2502", " ").split()
    assert words.count(".51-.98") >= 4 + 2  # hit@1 and nDCG@10 in both directions, and the slices' own
    assert text.count("41 %") == text.count("10 %") == 1
    assert {"9.1-251.3", "132.8,", "132.8", "0.500"} <= set(words)
    told = [line for line in text.splitlines() if line.startswith("no room here for")]
    assert len(told) == {60: 2, 80: 2, 100: 1, 120: 0}[width]


def test_a_narrow_terminal_leaves_out_what_matters_least_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _on_a_terminal(replace(_wide(), primary="hit_rate_at_10"), 60, monkeypatch)
    told = [line for line in text.splitlines() if line.startswith("no room here for ")]
    assert told[0].startswith("no room here for RR@10, R@10, hit@5, MdR; report.json")
    assert "hit@10" not in "".join(told)  # it is what the experiment is about
    assert len(told) == 2


def test_bounds_are_broken_between_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of({"text": METRICS, "lexical": METRICS}, METRICS, BOUNDS)
    text = _on_a_terminal(report, 80, monkeypatch)
    assert "\u2026" not in text
    _check_whole(text, 80)
    assert {"(0.250", "0.750)", "12345.5", "(24691.0", "6172.8)"} <= set(text.replace("\u2502", " ").split())


def test_what_never_fits_is_broken_and_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    text = _on_a_terminal(_wide(), 24, monkeypatch)
    assert "\u2026" not in text
    _check_whole(text, 24)
