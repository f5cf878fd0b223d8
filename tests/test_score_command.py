"""`glyphrank score` as a command: what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from glyphrank.score import score
from glyphrank.score_command import run_score
from glyphrank.ties import TieRule


def test_run_score_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").write_text("q Q0 x 1 1 t\nq Q0 a 2 0 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    wanted = score(tmp_path / "run", tmp_path / "qrels", (10,), TieRule.average)
    files = ["--run", str(tmp_path / "run"), "--qrels", str(tmp_path / "qrels")]
    assert run_score([*files, "--json", "--ties", "average"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["metrics"] == wanted["metrics"]
    assert set(printed) == {"metrics", "bounds", "counts", "notes"}


def test_run_score_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 1 t\nq Q0 b 2 1 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    files = ["--run", str(tmp_path / "run"), "--qrels", str(tmp_path / "qrels")]
    assert run_score([*files, "--cutoffs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "hit_rate_at_1                 0.0000  0.0000 to 1.0000 by the order of ties" in lines
    assert "hit_rate_at_2                 1.0000" in lines
    assert any(line.startswith("note: queries with ties that change their numbers") for line in lines)


BOTH = ["--run", "x", "--qrels", "y"]


@pytest.mark.parametrize("arguments", [["--run", "x"], [*BOTH, "--ties", "kind"], [*BOTH, "--cutoffs", "0"]])
def test_run_score_returns_2_for_a_wrong_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_score(arguments) == 2
    assert "usage: glyphrank score" in capsys.readouterr().err


def test_run_score_says_what_is_wrong_with_an_argument(capsys: pytest.CaptureFixture[str]) -> None:
    for value in ("0", "-3", "ten", "1.5"):
        run_score([*BOTH, f"--cutoffs={value}"])
        assert f"found '{value}'; wanted whole numbers of at least 1" in capsys.readouterr().err
    run_score([*BOTH, "--ties", "kind"])
    message = capsys.readouterr().err
    assert "TieRule" not in message
    assert "'pessimistic', 'optimistic', 'document_id', 'average', 'textvr'" in message


def test_run_score_ends_quietly_where_nobody_reads_on(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 1 t\nq Q0 b 2 0 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    program = "import sys; from glyphrank.score_command import run_score; sys.exit(run_score(sys.argv[1:]))"
    files = ["--run", str(tmp_path / "run"), "--qrels", str(tmp_path / "qrels")]
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, *files], stdout=theirs, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


def test_run_score_returns_2_and_one_message_for_a_missing_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    assert run_score(["--run", str(tmp_path / "none"), "--qrels", str(tmp_path / "qrels")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"glyphrank: {tmp_path / 'none'}: cannot be read")
    assert captured.err.count("\n") == 1
