"""The README's way from a folder of documents to a first number, as it stands there, in real processes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from command import ran, refused, reports
from pdf_files import write_drawing, write_pdf

README = Path(__file__).parents[2] / "README.md"
SECTION = README.read_text(encoding="utf-8").partition("## Your own documents")[2].partition("\n## ")[0]
FIRST, LATER = re.findall(r"```\w*\n(.*?)```", SECTION, re.DOTALL)[:2]

PAGES = (
    "Annual budget of the city, summary and contents of the report",
    "The city library spent 41 million on books, loans and opening hours",
    "Roads and bridges: repairs of the year by district and contractor",
)


def shell(commands: str, folder: Path) -> str:
    """What commands of the README print; each must succeed."""
    before = (
        f'set -e; export GLYPHRANK_OUTPUTS=outputs; glyphrank() {{ {shlex.quote(sys.executable)} -m glyphrank "$@"; }}'
    )
    done = subprocess.run(
        ["bash", "-c", f"{before}\n{commands}"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Walked:
    """A folder in which the five commands were run.

    Attributes:
        printed: by all of them.
        refusal: what `run` said before there was a query.
    """

    folder: Path
    printed: str
    refusal: str


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    folder = tmp_path_factory.mktemp("own")
    (folder / "documents").mkdir()
    write_pdf(folder / "documents" / "budget.pdf", *PAGES)
    first, *others = FIRST.strip().splitlines()
    printed = shell(first, folder)
    refusal = refused(*shlex.split(others[-1])[1:], cwd=folder)
    return Walked(folder, printed + shell("\n".join(others), folder), refusal)


def test_five_commands_lead_from_a_folder_of_documents_to_a_first_number(walked: Walked) -> None:
    assert len(FIRST.strip().splitlines()) == 5
    assert "documents: 3 pages of 1 PDF" in walked.printed
    assert "0 errors" in walked.printed
    (report,) = reports(walked.folder)
    assert report["metrics"]["hit_rate_at_1"] == 1.0


def test_a_dataset_without_queries_says_what_a_line_looks_like(walked: Walked) -> None:
    line = '{"id": "q1", "text": "What does the library cost?"}'
    assert f"queries.jsonl: the file is empty; wanted a line for each query, such as {line}" in walked.refusal
    wanted = "wanted at least one row below it, such as q1<TAB>budget.pdf#1<TAB>1 (with tabs)"
    assert f"qrels.tsv: only a header; {wanted}" in walked.refusal


def test_the_commands_for_later_go_on_from_there(walked: Walked) -> None:
    folder = walked.folder
    write_pdf(folder / "documents" / "roads.pdf", "Roads: a second report on bridges and repairs of the year")
    write_drawing(folder / "documents" / "scan.pdf")
    add, sweep, scans = (line for line in LATER.splitlines() if line.startswith("glyphrank"))
    printed = shell(add, folder)
    assert "2 new items, 3 were there" in printed
    assert "ocr=embedded_else_easyocr" in printed
    shell(sweep, folder)
    assert len(list(folder.glob("outputs/sweeps/*/*/*/report.json"))) == 2
    shell(scans.replace("glyphrank run", "glyphrank plan"), folder)  # EasyOCR is slow, and has tests of its own


def test_the_sample_pages_measure_the_same_as_documents_of_ones_own(tmp_path: Path) -> None:
    ran("run", "dataset.pages=12", "tracking=none", cwd=tmp_path)
    (sample,) = tmp_path.glob("outputs/samples/pages-*")
    (tmp_path / "내 문서").mkdir()
    for pdf in sample.glob("*.pdf"):
        shutil.copy(pdf, tmp_path / "내 문서")
    printed = ran("new", "mine", "내 문서", cwd=tmp_path).stdout
    assert "12 pages of 2 PDFs" in printed
    assert "12 with a text layer" in printed
    shutil.copy(sample / "queries.jsonl", tmp_path / "mine")
    qrels = (sample / "qrels.tsv").read_text(encoding="utf-8")
    (tmp_path / "mine" / "qrels.tsv").write_text(re.sub(r"(report\d+)_(\d+)", r"\1.pdf#\2", qrels), encoding="utf-8")
    ran("run", "dataset=folder", "dataset.root=mine", "tracking=none", cwd=tmp_path)
    published, own = reports(tmp_path)
    assert json.dumps(own["metrics"]) == json.dumps(published["metrics"])
