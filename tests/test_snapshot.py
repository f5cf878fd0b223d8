from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.errors import ConfigError
from glyphrank.launched import Sources
from glyphrank.snapshot import STARTED, make_snapshot, restart, runs_from_snapshot


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    """A checkout with a linked group, an overlay that holds more than choices, and two plug-ins."""
    files = (
        *("conf/config.yaml", "conf/encoder/a.yaml", "experiments/x.yaml", "src/glyphrank/__init__.py"),
        *("src/glyphrank/__pycache__/x.pyc", "src/glyphrank/ocr/one.py", "own/encoder/b.yaml", "own/one.py"),
        *("own/outputs/big.npy", "two/__init__.py", "two/words.txt"),
    )
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "conf" / "experiment").symlink_to("../experiments")
    packages = {
        "glyphrank": (tmp_path / "src" / "glyphrank",),
        "one": (tmp_path / "own" / "one.py",),
        "two": (tmp_path / "two",),
    }
    return Sources(tmp_path / "conf", (tmp_path / "own",), ("encoder", "experiment"), "config", packages)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_snapshot_has_the_form_of_an_installed_package(tmp_path: Path, sources: Sources) -> None:
    make_snapshot(tmp_path / "sweep", sources)
    assert files(tmp_path / "sweep" / "snapshot") == {
        *("sources/glyphrank/__init__.py", "sources/glyphrank/ocr/one.py", "sources/glyphrank/conf/config.yaml"),
        *("sources/glyphrank/conf/encoder/a.yaml", "sources/glyphrank/conf/experiment/x.yaml"),
        *("sources/one.py", "sources/two/__init__.py", "sources/two/words.txt"),
        *("overlays/0/encoder/b.yaml", "overlays/0/one.py", "launched.json"),
    }


def test_snapshot_that_is_there_stays_as_it_is_and_says_what_is_newer(
    tmp_path: Path, sources: Sources, caplog: pytest.LogCaptureFixture
) -> None:
    make_snapshot(tmp_path / "sweep", sources)
    (tmp_path / "two" / "words.txt").write_text("edited")
    make_snapshot(tmp_path / "sweep", sources)
    assert caplog.messages == []
    (tmp_path / "own" / "one.py").write_text("edited")
    (tmp_path / "conf" / "encoder" / "c.yaml").touch()
    make_snapshot(tmp_path / "sweep", sources)
    (said,) = caplog.messages
    assert "2 files differ since: " in said
    assert f"{tmp_path}/own/one.py (changed)" in said
    assert f"{tmp_path}/conf/encoder/c.yaml (added)" in said
    assert said.endswith(f"remove {tmp_path}/sweep/snapshot to take the new ones")
    assert (tmp_path / "sweep" / "snapshot" / "sources" / "two" / "words.txt").read_text() == "two/words.txt"


def test_snapshot_that_cannot_be_made_leaves_nothing(tmp_path: Path, sources: Sources) -> None:
    absent = replace(sources, conf=tmp_path / "absent")
    with pytest.raises(ConfigError, match=r"snapshot .* cannot be made: .*absent'; use launch\.snapshot=false"):
        make_snapshot(tmp_path / "sweep", absent)
    assert files(tmp_path / "sweep") == set()


def test_process_starts_again_with_the_copys_places(
    tmp_path: Path, sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "mine")
    own = f"file://{tmp_path / 'own'}"
    again = restart(tmp_path / "a sweep", "a1", sources, ["pkg://extra", own], ["dataset=folder", "hydra.verbose=true"])
    copy = tmp_path / "a sweep" / "snapshot"
    assert list(again.command)[2:] == [
        *("glyphrank", "run", "-m", "--config-name", "config"),
        *("--config-path", str(copy / "sources" / "glyphrank" / "conf"), "dataset=folder", "hydra.verbose=true"),
        f'hydra.sweep.dir="{tmp_path / "a sweep"}"',
        f'hydra.searchpath=["pkg://extra","file://{copy / "overlays" / "0"}"]',
    ]
    assert again.environment["PYTHONPATH"] == f"{copy / 'sources'}{os.pathsep}mine"
    given = restart(tmp_path / "sweep", "a1", sources, [], [])
    assert list(given.command)[9:11] == ["--config-dir", str(tmp_path / "sweep" / "snapshot" / "overlays" / "0")]


def test_process_that_was_started_again_and_runs_from_elsewhere_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not runs_from_snapshot(tmp_path)
    monkeypatch.setenv(STARTED, str(tmp_path / "snapshot"))
    with pytest.raises(ConfigError, match="not in its snapshot"):
        runs_from_snapshot(tmp_path)


def test_snapshot_copies_what_links_lead_to_and_leaves_out_what_is_no_file(tmp_path: Path, sources: Sources) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "inner.py").write_text("linked")
    (tmp_path / "two" / "ext").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "two" / "gone.py").symlink_to("/nowhere.py")
    (tmp_path / "conf" / "encoder" / ".#a.yaml").symlink_to("kim@host.1234:5")
    (tmp_path / "two" / "up").symlink_to(tmp_path)
    (tmp_path / "own" / ".#one.py").symlink_to("kim@host.1234:5")
    (tmp_path / "own" / "folder.py").mkdir()
    os.mkfifo(tmp_path / "own" / "pipe.py")
    os.mkfifo(tmp_path / "two" / "pipe.py")
    make_snapshot(tmp_path / "sweep", sources)
    copied = files(tmp_path / "sweep" / "snapshot" / "sources" / "two")
    assert copied == {"__init__.py", "words.txt", "ext/inner.py"}
    assert not (tmp_path / "sweep" / "snapshot" / "sources" / "two" / "ext").is_symlink()
    assert files(tmp_path / "sweep" / "snapshot" / "overlays") == {"0/encoder/b.yaml", "0/one.py"}


def test_snapshot_of_a_package_in_two_folders_has_the_file_that_python_imports(
    tmp_path: Path, sources: Sources
) -> None:
    roots = []
    for root in ("first", "second"):
        folder = tmp_path / root / "shared"
        folder.mkdir(parents=True)
        (folder / "same.py").write_text(root)
        (folder / f"{root}.py").write_text(root)
        roots.append(folder)
    make_snapshot(tmp_path / "sweep", replace(sources, packages={**sources.packages, "shared": tuple(roots)}))
    copy = tmp_path / "sweep" / "snapshot" / "sources" / "shared"
    assert (copy / "same.py").read_text() == "first"
    assert files(copy) == {"same.py", "first.py", "second.py"}
