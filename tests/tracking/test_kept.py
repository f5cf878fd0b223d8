from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.tracking.content import Content, Files
from glyphrank.tracking.kept import Keeper, Kind, Record, files_folder, read_record, settle, waiting

RECORD = Record("ab12", Kind.server, "http://host", "team", "l1", {"mlflow.runName": "한 쪽"}, {"k": "1"}, {}, 5)
CONTENT = Content({"a": 0.1, "b": 1e-300}, {"t": "표"}, 7, {"name": "d"}, {"x.json": "{}"}, "true")


def test_record_is_read_back_as_it_was_kept(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, RECORD)
    keeper.note(run_id="77")
    assert list(tmp_path.iterdir()) == []  # nothing is written before it has to be
    keeper.keep("no answer")
    keeper.add(CONTENT, [])
    keeper.note(status="FINISHED", ended=9)
    assert list(waiting(tmp_path)) == ["ab12"]
    wanted = replace(RECORD, run_id="77", cause="no answer", content=CONTENT, status="FINISHED", ended=9)
    assert read_record(tmp_path, "ab12")[0] == wanted


def test_what_is_told_in_two_pieces_is_kept_as_one(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, RECORD)
    keeper.add(CONTENT, [])
    keeper.add(Content({"b": 2.0, "c": 3.0}, {"u": "v"}, 8), [])
    assert keeper.record.content == Content(
        {"a": 0.1, "b": 2.0, "c": 3.0}, {"t": "표", "u": "v"}, 8, {"name": "d"}, {"x.json": "{}"}, "true"
    )


def test_files_are_kept_under_their_names_large_ones_without_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glyphrank.tracking.kept._COPIED", 10)
    run, figure = tmp_path / "run", tmp_path / "figures" / "recall.png"
    (run / ".hydra").mkdir(parents=True)
    figure.parent.mkdir()
    figure.write_bytes(b"png")
    (run / "scores.npy").write_bytes(b"large" * 10)
    (run / ".hydra" / "config.yaml").write_text("a: 1")
    keeper = Keeper(tmp_path / "pending", RECORD)
    keeper.add(CONTENT, [Files(run), Files(figure, "figures")])
    keeper.add(CONTENT, [Files(run)])
    kept = files_folder(tmp_path / "pending", "ab12")
    found = {str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()}
    assert found == {"scores.npy", ".hydra/config.yaml", "figures/recall.png"}
    assert (kept / "scores.npy").samefile(run / "scores.npy")
    assert not (kept / ".hydra" / "config.yaml").samefile(run / ".hydra" / "config.yaml")


def test_run_whose_files_cannot_be_kept_is_never_complete(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keeper = Keeper(tmp_path, RECORD)
    keeper.add(CONTENT, [Files(tmp_path / "nowhere")])
    assert keeper.record.content == replace(CONTENT, complete="")
    assert "'한 쪽'" in caplog.text or "한 쪽 cannot be kept" in caplog.text


def test_record_that_told_more_while_it_was_sent_stays(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, RECORD)
    keeper.keep("no answer")
    sent = read_record(tmp_path, "ab12")[1]
    keeper.note(ended=9)
    assert not settle(tmp_path, "ab12", sent)
    assert read_record(tmp_path, "ab12")[0].ended == 9
    assert settle(tmp_path, "ab12", read_record(tmp_path, "ab12")[1])
    assert list(tmp_path.iterdir()) == []
    assert settle(tmp_path, "ab12", sent)  # another process was faster
