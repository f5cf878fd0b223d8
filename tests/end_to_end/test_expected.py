"""`glyphrank compare --expected` on a real run: what was measured once is measured again."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import glyphrank, ran, refused
from glyphrank.expected_scores import expected_folder

RUN = ("run", "experiment=quickstart", "encoder@lexical=bm25_words")
EXPECTED = ("compare", "--expected")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outputs with one cell of the experiment, in the local store."""
    place = tmp_path_factory.mktemp("expected")
    ran(*RUN, cwd=place)
    return place


def test_a_cell_of_the_quickstart_gives_what_its_file_expects(folder: Path) -> None:
    done = ran(*EXPECTED, "quickstart.yaml", "--entry", "words", cwd=folder)
    lines = done.stdout.splitlines()
    statuses = [line.split()[-1] for line in lines if line.startswith("quickstart")]
    assert statuses == ["ok"] * 5
    assert "5 numbers: 5 ok, 0 near, 0 off, 0 not run" in lines


def test_what_a_named_file_wants_and_was_not_run_ends_with_1(folder: Path) -> None:
    done = glyphrank(*EXPECTED, "quickstart.yaml", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "5 ok, 0 near, 0 off, 28 not run" in done.stdout
    everything = ran(*EXPECTED, cwd=folder)
    assert "0 off" in everything.stdout
    assert "for comparison only" in everything.stdout


def test_a_run_is_named_by_its_folder_and_one_of_other_numbers_is_off(folder: Path) -> None:
    [run] = folder.glob("outputs/runs/*/*")
    mine = folder / "mine.yaml"
    text = (expected_folder() / "quickstart.yaml").read_text(encoding="utf-8")
    mine.write_text(text.replace("ndcg_at_10: {value: 0.631,", "ndcg_at_10: {value: 0.9,"), encoding="utf-8")
    done = glyphrank(*EXPECTED, "mine.yaml", str(run), "--entry", "words", cwd=folder)
    assert done.returncode == 1, done.stderr
    assert "4 ok, 0 near, 1 off" in done.stdout
    assert "worst: quickstart, words: ndcg_at_10 is 0.6310, wanted 0.9000 ± 0.005" in done.stdout


def test_files_and_entries_that_are_not_there_are_refused(folder: Path) -> None:
    assert "no such file of expected scores" in refused(*EXPECTED, "nowhere.yaml", cwd=folder)
    assert "no row of expected scores is called tcd2" in refused(*EXPECTED, "--entry", "tcd2", cwd=folder)
    (folder / "bad.yaml").write_text("rows: 7\n", encoding="utf-8")
    assert "bad.yaml" in refused(*EXPECTED, "bad.yaml", cwd=folder)


def test_without_any_run_nothing_is_wrong(tmp_path: Path) -> None:
    assert "0 ok, 0 near, 0 off" in ran(*EXPECTED, cwd=tmp_path).stdout
