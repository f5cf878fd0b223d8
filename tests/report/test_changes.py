from __future__ import annotations

from typing import Any

from glyphrank.redaction import REDACTED
from glyphrank.report.changes import differing_content, differing_hardware, differing_ways
from tracked_runs import report_with

OLD: dict[str, Any] = {
    "glyphrank": {"sources": "1a", "commit": "c0ffee" * 6},
    "packages": {"torch": "2.3", "numpy": "2.0", "rich": "13"},
    "cpu": {"model": "slow", "cores": 2},
    "gpus": None,
}


def test_what_differs_is_told_by_kind() -> None:
    then = report_with(lineage={"dataset": "f1" * 16, "text": "a1" * 16, "lexical": "b1" * 16, "sources": "1" * 32})
    now = {"dataset": "f2" * 16, "text": "a2" * 16, "lexical": "b2" * 16, "sources": "2" * 32}
    new = {
        "glyphrank": {"sources": "2b", "commit": "decade" * 6},
        "packages": {"torch": "2.4", "numpy": "2.0", "rich": "14"},
    }
    assert differing_content(then, now, {"text": {"torch", "numpy"}, "lexical": {"numpy"}}, OLD, new) == [
        "code: the sources have changed (commit c0ffeec0ffee then, decadedecade now)",
        "data: f1f1f1f1f1f1 then, f2f2f2f2f2f2 now",
        "text: a1a1a1a1a1a1 then, a2a2a2a2a2a2 now; torch 2.3 then, 2.4 now",
        "lexical: b1b1b1b1b1b1 then, b2b2b2b2b2b2 now; none of its packages has changed, so its files (weights) or its "
        "code have",
        "packages: rich 13 then, 14 now",
    ]
    assert differing_content(then, then.lineage, {}, OLD, OLD) == []


def test_source_of_a_plugin_is_told_from_glyphranks_own() -> None:
    then = report_with(lineage={"sources": "1" * 32})
    (told,) = differing_content(then, {"sources": "2" * 32}, {}, OLD, OLD)
    assert told == "code: the sources of a plug-in have changed; glyphrank's own have not"


def test_run_that_left_no_environment_is_told_so() -> None:
    then = report_with(lineage={"text": "1" * 32})
    told = differing_content(then, {"text": "2" * 32}, {"text": {"torch"}}, {}, OLD)
    assert told[0].endswith("a package of it, its files (weights) or its code")
    assert told[1].startswith("packages and hardware of then are not known")
    assert differing_hardware({}, OLD) == []


def test_hardware_that_differs_is_told_where_both_know_it() -> None:
    new = {**OLD, "cpu": {"model": "fast", "cores": 8}, "gpus": ["H200"]}
    assert differing_hardware(OLD, new) == ["cpu: model slow, cores 2 then, model fast, cores 8 now"]
    assert differing_hardware({**OLD, "gpus": []}, new)[-1] == "gpus: none then, H200 now"


def test_batch_size_and_device_that_were_asked_for_are_told() -> None:
    then = {"runtime": {"device": "auto", "batch_size": 32, "workers": 2}}
    now = {"runtime": {"device": "auto", "batch_size": 4, "workers": 0}}
    assert differing_ways(then, now) == ["runtime.batch_size: 32 then, 4 now"]
    assert differing_ways({}, {}) == []


def test_secret_that_is_not_stored_may_be_why_a_component_differs() -> None:
    text = {"api_key": REDACTED, "url": "http://host:1", "folders": ["http://host:2"], "size": 3}
    then = report_with(lineage={"text": "1" * 32, "lexical": "2" * 32}, config={"text": text, "lexical": {"k1": 1.2}})
    told = differing_content(then, {"text": "3" * 32, "lexical": "4" * 32}, {}, OLD, OLD)
    assert told == [
        "text: 111111111111 then, 333333333333 now; none of its packages has changed; text.api_key, text.url, "
        "text.folders[0] may have held another secret then, for secrets are not stored, and that may be why, or else "
        "its files (weights) or its code",
        "lexical: 222222222222 then, 444444444444 now; none of its packages has changed, so its files (weights) or its "
        "code have",
    ]
