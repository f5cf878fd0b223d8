from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank.whole_files import replace_whole


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
