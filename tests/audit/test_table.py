"""An audit as text and as JSON."""

from __future__ import annotations

import json

from glyphrank.audit import audit
from glyphrank.audit.records import Audit, Finding, Level, Reachable
from glyphrank.audit.table import as_json, as_text
from glyphrank.records import Direction
from glyphrank.ties import TieRule
from tasks import make_task

METRICS = {"hit_rate_at_1": 0.5, "hit_rate_at_5": 0.75, "hit_rate_at_10": 1.0, "mean_rank": 1.25}


def _audit(*findings: Finding, reachable: tuple[Reachable, ...] = ()) -> Audit:
    return Audit("작은/test", 12, 9, findings, reachable)


def test_the_text_shows_the_first_ids_and_how_many_more() -> None:
    ids = tuple(f"p_{number}" for number in range(8))
    text = as_text(_audit(Finding(Level.warning, "thin_text", "8 of 9 item texts are thin", ids)))
    assert text.splitlines()[:4] == [
        "작은/test: 12 queries, 9 items",
        "warning: 8 of 9 item texts are thin",
        "  p_0, p_1, p_2, p_3, p_4 and 3 more",
        "0 errors, 1 warning, 0 notes",
    ]


def test_reasons_and_groups_have_lines_of_their_own() -> None:
    reasons = {f"p_{number}": "torn" for number in range(6)}
    groups = (tuple("abcdefg"), ("h", "i"))
    lines = as_text(
        _audit(
            Finding(Level.error, "unreadable_media", "6 cannot be read", tuple(reasons), reasons),
            Finding(Level.note, "equal_texts", "2 groups", tuple("abcdefghi"), groups=groups),
        )
    ).splitlines()
    assert lines[1:8] == [
        "error: 6 cannot be read",
        *(f"  p_{number}: torn" for number in range(5)),
        "  and 1 more",
    ]
    assert lines[8:11] == ["note: 2 groups", "  a, b, c, d, e and 2 more", "  h, i"]


def test_what_a_terminal_would_obey_is_spelled_out() -> None:
    text = as_text(_audit(Finding(Level.note, "x", "one", ("a\x1b[2Jb\n",))))
    assert "  a\\x1b[2Jb\\n" in text.splitlines()


def test_ceilings_that_are_equal_under_all_rules_share_a_line() -> None:
    best = [Reachable("text", Direction.t2v, rule, METRICS, True) for rule in TieRule]
    other = METRICS | {"hit_rate_at_1": 0.25}
    best += [
        Reachable("frames", Direction.v2t, rule, other if rule is TieRule.textvr else METRICS, False)
        for rule in TieRule
    ]
    lines = as_text(_audit(reachable=tuple(best))).splitlines()
    rows = [line.split("  ") for line in lines[3:]]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert cells == [
        ["best that can be reached", "ties", "hit@1", "hit@5", "hit@10", "MnR"],
        ["by item texts", "t2v", "any", "0.5000", "0.7500", "1.0000", "1.250"],
        ["by looks", "v2t", "pessimistic, optimistic, document_id, average", *cells[1][3:], "about"],
        ["by looks", "v2t", "textvr", "0.2500", *cells[1][4:], "about"],
        ["about: a ranker that orders for one metric alone may reach more in it"],
    ]


def test_the_json_holds_all_ids() -> None:
    task = make_task(
        {f"q{number}": "same" for number in range(9)},
        {"a": "", "b": "a text of some length"},
        {"q0": ["a"], "q1": ["b"]},
    )
    found = json.loads(json.dumps(as_json(audit(task, None, 1, 0.1))))
    by_kind = {finding["kind"]: finding for finding in found["findings"]}
    assert len(by_kind["equal_queries"]["ids"]) == len(by_kind["equal_queries"]["groups"][0]) == 9
    assert by_kind["empty_text"] == {
        "level": "warning",
        "kind": "empty_text",
        "message": "1 of 2 item texts are empty: text channels cannot retrieve them",
        "ids": ["a"],
    }
    assert (found["task"], found["queries"], found["items"]) == ("tiny", 9, 2)
    assert {best["view"] for best in found["ceilings"]} == {"text", "items"}
    assert set(found["ceilings"][0]) == {"view", "direction", "ties", "exact", "metrics"}
