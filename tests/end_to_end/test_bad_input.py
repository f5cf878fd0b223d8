"""Bad input ends with exit code 2 and one message that names what and where; nothing is lost."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from command import corpus, glyphrank, ran, refused, reports
from pdf_files import cut_off, write_pdf

QUERIES = [{"id": "q1", "text": "first"}]
QRELS = ["q1\tp1\t1"]
RUN = ("run", "dataset=folder", "dataset.root=data", "tracking=none")


def pages(*names: str) -> list[dict[str, object]]:
    return [{"id": f"p{number}", "media": name, "page": 1} for number, name in enumerate(names, start=1)]


def test_run_with_several_faults_in_a_yaml_names_them_all(tmp_path: Path) -> None:
    folder = tmp_path / "own" / "encoder"
    folder.mkdir(parents=True)
    lines = ["_target_: glyphrank.encoders.bm25.Bm25", "analyser: {_target_: glyphrank.encoders.words.Words}"]
    lines += ["method: 3", "idf: lucene", "k1: high", "b: 0.75", "depth: 5"]
    (folder / "mine.yaml").write_text("\n".join(lines) + "\n")
    message = refused("run", "--config-dir", "own", "encoder@lexical=mine", cwd=tmp_path)
    assert "3 faults in the configuration" in message
    for fault in ("lexical.method: found 3 (int)", "lexical.k1: found 'high' (str)", "lexical.depth: is unknown"):
        assert f"{fault}" in message
    assert "[encoder@lexical=mine]" in message


def test_run_with_a_mistyped_override_names_it_and_the_likely_one(tmp_path: Path) -> None:
    assert "lexcal" in refused("run", "lexcal.k1=2", cwd=tmp_path)
    assert "did you mean 'k1'?" in refused("run", "+lexical.k=2", cwd=tmp_path)
    message = refused("run", "encoder@lexical=bm25", cwd=tmp_path)
    assert "bm25_ngrams" in message  # Hydra lists what there is
    assert not (tmp_path / "outputs" / "mlflow.db").exists()


def test_run_with_hangul_that_needs_quotes_says_how(tmp_path: Path) -> None:  # case H01
    message = refused("run", "dataset=folder", "dataset.root=/자료/보고서(1)", cwd=tmp_path)
    assert "needs inner quotes" in message
    message = refused("run", "dataset=folder", "dataset.root='/자료/보고서(1)'", cwd=tmp_path)
    assert "no such folder" in message


def test_run_with_a_mandatory_value_left_out_says_which(tmp_path: Path) -> None:  # case H09
    assert "dataset.root: is not given; pass dataset.root=VALUE" in refused("run", "dataset=folder", cwd=tmp_path)


def test_run_with_a_missing_dataset_file_names_it(tmp_path: Path) -> None:
    corpus(tmp_path / "data", pages("a.pdf"), QUERIES, QRELS)
    (tmp_path / "data" / "queries.jsonl").unlink()
    assert "queries.jsonl" in refused(*RUN, cwd=tmp_path)
    assert "nowhere" in refused("run", "dataset=folder", "dataset.root=nowhere", "tracking=none", cwd=tmp_path)


def test_run_with_relevance_of_an_unknown_item_names_both(tmp_path: Path) -> None:
    corpus(tmp_path / "data", [{"id": "p1", "text": "first"}], QUERIES, ["q1\tp1\t1", "q1\tdoc3_p9\t1"])
    message = refused(*RUN, cwd=tmp_path)
    assert "'q1'" in message
    assert "'doc3_p9'" in message


def test_run_with_relevance_of_another_dataset_shows_ids_of_both(tmp_path: Path) -> None:  # case M12
    corpus(tmp_path / "data", [{"id": "p1", "text": "first"}], QUERIES, ["q1\tdoc3_p9\t1"])
    message = refused(*RUN, cwd=tmp_path)
    assert "qrels.tsv" in message
    assert "'doc3_p9'" in message
    assert "'p1'" in message


def test_run_with_an_empty_corpus_or_without_queries_says_so(tmp_path: Path) -> None:
    corpus(tmp_path / "data", [], QUERIES, QRELS)
    assert "corpus.jsonl" in refused(*RUN, cwd=tmp_path)
    corpus(tmp_path / "data", [{"id": "p1", "text": "first"}], [], [])
    assert "queries.jsonl" in refused(*RUN, cwd=tmp_path)


def test_run_with_pages_out_of_range_lists_them(tmp_path: Path) -> None:  # case M15
    (tmp_path / "data").mkdir()
    write_pdf(tmp_path / "data" / "a.pdf", "first", "second", "third")
    items = [{"id": f"a_{page}", "media": "a.pdf", "page": page} for page in (1, 3, 4, 9)]
    corpus(tmp_path / "data", items, QUERIES, ["q1\ta_1\t1"])
    message = refused(*RUN, cwd=tmp_path)
    assert "a_4" in message
    assert "a_9" in message
    assert "3" in message
    corpus(tmp_path / "data", [{"id": "a_0", "media": "a.pdf", "page": 0}], QUERIES, ["q1\ta_0\t1"])
    assert "a_0" in refused(*RUN, cwd=tmp_path)


def test_run_where_no_document_opens_names_the_causes(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_pdf(tmp_path / "data" / "locked.pdf", "first", password="word")
    cut_off(write_pdf(tmp_path / "data" / "cut.pdf", "first"))
    corpus(tmp_path / "data", pages("locked.pdf", "cut.pdf"), QUERIES, QRELS)
    message = refused(*RUN, cwd=tmp_path)
    assert "none of the 2 items has a text: 2 cannot be read; choose another ocr" in message
    assert "p1: locked.pdf: encrypted" in message
    assert "p2: cut.pdf: not a PDF, or damaged" in message


def test_run_with_bad_pages_among_good_ones_keeps_them_unretrievable(tmp_path: Path) -> None:  # case M18
    (tmp_path / "data").mkdir()
    write_pdf(tmp_path / "data" / "good.pdf", "first second third")
    cut_off(write_pdf(tmp_path / "data" / "cut.pdf", "first"))
    write_pdf(tmp_path / "data" / "locked.pdf", "first", password="word")
    queries = [*QUERIES, {"id": "q2", "text": "first"}]
    corpus(tmp_path / "data", pages("good.pdf", "cut.pdf", "locked.pdf"), queries, [*QRELS, "q2\tp2\t1"])
    command = ("run", "dataset=folder", "dataset.root=data")
    done = ran(*command, cwd=tmp_path)
    assert done.stdout.startswith("incomplete: 2 of 3 items could not be read")
    (report,) = reports(tmp_path)
    assert report["counts"]["items"] == 3
    assert set(report["failures"]) == {"p2", "p3"}
    assert report["metrics"]["hit_rate_at_10"] == 0.5
    assert report["metrics"]["mean_rank"] == 2.0  # 1 and the gallery's size, 3
    with sqlite3.connect(tmp_path / "outputs" / "mlflow.db") as store:
        tags = dict(store.execute("select key, value from tags").fetchall())
    assert tags["complete"] == "false"
    message = refused(*command, "on_bad_media=error", "tracking=none", cwd=tmp_path)
    assert "2 of 3 items cannot be read or encoded" in message


def test_run_that_fails_stands_failed_in_the_store_with_its_message(tmp_path: Path) -> None:  # case L05
    message = refused("run", "dataset=folder", "dataset.root=nowhere", cwd=tmp_path)
    with sqlite3.connect(tmp_path / "outputs" / "mlflow.db") as store:
        assert store.execute("select status from runs").fetchall() == [("FAILED",)]
        tags = dict(store.execute("select key, value from tags").fetchall())
    assert "no such folder" in message
    assert "no such folder" in tags["error"]


def test_sweep_goes_on_after_a_failed_cell_and_ends_with_an_error(tmp_path: Path) -> None:  # case L06
    corpus(tmp_path / "good", [{"id": "p1", "text": "first"}], QUERIES, QRELS)
    done = glyphrank("run", "-m", "dataset=folder", "dataset.root=nowhere,good", cwd=tmp_path)
    assert done.returncode != 0
    assert "failed: dataset=folder dataset.root=nowhere" in done.stderr
    with sqlite3.connect(tmp_path / "outputs" / "mlflow.db") as store:
        statuses = store.execute("select status from runs order by start_time").fetchall()
    assert statuses == [("FAILED",), ("FAILED",), ("FINISHED",)]  # the sweep itself, and its two cells


def test_score_agrees_with_the_run_it_reads(tmp_path: Path) -> None:
    texts = ["first page", "second page", "third page of all"]
    items = [{"id": f"p{number}", "text": text} for number, text in enumerate(texts, start=1)]
    queries = [{"id": "q 1", "text": "first"}, {"id": "q2", "text": "page of"}]
    corpus(tmp_path / "data", items, queries, ["q 1\tp1\t1", "q2\tp2\t1"])
    ran(*RUN, cwd=tmp_path)
    (report,) = reports(tmp_path)
    (run,) = tmp_path.glob("outputs/runs/*/*/run.trec")
    done = ran("score", "--run", str(run), "--qrels", "data/qrels.tsv", "--json", cwd=tmp_path)
    scored = json.loads(done.stdout)["metrics"]
    shared = {name for name in scored if "rank" not in name or "reciprocal" in name}
    assert len(shared) >= 13
    assert {name: scored[name] for name in shared} == {name: report["metrics"][name] for name in shared}


def test_no_command_or_an_unknown_one_prints_the_usage(tmp_path: Path) -> None:
    assert "usage: glyphrank" in refused(cwd=tmp_path)
    assert "usage: glyphrank" in refused("rune", cwd=tmp_path)
    assert "run " in ran("--help", cwd=tmp_path).stdout
    assert ran("--version", cwd=tmp_path).stdout.startswith("glyphrank ")


@pytest.mark.parametrize("outputs", ["", "blocked/outputs", "/proc/none"])
def test_run_with_outputs_that_cannot_be_written_says_where(outputs: str, tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file, no folder")
    corpus(tmp_path / "data", [{"id": "p1", "text": "first"}], QUERIES, QRELS)
    message = refused(*RUN, f"paths.outputs={outputs}", cwd=tmp_path)
    assert (outputs or "wanted a folder") in message
    assert "Traceback" not in message


def test_run_with_outputs_in_the_home_folder_puts_everything_there(tmp_path: Path) -> None:
    corpus(tmp_path / "data", [{"id": "p1", "text": "first"}], QUERIES, QRELS)
    ran(*RUN, "paths.outputs='~/mine'", cwd=tmp_path, env={"HOME": str(tmp_path / "home")})
    assert sorted(path.name for path in (tmp_path / "home" / "mine").iterdir()) == ["cache", "results", "runs"]
    assert not (tmp_path / "~").exists()


@pytest.mark.parametrize("value", ["inf", "nan", "-inf"])
def test_run_with_a_number_that_is_not_finite_is_refused_before_any_work(value: str, tmp_path: Path) -> None:
    assert f"found {value}, wanted a finite number" in refused("run", f"fusion.k={value}", cwd=tmp_path)
    assert not (tmp_path / "outputs" / "cache").exists()


def test_a_run_that_fails_in_a_used_folder_does_not_pass_for_the_earlier_one(tmp_path: Path) -> None:
    ran("run", "tracking=none", "hydra.run.dir=here", cwd=tmp_path)
    assert (tmp_path / "here" / "report.json").is_file()
    refused("run", "tracking=none", "hydra.run.dir=here", "lexical.k1=-1", cwd=tmp_path)
    assert not (tmp_path / "here" / "report.json").exists()
