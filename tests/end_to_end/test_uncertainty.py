"""What every run says of its numbers: intervals, tails, what channels did for each other; in files, table and store."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from command import ran, refused, reports
from glyphrank.metrics import evaluate
from glyphrank.records import Direction
from glyphrank.report.finished import read_finished
from glyphrank.ties import TieRule
from glyphrank.trec import read_qrels
from tiny_clip import write_tiny_clip

COMMAND = (
    *("run", "dataset=sample_pages", "encoder@visual=clip_folder", "visual.weights.folder=tiny", "metrics=clips"),
    *("encoder@lexical=bm25_words", "frames.long_side=320"),
)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with one run of pages that are seen and read, and the table that it printed."""
    folder = tmp_path_factory.mktemp("uncertain")
    write_tiny_clip(folder / "tiny")
    return folder, ran(*COMMAND, cwd=folder).stdout


def test_every_metric_has_its_interval_in_the_report_and_in_the_store(swept: tuple[Path, str]) -> None:
    (report,) = reports(swept[0])
    assert set(report["intervals"]) == set(report["metrics"])
    for name, (low, high) in report["intervals"].items():
        assert low <= report["metrics"][name] <= high
    with sqlite3.connect(swept[0] / "outputs" / "mlflow.db") as store:
        logged = dict(store.execute("select key, value from latest_metrics").fetchall())
    for name, (low, high) in report["intervals"].items():
        assert (logged[f"{name}_low"], logged[f"{name}_high"]) == (low, high)
    for name, share in report["tails"].items():
        assert logged[f"{name}_worst_5_percent_share"] == share
    assert {name: logged[name] for name in report["contributions"]} == report["contributions"]
    low, high = report["slice_intervals"]["type"]["table"]["hit_rate_at_1"]
    assert logged["slice/type/table/hit_rate_at_1_low"] == low <= logged["slice/type/table/hit_rate_at_1"] <= high


def test_queries_that_share_a_page_are_grouped_and_the_report_says_so(swept: tuple[Path, str]) -> None:
    (report,) = reports(swept[0])
    assert 0 < report["counts"]["groups"] < report["counts"]["queries"]
    assert any(f"in {report['counts']['groups']} groups (metrics.group=item)" in note for note in report["notes"])
    assert report["choices"]["encoder@lexical"] == "bm25_words"
    assert report["evaluation"]["protocol"]["directions"] == ["t2v", "v2t"]


def test_the_files_of_a_run_give_its_numbers_again(swept: tuple[Path, str]) -> None:
    (own,) = swept[0].glob("outputs/runs/*/*")
    finished = read_finished(own, "one")
    metrics: dict[str, float] = {}
    for direction, ranks in finished.ranks.items():
        start = "" if direction is Direction.t2v else "v2t/"
        values = evaluate(ranks, (1, 5, 10, 50), TieRule.pessimistic)
        metrics |= {start + name: value for name, value in values.items()}
    assert metrics == finished.report.metrics
    for direction, table in finished.queries.items():
        start = "" if direction is Direction.t2v else "v2t/"
        assert float(np.nanmean(table.values["hit_rate_at_1"])) == pytest.approx(metrics[f"{start}hit_rate_at_1"])
        assert list(table.channels) == ["visual", "lexical"]
    kept = swept[0] / "outputs" / "results" / finished.report.identity
    assert json.loads((kept / "checksums.json").read_text()).keys() >= {"queries.csv", "qrels.trec", "mteb.json"}
    for name in ("queries.csv", "qrels.trec", "mteb.json"):
        assert (own / name).read_bytes() == (kept / name).read_bytes()
    pairs = sum(map(len, read_qrels(own / "qrels.trec").gains.values()))
    assert pairs == len(finished.ranks[Direction.t2v].query)


def test_the_table_shows_intervals_tails_and_what_text_did(swept: tuple[Path, str]) -> None:
    (report,) = reports(swept[0])
    lines = swept[1].splitlines()
    assert sum("│ 95 %" in line for line in lines) == sum("│ v2t/95 %" in line for line in lines) == 1
    found = report["contributions"]
    line = next(line for line in lines if "rescued" in line)
    assert line.startswith(
        f"the text layer rescued {int(found['ocr/rescued_at_1'])} and broke {int(found['ocr/broken_at_1'])} of "
        f"{report['counts']['queries']} queries at 1; "
    )
    assert found["worst_channel/hit_rate_at_1"] <= report["channels"]["visual"]["hit_rate_at_1"]
    assert found["best_channel/hit_rate_at_1"] >= report["channels"]["lexical"]["hit_rate_at_1"]


def test_a_stored_result_says_the_same_and_a_group_is_part_of_the_protocol(swept: tuple[Path, str]) -> None:
    folder = swept[0]
    again = ran(*COMMAND, cwd=folder)
    assert "nothing is recomputed" in again.stderr
    first, second = reports(folder)
    assert first == second
    alone = ran(*COMMAND, "metrics.group=none", "tracking=none", cwd=folder)
    assert "nothing is recomputed" not in alone.stderr
    third = reports(folder)[-1]
    assert third["metrics"] == first["metrics"]
    assert third["intervals"] != first["intervals"]
    assert "groups" not in third["counts"]


def test_a_group_that_no_query_has_is_refused_before_any_work(tmp_path: Path) -> None:
    message = refused("run", "metrics.group=colour", "tracking=none", cwd=tmp_path)
    assert "no query has the field 'colour' of metrics.group" in message
    assert not (tmp_path / "outputs" / "cache" / "tokens").exists()
