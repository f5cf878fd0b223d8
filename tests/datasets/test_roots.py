"""The folder of a dataset, and what is watched below it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from glyphrank.datasets.roots import watched
from glyphrank.identity import Stamp, stamp_of


def below(root: Path) -> set[str]:
    """What is watched where the files that end in `.table` are read."""
    return {path.relative_to(root).as_posix() for path in watched(root, lambda name: name.endswith(".table"))}


def state(root: Path) -> list[tuple[Path, Stamp | None]]:
    paths = watched(root, lambda name: name.endswith(".table"))
    return [(path, stamp_of(path) if path.exists() else None) for path in paths]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "set"
    (folder / "pictures" / "old").mkdir(parents=True)
    (folder / "pictures" / "1.png").touch()
    (folder / "a.table").write_text("a")
    return folder


def test_folders_and_the_files_that_are_read_are_watched_and_no_others(root: Path) -> None:
    assert below(root) == {".", "a.table", "pictures", "pictures/old"}


def test_a_folder_that_is_not_there_is_watched_since_it_may_appear(tmp_path: Path) -> None:
    assert watched(tmp_path / "later") == (tmp_path / "later",)


def test_links_are_followed_once_and_those_to_nowhere_are_watched(root: Path) -> None:
    (root / "round").symlink_to(root)
    (root / "itself").symlink_to("itself")
    (root / "pictures" / "2.png").symlink_to(root.parent / "absent.png")
    (root / "pictures" / "3.png").symlink_to(root / "pictures" / "1.png")
    assert below(root) == {".", "a.table", "pictures", "pictures/old", "round", "itself", "pictures/2.png"}


CHANGES: dict[str, Callable[[Path], object]] = {
    "edited": lambda root: (root / "a.table").write_text("b"),
    "replaced": lambda root: (root.parent / "b").rename(root / "a.table"),
    "removed": lambda root: (root / "a.table").unlink(),
    "added": lambda root: (root / "pictures" / "old" / "2.png").touch(),
    "renamed": lambda root: (root / "pictures" / "1.png").rename(root / "pictures" / "2.png"),
    "a new folder": lambda root: (root / "pictures" / "new").mkdir(),
    "another folder under the name": lambda root: (
        (root / "pictures").rename(root.parent / "p"),
        (root.parent / "other").rename(root / "pictures"),
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_every_change_shows(root: Path, change: Callable[[Path], object]) -> None:  # case C04
    (root.parent / "b").write_text("b")
    (root.parent / "other" / "old").mkdir(parents=True)
    (root.parent / "other" / "1.png").touch()
    before = state(root)
    assert state(root) == before
    change(root)
    assert state(root) != before
