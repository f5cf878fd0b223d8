"""Which files belong to a plug-in of one module: those beside it, and among them those that it names."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from glyphrank import beside
from glyphrank.beside import files_beside, named_files
from glyphrank.errors import ConfigError
from glyphrank.launched import Sources, changes, write_launched
from glyphrank.snapshot import make_snapshot

MODULE = """
from pathlib import Path
HERE = Path(__file__)
WORDS = HERE.with_name("words.txt"), HERE.parent / f"list_{1 + 1}.csv", HERE.parent.glob("*.json"), "no name", "*.*"
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A module among files that it names, files that it does not, and what is never looked at."""
    own = tmp_path / "own"
    (own / "__pycache__").mkdir(parents=True)
    for name in ("words.txt", "list_2.csv", "a.json", "nohup.out", ".env", "other.py", "__pycache__/x.pyc"):
        (own / name).write_text(name)
    (own / "one.py").write_text(MODULE)
    return own / "one.py"


def sources_of(tmp_path: Path, *modules: Path) -> Sources:
    conf = tmp_path / "conf"
    conf.mkdir(exist_ok=True)
    (tmp_path / "glyphrank").mkdir(exist_ok=True)
    packages = {module.stem: (module,) for module in modules}
    return Sources(conf, (), (), "config", {"glyphrank": (tmp_path / "glyphrank",), **packages})


def names(paths: list[Path]) -> set[str]:
    return {path.name for path in paths}


def test_hidden_files_folders_and_modules_are_none_of_a_modules_data(module: Path) -> None:
    found, left = files_beside(module)
    assert names(found) == {"words.txt", "list_2.csv", "a.json", "nohup.out"}
    assert left == 0


def test_a_file_is_named_by_a_text_a_pattern_or_a_formatted_text(module: Path) -> None:
    assert names(named_files(module)) == {"words.txt", "list_2.csv", "a.json"}
    module.write_text("def (")
    assert named_files(module) == []


def test_an_edit_of_a_named_file_is_a_change_and_that_of_another_is_none(tmp_path: Path, module: Path) -> None:
    write_launched(tmp_path, sources_of(tmp_path, module).places())
    (module.parent / "nohup.out").write_text("longer by now")
    assert changes(tmp_path) == []
    (module.parent / "words.txt").write_text("edited")
    (module.parent / "a.json").unlink()
    assert changes(tmp_path) == [f"{module.parent}/a.json (missing)", f"{module.parent}/words.txt (changed)"]


def test_a_snapshot_takes_the_files_beside_a_module_along(tmp_path: Path, module: Path) -> None:
    make_snapshot(tmp_path / "sweep", sources_of(tmp_path, module))
    copied = names(list((tmp_path / "sweep" / "snapshot" / "sources").iterdir()))
    assert copied == {"glyphrank", "one.py", "words.txt", "list_2.csv", "a.json", "nohup.out"}


def test_a_snapshot_takes_so_much_and_says_what_it_left(
    tmp_path: Path, module: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(beside, "LIMIT", 30)
    (module.parent / "words.txt").write_text("w" * 40)
    with caplog.at_level(logging.WARNING):
        make_snapshot(tmp_path / "sweep", sources_of(tmp_path, module))
    assert not (tmp_path / "sweep" / "snapshot" / "sources" / "words.txt").exists()
    assert caplog.messages == [
        f"{module}: 1 file beside it not copied; the snapshot takes 100 MB of them, the smallest first"
    ]


def test_two_modules_that_name_files_of_one_name_share_no_copy(tmp_path: Path, module: Path) -> None:
    other = tmp_path / "elsewhere" / "two.py"
    other.parent.mkdir()
    other.write_text(MODULE)
    (other.parent / "nohup.out").write_text("another, which nobody names")
    make_snapshot(tmp_path / "sweep", sources_of(tmp_path, module, other))
    (other.parent / "words.txt").write_text("other words")
    with pytest.raises(ConfigError, match=r"another plug-in has a words\.txt as well, and they differ; use launch"):
        make_snapshot(tmp_path / "further", sources_of(tmp_path, module, other))
    assert not (tmp_path / "further" / "snapshot").exists()
