"""The files below a folder: wherever links lead, once each, and nothing that would wait for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from glyphrank.walked import files_below


def names(folder: Path, suffixes: str | tuple[str, ...] = "") -> list[str]:
    return [os.path.relpath(path, folder) for path, _ in files_below(str(folder), suffixes)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.py", "a.txt", "inner/c.py", ".hidden.py", ".git/d.py", "__pycache__/e.py"):
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path / "folder"


def test_files_come_in_order_without_hidden_ones_and_what_python_keeps(folder: Path) -> None:
    assert names(folder) == ["a.txt", "b.py", "inner/c.py"]
    assert names(folder, ".py") == ["b.py", "inner/c.py"]
    assert [(path, state.st_size) for path, state in files_below(str(folder / "b.py"), ".txt")] == [
        (str(folder / "b.py"), 4)
    ]
    assert names(folder / "nothing") == []


def test_links_are_followed_and_loops_end(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "f.py").touch()
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "again").symlink_to(tmp_path / "elsewhere")
    (folder / "inner" / "up").symlink_to(folder)
    (folder / "g.py").symlink_to(tmp_path / "elsewhere" / "f.py")
    assert names(folder, ".py") == ["b.py", "g.py", "again/f.py", "inner/c.py"]


def test_what_is_no_file_is_left_out(folder: Path) -> None:
    (folder / "dangling.py").symlink_to("/nowhere/at/all.py")
    (folder / "self.py").symlink_to(folder / "self.py")
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    assert names(folder, ".py") == ["b.py", "inner/c.py"]
