"""Where the files of a published dataset are found, in which order, and what is said when they are nowhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from glyphrank.datasets.hub import Published, files_below, find_files, fitting, one_file
from glyphrank.errors import DataError
from glyphrank.runtime import Runtime

REVISION = "0123456789abcdef0123456789abcdef01234567"
PUBLISHED = Published("team/pages", REVISION, "3 GB")
NAMES = ("corpus.parquet", "qrels/*.tsv")
FILES = {"corpus.parquet": "c", "qrels/test.tsv": "q"}
COMMAND = f"hf download team/pages --repo-type dataset --revision {REVISION} --local-dir"


def runtime(folder: Path, download: bool = False) -> Runtime:
    return Runtime("cpu", 8, 0, 60, 4, download, folder / "outputs", folder / "cache")


def write(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def fault(root: Path | None, folder: Path, download: bool = False) -> str:
    with pytest.raises(DataError) as caught:
        find_files(root, PUBLISHED, NAMES, runtime(folder, download))
    return str(caught.value)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, with the folder in which the revision would lie."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub" / "datasets--team--pages" / "snapshots" / REVISION


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Path) -> list[dict[str, Any]]:
    """A hub that writes the files that are asked for; what it was asked."""
    asked: list[dict[str, Any]] = []

    def fake(repository: str, **options: Any) -> str:
        from huggingface_hub.errors import LocalEntryNotFoundError

        if options.get("local_files_only"):
            raise LocalEntryNotFoundError("nothing here")
        asked.append({"repository": repository, **options})
        return str(write(hub))

    monkeypatch.setattr("huggingface_hub.snapshot_download", fake)
    return asked


def test_a_folder_with_the_files_at_its_top_or_below_is_taken_as_it_is(tmp_path: Path) -> None:
    assert find_files(write(tmp_path / "a"), PUBLISHED, NAMES, runtime(tmp_path)) == tmp_path / "a"
    below = {f"data/old/{name}": content for name, content in FILES.items()}
    assert find_files(write(tmp_path / "b", below), None, NAMES, runtime(tmp_path)) == tmp_path / "b"


def test_a_folder_that_lacks_files_says_which_and_how_to_fetch_them(tmp_path: Path) -> None:
    root = write(tmp_path / "my data", {"qrels/test.tsv": "q", "old.parquet": "", ".cache/corpus.parquet": ""})
    assert fault(root, tmp_path) == (
        f"{root}: there is no corpus.parquet, neither here nor below (found: old.parquet, qrels/test.tsv).\n"
        f"  Wanted are the files of team/pages at revision {REVISION} (3 GB); run\n  `{COMMAND} '{root}'`"
    )


def test_a_folder_is_not_filled_from_the_hub_behind_ones_back(tmp_path: Path, fetched: list[dict[str, Any]]) -> None:
    assert "there is no corpus.parquet and no qrels/*.tsv" in fault(write(tmp_path, {"a": ""}), tmp_path, download=True)
    assert not fetched


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert fault(tmp_path / "none", tmp_path) == f"{tmp_path}/none: no such folder; check dataset.root"
    assert "no such folder" in fault(tmp_path / "file", tmp_path)
    assert "cannot be read" in fault(tmp_path / "loop", tmp_path)
    assert "cannot be read" in fault(Path("a\0b"), tmp_path)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0,
    reason="permissions bind accounts of POSIX, not the superuser",
)
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    write(tmp_path / "shut").chmod(0)
    try:
        assert "cannot be read (Permission denied)" in fault(tmp_path / "shut", tmp_path)
    finally:
        (tmp_path / "shut").chmod(0o700)


def test_the_cache_of_the_hub_is_next_with_its_links_to_files(tmp_path: Path, hub: Path) -> None:
    blobs = write(hub.parents[1] / "blobs", {"1f": "c", "2e": "q"})
    (hub / "qrels").mkdir(parents=True)
    (hub / "corpus.parquet").symlink_to(blobs / "1f")
    (hub / "qrels" / "test.tsv").symlink_to(blobs / "2e")
    assert find_files(None, PUBLISHED, NAMES, runtime(tmp_path)) == hub
    assert one_file(hub, "corpus.parquet") == hub / "corpus.parquet"


def test_a_cache_with_a_part_of_the_files_is_not_enough(tmp_path: Path, hub: Path) -> None:
    write(hub, {"corpus.parquet": "c"})
    (hub / "qrels").mkdir()
    (hub / "qrels" / "test.tsv").symlink_to(hub / "a blob that is gone")
    assert fault(None, tmp_path).startswith(
        f"the file qrels/*.tsv of team/pages at revision {REVISION} is not in the hub's cache {hub}, and the network "
        "is not asked.\n  Set runtime.download=true, or\n"
    )
    (hub / "corpus.parquet").unlink()
    message = fault(None, tmp_path)
    assert message.startswith(f"the files corpus.parquet, qrels/*.tsv of team/pages at revision {REVISION} are not in")


def test_what_is_nowhere_is_told_with_all_that_is_needed_to_fetch_it(tmp_path: Path, hub: Path) -> None:
    assert fault(None, tmp_path) == (
        f"the files corpus.parquet, qrels/*.tsv (3 GB) of team/pages at revision {REVISION} are not on this machine, "
        "and the network is not asked.\n  Set runtime.download=true, or\n"
        f"  run `{COMMAND} DIR` where there is a network, and set dataset.root to that folder"
    )


def test_only_the_needed_files_of_the_revision_are_fetched_and_only_when_allowed(
    tmp_path: Path, hub: Path, fetched: list[dict[str, Any]]
) -> None:
    fault(None, tmp_path)
    assert not fetched
    assert find_files(None, PUBLISHED, NAMES, runtime(tmp_path, download=True)) == hub
    patterns = ["corpus.parquet", "*/corpus.parquet", "qrels/*.tsv", "*/qrels/*.tsv"]
    assert fetched == [
        {"repository": "team/pages", "repo_type": "dataset", "revision": REVISION, "allow_patterns": patterns}
    ]


def test_a_revision_without_the_files_is_refused_after_it_was_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Path
) -> None:
    old = write(hub, {"old/corpus.parquet": ""})
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(old))
    assert fault(None, tmp_path, download=True) == (
        f"team/pages at revision {REVISION}: there is no qrels/*.tsv, neither here nor below (found: "
        "old/corpus.parquet); is the revision right?"
    )


def test_a_hub_that_fails_is_told_in_one_line(tmp_path: Path, hub: Path) -> None:
    message = fault(None, tmp_path, download=True)  # tests run with HF_HUB_OFFLINE=1
    assert message.startswith(f"team/pages at revision {REVISION} cannot be fetched (")
    assert message.endswith("is there a network, and may this account read the repository?")


def test_neither_folder_nor_repository_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"set dataset\.root or dataset\.repository"):
        find_files(None, None, NAMES, runtime(tmp_path))
    with pytest.raises(DataError, match=r"there is no corpus\.parquet .*; check dataset\.root"):
        find_files(write(tmp_path / "a", {"b": ""}), None, NAMES, runtime(tmp_path))


def test_a_file_at_the_top_goes_before_those_below_and_several_below_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"b/x": "", "a/x": "", "top": "", "a/top": ""})
    assert one_file(tmp_path, "top") == tmp_path / "top"
    with pytest.raises(DataError, match=r"x is there 2 times \(a/x, b/x\); keep one, or set dataset\.root"):
        one_file(tmp_path, "x")
    with pytest.raises(DataError, match="there is no file y"):
        one_file(tmp_path, "y")


def test_files_below_links_that_loop_are_found_once_and_hidden_ones_never(tmp_path: Path) -> None:
    write(tmp_path, {"a/x": "", ".git/x": "", "a/.x": "", "a/x.incomplete": ""})
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    names = [path.relative_to(tmp_path).as_posix() for path in files_below(tmp_path)]
    assert sorted(name.rpartition("/")[2] for name in names) == ["x", "x.incomplete"]
    assert fitting(tmp_path, "a/x") == [tmp_path / "a" / "x"]
    assert fitting(tmp_path, "x") == [tmp_path / "a" / "x"]


@pytest.mark.parametrize(
    ("repository", "revision", "why"),
    [
        ("a b", REVISION, "repository is 'a b'; wanted a name such as"),
        ("a/b/c", REVISION, "repository is 'a/b/c'"),
        ("a/b", "main", "revision is 'main'; wanted a commit of 40 hexadecimal digits"),
        ("a/b", REVISION.upper(), "wanted a commit"),
    ],
)
def test_a_name_that_the_hub_refuses_and_a_branch_are_refused(repository: str, revision: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Published(repository, revision)
