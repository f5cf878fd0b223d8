from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from glyphrank.errors import ConfigError, DataError
from glyphrank.tracking.local import Local
from glyphrank.tracking.pending import send_pending
from glyphrank.tracking.store import StoreDownError
from glyphrank.tracking.untracked import Untracked
from tracked_runs import client_of, files_of, report_with, run_folder, runs_of, runtime_in, start_in


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of outputs that the tests of this file share, with a name that is hard on paths in URIs."""
    return tmp_path_factory.mktemp("tracking") / "out puts 한글#1"


@pytest.mark.parametrize("experiment", ["", "  ", "a" * 501])
def test_local_refuses_a_name_that_mlflow_does_not_take(experiment: str) -> None:
    with pytest.raises(ValueError, match="wanted a name of 1 to 500 characters"):
        Local(experiment)


def test_run_left_normally_is_finished_with_all_that_was_logged(outputs: Path, tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    report = report_with(metrics={"ndcg_at_10": 0.75, "Recall@1": 0.5})
    start = start_in(tmp_path, overrides=("dataset=sample_pages", "foo.token=hush"))
    with Local("whole").start(start, runtime_in(outputs)) as run:
        assert client_of(outputs).get_run(run.run_id).info.status == "RUNNING"
        run.log(report, folder, reused=False)
    (stored,) = runs_of(outputs, "whole")
    assert stored.info.run_id == run.run_id
    assert (stored.info.status, stored.info.run_name) == ("FINISHED", "낱말 1")
    assert stored.data.params == {"dataset": "sample_pages", "lexical": "bm25_words", "lexical.k1": "1.2"}
    assert stored.data.metrics["Recall_0x40_1"] == 0.5  # case L01
    assert stored.data.metrics["channel/lexical/ndcg_at_10"] == 0.25
    tags = stored.data.tags
    assert (tags["complete"], tags["reused"], tags["identity"]) == ("true", "false", "1d" * 16)
    assert tags["mlflow.note.content"] == "```\nglyphrank run dataset=sample_pages 'foo.token=<redacted>'\n```"
    (dataset,) = stored.inputs.dataset_inputs
    assert (dataset.dataset.name, dataset.dataset.digest) == ("두 쪽", "f1" * 16)
    assert [(tag.key, tag.value) for tag in dataset.tags] == [("mlflow.data.context", "evaluation")]
    files = {"report.json", ".hydra/overrides.yaml", "metric_names.json"}
    assert files_of(client_of(outputs), stored.info.run_id) == files
    assert b"hush" not in b"".join(path.read_bytes() for path in outputs.rglob("*") if path.is_file())  # case L15


def test_run_puts_database_and_files_in_the_folder_of_outputs(outputs: Path, tmp_path: Path) -> None:
    with Local("whole").start(start_in(tmp_path), runtime_in(outputs)) as run:
        run.log(report_with(), run_folder(tmp_path), reused=True)
    assert {path.name for path in outputs.iterdir()} == {"mlflow.db", "mlflow.db.lock", "mlartifacts"}
    assert (outputs / "mlartifacts" / str(run.run_id) / "artifacts" / "report.json").is_file()
    assert str(outputs / "mlflow.db") in str(run.dashboard)


def test_run_with_failed_items_is_not_complete(outputs: Path, tmp_path: Path) -> None:
    with Local("failed items").start(start_in(tmp_path), runtime_in(outputs)) as run:
        run.log(report_with(counts={"items": 5, "failed_items": 2}), run_folder(tmp_path), reused=False)
    (stored,) = runs_of(outputs, "failed items")
    assert stored.data.tags["complete"] == "false"
    assert stored.data.tags["incomplete"] == "2 of 5 items could not be read"
    assert stored.info.status == "FINISHED"


def test_run_of_hundreds_of_parameters_and_metrics_is_whole(outputs: Path, tmp_path: Path) -> None:  # case L08
    config = {"many": {f"key_{number}": "가" * 5000 for number in range(300)}, "long": "x" * 6000 + "a"}
    metrics = {f"metric_{number}": number / 2500 for number in range(2500)}
    with Local("large").start(start_in(tmp_path, config), runtime_in(outputs)) as run:
        run.log(report_with(metrics=metrics), run_folder(tmp_path), reused=False)
    with Local("large").start(start_in(tmp_path, {**config, "long": "x" * 6000 + "b"}), runtime_in(outputs)):
        pass
    second, first = runs_of(outputs, "large")
    assert len(first.data.params) == 303
    assert {name: value for name, value in first.data.metrics.items() if name.startswith("metric_")} == metrics
    assert first.data.params["long"] != second.data.params["long"]
    assert first.data.tags["config_digest"] != second.data.tags["config_digest"]


def test_run_sends_no_value_that_is_not_finite(outputs: Path, tmp_path: Path) -> None:  # case L09
    with Local("finite").start(start_in(tmp_path), runtime_in(outputs)) as run:
        run.log(report_with(metrics={"a": float("inf"), "b": float("nan")}, channels={}), run_folder(tmp_path), False)
    (stored,) = runs_of(outputs, "finite")
    assert stored.data.metrics == {"not_finite_metrics": 2.0, "slice/type/표/ndcg_at_10": 1.0}
    assert stored.data.tags["not_finite_metrics"] == "a, b"


@pytest.mark.parametrize("error", [ConfigError, DataError, ZeroDivisionError])
def test_run_left_by_an_exception_is_failed_with_its_message(
    error: type[Exception], outputs: Path, tmp_path: Path
) -> None:  # case L05
    with pytest.raises(error, match="page 3"), Local(error.__name__).start(start_in(tmp_path), runtime_in(outputs)):
        raise error("page 3 of http://user:hush@host " + "x" * 9000)
    (stored,) = runs_of(outputs, error.__name__)
    assert stored.info.status == "FAILED"
    assert stored.data.tags["error"].startswith(f"{error.__name__}: page 3 of http://host xxx")
    assert len(stored.data.tags["error"]) == 5000
    assert stored.data.tags["complete"] == "false"
    assert stored.info.end_time is not None


def test_second_job_of_a_process_is_tracked_after_the_first_failed(outputs: Path, tmp_path: Path) -> None:  # case L06
    for job in (0, 1, 2):
        try:
            with Local("jobs").start(start_in(tmp_path, {"job": job}), runtime_in(outputs)) as run:
                if job == 1:
                    raise DataError("job 1 fails")
                run.log(report_with(), run_folder(tmp_path / str(job)), reused=False)
        except DataError:
            continue
    status = {stored.data.params["job"]: stored.info.status for stored in runs_of(outputs, "jobs")}
    assert status == {"0": "FINISHED", "1": "FAILED", "2": "FINISHED"}


def test_run_whose_files_cannot_be_stored_keeps_its_numbers_and_goes_on(
    outputs: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Local("no files").start(start_in(tmp_path), runtime_in(outputs)) as run:
        run.log(report_with(), tmp_path / "nowhere", reused=False)
    (stored,) = runs_of(outputs, "no files")
    assert stored.info.status == "FINISHED"
    assert stored.data.metrics["ndcg_at_10"] == 0.75
    assert stored.data.tags["complete"] == "false"
    assert "nowhere" in stored.data.tags["log_error"]
    assert "was not logged in full" in caplog.text
    assert not (outputs / "pending").exists()  # nothing is left to send later


def test_run_whose_folder_cannot_be_cleaned_sends_no_file_of_it(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:  # case L15
    def refuse(_: Path) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr("glyphrank.tracking.content.redact_folder", refuse)
    with Local("unclean").start(start_in(tmp_path), runtime_in(outputs)) as run:
        run.log(report_with(), run_folder(tmp_path), reused=False)
    (stored,) = runs_of(outputs, "unclean")
    assert (stored.data.metrics["ndcg_at_10"], stored.data.tags["complete"]) == (0.75, "false")
    assert files_of(client_of(outputs), stored.info.run_id) == set()
    assert "secrets cannot be removed" in caplog.text


def test_run_whose_store_of_files_fails_keeps_everything_else_and_the_files_for_later(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("no space for files")

    monkeypatch.setattr("mlflow.tracking.MlflowClient.log_text", refuse)
    with Local("full").start(start_in(tmp_path), runtime_in(outputs)) as run:
        run.log(report_with(metrics={"Recall@1": 0.5}), run_folder(tmp_path), reused=False)
    (stored,) = runs_of(outputs, "full")
    assert stored.data.metrics["Recall_0x40_1"] == 0.5
    assert stored.data.tags["identity"] == "1d" * 16
    assert len(stored.inputs.dataset_inputs) == 1
    assert stored.data.tags["complete"] == "false"
    assert stored.data.tags["log_error"] == "PermissionError: no space for files"
    monkeypatch.undo()
    sent = send_pending(outputs)
    assert (sent.logged, sent.waiting, sent.troubles) == (1, 0, ())
    (stored,) = runs_of(outputs, "full")
    assert stored.info.run_id == run.run_id
    assert stored.data.tags["complete"] == "true"
    assert "log_error" not in stored.data.tags
    files = {"report.json", ".hydra/overrides.yaml", "metric_names.json"}
    assert files_of(client_of(outputs), stored.info.run_id) == files


def test_run_whose_parameters_are_refused_goes_on(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("(sqlite3.OperationalError) disk full\n[SQL: INSERT INTO params VALUES (?)]\n[parameters: hush]")

    monkeypatch.setattr("glyphrank.tracking.run.send_entries", refuse)
    with Local("parameters").start(start_in(tmp_path), runtime_in(outputs)) as run:
        run.log(report_with(), run_folder(tmp_path), reused=False)
    (stored,) = runs_of(outputs, "parameters")
    assert stored.info.status == "FINISHED"
    assert stored.data.params == {}
    assert stored.data.metrics["ndcg_at_10"] == 0.75
    assert stored.data.tags["complete"] == "false"
    assert stored.data.tags["log_error"] == "OSError: disk full"
    assert "was not logged in full" in caplog.text
    assert "SQL:" not in caplog.text
    monkeypatch.undo()
    assert send_pending(outputs).logged == 1
    (stored,) = runs_of(outputs, "parameters")
    assert (stored.data.params["dataset"], stored.data.tags["complete"]) == ("sample_pages", "true")


@pytest.mark.parametrize("name", ["한 " * 4000, "a\nb\x00\ud800", "", " "])
def test_run_of_any_name_has_one_that_every_store_takes(name: str, outputs: Path, tmp_path: Path) -> None:
    experiment = f"name {len(name)}"
    with Local(experiment).start(replace(start_in(tmp_path), name=name), runtime_in(outputs)):
        pass
    (stored,) = runs_of(outputs, experiment)
    assert stored.info.run_name == stored.data.tags["mlflow.runName"]
    assert 1 <= len(stored.info.run_name) <= 250
    assert stored.info.run_name.isprintable()


def test_run_that_cannot_be_created_goes_on_and_is_kept(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("read only")

    monkeypatch.setattr("mlflow.tracking.MlflowClient.create_run", refuse)
    with Local("cells").start(start_in(tmp_path), runtime_in(outputs)) as run:
        assert (run.run_id, run.dashboard) == (None, None)
        run.log(report_with(), run_folder(tmp_path), reused=False)
    with pytest.raises(DataError, match="page 3"), Local("cells").start(start_in(tmp_path), runtime_in(outputs)):
        raise DataError("page 3")
    assert caplog.text.count("'glyphrank sync' logs it later") == 2
    monkeypatch.undo()
    assert send_pending(outputs).logged == 2
    assert [run.info.status for run in runs_of(outputs, "cells")] == ["FAILED", "FINISHED"]


def test_untracked_run_has_no_id_and_logs_nothing(tmp_path: Path) -> None:
    with Untracked().start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
        run.log(report_with(), tmp_path, reused=False)
    assert (run.run_id, run.dashboard) == (None, None)
    assert list(tmp_path.iterdir()) == []


def test_store_is_opened_once_for_the_runs_of_a_process_and_anew_when_its_file_is_another(
    empty_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")
    with Local("again").start(start_in(tmp_path), runtime_in(tmp_path)):
        pass
    with monkeypatch.context() as patch:
        patch.setattr("glyphrank.tracking.places.open_database", lambda *_: pytest.fail("it was opened again"))
        with Local("again").start(start_in(tmp_path), runtime_in(tmp_path)):
            pass
    assert len(runs_of(tmp_path, "again")) == 2
    other = shutil.copyfile(tmp_path / "mlflow.db", tmp_path / "other.db")
    other.rename(tmp_path / "mlflow.db")
    monkeypatch.setattr("glyphrank.tracking.places.open_database", _down)
    with Local("again").start(start_in(tmp_path), runtime_in(tmp_path)) as run:
        assert run.run_id is None


def test_experiment_that_is_deleted_between_two_runs_is_refused(empty_store: Path, tmp_path: Path) -> None:
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")
    with Local("gone").start(start_in(tmp_path), runtime_in(tmp_path)):
        pass
    client = client_of(tmp_path)
    client.delete_experiment(client.get_experiment_by_name("gone").experiment_id)
    with (
        pytest.raises(ConfigError, match="the experiment 'gone'"),
        Local("gone").start(start_in(tmp_path), runtime_in(tmp_path)),
    ):
        pass


def _down(*_: object) -> NoReturn:
    raise StoreDownError("opened anew")
