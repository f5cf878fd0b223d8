from __future__ import annotations

import os
from pathlib import Path

import pytest

from glyphrank.whole_files import allocate, replace_whole, whole_file


@pytest.mark.parametrize("durable", [True, False])
def test_replace_whole_puts_the_new_content_in_the_place_of_the_old(durable: bool, tmp_path: Path) -> None:  # case C02
    path = tmp_path / "file"
    path.write_text("old")
    seen: list[str] = []

    def write(new: Path) -> None:
        new.write_text("new")
        seen.append(path.read_text())

    replace_whole(path, write, durable)
    assert seen == ["old"]
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_replace_whole_that_is_interrupted_keeps_the_old_and_leaves_nothing(
    error: BaseException, tmp_path: Path
) -> None:  # case C04
    path = tmp_path / "file"
    path.write_text("old")

    def half(new: Path) -> None:
        new.write_text("ne")
        raise error

    with pytest.raises(type(error)):
        replace_whole(path, half)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("durable", [True, False])
def test_whole_file_as_a_context_shows_the_new_content_when_it_ends(durable: bool, tmp_path: Path) -> None:  # case C02
    path = tmp_path / "file"
    path.write_text("old")
    with whole_file(path, durable) as new:
        assert new.parent == tmp_path
        new.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_whole_file_of_which_nothing_was_written_is_an_error_and_leaves_the_old(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "file"):
        pass
    assert (tmp_path / "file").read_text() == "old"


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:  # case C02
    with whole_file(tmp_path / "file") as first, whole_file(tmp_path / "file") as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert (tmp_path / "file").read_text() == "first"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("system", [True, False])
def test_a_file_has_its_blocks_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: bool
) -> None:
    if not system:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    size = (1 << 22) + 5
    with (tmp_path / "scores").open("w+b") as file:
        allocate(file, size)
        assert os.fstat(file.fileno()).st_size == size
        assert os.fstat(file.fileno()).st_blocks * 512 >= size
