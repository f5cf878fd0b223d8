from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import glyphrank
from glyphrank.tracking.origin import origin_tags
from glyphrank.tracking.processes import own_process
from tracked_runs import start_in


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of one commit, with a folder `inside`."""
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a.txt").write_text("a")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    return tmp_path


def test_origin_tags_name_the_commit_of_the_folder_of_launch(repository: Path) -> None:
    tags = origin_tags(start_in(repository / "inside"))
    assert tags["git.commit"] == tags["mlflow.source.git.commit"] == git(repository, "rev-parse", "HEAD")
    assert tags["git.dirty"] == "false"


def test_origin_tags_call_a_changed_file_dirty(repository: Path) -> None:
    (repository / "inside" / "a.txt").write_text("b")
    assert origin_tags(start_in(repository / "inside"))["git.dirty"] == "true"


def test_origin_tags_outside_a_repository_name_no_commit(tmp_path: Path) -> None:
    assert not {"git.commit", "git.dirty", "mlflow.source.git.commit"} & set(origin_tags(start_in(tmp_path)))


def test_origin_tags_without_git_name_no_commit(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository / "nowhere"))
    tags = origin_tags(start_in(repository))
    assert "git.commit" not in tags
    assert tags["glyphrank.version"] == glyphrank.__version__


def test_origin_tags_of_a_git_that_hangs_come_without_a_commit(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "git").write_text("#!/bin/sh\nexec sleep 30\n")
    (repository / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(repository), prepend=":")
    monkeypatch.setattr("glyphrank.tracking.origin._GIT_SECONDS", 0.2)
    assert "git.commit" not in origin_tags(start_in(repository))


def test_origin_tags_hold_the_command_without_secrets(tmp_path: Path) -> None:  # case L15
    tags = origin_tags(start_in(tmp_path, overrides=("q='한 쪽'", "api.token=hush hush", "uri=http://u:hush@h")))
    assert tags["mlflow.note.content"] == (
        "```\nglyphrank run 'q='\"'\"'한 쪽'\"'\"'' 'api.token=<redacted>' uri=http://h\n```"
    )


def test_origin_tags_of_long_commands_stay_within_the_limit(tmp_path: Path) -> None:
    tags = origin_tags(start_in(tmp_path, overrides=tuple(f"a{number}=b" for number in range(5000))))
    assert max(len(value) for value in tags.values()) == 5000


def test_config_digest_ignores_hydras_own_node_and_the_order_of_keys(tmp_path: Path) -> None:  # case L08
    first = origin_tags(start_in(tmp_path, {"a": 1, "b": "x" * 7000, "hydra": {"time": "10:00"}}))
    second = origin_tags(start_in(tmp_path, {"b": "x" * 7000, "a": 1, "hydra": {"time": "11:00"}}))
    third = origin_tags(start_in(tmp_path, {"a": 1, "b": "x" * 7000 + "y"}))
    assert first["config_digest"] == second["config_digest"] != third["config_digest"]


def test_origin_tags_say_incomplete_until_a_run_is_complete(tmp_path: Path) -> None:
    tags = origin_tags(start_in(tmp_path))
    assert (tags["complete"], tags["mlflow.runName"], tags["mlflow.source.name"]) == ("false", "낱말 1", "glyphrank")
    assert tags["host"]
    assert tags["mlflow.user"]


def test_origin_tags_name_the_commit_of_a_checkout_that_glyphrank_runs_from(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(elsewhere, "init", "--quiet")
    (elsewhere / "__init__.py").write_text("")
    monkeypatch.setattr("glyphrank.tracking.origin._OWN_FOLDER", elsewhere)
    assert "glyphrank.git.commit" not in origin_tags(start_in(repository))  # not tracked: no checkout of its own
    git(elsewhere, "add", ".")
    git(elsewhere, "commit", "--quiet", "-m", "own")
    tags = origin_tags(start_in(repository))
    assert tags["glyphrank.git.commit"] == git(elsewhere, "rev-parse", "HEAD") != tags["git.commit"]
    assert tags["glyphrank.git.dirty"] == "false"


def test_origin_tags_ask_git_once_a_launch(repository: Path) -> None:
    first = origin_tags(replace(start_in(repository), launch="a1"))
    (repository / "inside" / "a.txt").write_text("changed while the sweep runs")
    again = origin_tags(replace(start_in(repository), launch="a1"))
    other = origin_tags(replace(start_in(repository), launch="b2"))
    assert (first["git.dirty"], again["git.dirty"], other["git.dirty"]) == ("false", "false", "true")
    assert (first["glyphrank.launch"], other["glyphrank.launch"]) == ("a1", "b2")


def test_origin_tags_name_the_process_and_take_further_ones(tmp_path: Path) -> None:
    tags = origin_tags(replace(start_in(tmp_path), tags={"reproduces": "ab12", "note": "token=hush"}))
    assert tags["process"] == own_process()
    assert (tags["reproduces"], tags["note"]) == ("ab12", "token=<redacted>")
