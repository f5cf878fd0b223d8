"""The digest of sources is taken anew where a file was changed, whatever was remembered of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.sources import digest_sources


def test_a_source_that_keeps_its_size_and_time_is_read_again(  # case C04
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "fleeting_source.py"
    source.write_text("answer = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    before, state = digest_sources({"fleeting_source"}), source.stat()
    assert digest_sources({"fleeting_source"}) == before
    source.write_text("answer = 2\n")
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    changed = digest_sources({"fleeting_source"})
    assert changed != before
    source.write_text("answer = 1\n")
    assert digest_sources({"fleeting_source"}) == before


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "linked_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("answer = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_sources_below_a_linked_folder_count(package: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "inner.py").write_text(f"answer = {name!r}\n")
    (package / "ext").symlink_to(tmp_path / "one")
    found = [digest_sources({"linked_package"})]
    (tmp_path / "one" / "inner.py").write_text("answer = 3\n")
    found.append(digest_sources({"linked_package"}))
    (package / "ext").unlink()
    (package / "ext").symlink_to(tmp_path / "two")
    found.append(digest_sources({"linked_package"}))
    assert len(set(found)) == 3


def test_a_link_that_leads_elsewhere_within_the_package_counts(package: Path) -> None:
    for name in ("v1", "v2"):
        (package / "impl" / name).mkdir(parents=True)
        (package / "impl" / name / "x.py").write_text(f"letters = {name!r}\n")
    found = []
    for name in ("v1", "v2"):
        (package / "use").symlink_to(f"impl/{name}")  # `linked_package.use.x` is what the plug-in imports
        found.append(digest_sources({"linked_package"}))
        (package / "use").unlink()
    assert len({*found, digest_sources({"linked_package"})}) == 3


def test_what_lies_above_the_package_is_none_of_it(package: Path, tmp_path: Path) -> None:
    before = digest_sources({"linked_package"})
    (package / "root").symlink_to("..")
    (tmp_path / "notes.py").touch()
    assert digest_sources({"linked_package"}) == before


def test_what_python_cannot_import_is_no_source(package: Path) -> None:
    before = digest_sources({"linked_package"})
    (package / "gone.py").symlink_to("/nowhere.py")
    (package / ".#locked.py").symlink_to("kim@host.1234:5")
    os.mkfifo(package / "pipe.py")
    assert digest_sources({"linked_package"}) == before


def test_a_package_of_nothing_that_can_be_imported_is_not_found(package: Path) -> None:
    (package / "__init__.py").unlink()
    (package / "__init__.py").symlink_to("/nowhere.py")
    with pytest.raises(ConfigError, match="'linked_package' cannot be found with its source"):
        digest_sources({"linked_package"})


def test_a_source_that_cannot_be_read_is_named(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("glyphrank.sources.digest_file", refuse)
    with pytest.raises(ConfigError, match=r"__init__\.py: the source cannot be read \(Permission denied\)"):
        digest_sources({"linked_package"})
