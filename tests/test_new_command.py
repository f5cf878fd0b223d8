from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from clip_files import write_clip
from glyphrank import new_command
from glyphrank.new_command import _override, run_new
from pdf_files import write_drawing, write_pdf
from pictures import write_picture

LONG = "a line of text that is long enough"


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "documents"
    folder.mkdir()
    write_pdf(folder / "budget.pdf", LONG, LONG)
    return folder


def test_new_says_what_it_found_and_what_is_next(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_drawing(documents / "scan.pdf")
    write_picture(documents / "photo.png", "red")
    (documents / "note.txt").write_text("x")
    assert run_new(["mine", "documents"]) == 0
    printed = capsys.readouterr().out
    assert "documents: 3 pages of 2 PDFs, 1 picture\n" in printed
    assert "mine/corpus.jsonl: 4 items\n" in printed
    assert "2 with a text layer, 1 scanned or drawn, without text\n" in printed
    assert "skipped: 1 file or folder\n  no PDF, picture or clip: note.txt\n" in printed
    assert '{"id": "q1", "text": "your question"}' in printed
    assert "q1\tbudget.pdf#1\t1\n" in printed
    assert "glyphrank run dataset=folder dataset.root=mine ocr=embedded_else_easyocr\n" in printed


def test_pages_with_text_need_no_ocr_and_clips_are_measured_as_clips(
    documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_new(["mine", "documents"])
    assert "glyphrank run dataset=folder dataset.root=mine\n" in capsys.readouterr().out
    (documents / "budget.pdf").unlink()
    write_clip(documents / "clip.avi", 3)
    run_new(["clips", "documents"])
    assert "dataset.root=clips ocr=easyocr_ko_en metrics=clips\n" in capsys.readouterr().out


def test_a_second_call_is_refused_and_add_is_not(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_new(["mine", "documents"]) == 0
    assert run_new(["mine", "documents"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("glyphrank: mine: holds corpus.jsonl, queries.jsonl, qrels.tsv already")
    write_picture(documents / "photo.png", "red")
    assert run_new(["--add", "mine", "documents"]) == 0
    assert "mine/corpus.jsonl: 1 new item, 2 were there\n" in capsys.readouterr().out


def test_add_with_nothing_new_shows_an_id_that_is_there(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_new(["mine", "documents"])
    capsys.readouterr()
    assert run_new(["--add", "mine", "documents"]) == 0
    assert "q1\tbudget.pdf#1\t1\n" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["", "documents"], ["mine", ""]])
def test_an_empty_name_is_refused(documents: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_new(arguments) == 2
    assert "is an empty text; wanted the name of a folder" in capsys.readouterr().err
    assert [path.name for path in documents.parent.iterdir()] == ["documents"]


def test_an_interruption_ends_without_a_traceback(
    documents: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(new_command, "text_layers", interrupt)
    assert run_new(["mine", "documents"]) == 130
    assert capsys.readouterr().err.endswith("glyphrank: interrupted\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full to stand for a full disk")
def test_a_full_standard_output_is_told(documents: Path) -> None:
    code = "import sys; from glyphrank.new_command import run_new; sys.exit(run_new(['mine', 'documents']))"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("glyphrank: standard output: cannot be written (No space left on device); mine is there")


def test_many_skipped_files_are_named_on_demand(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(25):
        (documents / f"note{number}.txt").write_text("x")
    run_new(["mine", "documents"])
    assert "note19.txt, and 5 more (--skipped names all)\n" in capsys.readouterr().out
    run_new(["--add", "--skipped", "mine", "documents"])
    assert "note24.txt\n" in capsys.readouterr().out


def test_help_says_what_becomes_of_the_documents(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_new(["--help"]) == 0
    assert "neither" in capsys.readouterr().out
    assert run_new(["mine"]) == 2


@pytest.mark.parametrize("name", ["mine", "내 문서 (1)", 'a"b', "a\\", "it's", "$HOME, x=[1]"])
def test_an_override_of_any_path_survives_shell_and_hydra(name: str) -> None:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    typed = _override("dataset.root", Path(name))
    (given,) = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {typed}"], capture_output=True, text=True, check=True
    ).stdout.split("\0")[:-1]
    assert [given] == shlex.split(typed)
    assert OverridesParser.create().parse_override(given).value() == name
