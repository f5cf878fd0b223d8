from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.tracking.content import Content, Files
from glyphrank.tracking.kept import Keeper, Kind, Record, read_record, settle, waiting
from glyphrank.tracking.kept_files import files_folder, whole_files

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
    monkeypatch.setattr("glyphrank.tracking.kept_files._COPIED", 10)
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


def test_run_whose_files_cannot_be_read_is_never_complete(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keeper = Keeper(tmp_path, RECORD)
    keeper.add(CONTENT, [Files(tmp_path / "nowhere")])
    assert keeper.record.content == replace(CONTENT, complete="")
    assert "of 한 쪽 cannot be read" in caplog.text


def test_torn_copy_is_replaced_by_its_source_or_by_the_stored_result_or_named(tmp_path: Path) -> None:
    run, result, kept = tmp_path / "run", tmp_path / "result", files_folder(tmp_path / "pending", "ab12")
    for folder in (run, result):
        folder.mkdir()
        for name in ("a.json", "b.json"):
            (folder / name).write_text("whole")
    keeper = Keeper(tmp_path / "pending", RECORD)
    keeper.add(CONTENT, [Files(run)])
    files = keeper.record.files
    assert whole_files(kept, files, result) == ([Files(kept)], [])
    (kept / "b.json").write_text("whol")
    assert whole_files(kept, files, result) == ([Files(kept / "a.json"), Files(run / "b.json")], [])
    (run / "b.json").write_text("of another run")
    assert whole_files(kept, files, result) == ([Files(kept / "a.json"), Files(result / "b.json")], [])
    (result / "b.json").unlink()
    assert whole_files(kept, files, result) == ([Files(kept / "a.json")], ["b.json"])


def test_files_that_find_no_room_are_sent_from_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.json").write_text("whole")
    monkeypatch.setattr("glyphrank.tracking.kept_files._copy", full)
    keeper = Keeper(tmp_path / "pending", RECORD)
    keeper.add(CONTENT, [Files(tmp_path / "run", "below")])
    assert keeper.record.content == CONTENT
    found = whole_files(files_folder(tmp_path / "pending", "ab12"), keeper.record.files, tmp_path)
    assert found == ([Files(tmp_path / "run" / "a.json", "below")], [])


def test_end_of_a_run_is_written_though_the_disk_is_full_by_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    spare, replace_it = tmp_path / ".ab12.spare", Keeper._replace

    def full(keeper: Keeper) -> None:
        if spare.exists():
            raise OSError(28, "No space left on device")
        replace_it(keeper)

    keeper = Keeper(tmp_path, RECORD)
    keeper.keep("no answer")
    assert spare.stat().st_size == 1 << 15
    monkeypatch.setattr(Keeper, "_replace", full)
    keeper.note(status="FAILED", error="OSError: page 3", ended=9)
    assert (read_record(tmp_path, "ab12")[0].error, keeper.trouble) == ("OSError: page 3", "")
    assert [path.name for path in tmp_path.iterdir()] == ["ab12.json"]
    keeper.tell_if_lost(finished=False)
    assert caplog.text == ""


@pytest.mark.parametrize("finished", [False, True])
def test_run_that_cannot_be_kept_is_told_what_to_do(
    finished: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "pending").touch()
    keeper = Keeper(tmp_path / "pending", RECORD)
    assert keeper.later == "'glyphrank sync' logs it later"
    keeper.keep("no answer")
    assert "make room there before it ends" in keeper.later
    keeper.tell_if_lost(finished)
    assert "make room, and run the same command again" in caplog.text
    assert ("from the stored result" in caplog.text) == finished


def test_record_that_was_sent_promises_no_file_of_before(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).write_text(name)
    keeper = Keeper(tmp_path / "pending", RECORD)
    keeper.keep("no answer")
    keeper.add(CONTENT, [Files(tmp_path / "first")])
    assert settle(tmp_path / "pending", "ab12", read_record(tmp_path / "pending", "ab12")[1])
    keeper.add(CONTENT, [Files(tmp_path / "second")])
    assert read_record(tmp_path / "pending", "ab12")[0].files.keys() == {"second"}


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
