from __future__ import annotations

import logging
import math
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from finished_runs import finished, from_ranks, kept
from glyphrank import reproduce_command
from glyphrank.errors import ConfigError, DataError
from glyphrank.records import Direction
from glyphrank.report.agreement import Verdict, as_json, as_text
from glyphrank.report.environment import ENVIRONMENT
from glyphrank.report.results import CHECKSUMS, REPORT
from glyphrank.reproduce import agreement, find_original, scratch_folder
from glyphrank.reproduce_command import run_reproduce
from glyphrank.tracking import reading
from glyphrank.tracking.reading import Fetched

RELEVANT = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}


def test_the_same_numbers_and_ranks_are_equal_bit_for_bit() -> None:
    found = agreement(from_ranks("then", [1, 3, 2]), from_ranks("now", [1, 3, 2]))
    assert (found.verdict, found.asked, found.moved, found.unshared) == (Verdict.equal, 3, 0, 0)
    text = as_text(found, "ndcg_at_10")
    assert text.endswith(f"equal: all {len(found.numbers)} numbers come out the same, bit for bit")
    assert "equal (primary)" in text


def test_last_bit_is_within_tolerance_and_not_equal() -> None:
    then = from_ranks("then", [1, 3, 2])
    bit = {**then.report.metrics, "ndcg_at_10": math.nextafter(then.report.metrics["ndcg_at_10"], 1)}
    found = agreement(then, replace(then, report=replace(then.report, metrics=bit)))
    assert found.verdict is Verdict.within
    assert agreement(then, replace(then, report=replace(then.report, metrics=bit)), 0).verdict is Verdict.different
    assert "are the same bit for bit, all within 0.001" in as_text(found, "ndcg_at_10")


def test_moved_query_is_counted_and_numbers_beyond_the_tolerance_are_different() -> None:
    found = agreement(from_ranks("then", [1, 3, 2]), from_ranks("now", [1, 3, 4]))
    assert (found.verdict, found.asked, found.moved) == (Verdict.different, 3, 1)
    assert "ranks: 1 of 3 that ask have a relevant item at another place" in as_text(found, "ndcg_at_10")
    (number,) = [number for number in found.numbers if number.name == "mean_rank"]
    assert (number.then, number.now, number.verdict) == (2.0, 8 / 3, Verdict.different)
    assert agreement(from_ranks("then", [1, 3, 2]), from_ranks("now", [1, 3, 4]), 0.5).verdict is Verdict.within


def test_ranks_that_moved_are_never_equal_though_all_numbers_are() -> None:
    then = finished("then", {"q1": [3, 2, 1], "q2": [3, 2, 1]}, RELEVANT)
    now = finished("now", {"q1": [2, 3, 1], "q2": [2, 3, 1]}, RELEVANT)
    assert then.report.metrics == now.report.metrics
    found = agreement(then, now)
    assert (found.verdict, found.moved) == (Verdict.within, 2)


def test_a_rank_may_differ_by_a_share_of_itself() -> None:
    base = from_ranks("then", [1, 3, 2])
    runs = [
        replace(base, report=replace(base.report, metrics={"mean_rank": value})) for value in (1000.0, 1000.9, 1001.5)
    ]
    assert agreement(runs[0], runs[1]).verdict is Verdict.within
    assert agreement(runs[0], runs[2]).verdict is Verdict.different


def test_channels_count_and_are_shown_where_they_differ() -> None:
    base = from_ranks("then", [1, 3, 2])
    then, now = (
        replace(base, report=replace(base.report, channels={"text": {"ndcg_at_10": value, "mean_rank": 2.0}}))
        for value in (0.5, 0.7)
    )
    found = agreement(then, now)
    assert found.verdict is Verdict.different
    text = as_text(found, "ndcg_at_10")
    assert "channel/text/ndcg_at_10" in text
    assert "channel/text/mean_rank" not in text
    assert as_json(found, ["code: x"])["numbers"]["channel/text/ndcg_at_10"] == [0.5, 0.7]


def test_other_queries_and_directions_are_different() -> None:
    then = finished("then", {"q1": [3, 2, 1], "q2": [1, 3, 2]}, RELEVANT)
    other = finished("now", {"q1": [3, 2, 1], "q3": [1, 3, 2]}, {"q1": {"a": 1.0}, "q3": {"b": 1.0}})
    assert then.report.metrics == other.report.metrics
    assert (agreement(then, other).verdict, agreement(then, other).unshared) == (Verdict.different, 2)
    both = finished("now", {"q1": [3, 2, 1], "q2": [1, 3, 2]}, RELEVANT, directions=list(Direction))
    assert agreement(then, both).verdict is Verdict.different


def test_original_is_found_by_folder_and_by_the_beginning_of_its_identity(tmp_path: Path) -> None:
    folder = kept(from_ranks("then", [1, 2]), tmp_path / "results")
    (folder / ENVIRONMENT).write_text('{"python": "3.11"}')
    by_folder, by_identity = find_original(str(folder)), find_original(folder.name[:8], tmp_path)
    assert by_folder.reference == by_identity.reference == folder.name
    assert by_folder.environment == by_identity.environment == {"python": "3.11"}


def test_damaged_result_is_refused(tmp_path: Path) -> None:
    folder = kept(from_ranks("then", [1, 2]), tmp_path / "results")
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / CHECKSUMS).unlink()  # as a run's own folder has none
    text = (copy / REPORT).read_text(encoding="utf-8")
    (copy / REPORT).write_text(text.replace('"mean_rank": 1.5', '"mean_rank": 1.25'), encoding="utf-8")
    with pytest.raises(DataError, match=r"^the stored run '.*copy' is damaged: its report says that mean_rank is 1.25"):
        find_original(str(copy))
    (folder / "run.trec").write_text("")
    with pytest.raises(DataError, match=rf"^the stored run '.*' is damaged: run.trec in {folder}; run the experiment"):
        find_original(folder.name[:8], tmp_path)
    (folder / CHECKSUMS).write_text("[]")
    with pytest.raises(DataError, match=r"is damaged: checksums.json"):
        find_original(str(folder))


def test_run_of_a_store_whose_files_are_damaged_is_taken_from_its_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    then = from_ranks("then", [1, 2])
    folder = kept(then, tmp_path / "results")

    def fetch(store: str, into: Path, *asked: object) -> list[Fetched]:
        (into / "files").mkdir()
        (into / "files" / REPORT).write_text("{")
        return [Fetched("0a1b2c3d", "낱말 1", {"identity": then.report.identity}, into / "files", "")]

    monkeypatch.setattr(reading, "fetch", fetch)
    found = find_original("0a1b2c3d", tmp_path)
    assert (found.reference, found.finished.report.metrics) == ("0a1b2c3d", then.report.metrics)
    assert "its files in the store: report.json: Expecting property name" in caplog.text
    (folder / "ranks.csv").unlink()
    wanted = r"^run 0a1b2c3d \(낱말 1\) cannot be reproduced: its files in the store: report.json: .*: ranks.csv in "
    with pytest.raises(DataError, match=wanted + re.escape(str(folder))):
        find_original("0a1b2c3d", tmp_path)


def test_scratch_folders_of_dead_processes_are_removed(tmp_path: Path) -> None:
    code = "import os; from pathlib import Path; from glyphrank.reproduce import scratch_folder\n"
    code += "with scratch_folder(Path()): os._exit(0)"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    (left,) = tmp_path.iterdir()
    for name, age in (("old", 8), ("new", 1)):
        (tmp_path / f".reproduce-{name}").mkdir()
        os.utime(tmp_path / f".reproduce-{name}", (time.time() - age * 86_400,) * 2)
    with scratch_folder(tmp_path) as mine, scratch_folder(tmp_path):
        assert mine.is_dir()
        assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == [".reproduce-new"]


def test_what_is_no_run_is_refused_with_what_would_be_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="wanted a run's folder, or at least 6 characters of an id of MLflow"):
        find_original("no such thing", tmp_path)
    with pytest.raises(ConfigError, match="there is no MLflow store"):
        find_original("0a1b2c3d", tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        find_original(str(tmp_path))
    for day in ("2026-01-01", "2026-01-02"):
        kept(from_ranks(day, [1, 2]), tmp_path / "outputs/runs" / day)
    for place in ("outputs", "outputs/runs"):
        with pytest.raises(ConfigError, match=f"{place} is no run; name one of the 2 that lie in it: .*01-02.*01-01"):
            find_original(str(tmp_path / place))
    for name in ("a" * 32, "a" * 31 + "b"):
        kept(from_ranks(name, [1, 2], identity=name), tmp_path / "results")
    with pytest.raises(ConfigError, match="begins 2 identities"):
        find_original("aaaaaa", tmp_path)


def test_folder_of_a_sweep_names_its_cells(tmp_path: Path) -> None:
    (tmp_path / "cells").mkdir()
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "report.json").touch()
    with pytest.raises(ConfigError, match=r"is the folder of a sweep; name one of its cells: .*/0$"):
        find_original(str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [([], "RUN"), (["aaaaaa", "--tolerance", "-1"], "at least 0"), (["aaaaaa", "--tolerance", "nan"], "at least 0")],
)
def test_wrong_use_is_told_with_exit_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_reproduce(arguments) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device", "x/report.json"), "x/report.json: No space left on device\n"),
        (OSError("gone"), "gone\n"),
        (SystemExit(1), "a component ended the program (SystemExit: 1)\n"),
        (RuntimeError("no licence"), "RuntimeError: no licence\n"),
    ],
)
def test_what_ends_a_reproduction_is_told_and_is_no_difference(
    error: BaseException, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(reproduce_command, "find_original", fail)
    assert run_reproduce(["aaaaaa"]) == 2
    told = capsys.readouterr().err
    assert told.endswith(words)
    assert told.startswith("glyphrank: ")
    assert ("Traceback" in told) is isinstance(error, RuntimeError)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full to stand for a full disk")
def test_log_that_cannot_be_written_hides_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "glyphrank.log").symlink_to("/dev/full")

    def fail() -> None:
        with reproduce_command._logging_to(tmp_path):
            logging.getLogger("glyphrank").info("one line")
            raise DataError("the run's own")

    with pytest.raises(DataError, match="the run's own"):
        fail()
    path = tmp_path / "glyphrank.log"
    told = f"one line\n{path} cannot be written (No space left on device): lines are missing there\n"
    assert capfd.readouterr().err == told


def test_help_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_reproduce(["--help"]) == 0
    assert "the last place that tables show" in " ".join(capsys.readouterr().out.split())
