"""A task is taken over from the cell before as long as no file behind it has changed, and only then."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from command import corpus
from glyphrank.datasets.folder import Folder
from glyphrank.errors import DataError
from glyphrank.identity import stamp_of
from glyphrank.loading import load
from glyphrank.records import Item, Media, Query, Task
from glyphrank.runtime import Runtime
from settled import settled


@dataclass(frozen=True)
class Words:
    """The words of a file are the items; `media` lies behind the first of them."""

    root: Path
    stamped: bool = True

    def files(self, runtime: Runtime) -> tuple[Path, ...]:
        return self.root / "words", self.root / "more"

    def load(self, runtime: Runtime) -> Task:
        text = "".join(path.read_text() for path in self.files(runtime) if path.exists())
        path = self.root / "media"
        media = Media(path, None, path.read_text(), stamp_of(path) if self.stamped else None)
        items = tuple(Item(word, media if number == 0 else None, word) for number, word in enumerate(text.split()))
        return Task("words", (Query("q", "a"),), items, {"q": {items[0].id: 1.0}}, text)


@pytest.fixture
def words(tmp_path: Path) -> Words:
    (tmp_path / "words").write_text("a b")
    (tmp_path / "media").write_text("red")
    return Words(settled(tmp_path))


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def test_an_unchanged_dataset_is_loaded_once(words: Words, runtime: Runtime) -> None:
    assert load(words, runtime) is load(words, runtime)


@pytest.mark.parametrize("name", ["words", "more", "media"])
def test_a_changed_new_or_replaced_file_is_loaded_anew(words: Words, runtime: Runtime, name: str) -> None:  # case C04
    before = load(words, runtime)
    (words.root / name).write_text("c d")
    settled(words.root)
    after = load(words, runtime)
    assert after is not before
    assert after is load(words, runtime)
    assert "c d" in after.fingerprint or after.items[0].media != before.items[0].media


def test_a_file_with_the_old_size_and_time_is_loaded_anew(words: Words, runtime: Runtime) -> None:  # case C04
    before = load(words, runtime)
    state = (words.root / "words").stat()
    (words.root / "words").write_text("x y")
    os.utime(words.root / "words", ns=(state.st_atime_ns, state.st_mtime_ns))
    assert load(words, runtime) is not before


@pytest.mark.parametrize("twin", ["쪽/1/가.png", "쪽"])
def test_a_name_that_comes_to_fit_two_is_noticed(tmp_path: Path, runtime: Runtime, twin: str) -> None:
    (tmp_path / "set" / "쪽" / "1").mkdir(parents=True)
    (tmp_path / "set" / "쪽" / "1" / "가.png").write_bytes(b"red")
    rows = [{"id": "p", "media": "쪽/1/가.png"}]
    dataset = Folder(corpus(tmp_path / "set", rows, [{"id": "q", "text": "x"}], ["q\tp\t1"]), "test")
    settled(tmp_path / "set")
    assert load(dataset, runtime) is load(dataset, runtime)
    beside = tmp_path / "set" / twin
    beside.with_name(unicodedata.normalize("NFD", beside.name)).mkdir()
    with pytest.raises(DataError, match="fits 2 names"):
        load(dataset, runtime)


def test_media_that_went_away_are_noticed(words: Words, runtime: Runtime) -> None:
    load(words, runtime)
    (words.root / "media").unlink()
    with pytest.raises(FileNotFoundError):
        load(words, runtime)


def test_media_without_a_stamp_make_every_cell_load(words: Words, runtime: Runtime) -> None:
    unstamped = Words(words.root, stamped=False)
    assert load(unstamped, runtime) is not load(unstamped, runtime)


def test_a_file_that_changed_between_two_items_is_not_trusted(words: Words, runtime: Runtime) -> None:
    class Twice(Words):
        def load(self, runtime: Runtime) -> Task:
            task = super().load(runtime)
            return replace(task, items=(*task.items, Item("z", Media(self.root / "media", None, "", ("older",)), "z")))

    twice = Twice(words.root)
    assert load(twice, runtime) is not load(twice, runtime)


def test_media_that_are_not_there_are_taken_over_until_they_appear(words: Words, runtime: Runtime) -> None:
    class Lacking(Words):
        def load(self, runtime: Runtime) -> Task:
            path = self.root / "deep" / "er" / "clip"
            item = Item("a", Media(path, None, "there" if path.exists() else "missing"), "a")
            return Task("lacking", (Query("q", "a"),), (item,), {"q": {"a": 1.0}}, "f")

    lacking = Lacking(words.root)
    assert load(lacking, runtime) is load(lacking, runtime)
    (words.root / "deep" / "er").mkdir(parents=True)
    (words.root / "deep" / "er" / "clip").touch()
    assert [item.media.digest for item in load(lacking, runtime).items if item.media] == ["there"]


def test_a_folder_that_changed_a_moment_ago_is_not_trusted(words: Words, runtime: Runtime) -> None:
    @dataclass(frozen=True)
    class Names:
        root: Path

        def files(self, runtime: Runtime) -> tuple[Path, ...]:
            return (self.root / "names",)

        def load(self, runtime: Runtime) -> Task:
            return words.load(runtime)

    names = Names(words.root)
    (words.root / "names").mkdir()
    assert load(names, runtime) is not load(names, runtime)
    settled(words.root)
    assert load(names, runtime) is load(names, runtime)
    (words.root / "names" / "new").touch()
    assert load(names, runtime) is not load(names, runtime)


def test_what_stands_beside_the_folder_of_a_dataset_does_not_matter(words: Words, runtime: Runtime) -> None:
    (words.root / "set" / "names").mkdir(parents=True)
    for name in ("words", "media"):
        (words.root / name).rename(words.root / "set" / name)

    @dataclass(frozen=True)
    class Inner(Words):
        def files(self, runtime: Runtime) -> tuple[Path, ...]:
            return self.root, self.root / "words"

        def load(self, runtime: Runtime) -> Task:
            return Words(self.root).load(runtime)

    inner = Inner(settled(words.root / "set"))
    before = load(inner, runtime)
    (words.root / "outputs").mkdir()
    assert load(inner, runtime) is before


def test_a_dataset_whose_files_are_not_known_is_loaded_every_time(words: Words, runtime: Runtime) -> None:
    class Unknown:
        def files(self, runtime: Runtime) -> None:
            return None

        def load(self, runtime: Runtime) -> Task:
            return words.load(runtime)

    assert load(Unknown(), runtime) is not load(Unknown(), runtime)


def test_media_behind_links_are_followed(words: Words, runtime: Runtime) -> None:
    (words.root / "media").rename(words.root / "red")
    (words.root / "blue").write_text("red")
    (words.root / "media").symlink_to("red")
    settled(words.root)
    assert load(words, runtime) is load(words, runtime)
    before = load(words, runtime)
    (words.root / "red").write_text("new")
    after = load(words, runtime)
    assert [item.media.digest for item in (before.items[0], after.items[0]) if item.media] == ["red", "new"]


def test_another_dataset_or_runtime_is_another_task(words: Words, runtime: Runtime, tmp_path: Path) -> None:
    other = Runtime("cpu", 8, 0, 60, 4, False, tmp_path / "others", tmp_path / "cache")
    assert load(words, runtime) is not load(words, other)


def test_a_file_that_changes_while_it_is_read_is_not_trusted(words: Words, runtime: Runtime) -> None:
    class Restless(Words):
        def load(self, runtime: Runtime) -> Task:
            task = super().load(runtime)
            (self.root / "words").write_text((self.root / "words").read_text() + " e")
            return task

    restless = Restless(words.root)
    assert len(load(restless, runtime).items) == 2
    assert len(load(restless, runtime).items) == 3


def test_a_dataset_that_does_not_tell_its_files_is_loaded_every_time(words: Words, runtime: Runtime) -> None:
    class Silent:
        def load(self, runtime: Runtime) -> Task:
            return words.load(runtime)

    assert load(Silent(), runtime) is not load(Silent(), runtime)
