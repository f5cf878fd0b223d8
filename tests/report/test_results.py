from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glyphrank.digests import digest_file
from glyphrank.errors import DataError
from glyphrank.outcome import Report
from glyphrank.ranking import RankCounter
from glyphrank.records import Direction, Ranks
from glyphrank.report.results import (
    CHECKSUMS,
    MTEB,
    QRELS,
    QUERIES,
    RANKED,
    RANKS,
    REPORT,
    RUN,
    Result,
    deliver,
    find,
    keep,
    read_report,
    remember_run,
)
from glyphrank.ties import TieRule
from per_query import table_of

REPORT_OF_ONE = Report(
    identity="abc",
    task="tiny",
    primary="hit_rate_at_1",
    metrics={"hit_rate_at_1": 1.0},
    bounds={"hit_rate_at_1": (0.5, 1.0)},
    channels={},
    slices={"언어": {"ko": {"queries": 1.0}}},
    counts={"queries": 1},
    failures={},
    losses={},
    views={"text": {"view": "text", "source": "embedded", "vector_size": 3}},
    listed={"thin": ["가"]},
    tags={},
    lineage={"dataset": "d"},
    notes=("odd",),
    config={"paths": {"outputs": "here"}},
    choices={"encoder@text": "minilm"},
    evaluation={"queries": "d1", "protocol": {"ties": "pessimistic", "cutoffs": [1]}},
    intervals={"hit_rate_at_1": (0.2, 1.0)},
    slice_intervals={"언어": {"ko": {"hit_rate_at_1": (0.2, 1.0)}}},
    tails={"mean_rank": 1.0},
    contributions={"ocr/rescued_at_1": 1.0},
    probe={"text": {"batch_1/ranks_changed": 0.0}},
)


def ranks() -> dict[Direction, Ranks]:
    counter = RankCounter(Direction.t2v, ["q 1"], ["가", "b"], {"q 1": {"가": 1.0}}, 10)
    counter.add(np.array([0]), np.array([[0.9, 0.1]], dtype=np.float32))
    return {Direction.t2v: counter.finish()}


def made() -> Result:
    own = ranks()
    return Result(
        REPORT_OF_ONE,
        own,
        {Direction.t2v: table_of(own[Direction.t2v])},
        {"q 1": {"가": 1.0}},
        TieRule.pessimistic,
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    keep(tmp_path, made())
    return tmp_path


def test_find_gives_what_was_kept(store: Path) -> None:
    assert find(store, "abc") == REPORT_OF_ONE
    assert find(store, "other") is None
    assert sorted(path.name for path in (store / "abc").iterdir()) == [
        CHECKSUMS,
        "config.yaml",
        MTEB,
        QRELS,
        QUERIES,
        RANKED,
        RANKS,
        REPORT,
        RUN,
    ]
    assert (store / "abc" / QRELS).read_text(encoding="utf-8") == "q%201 0 가 1\n"


@pytest.mark.parametrize("name", [REPORT, MTEB, RANKS, QUERIES, RUN, QRELS, RANKED, CHECKSUMS])
@pytest.mark.parametrize("damage", ["cut", "flipped", "removed", "emptied"])
def test_find_refuses_a_damaged_result(name: str, damage: str, store: Path) -> None:  # case C02
    path = store / "abc" / name
    data = bytearray(path.read_bytes())
    if damage == "removed":
        path.unlink()
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes({"cut": bytes(data[: len(data) // 2]), "flipped": bytes(data), "emptied": b""}[damage])
    assert find(store, "abc") is None
    keep(store, made())
    assert find(store, "abc") == REPORT_OF_ONE


def test_keep_that_fails_leaves_the_old_result_and_no_half_file(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case C04
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("glyphrank.report.results.write_run", full)
    with pytest.raises(DataError, match="No space left on device"):
        keep(store, made())
    monkeypatch.undo()
    assert find(store, "abc") == REPORT_OF_ONE
    assert not list((store / "abc").glob(".*"))


def test_deliver_puts_the_files_and_this_runs_config_into_a_folder(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    deliver(store, REPORT_OF_ONE, folder)
    for name in (REPORT, MTEB, RANKS, QUERIES, RUN, QRELS, RANKED):
        assert (folder / name).read_bytes() == (store / "abc" / name).read_bytes()
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    with pytest.raises(DataError, match="cannot be written"):
        deliver(store, REPORT_OF_ONE, blocked / "run")


def test_what_is_written_of_the_report_is_of_this_very_run(store: Path, tmp_path: Path) -> None:
    deliver(store, replace(REPORT_OF_ONE, task="renamed", choices={}), tmp_path / "one")
    assert read_report(tmp_path / "one" / REPORT) == replace(REPORT_OF_ONE, task="renamed", choices={})
    assert "renamed" in (tmp_path / "one" / MTEB).read_text(encoding="utf-8")
    assert find(store, "abc") == REPORT_OF_ONE


@pytest.mark.parametrize("lacks", [QUERIES, QRELS, MTEB, "intervals", "evaluation"])
def test_a_result_of_an_older_version_is_made_again_without_a_word(
    store: Path, lacks: str, caplog: pytest.LogCaptureFixture
) -> None:
    place = store / "abc"
    checksums = json.loads((place / CHECKSUMS).read_text())
    if lacks in checksums:
        (place / lacks).unlink()
        del checksums[lacks]
    else:
        report = json.loads((place / REPORT).read_text())
        del report[lacks]
        (place / REPORT).write_text(json.dumps(report))
        checksums[REPORT] = digest_file(place / REPORT)
    (place / CHECKSUMS).write_text(json.dumps(checksums))
    assert find(store, "abc") is None
    assert caplog.text == ""
    keep(store, made())
    assert find(store, "abc") == REPORT_OF_ONE


def test_remember_run_appends_and_never_ends_a_run(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    remember_run(store, "abc", {"run_id": "1"})
    remember_run(store, "abc", {"run_id": "2"})
    assert (store / "abc" / "runs.jsonl").read_text() == '{"run_id": "1"}\n{"run_id": "2"}\n'
    remember_run(store, "nowhere", {"run_id": "3"})
    assert "cannot be written" in caplog.text


def test_find_refuses_a_whole_result_that_lies_under_another_identity(store: Path) -> None:
    shutil.copytree(store / "abc", store / "def")
    assert find(store, "def") is None
    assert find(store, "abc") == REPORT_OF_ONE


def test_find_asks_for_the_further_files_that_belong_to_a_result(store: Path) -> None:
    assert find(store, "abc", ("scores.npy",)) is None
    (store / "abc" / "scores.npy").write_bytes(b"numbers")
    assert find(store, "abc", ("scores.npy",)) is None  # it lies there, but is none of the result's
    keep(store, made(), ("scores.npy",))
    assert find(store, "abc", ("scores.npy",)) == find(store, "abc") == REPORT_OF_ONE
    (store / "abc" / "scores.npy").write_bytes(b"n0mbers")
    assert find(store, "abc", ("scores.npy",)) is None
    assert find(store, "abc") == REPORT_OF_ONE
    (store / "abc" / "scores.npy").unlink()
    assert find(store, "abc", ("scores.npy",)) is None
    assert find(store, "abc") == REPORT_OF_ONE


def test_further_files_stay_a_results_own_as_long_as_its_numbers_are_the_same(store: Path) -> None:
    (store / "abc" / "scores.npy").write_bytes(b"numbers")
    keep(store, made(), ("scores.npy",))
    (store / "abc" / "probe.json").write_bytes(b"probe")
    keep(store, made(), ("probe.json",))
    assert find(store, "abc", ("scores.npy", "probe.json")) == REPORT_OF_ONE
    (store / "abc" / "probe.json").write_bytes(b"pr0be")
    keep(store, made())
    assert find(store, "abc", ("scores.npy",)) == REPORT_OF_ONE
    assert find(store, "abc", ("probe.json",)) is None
    keep(store, replace(made(), relevant={"q 1": {"b": 1.0}}))
    assert find(store, "abc", ("scores.npy",)) is None
    (store / "abc" / CHECKSUMS).write_text("[]")
    keep(store, made())
    assert find(store, "abc") == REPORT_OF_ONE


def test_deliver_brings_the_scores_only_where_they_are_asked_for(store: Path, tmp_path: Path) -> None:
    scores = np.array([[0.5, 2.0]], dtype=np.float32)
    np.save(store / "abc" / "scores.npy", scores)
    deliver(store, REPORT_OF_ONE, tmp_path / "without")
    assert not list((tmp_path / "without").glob("*.npy"))
    deliver(store, REPORT_OF_ONE, tmp_path / "plain", {})
    deliver(store, REPORT_OF_ONE, tmp_path / "turned", {"scores_rand.npy": np.array([1, 0])})
    assert [path.name for path in (tmp_path / "plain").glob("*.npy")] == ["scores.npy"]
    for folder in ("plain", "turned"):
        assert (tmp_path / folder / "scores.npy").read_bytes() == (store / "abc" / "scores.npy").read_bytes()
        assert not list((tmp_path / folder).glob(".*"))
    assert np.load(tmp_path / "turned" / "scores_rand.npy").tolist() == [[2.0, 0.5]]
