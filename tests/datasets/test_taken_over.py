"""Published datasets are taken over from the cell before, and loaded anew when any of their files changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from beir_miniature import LAYOUTS, picture_files, plain
from glyphrank.datasets import Dataset
from glyphrank.datasets.beir_hub import BeirHub
from glyphrank.datasets.kopub_vdr import KopubVdr
from glyphrank.datasets.kopub_vdr_tables import ANNOTATIONS, CORPUS, QUESTIONS
from glyphrank.datasets.textvr import Split, TextVr
from glyphrank.datasets.textvr_gallery import Missing
from glyphrank.errors import DataError
from glyphrank.loading import load
from glyphrank.runtime import Runtime
from kopub_miniature import kopub, write_kopub
from parquet_files import png
from settled import settled
from textvr_miniature import TEST, TRAIN, write_stubs, write_textvr

REVISION = "759fcae092aef58436d125e72f74a2b53cdd5640"


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "outputs" / "cache")


def pages(root: Path | None) -> KopubVdr:
    return KopubVdr(root, "team/pages", REVISION)


def clips(root: Path, missing: str = "error", split: str = "test") -> TextVr:
    return TextVr(root, Split(split), Missing(missing), 0.5, 7)


def fruit(root: Path | None) -> BeirHub:
    return BeirHub(root, "team/fruit", REVISION, None, "test")


def write_clips(folder: Path) -> Path:
    """The miniature, its clips files of a few bytes."""
    write_stubs(write_textvr(folder, videos=None), (*TEST, *TRAIN))
    return folder


def touched(path: Path) -> None:
    """Puts a copy in the place of a file, of its size and time."""
    state, copy = path.stat(), path.with_name(f"{path.name}.copy")
    copy.write_bytes(path.read_bytes())
    copy.rename(path)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def is_taken_over(dataset: Dataset, root: Path, runtime: Runtime) -> bool:
    """Whether two loads of files that have lain there for long give one task."""
    settled(root)
    return load(dataset, runtime) is load(dataset, runtime)


def seen(dataset: Dataset, root: Path, runtime: Runtime, files: Sequence[Path]) -> list[bool]:
    """Whether each file gives another task when it is replaced."""
    told = []
    for path in files:
        settled(root)
        before = load(dataset, runtime)
        touched(path)
        settled(root)
        told.append(load(dataset, runtime) is not before)
    return told


@pytest.mark.parametrize("place", [".", "data/old"])
def test_pages_are_taken_over_until_a_table_is_replaced(  # case C04
    tmp_path: Path, runtime: Runtime, place: str
) -> None:
    root = write_kopub(tmp_path / "k" / place, 12)
    dataset = pages(tmp_path / "k")
    assert is_taken_over(dataset, tmp_path / "k", runtime)
    tables = [root / name for name in (QUESTIONS, CORPUS, ANNOTATIONS)]
    assert seen(dataset, tmp_path / "k", runtime, tables) == [True] * 3


def test_a_second_table_of_the_name_below_the_folder_is_noticed(tmp_path: Path, runtime: Runtime) -> None:
    root = write_kopub(tmp_path / "k" / "data", 12)
    (tmp_path / "k" / "old").mkdir()
    assert is_taken_over(pages(tmp_path / "k"), tmp_path / "k", runtime)
    (tmp_path / "k" / "old" / CORPUS).write_bytes((root / CORPUS).read_bytes())
    with pytest.raises(DataError, match="there 2 times"):
        load(pages(tmp_path / "k"), runtime)


def test_tables_that_went_away_are_noticed(tmp_path: Path, runtime: Runtime) -> None:
    root = write_kopub(tmp_path / "k", 12)
    assert is_taken_over(pages(root), root, runtime)
    (root / QUESTIONS).unlink()
    with pytest.raises(DataError, match=f"there is no {QUESTIONS}"):
        load(pages(root), runtime)


def test_pictures_of_pages_beside_the_table_are_watched(tmp_path: Path, runtime: Runtime) -> None:  # case C04
    published = kopub(12)
    published.corpus[3]["image"] = {"bytes": None, "path": "pages/3.png"}
    root = published.write(tmp_path / "k" / "data")
    for folder in (root / "pages", tmp_path / "k" / "pages"):
        folder.mkdir()
    (root / "pages" / "3.png").write_bytes(png("red"))
    dataset = pages(tmp_path / "k")
    assert is_taken_over(dataset, tmp_path / "k", runtime)
    before = load(dataset, runtime)
    (root / "pages" / "3.png").write_bytes(png("blue"))
    settled(tmp_path / "k")
    assert load(dataset, runtime).fingerprint != before.fingerprint
    (tmp_path / "k" / "pages" / "3.png").write_bytes(png("red"))  # where it is looked for first
    assert load(dataset, runtime).fingerprint == before.fingerprint


def test_a_picture_that_is_missing_is_seen_when_it_appears(tmp_path: Path, runtime: Runtime) -> None:
    published = kopub(12)
    published.corpus[3]["image"] = {"bytes": None, "path": "pages/3.png"}
    root = published.write(tmp_path / "k")
    assert is_taken_over(pages(root), root, runtime)
    before = load(pages(root), runtime)
    (root / "pages").mkdir()
    (root / "pages" / "3.png").write_bytes(png("red"))
    assert load(pages(root), runtime).fingerprint != before.fingerprint


@pytest.fixture
def snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the hub's cache holds the pages: files that are links to blobs."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    repository = tmp_path / "hub" / "datasets--team--pages"
    write_kopub(repository / "blobs", 12)
    folder = repository / "snapshots" / REVISION
    folder.mkdir(parents=True)
    for name in (QUESTIONS, CORPUS, ANNOTATIONS):
        (folder / name).symlink_to(f"../../blobs/{name}")
    return folder


def test_the_cache_of_the_hub_is_watched(snapshot: Path, runtime: Runtime) -> None:  # case C04
    assert is_taken_over(pages(None), snapshot, runtime)
    before = load(pages(None), runtime)
    touched((snapshot / CORPUS).resolve())
    after = load(pages(None), runtime)
    assert after is not before
    assert load(pages(None), runtime) is after


def test_what_is_not_on_this_machine_has_no_files_that_are_known(tmp_path: Path, runtime: Runtime) -> None:
    for dataset in (pages(tmp_path / "absent"), clips(tmp_path / "absent"), fruit(tmp_path / "absent")):
        assert dataset.files(runtime) is None
        with pytest.raises(DataError, match="no such folder"):
            load(dataset, runtime)


def test_files_that_are_fetched_while_loading_are_known_from_then_on(
    tmp_path: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_kopub(tmp_path / "k", 12)
    cached: list[str] = []

    def fake(repository: str, local_files_only: bool = False, **options: object) -> str:
        from huggingface_hub.errors import LocalEntryNotFoundError

        if local_files_only and not cached:
            raise LocalEntryNotFoundError("nothing here")
        cached.append(repository)
        return str(root)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fake)
    online = Runtime("cpu", 1, 0, 60, 4, True, runtime.outputs, runtime.cache)
    before = load(pages(None), online)
    assert load(pages(None), online) is not before
    assert is_taken_over(pages(None), root, online)


@pytest.mark.parametrize("missing", ["keep", "drop"])
@pytest.mark.parametrize("place", ["Videos", "Video", "TextVR/Videos"])
def test_a_video_that_appears_later_is_seen(tmp_path: Path, runtime: Runtime, missing: str, place: str) -> None:
    root = write_clips(tmp_path / "t")
    (root / place).mkdir(parents=True, exist_ok=True)
    path = root / "Videos" / TEST[4].path
    path.rename(tmp_path / "kept.mp4")
    dataset = clips(root, missing)
    assert is_taken_over(dataset, root, runtime)
    before = load(dataset, runtime)
    (root / place / TEST[4].path).parent.mkdir(exist_ok=True)
    settled(root)
    assert load(dataset, runtime).fingerprint == before.fingerprint
    (tmp_path / "kept.mp4").rename(root / place / TEST[4].path)
    after = load(dataset, runtime)
    assert ("missing_videos" in before.listed, "missing_videos" in after.listed) == (True, False)
    assert is_taken_over(dataset, root, runtime)


@pytest.mark.parametrize("name", [f"Videos/{TEST[0].path}", f"Kwai_VideoOCR/{TEST[0].kwai}", "TextVR_test.json"])
def test_clips_are_taken_over_until_a_file_is_replaced_or_lost(  # case C04
    tmp_path: Path, runtime: Runtime, name: str
) -> None:
    root = write_clips(tmp_path / "t")
    dataset = clips(root, "keep")
    assert is_taken_over(dataset, root, runtime)
    before = load(dataset, runtime)
    touched(root / name)
    settled(root)
    after = load(dataset, runtime)
    assert after is not before
    (root / name).unlink()
    if name.endswith("test.json"):
        with pytest.raises(DataError, match="holds no"):
            load(dataset, runtime)
    else:
        assert load(dataset, runtime).fingerprint != after.fingerprint


def test_annotation_files_that_appear_are_noticed(tmp_path: Path, runtime: Runtime) -> None:
    root = write_clips(tmp_path / "t")
    random = root / "TextVR_test_rand.json"
    random.rename(root / "aside.json")
    assert is_taken_over(clips(root), root, runtime)
    assert not load(clips(root), runtime).orders
    (root / "data" / "TextVR" / "annotations").mkdir(parents=True)
    (root / "aside.json").rename(root / "data" / "TextVR" / "annotations" / random.name)
    assert load(clips(root), runtime).orders
    assert is_taken_over(clips(root, split="val"), root, runtime)


def test_ocr_that_is_missing_is_seen_when_it_appears(tmp_path: Path, runtime: Runtime) -> None:
    root = write_clips(tmp_path / "t")
    (root / "Kwai_VideoOCR").rename(root / "aside")
    assert is_taken_over(clips(root), root, runtime)
    before = load(clips(root), runtime)
    (root / "aside").rename(root / "Kwai_VideoOCR")
    assert load(clips(root), runtime).fingerprint != before.fingerprint


@pytest.mark.parametrize("layout", ["mteb", "beir"])
def test_sets_of_the_hub_are_taken_over_until_a_table_is_replaced(  # case C04
    tmp_path: Path, runtime: Runtime, layout: str
) -> None:
    root = tmp_path / "f"
    LAYOUTS[layout](root)
    dataset = fruit(root)
    assert is_taken_over(dataset, root, runtime)
    tables = [path for path in root.rglob("*") if path.suffix in (".parquet", ".jsonl", ".tsv")]
    assert seen(dataset, root, runtime, tables) == [True] * len(tables)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a card that names other files": lambda root: (root / "README.md").write_text(
        "---\nconfigs:\n- config_name: corpus\n  data_files: absent.parquet\n---\n"
    ),
    "a second corpus": lambda root: (root / "data" / "corpus.parquet").write_bytes(b"x"),
    "no queries": lambda root: (root / "queries.parquet").unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_files_that_change_the_choice_of_tables_are_noticed(
    tmp_path: Path, runtime: Runtime, change: Callable[[Path], object]
) -> None:
    root = tmp_path / "f"
    (root / "data").mkdir(parents=True)
    plain(root)
    assert is_taken_over(fruit(root), root, runtime)
    change(root)
    with pytest.raises(DataError):
        load(fruit(root), runtime)


def test_picture_files_of_a_set_of_the_hub_are_watched(tmp_path: Path, runtime: Runtime) -> None:  # case C04
    root = tmp_path / "f"
    plain(root, picture_files(root))
    assert is_taken_over(fruit(root), root, runtime)
    before = load(fruit(root), runtime)
    (root / "images" / "1.png").unlink()
    settled(root)
    lacking = load(fruit(root), runtime)
    assert lacking.fingerprint != before.fingerprint
    assert load(fruit(root), runtime) is lacking
    (root / "images" / "1.png").write_bytes(png("blue"))
    assert load(fruit(root), runtime).fingerprint not in (before.fingerprint, lacking.fingerprint)
