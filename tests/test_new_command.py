from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from clip_files import write_clip
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
