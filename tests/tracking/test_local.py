from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError, DataError
from glyphrank.tracking.local import Local
from glyphrank.tracking.untracked import Untracked
from tracked_runs import client_of, files_of, report_with, run_folder, runs_of, runtime_in, start_in

ROOT = Path(__file__).parents[2]
STARTER = """
import sys
from pathlib import Path
from tracked_runs import report_with, runtime_in, start_in
from glyphrank.tracking.local import Local
outputs = Path(sys.argv[1])
with Local("many").start(start_in(outputs.parent), runtime_in(outputs)) as run:
    run.log(report_with(), Path(sys.argv[2]), reused=False)
"""


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


def test_start_takes_no_lock_once_database_and_experiment_are_there(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Local("lock").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    monkeypatch.setattr("filelock.FileLock.acquire", lambda *_, **__: pytest.fail("the lock was taken"))
    with Local("lock").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    assert len(runs_of(outputs, "lock")) == 2


def test_start_goes_on_without_a_lock_where_there_are_none(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with Local("no locks").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    assert "going on without a lock" in caplog.text
    assert len(runs_of(outputs, "no locks")) == 1


def test_six_processes_that_begin_on_a_new_path_all_succeed(tmp_path: Path) -> None:  # case L03
    script = tmp_path / "starter.py"
    script.write_text(STARTER, encoding="utf-8")
    outputs, folder = tmp_path / "outputs", run_folder(tmp_path)
    paths = os.pathsep.join(map(str, (ROOT / "tests" / "support", ROOT / "src")))
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-W", "error", str(script), str(outputs), str(folder)]
    processes = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) for _ in range(6)]
    results = [(process.communicate(timeout=120)[1].decode(), process.returncode) for process in processes]
    assert [code for _, code in results] == [0] * 6, results
    stored = runs_of(outputs, "many")
    assert [run.info.status for run in stored] == ["FINISHED"] * 6
    assert all(run.data.tags["complete"] == "true" for run in stored)
    with closing(sqlite3.connect(outputs / "mlflow.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchall() == [(1,)]
    assert {path.name for path in outputs.iterdir()} == {"mlflow.db", "mlflow.db.lock", "mlartifacts"}


def test_database_whose_making_was_cut_short_is_made_anew(tmp_path: Path) -> None:  # case L03
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    (outputs / "mlflow.db").touch()
    left_over = outputs / ".mlflow.db.1234.new"
    left_over.write_bytes(b"half")
    os.utime(left_over, (0, 0))
    with Local("anew").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    assert [run.info.status for run in runs_of(outputs, "anew")] == ["FINISHED"]
    assert {path.name for path in outputs.iterdir()} == {"mlflow.db", "mlflow.db.lock"}


def test_start_on_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with (
        pytest.raises(ConfigError, match=r"mlflow\.db is not an SQLite database .* move it away"),
        Local("glyphrank").start(start_in(tmp_path), runtime_in(tmp_path)),
    ):
        pass


def test_start_in_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(ConfigError, match=r"the folder cannot be made .* set paths\.outputs"),
        Local("glyphrank").start(start_in(tmp_path), runtime_in(tmp_path / "file" / "outputs")),
    ):
        pass


def test_start_in_a_folder_that_no_database_uri_can_name_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="cannot be named by a path"),
        Local("glyphrank").start(start_in(tmp_path), runtime_in(tmp_path / "100%")),
    ):
        pass


def test_start_in_a_deleted_experiment_is_refused(outputs: Path, tmp_path: Path) -> None:
    with Local("deleted").start(start_in(tmp_path), runtime_in(outputs)):
        pass
    client = client_of(outputs)
    client.delete_experiment(client.get_experiment_by_name("deleted").experiment_id)
    with (
        pytest.raises(ConfigError, match=r"the experiment 'deleted' .* was deleted; restore it"),
        Local("deleted").start(start_in(tmp_path), runtime_in(outputs)),
    ):
        pass


def test_start_beside_a_database_that_was_moved_warns_of_the_place_of_files(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Local("moved").start(start_in(tmp_path), runtime_in(tmp_path / "before")):
        pass
    assert caplog.text == ""
    (tmp_path / "before").rename(tmp_path / "after")
    with Local("moved").start(start_in(tmp_path), runtime_in(tmp_path / "after")):
        pass
    assert f"{(tmp_path / 'before').as_uri()}/mlartifacts, not in" in caplog.text


def test_untracked_run_has_no_id_and_logs_nothing(tmp_path: Path) -> None:
    with Untracked().start(start_in(tmp_path), runtime_in(tmp_path / "outputs")) as run:
        run.log(report_with(), tmp_path, reused=False)
    assert (run.run_id, run.dashboard) == (None, None)
    assert list(tmp_path.iterdir()) == []
