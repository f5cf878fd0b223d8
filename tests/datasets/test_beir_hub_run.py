"""The command on datasets of the hub: texts, and a cheap look at the pictures."""

from __future__ import annotations

from pathlib import Path

from beir_miniature import LAYOUTS, picture_files, plain, table, write_beir
from command import ran, refused, reports
from tiny_clip import write_tiny_clip

LOOK = ("encoder@visual=clip_folder", "visual.weights.folder=clip", "visual.random_weights=true", "visual.seed=0")


def test_run_ranks_texts_and_pictures(tmp_path: Path) -> None:
    write_beir(tmp_path / "fruit")
    write_tiny_clip(tmp_path / "clip")
    ran("run", "dataset=beir_hub", "dataset.root=fruit", *LOOK, "tracking=none", cwd=tmp_path)
    (report,) = reports(tmp_path)
    assert report["task"] == "fruit"
    assert set(report["channels"]) == {"visual", "lexical"}
    assert report["counts"]["items"] == 5
    assert report["counts"]["queries"] == 3
    assert report["counts"]["failed_items"] == 0
    assert report["counts"]["image_only_items"] == 1
    assert 0 < report["channels"]["lexical"]["ndcg_at_10"] < 1


def test_run_sees_pictures_that_lie_in_a_table_of_their_own(tmp_path: Path) -> None:
    LAYOUTS["miracl_vision"](tmp_path / "fruit")
    write_tiny_clip(tmp_path / "clip")
    choices = ("dataset.subset=ko", "encoder@lexical=none", "ocr=none", *LOOK, "tracking=none")
    ran("run", "dataset=beir_hub", "dataset.root=fruit", *choices, cwd=tmp_path)
    (report,) = reports(tmp_path)
    assert report["counts"]["failed_items"] == 0
    assert report["counts"]["relevant_not_retrieved"] == 0


def test_run_names_the_pictures_that_it_could_not_see(tmp_path: Path) -> None:  # case C05
    paths: list[str | None] = list(picture_files(tmp_path / "fruit"))
    (tmp_path / "fruit" / str(paths[0])).unlink()
    paths[1] = None
    plain(tmp_path / "fruit", paths)
    write_tiny_clip(tmp_path / "clip")
    choices = ("encoder@lexical=none", "ocr=none", *LOOK, "tracking=none")
    ran("run", "dataset=beir_hub", "dataset.root=fruit", *choices, cwd=tmp_path)
    (report,) = reports(tmp_path)
    assert report["counts"]["items_without_media"] == 1
    assert set(report["failures"]) == {"1"}
    assert "1.png: there is no such file" in report["failures"]["1"]


def test_run_ends_with_the_faults_of_all_files(tmp_path: Path) -> None:
    plain(tmp_path / "fruit")
    table(tmp_path / "fruit" / "queries.parquet", {"id": ["1", "2", "7"], "text": ["a", None, "c"]})
    table(tmp_path / "fruit" / "corpus.parquet", {"id": ["1", "2", "3", "10", "10"], "text": ["a"] * 5})
    message = refused("run", "dataset=beir_hub", "dataset.root=fruit", cwd=tmp_path)
    assert "queries.parquet: row 1: the query '2' has no text" in message
    assert "corpus.parquet: row 4: the id '10' stands on row 3 already" in message
