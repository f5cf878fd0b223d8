"""Where a dataset of the hub is looked for, and that no file is fetched that it does not need."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from beir_miniature import LAYOUTS, RELEVANT
from glyphrank.datasets.beir_hub import BeirHub
from glyphrank.errors import DataError
from glyphrank.records import Task
from glyphrank.runtime import Runtime

REVISION = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """A hub with one repository, `team/fruit`, and its cache on this machine."""

    def __init__(self, folder: Path, layout: str) -> None:
        self.repository = folder / "repository"
        LAYOUTS[layout](self.repository)
        (self.repository / "huge.parquet").write_bytes(b"never fetched")
        self.cache = folder / "hub" / "snapshots" / REVISION
        self.listed = 0

    @property
    def names(self) -> list[str]:
        paths = (path for path in self.repository.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.repository).as_posix() for path in paths)

    @property
    def fetched(self) -> list[str]:
        paths = (path for path in self.cache.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.cache).as_posix() for path in paths)

    def list_repo_files(self, repository: str, revision: str, repo_type: str) -> list[str]:
        assert (repository, revision, repo_type) == ("team/fruit", REVISION, "dataset")
        self.listed += 1
        return self.names

    def snapshot_download(
        self,
        repository: str,
        repo_type: str,
        revision: str,
        local_files_only: bool = False,
        allow_patterns: list[str] | None = None,
    ) -> str:
        from huggingface_hub.errors import LocalEntryNotFoundError

        assert (repository, repo_type, revision) == ("team/fruit", "dataset", REVISION)
        if local_files_only and not self.cache.exists():
            raise LocalEntryNotFoundError("nothing here")
        if not local_files_only:
            for name in self.names:
                if any(fnmatchcase(name, pattern) for pattern in allow_patterns or ["*"]):
                    (self.cache / name).parent.mkdir(parents=True, exist_ok=True)
                    (self.cache / name).write_bytes((self.repository / name).read_bytes())
        return str(self.cache)


def offered(layout: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    hub = Hub(folder, layout)
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub.snapshot_download)
    monkeypatch.setattr("huggingface_hub.HfApi", lambda: hub)
    return hub


def load(folder: Path, download: bool, subset: str | None = None) -> Task:
    runtime = Runtime("cpu", 1, 0, 60, 4, download, folder / "outputs", folder / "cache")
    return BeirHub(None, "team/fruit", REVISION, subset, "test").load(runtime)


@pytest.mark.parametrize("layout", ["mteb", "vidore_v3", "beir", "converted"])
def test_only_what_is_needed_is_fetched_and_once(layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = offered(layout, tmp_path, monkeypatch)
    task = load(tmp_path, download=True)
    assert (task.name, task.relevant) == ("fruit", RELEVANT)
    unwanted = ("huge.parquet", "documents_metadata/", "images/", "qrels/dev.tsv")
    assert hub.fetched == [name for name in hub.names if not name.startswith(unwanted)]
    assert load(tmp_path, download=True).fingerprint == load(tmp_path, download=False).fingerprint == task.fingerprint
    assert hub.listed == 1


def test_another_subset_is_fetched_when_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = offered("per_language", tmp_path, monkeypatch)
    assert load(tmp_path, True, "english").name == "fruit-english"
    assert not [name for name in hub.fetched if "french" in name]
    assert load(tmp_path, True, "french").name == "fruit-french"
    assert len(hub.fetched) == 7


def test_what_is_nowhere_is_told_with_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered("mteb", tmp_path, monkeypatch)
    with pytest.raises(DataError) as caught:
        load(tmp_path, download=False)
    assert f"of team/fruit at revision {REVISION} are not on this machine" in str(caught.value)
    assert "runtime.download=true" in str(caught.value)
    assert f"hf download team/fruit --repo-type dataset --revision {REVISION} --local-dir DIR" in str(caught.value)


def test_a_cache_that_is_incomplete_is_told_and_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = offered("vidore_v3", tmp_path, monkeypatch)
    load(tmp_path, download=True)
    (hub.cache / "corpus/test-00001-of-00002.parquet").unlink()
    with pytest.raises(DataError) as caught:
        load(tmp_path, download=False)
    assert "the corpus is incomplete: corpus/test-00001-of-00002.parquet is missing" in str(caught.value)
    assert "Set runtime.download=true" in str(caught.value)
    assert load(tmp_path, download=True).relevant == RELEVANT


def test_a_cache_whose_numbered_files_have_a_gap_is_told_and_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = offered("beir", tmp_path, monkeypatch)
    lines = (hub.repository / "corpus.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (hub.repository / "corpus").mkdir()
    for number in range(3):
        part = "".join(lines[number::3])
        (hub.repository / f"corpus/{number:04}.jsonl").write_text(part, encoding="utf-8")
    (hub.repository / "corpus.jsonl").unlink()
    load(tmp_path, download=True)
    (hub.cache / "corpus/0001.jsonl").unlink()
    with pytest.raises(DataError) as caught:
        load(tmp_path, download=False)
    assert "the corpus is incomplete: corpus/0001.jsonl is missing" in str(caught.value)
    command = f"hf download team/fruit --repo-type dataset --revision {REVISION} --local-dir DIR"
    assert caught.value.faults[-1].startswith(f"Set runtime.download=true, or run `{command}`")
    assert load(tmp_path, download=True).relevant == RELEVANT


def test_a_repository_that_is_no_dataset_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = offered("mteb", tmp_path, monkeypatch)
    for name in hub.names:
        (hub.repository / name).unlink()
    with pytest.raises(DataError, match=f"team/fruit at revision {REVISION}: its files do not make a dataset"):
        load(tmp_path, download=True)


def test_a_hub_that_does_not_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = offered("mteb", tmp_path, monkeypatch)

    def refuse(*_: Any, **__: Any) -> list[str]:
        raise ConnectionError("no route")

    monkeypatch.setattr(hub, "list_repo_files", refuse)
    with pytest.raises(DataError, match=r"cannot be listed \(ConnectionError: no route\); is there a network"):
        load(tmp_path, download=True)


def test_a_folder_comes_before_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = offered("mteb", tmp_path, monkeypatch)
    runtime = Runtime("cpu", 1, 0, 60, 4, True, tmp_path / "outputs", tmp_path / "cache")
    task = BeirHub(hub.repository, "team/fruit", REVISION, None, "test").load(runtime)
    assert task.name == "repository"
    assert not hub.fetched


@pytest.mark.parametrize("root", ["absent", "a\0b", "loop/here"])
def test_a_root_that_is_no_folder_is_named(tmp_path: Path, root: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    runtime = Runtime("cpu", 1, 0, 60, 4, True, tmp_path / "outputs", tmp_path / "cache")
    with pytest.raises(DataError, match=r"check dataset\.root"):
        BeirHub(tmp_path / root, None, None, None, "test").load(runtime)


def test_files_that_are_links_into_a_cache_are_read(tmp_path: Path) -> None:
    LAYOUTS["mteb"](tmp_path / "blobs")
    for path in list((tmp_path / "blobs").rglob("*.*")):
        link = tmp_path / "fruit" / path.relative_to(tmp_path / "blobs")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    runtime = Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")
    task = BeirHub(tmp_path / "fruit", None, None, None, "test").load(runtime)
    assert task.relevant == RELEVANT
