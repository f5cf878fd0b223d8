from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.launched import LAUNCHED, Place, Sources, changes, check_unchanged, found_package, write_launched


@pytest.fixture
def places(tmp_path: Path) -> list[Place]:
    """Two choices in a group, beside a file and a folder that do not count."""
    group = tmp_path / "conf" / "encoder"
    (group / ".cache").mkdir(parents=True)
    for name in ("a.yaml", "b.yaml", "notes.txt", ".cache/c.yaml"):
        (group / name).write_text("k: 1\n")
    places = [Place(group, (".yaml",)), Place(tmp_path / "conf" / "absent.yaml", (".yaml",))]
    write_launched(tmp_path, places)
    return places


def test_files_that_stay_as_they_were_are_no_change(tmp_path: Path, places: list[Place]) -> None:
    (tmp_path / "conf" / "encoder" / "notes.txt").write_text("other\n")
    (tmp_path / "conf" / "encoder" / ".cache" / "d.yaml").write_text("new\n")
    os.utime(tmp_path / "conf" / "encoder" / "a.yaml", (1, 1))  # touched, with the same content
    assert changes(tmp_path) == []
    check_unchanged(tmp_path)


def test_changed_added_and_missing_files_are_named(tmp_path: Path, places: list[Place]) -> None:
    group = tmp_path / "conf" / "encoder"
    (group / "a.yaml").write_text("k: 2\n")
    (group / "b.yaml").unlink()
    (group / "deep").mkdir()
    (group / "deep" / "e.yaml").touch()
    assert changes(tmp_path) == [
        f"{group / 'a.yaml'} (changed)",
        f"{group / 'b.yaml'} (missing)",
        f"{group / 'deep' / 'e.yaml'} (added)",
    ]


def test_message_names_a_few_files_counts_all_and_says_what_to_do(tmp_path: Path, places: list[Place]) -> None:
    for number in range(8):
        (tmp_path / "conf" / "encoder" / f"new{number}.yaml").touch()
    with pytest.raises(ConfigError) as raised:
        check_unchanged(tmp_path)
    assert str(raised.value).startswith("8 files differ from the launch of this sweep: ")
    assert str(raised.value).count("(added)") == 5
    assert "and 3 more; start the sweep again" in str(raised.value)
    assert "launch.snapshot=true" in str(raised.value)


def test_launch_that_noted_nothing_stops_no_cell(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert changes(tmp_path) == []
    (tmp_path / LAUNCHED).write_text("{")
    with caplog.at_level(logging.WARNING):
        assert changes(tmp_path) == []
    assert "whether sources changed is not known" in caplog.text


def test_of_an_overlay_only_groups_and_the_top_file_count(tmp_path: Path) -> None:
    conf, overlay = tmp_path / "conf", tmp_path / "own"
    for name in ("conf/encoder/a.yaml", "conf/config.yaml", "own/encoder/b.yaml", "own/outputs/c.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "one.py").touch()
    sources = Sources(conf, (overlay,), ("encoder",), "config", {"one": (tmp_path / "one.py",)})
    write_launched(tmp_path, sources.places())
    for name in ("own/outputs/d.yaml", "own/other.yaml", "own/encoder/e.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "one.py").write_text("pass\n")
    assert changes(tmp_path) == [f"{tmp_path / 'one.py'} (changed)", f"{overlay / 'encoder' / 'e.yaml'} (added)"]


def test_linked_group_is_followed(tmp_path: Path) -> None:
    (tmp_path / "experiments").mkdir()
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "experiment").symlink_to("../experiments")
    write_launched(tmp_path, [Place(tmp_path / "conf" / "experiment", (".yaml",))])
    (tmp_path / "experiments" / "x.yaml").touch()
    assert changes(tmp_path) == [f"{tmp_path / 'conf' / 'experiment' / 'x.yaml'} (added)"]


def test_package_is_found_without_its_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lonely_module.py").write_text("raise RuntimeError('imported')\n")
    (tmp_path / "whole_package").mkdir()
    (tmp_path / "whole_package" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    assert found_package("lonely_module") == (tmp_path / "lonely_module.py",)
    assert found_package("whole_package") == (tmp_path / "whole_package",)
    assert found_package("no_such_package") == found_package("") == ()


def test_what_is_no_file_is_not_waited_for(tmp_path: Path, places: list[Place]) -> None:
    os.mkfifo(tmp_path / "conf" / "encoder" / "pipe.yaml")
    (tmp_path / "conf" / "encoder" / "gone.yaml").symlink_to("/nowhere.yaml")
    assert changes(tmp_path) == []
    write_launched(tmp_path, places)
    assert changes(tmp_path) == []


def test_names_that_are_not_utf_8_are_noted(tmp_path: Path, places: list[Place]) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path / "conf" / "encoder") + b"/\xff.yaml")
    Path(odd).write_text("k: 1\n")
    write_launched(tmp_path, places)
    assert changes(tmp_path) == []
    Path(odd).write_text("k: 2\n")
    assert changes(tmp_path) == [f"{odd} (changed)"]
