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


def test_links_are_followed_and_a_file_has_all_its_paths(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "f.py").touch()
    (folder / "again").symlink_to(tmp_path / "elsewhere")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "use").symlink_to("inner")  # what it leads to comes first, and is imported under both names
    (folder / "g.py").symlink_to(tmp_path / "elsewhere" / "f.py")
    assert names(folder, ".py") == ["again/f.py", "b.py", "g.py", "inner/c.py", "linked/f.py", "use/c.py"]


def test_links_that_lead_up_are_not_entered(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "unrelated.py").touch()
    for name, target in (("me", "."), ("up", ".."), ("all", "/"), ("inner/top", folder), ("inner/up", "..")):
        (folder / name).symlink_to(target)
    assert names(folder, ".py") == ["b.py", "inner/c.py"]
    (tmp_path / "door").symlink_to(folder)
    assert names(tmp_path / "door", ".py") == ["b.py", "inner/c.py"]


def test_folders_that_lead_to_one_another_come_to_an_end(folder: Path) -> None:
    for name in ("x", "y", "z"):
        (folder / name).mkdir()
        (folder / name / f"{name}.py").touch()
        for other in {"x", "y", "z"} - {name}:
            (folder / name / f"to_{other}").symlink_to(folder / other)
    found = [path for path in names(folder, ".py") if path.startswith("x/")]
    assert found == ["x/to_y/to_z/z.py", "x/to_y/y.py", "x/to_z/to_y/y.py", "x/to_z/z.py", "x/x.py"]


def test_what_is_no_file_is_left_out(folder: Path) -> None:
    (folder / "dangling.py").symlink_to("/nowhere/at/all.py")
    (folder / "self.py").symlink_to(folder / "self.py")
    (folder / "folder.py").mkdir()
    os.mkfifo(folder / "pipe.py")
    assert names(folder, ".py") == ["b.py", "inner/c.py"]
