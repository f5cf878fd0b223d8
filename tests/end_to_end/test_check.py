"""`glyphrank check` and `glyphrank score --matrix`: what a person sees of a dataset, of numbers and of a matrix."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import corpus, glyphrank, ran, refused
from pictures import write_picture
from textvr_miniature import TEST, write_textvr


def checked(cwd: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    """What `glyphrank check --json` finds: kind -> finding, and the ceilings."""
    done = glyphrank("check", *arguments, "--json", cwd=cwd)
    assert done.returncode == code, done.stdout + done.stderr
    audit = json.loads(done.stdout)
    return {found["kind"]: found for found in audit["findings"]} | {"ceilings": audit["ceilings"]}


@pytest.mark.shared
def test_the_real_captions_of_textvr_have_the_duplicates_and_ceilings_that_are_known(
    shared_data: Path, tmp_path: Path
) -> None:
    dataset = ("dataset=textvr", f"dataset.root={shared_data / 'textvr'}", "dataset.missing=keep")
    done = glyphrank("check", *dataset, "--json", cwd=tmp_path)
    assert done.returncode == 0
    audit = json.loads(done.stdout)
    messages = [found["message"] for found in audit["findings"]]
    assert any(
        "2727 query texts, 2454 of them distinct: 223 groups of equal ones hold 496" in text for text in messages
    )
    assert any("another folder than the scenario in 113 of 2727 records" in text for text in messages)
    best = {(row["direction"], row["ties"]): row["metrics"]["hit_rate_at_1"] for row in audit["ceilings"]}
    assert best["t2v", "pessimistic"] == best["t2v", "optimistic"] == pytest.approx(0.8999, abs=5e-5)
    assert best["v2t", "textvr"] == best["v2t", "pessimistic"] == pytest.approx(0.8181, abs=5e-5)
    assert best["v2t", "optimistic"] == 1


def test_every_oddity_of_a_folder_is_told_with_its_ids(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    write_picture(folder / "good.png", "red")
    write_picture(folder / "twin.png", "red")
    (folder / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nno more")
    items = [
        {"id": "good", "media": "good.png", "text": "the first page speaks of apples"},
        {"id": "twin", "media": "twin.png", "text": "the first page speaks of apples"},
        {"id": "bad", "media": "bad.png", "text": ""},
        {"id": unicodedata.normalize("NFD", "한"), "text": "(cid:1)(cid:2)(cid:3)"},
    ]
    queries = [{"id": "q1", "text": "apples"}, {"id": "q2", "text": "apples"}, {"id": "q3", "text": "nobody knows"}]
    corpus(folder, items, queries, ["q1\tgood\t1", "q2\ttwin\t1"])
    found = checked(tmp_path, "dataset=folder", "dataset.root=odd", code=1)
    assert found["unreadable_media"]["ids"] == ["bad"]
    assert "bad.png" in found["unreadable_media"]["reasons"]["bad"]
    shown = glyphrank("check", "dataset=folder", "dataset.root=odd", cwd=tmp_path)
    assert shown.returncode == 1
    for part in ("cannot be read", "garbled", "empty", "not in NFC", "no relevant item", "q1, q2", "good, twin"):
        assert part in shown.stdout
    assert checked(tmp_path, "dataset=folder", "dataset.root=odd", "--skip-media")  # nothing was looked at


def test_faults_of_all_files_of_a_folder_come_at_once_with_exit_code_1(tmp_path: Path) -> None:
    items = [{"id": "p1", "text": "x"}, {"id": "p1", "text": "y"}]
    corpus(tmp_path / "faulty", items, [{"id": "q1", "text": ""}], ["q1\tp7\t1", "q9\tp1\t1"])
    done = glyphrank("check", "dataset=folder", "dataset.root=faulty", cwd=tmp_path)
    assert done.returncode == 1
    for part in ("stands on line 1 already", "has no text", "'p7'", "'q9'"):
        assert part in done.stderr


def test_all_faults_are_told_however_many_there_are(tmp_path: Path) -> None:
    corpus(tmp_path / "faulty", [{"id": "p1", "text": "x"}], [{"id": "q1", "text": "y"}], ["q1\tp1\tmuch"] * 60)
    dataset = ("check", "dataset=folder", "dataset.root=faulty")
    told = glyphrank(*dataset, cwd=tmp_path)
    assert told.returncode == 1
    wanted = [f"qrels.tsv: line {number}: the score 'much'; wanted a finite number" for number in range(2, 62)]
    assert [line.partition("/faulty/")[2] for line in told.stderr.splitlines()[-60:]] == wanted
    as_json = glyphrank(*dataset, "--json", cwd=tmp_path)
    assert (as_json.returncode, as_json.stderr) == (1, "")
    found = json.loads(as_json.stdout)
    assert found["error"].endswith("faulty/qrels.tsv: 60 faults:")
    assert [fault.partition("/faulty/")[2] for fault in found["faults"]] == wanted


def test_absent_videos_are_faults_unless_the_dataset_keeps_them(tmp_path: Path) -> None:
    write_textvr(tmp_path / "textvr", absent=(TEST[0].path,))
    done = glyphrank("check", "dataset=textvr", "dataset.root=textvr", cwd=tmp_path)
    assert done.returncode == 1
    assert TEST[0].path in done.stderr
    assert "unreadable_media" not in checked(tmp_path, "dataset=textvr", "dataset.root=textvr", "dataset.missing=keep")
    present = tmp_path / "textvr" / "Videos" / TEST[1].path
    present.write_bytes(b"")
    kept = checked(tmp_path, "dataset=textvr", "dataset.root=textvr", "dataset.missing=keep", code=1)
    assert kept["unreadable_media"]["ids"] == [TEST[1].path]


def test_what_check_cannot_carry_out_ends_with_exit_code_2(tmp_path: Path) -> None:
    assert "dataset=..." in refused("check", cwd=tmp_path)
    assert "folder" in refused("check", "dataset=nowhere", cwd=tmp_path)
    assert "dataset.root" in refused("check", "dataset=folder", cwd=tmp_path)
    assert "wanted K=NUMBER" in refused("check", "--recall", "one=.5", cwd=tmp_path)
    assert "cut-off 10 stands twice" in refused("check", "--recall", "10=.5,10=.6", cwd=tmp_path)
    assert "leave the dataset out" in refused("check", "dataset=folder", "--recall", "1=.5", cwd=tmp_path)
    assert not (tmp_path / "outputs" / "runs").exists()


def test_numbers_that_cannot_both_be_true_are_named(tmp_path: Path) -> None:
    paper = ("--recall", "1=.41,3=.68,5=.75,10=.82", "--ndcg", "3=.46,5=.49,10=.57")
    done = glyphrank("check", *paper, cwd=tmp_path)
    assert done.returncode == 1
    assert "between 0.545 and 0.580" in done.stdout
    assert ran("check", "--recall", "1=.413,3=.682", "--ndcg", "3=.572", cwd=tmp_path).stdout.startswith(
        "these numbers can"
    )
    mixed = ("--recall", "1=0.41,3=0.68", "--ndcg", "3=0.585")  # each is rounded as it is written
    assert ran("check", *mixed, cwd=tmp_path).stdout.startswith("these numbers can")


def test_a_matrix_that_cannot_be_scored_is_named(tmp_path: Path) -> None:
    write_textvr(tmp_path / "textvr", videos=None)
    dataset = ("dataset=textvr", "dataset.root=textvr", "dataset.missing=keep")
    count = len(TEST)
    scores = np.random.default_rng(0).random((count, count), dtype=np.float32)
    for name, matrix, message in (
        ("short", scores[:, 1:], f"({count}, {count - 1})"),
        ("nan", np.where(np.eye(count), np.nan, scores), "NaN"),
        ("words", np.array([["a"]]), "numbers"),
    ):
        np.save(tmp_path / f"{name}.npy", matrix)
        assert message in refused("score", "--matrix", f"{name}.npy", *dataset, cwd=tmp_path)
    np.save(tmp_path / "good.npy", scores)
    assert "rand" in refused("score", "--matrix", "good.npy", "--columns", "other", *dataset, cwd=tmp_path)
    assert "absent.npy" in refused("score", "--matrix", "absent.npy", *dataset, cwd=tmp_path)
    assert "--qrels" in refused("score", "--matrix", "good.npy", "--qrels", "x", *dataset, cwd=tmp_path)
    scored = json.loads(
        ran("score", "--matrix", "good.npy", "--json", *dataset, "--ties", "average", cwd=tmp_path).stdout
    )
    assert {"hit_rate_at_1", "v2t/median_rank"} <= scored["metrics"].keys()
