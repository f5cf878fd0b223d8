"""Identity of files and sources: content counts, remembered as long as a file stays as it is; the place does not."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from glyphrank.digests import digest_file
from glyphrank.errors import ConfigError, DataError
from glyphrank.identity import FileDigests, digest_place, stamps_of
from glyphrank.sources import digest_sources
from odd_files import odd_file


class Reads:
    """Counts how often files are read to be digested."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        real = digest_file

        def counted(path: Path) -> str:
            self.count += 1
            return real(path)

        monkeypatch.setattr("glyphrank.identity.digest_file", counted)


def test_a_file_is_read_once_while_it_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = Reads(monkeypatch)
    path = tmp_path / "page.pdf"
    path.write_bytes(b"one")
    first = FileDigests(tmp_path / "memory")(path)
    assert FileDigests(tmp_path / "memory")(path) == first == digest_file(path)
    assert reads.count == 1


@pytest.mark.parametrize("how", ["longer", "later"])
def test_a_file_that_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    reads = Reads(monkeypatch)
    path = tmp_path / "page.pdf"
    path.write_bytes(b"one")
    digests = FileDigests(tmp_path / "memory")
    first, state = digests(path), path.stat()
    if how == "longer":
        path.write_bytes(b"longer")
        os.utime(path, ns=(state.st_mtime_ns, state.st_mtime_ns))
    else:
        path.write_bytes(b"two")
        os.utime(path, ns=(state.st_mtime_ns, state.st_mtime_ns + 1))
    assert digests(path) != first
    assert digests(path) == digest_file(path)
    assert reads.count == 2


def test_a_copy_at_another_place_is_read_and_has_the_same_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = Reads(monkeypatch)
    digests = FileDigests(tmp_path / "memory")
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "b").write_bytes(b"one")
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    assert reads.count == 2


def test_a_memory_that_cannot_be_written_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = Reads(monkeypatch)
    (tmp_path / "memory").write_text("a file where the folder should be")
    path = tmp_path / "page.pdf"
    path.write_bytes(b"one")
    digests = FileDigests(tmp_path / "memory")
    assert digests(path) == digests(path) == digest_file(path)
    assert reads.count == 2


def test_a_memory_without_a_digest_is_read_over(tmp_path: Path) -> None:
    path = tmp_path / "page.pdf"
    path.write_bytes(b"one")
    digests = FileDigests(tmp_path / "memory")
    first = digests(path)
    (memo,) = (tmp_path / "memory").iterdir()
    memo.write_text(json.dumps({"stamp": json.loads(memo.read_text())["stamp"]}))
    assert digests(path) == first


@pytest.mark.parametrize("junk", ["", "{", "[]", '{"stamp": null}', "[" * 100_000])
def test_a_damaged_memory_is_read_over(tmp_path: Path, junk: str) -> None:
    path = tmp_path / "page.pdf"
    path.write_bytes(b"one")
    digests = FileDigests(tmp_path / "memory")
    first = digests(path)
    for memo in (tmp_path / "memory").iterdir():
        memo.write_text(junk)
    assert digests(path) == first


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.pdf: cannot be read \(No such file or directory\)"):
        FileDigests(tmp_path / "memory")(tmp_path / "gone.pdf")


@pytest.mark.parametrize("kind", ["a directory", "a named pipe", "a socket", "a device"])
def test_only_regular_files_are_opened(tmp_path: Path, kind: str) -> None:
    with pytest.raises(DataError, match=rf"cannot be read \({kind}, not a file\)"):
        FileDigests(tmp_path / "memory")(odd_file(tmp_path / "odd", kind))
    assert not (tmp_path / "memory").exists()


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "/".join(["x" * 200] * 50)])
def test_a_name_that_no_disk_can_hold_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        FileDigests(tmp_path / "memory")(tmp_path / name)
    with pytest.raises(DataError, match=r"cannot be read|no such file"):
        digest_place(tmp_path / name, digest_file)


def test_a_memory_that_fails_while_it_is_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case C04
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    (tmp_path / "page.pdf").write_bytes(b"one")
    assert FileDigests(tmp_path / "memory")(tmp_path / "page.pdf") == digest_file(tmp_path / "page.pdf")
    assert list((tmp_path / "memory").iterdir()) == []


def test_threads_that_remember_one_file_at_once_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[Path] = []
    monkeypatch.setattr(Path, "replace", lambda path, _: names.append(path))
    (tmp_path / "page.pdf").write_bytes(b"one")
    for _ in range(2):
        FileDigests(tmp_path / "memory")(tmp_path / "page.pdf")
    assert len(set(names)) == 2


def plug_in(folder: Path, name: str, files: Mapping[str, str]) -> None:
    for file, content in files.items():
        path = folder / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    importlib.invalidate_caches()


def test_the_sources_of_a_package_count_and_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    plug_in(tmp_path, "plug_one", {"__init__.py": "raise SystemExit('was imported')", "sub/part.py": "x = 1"})
    first = digest_sources(["plug_one"])
    assert digest_sources(["plug_one", "plug_one"]) == first
    assert "plug_one" not in sys.modules
    plug_in(tmp_path, "plug_one", {"notes.txt": "not a source", "__pycache__/part.cpython-311.pyc": "compiled"})
    assert digest_sources(["plug_one"]) == first
    plug_in(tmp_path, "plug_one", {"sub/part.py": "x = 2"})
    assert digest_sources(["plug_one"]) != first


def test_a_source_that_is_added_or_renamed_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    plug_in(tmp_path, "plug_two", {"__init__.py": "", "one.py": "x = 1"})
    first = digest_sources(["plug_two"])
    (tmp_path / "plug_two" / "one.py").rename(tmp_path / "plug_two" / "two.py")
    renamed = digest_sources(["plug_two"])
    plug_in(tmp_path, "plug_two", {"three.py": ""})
    assert len({first, renamed, digest_sources(["plug_two"])}) == 3


def test_sources_do_not_depend_on_their_place_or_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for place in ("here", "there"):
        plug_in(tmp_path / place, "plug_three", {"__init__.py": "x = 1"})
        plug_in(tmp_path / place, "plug_four", {"__init__.py": "x = 2"})
        with monkeypatch.context() as patch:
            patch.setattr(sys, "path", [str(tmp_path / place), *sys.path])
            importlib.invalidate_caches()
            found.append(digest_sources(["plug_three", "plug_four"]))
            assert digest_sources(["plug_four", "plug_three"]) == found[-1]
    assert found[0] == found[1]


def test_a_module_of_one_file_counts_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "single_plug.py").write_text("x = 1")
    (tmp_path / "beside.py").write_text("y = 1")
    importlib.invalidate_caches()
    first = digest_sources(["single_plug"])
    (tmp_path / "beside.py").write_text("y = 2")
    assert digest_sources(["single_plug"]) == first
    (tmp_path / "single_plug.py").write_text("x = 2")
    assert digest_sources(["single_plug"]) != first


def test_glyphrank_itself_has_sources() -> None:
    assert digest_sources(["glyphrank"]) != digest_sources([])


def test_a_package_that_cannot_be_found_is_named() -> None:
    with pytest.raises(ConfigError, match="'no_such_package_here' cannot be found"):
        digest_sources(["no_such_package_here"])


def test_stamps_of_a_folder_follow_its_files_wherever_it_lies(tmp_path: Path) -> None:  # case C01
    folder = tmp_path / ".models" / "mine"
    (folder / ".git").mkdir(parents=True)
    (folder / "weights").write_text("old")
    before = stamps_of(folder)
    assert len(before) == 1
    (folder / ".git" / "notes").write_text("no part of it")
    assert stamps_of(folder) == before
    (folder / "weights").write_text("newer")
    assert stamps_of(folder) != before
    (tmp_path / ".models" / "flat").write_text("x")
    assert len(stamps_of(tmp_path / ".models")) == 2


def test_what_lies_below_a_linked_folder_is_part_of_a_place(tmp_path: Path) -> None:
    """A model's folder may link the folder of its pooling; stale vectors would come of a link that is not followed."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "config.json").write_text("{}")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "1_Pooling").symlink_to(tmp_path / "elsewhere")
    before = digest_place(tmp_path / "model", digest_file)
    (tmp_path / "elsewhere" / "config.json").write_text('{"mean": true}')
    assert digest_place(tmp_path / "model", digest_file) != before
    assert len(stamps_of(tmp_path / "model")) == 1
