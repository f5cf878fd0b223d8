from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from command import corpus, ran, reports

PAGES = [
    {"id": "a", "text": "서울은 대한민국의 수도이다"},
    {"id": "b", "text": "부산은 항구 도시이다"},
    {"id": "c", "text": "the capital of France is Paris"},
    {"id": "empty", "text": ""},
]
QUERIES = [
    {"id": "q1", "text": "서울", "type": "ko"},
    {"id": "q2", "text": "Paris capital", "type": "en"},
    {"id": "q 3", "text": "항구", "type": "ko"},
    {"id": "unjudged", "text": "nothing", "type": "en"},
]
QRELS = ["q1\ta\t1", "q2\tc\t2", "q 3\tb\t1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one run over four texts was made."""
    folder = tmp_path_factory.mktemp("run")
    corpus(folder / "data", PAGES, QUERIES, QRELS)
    ran("run", "dataset=folder", "dataset.root=data", "metrics=clips", cwd=folder, fresh=True)
    return folder


def test_run_reports_metrics_counts_slices_and_lineage(folder: Path) -> None:
    (report,) = reports(folder)
    assert report["metrics"]["hit_rate_at_1"] == 1.0
    assert report["metrics"]["v2t/hit_rate_at_1"] == 1.0
    assert report["metrics"]["ndcg_at_10"] == 1.0
    assert report["channels"]["lexical"] == report["metrics"]
    assert report["counts"]["queries"] == 4
    assert report["counts"]["queries_without_relevant"] == 1
    assert report["counts"]["items"] == 4
    assert report["counts"]["items_without_text"] == 1
    assert report["counts"]["failed_items"] == report["counts"]["tied_queries"] == 0
    assert report["slices"]["type"]["ko"]["queries"] == 2
    assert report["task"] == "data"
    assert set(report["lineage"]) == {"dataset", "ocr", "transcript", "lexical", "metrics", "sources"}
    assert report["config"]["lexical"]["k1"] == 1.5


def test_run_leaves_the_same_files_in_its_folder_and_in_results(folder: Path) -> None:
    (report,) = reports(folder)
    (own,) = folder.glob("outputs/runs/*/*")
    kept = folder / "outputs" / "results" / report["identity"]
    for name in ("report.json", "ranks.csv", "queries.csv", "run.trec", "qrels.trec", "mteb.json", "config.yaml"):
        assert (own / name).read_bytes() == (kept / name).read_bytes()
    logged = json.loads((kept / "runs.jsonl").read_text())
    assert logged["store"] == str(folder / "outputs" / "mlflow.db")
    assert logged["experiment"] == "glyphrank"
    assert (own / "glyphrank.log").read_text()


def test_run_writes_ids_as_published_in_csv_and_encoded_in_trec(folder: Path) -> None:
    (own,) = folder.glob("outputs/runs/*/*")
    with (own / "ranks.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {"direction", "query_id", "item_id", "rank", "best_rank", "worst_rank", "retrieved"} < set(rows[0])
    assert {(row["direction"], row["query_id"], row["rank"]) for row in rows} >= {
        ("t2v", "q 3", "1"),
        ("v2t", "b", "1"),
    }
    assert "q%203 Q0 b 1 " in (own / "run.trec").read_text(encoding="utf-8")


def test_run_stands_finished_in_the_store_with_all_its_metrics(folder: Path) -> None:
    (report,) = reports(folder)
    with sqlite3.connect(folder / "outputs" / "mlflow.db") as store:
        ((status,),) = store.execute("select status from runs").fetchall()
        metrics = dict(store.execute("select key, value from latest_metrics").fetchall())
        parameters = dict(store.execute("select key, value from params").fetchall())
        tags = dict(store.execute("select key, value from tags").fetchall())
    assert status == "FINISHED"
    assert {name: metrics[name] for name in report["metrics"]} == report["metrics"]
    assert metrics["channel/lexical/hit_rate_at_1"] == 1.0
    assert parameters["lexical"] == "bm25_ngrams"
    assert parameters["dataset.root"] == "data"
    assert "lexical.k1" not in parameters  # nobody named it; it stands in config.yaml
    assert tags["identity"] == report["identity"]


@pytest.mark.parametrize("chdir", ["true", "false"])
def test_run_from_elsewhere_or_with_chdir_uses_the_same_store(chdir: str, tmp_path: Path) -> None:  # case H06
    corpus(tmp_path / "data", PAGES, QUERIES, QRELS)
    for _ in range(2):
        ran("run", "dataset=folder", "dataset.root=data", f"hydra.job.chdir={chdir}", cwd=tmp_path)
    first, second = reports(tmp_path)
    assert first["metrics"] == second["metrics"]
    assert not (tmp_path / "mlruns").exists()
    with sqlite3.connect(tmp_path / "outputs" / "mlflow.db") as store:
        assert store.execute("select count(*) from runs").fetchone() == (2,)
    assert len(list(tmp_path.rglob("mlflow.db"))) == 1


def test_run_with_a_store_that_differs_in_place_only_has_the_same_identity(tmp_path: Path) -> None:
    for name in ("here", "there"):
        corpus(tmp_path / name / "data", PAGES, QUERIES, QRELS)
        ran("run", "dataset=folder", "dataset.root=data", "tracking=none", cwd=tmp_path / name)
    (first,), (second,) = reports(tmp_path / "here"), reports(tmp_path / "there")
    assert first["identity"] == second["identity"]


def test_run_again_recomputes_nothing_and_says_so(tmp_path: Path) -> None:
    corpus(tmp_path / "data", PAGES, QUERIES, QRELS)
    command = ("run", "dataset=folder", "dataset.root=data", "tracking=none")
    ran(*command, cwd=tmp_path)
    again = ran(*command, cwd=tmp_path, fresh=True)
    assert "nothing is recomputed" in again.stderr
    assert "stored result" in again.stdout
    anew = ran(*command, "rerun=true", cwd=tmp_path)
    assert "tokens: 3 inputs from the cache, 0 worked on" in anew.stderr
    first, second, third = reports(tmp_path)
    assert first["metrics"] == second["metrics"] == third["metrics"]


@pytest.mark.parametrize("flags", [["--help"], ["--cfg", "job"], ["--info", "searchpath"]])
def test_flags_that_only_look_import_neither_torch_nor_mlflow(flags: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "glyphrank", "run", *flags],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "hydra" in imported
    assert not imported & {"torch", "mlflow", "sentence_transformers", "pandas", "kiwipiepy"}


def test_help_lists_the_groups_of_conf_alone(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "lib").mkdir(parents=True)
    (tmp_path / "outputs" / "stray").mkdir(parents=True)
    (tmp_path / "outputs" / "stray" / "thing.yaml").write_text("a: 1\n")
    text = ran("run", "--help", cwd=tmp_path).stdout
    listed = text.split("== Choices (group=choice) ==")[1].split("== Config")[0]
    groups = [line.split(":")[0] for line in listed.splitlines() if ":" in line]
    wanted = [
        "dataset",
        "encoder",
        "experiment",
        "frames",
        "fusion",
        "index",
        "metrics",
        "ocr",
        "tracking",
        "transcript",
    ]
    assert groups == wanted


def test_run_with_nfkc_finds_full_width_queries_in_full_width_texts(tmp_path: Path) -> None:  # case P04
    items = [
        {"id": "a", "text": "ＡＢＣ １２３ 문서"},
        {"id": "b", "text": "다른 페이지"},
        {"id": "c", "text": "ABC 일반"},
    ]
    queries = [{"id": "q1", "text": "１２３"}, {"id": "q2", "text": "!!"}, {"id": "q3", "text": "!!"}]
    corpus(tmp_path / "data", items, queries, ["q1\ta\t1"])
    for form in ("nfc", "nfkc"):
        choices = ("encoder@lexical=bm25_words", f"transcript.normal_form={form}", "tracking=none")
        ran("run", "dataset=folder", "dataset.root=data", *choices, cwd=tmp_path)
    for report in reports(tmp_path):
        assert report["metrics"]["hit_rate_at_1"] == 1.0
        assert report["counts"]["queries_without_tokens"] == 2
