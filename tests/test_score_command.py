"""`glyphrank score` as a command: what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
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
    assert set(printed) == {"metrics", "bounds", "intervals", "tails", "counts", "notes"}
    assert printed["tails"] == {"mean_rank": 1}
    assert printed["intervals"]["hit_rate_at_1"] == pytest.approx(wanted["intervals"]["hit_rate_at_1"])


def test_run_score_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 1 t\nq Q0 b 2 1 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    files = ["--run", str(tmp_path / "run"), "--qrels", str(tmp_path / "qrels")]
    assert run_score([*files, "--cutoffs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "metric                         value  95 % interval"
    assert "hit_rate_at_1                 0.0000  0.0000 to 0.7935      0.0000 to 1.0000 by the order of ties" in lines
    assert "hit_rate_at_2                 1.0000  0.2065 to 1.0000" in lines
    assert any(
        line.startswith("mean_rank") and line.endswith("100% of it from the worst 5 % of queries") for line in lines
    )
    assert any(line.startswith("note: queries with ties that change their numbers") for line in lines)
    (told,) = (
        line for line in lines if line.startswith("note: the order of equal scores decides more than 0.5 points")
    )
    assert "hit_rate_at_1" in told
    assert "hit_rate_at_2" not in told


def _tied_files(folder: Path) -> list[str]:
    (folder / "run").write_text("q Q0 a 1 1 t\nq Q0 b 2 1 t\nq Q0 c 3 0 t\np Q0 a 1 1 t\np Q0 b 2 0 t\n")
    (folder / "qrels").write_text("q 0 a 1\np 0 a 1\n")
    return ["--run", str(folder / "run"), "--qrels", str(folder / "qrels")]


def test_all_rules_stand_side_by_side_in_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_score([*_tied_files(tmp_path), "--ties", "all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("by tie rule"))
    assert lines[head].split()[3:] == ["pessimistic", "optimistic", "document_id", "average", "textvr"]
    assert lines[head + 1].split() == ["hit_rate_at_1", "0.5000", "1.0000", "0.5000", "0.7500", "0.5000"]
    assert lines[1].startswith("hit_rate_at_1                 0.5000")  # under the usual rule


def test_all_rules_stand_side_by_side_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = _tied_files(tmp_path)
    run_score([*files, "--ties", "all", "--json"])
    printed = json.loads(capsys.readouterr().out)
    run_score([*files, "--json"])
    usual = json.loads(capsys.readouterr().out)
    assert printed.pop("rules").keys() == set(TieRule)
    assert printed == usual


def test_group_decides_who_is_resampled_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = _tied_files(tmp_path)
    counts = {}
    for group in ("item", "none"):
        run_score([*files, "--group", group, "--json"])
        counts[group] = json.loads(capsys.readouterr().out)["counts"].get("groups")
    assert counts == {"item": 1, "none": None}
    assert run_score([*files, "--group", "scenario"]) == 2


def test_all_rules_and_groups_go_with_a_matrix_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "corpus.jsonl").write_text("".join(f'{{"id": "i{n}", "text": "x"}}\n' for n in range(3)))
    (tmp_path / "queries.jsonl").write_text("".join(f'{{"id": "q{n}", "text": "x{n}"}}\n' for n in range(4)))
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(f"q{n}\ti{n % 3}\t1\n" for n in range(4))
    )
    np.save(tmp_path / "s.npy", np.zeros((4, 3)))
    matrix = ["--matrix", str(tmp_path / "s.npy"), "dataset=folder", f"dataset.root={tmp_path}", "metrics=clips"]
    assert run_score([*matrix, "--ties", "all", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {rule: metrics["v2t/hit_rate_at_1"] for rule, metrics in printed["rules"].items()} == pytest.approx(
        {"pessimistic": 0, "optimistic": 1, "document_id": 1 / 3, "average": 1 / 3, "textvr": 0}
    )
    assert printed["metrics"] == printed["rules"]["pessimistic"]
    assert printed["tails"].keys() == {"mean_rank", "v2t/mean_rank"}
    assert printed["counts"]["groups"] == 3
    assert run_score([*matrix, "--group", "none"]) == 0
    table = capsys.readouterr().out
    assert "groups" not in table
    assert "note: the order of equal scores decides more than 0.5 points (half a rank) of hit_rate_at_1" in table


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
    assert "'pessimistic', 'optimistic', 'document_id', 'average', 'textvr', 'all'" in message


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
