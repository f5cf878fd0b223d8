from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from glyphrank.errors import DataError
from glyphrank.identity import FileDigests, key
from glyphrank.ocr import scene_weights
from glyphrank.ocr.scene_files import ModelFile
from glyphrank.ocr.scene_weights import find_weights, own_folder
from glyphrank.runtime import Runtime
from scene_parts import easyocr_en

CONTENT = b"weights"
FILE = ModelFile(
    "reader.pth", "https://127.0.0.1:9/reader.zip", hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()
)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """With EasyOCR's own folder below the test's, and without the package."""
    monkeypatch.setenv("EASYOCR_MODULE_PATH", str(tmp_path / "easyocr"))
    monkeypatch.setattr(scene_weights, "PACKAGE", "no_such_package")
    return Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def put(folder: Path, content: bytes = CONTENT, name: str = FILE.name) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


def test_weights_are_taken_from_the_configured_folder_before_easyocrs_own(tmp_path: Path, runtime: Runtime) -> None:
    own = put(own_folder())
    assert find_weights((FILE,), None, runtime) == (own,)
    mine = put(tmp_path / "mine")
    assert find_weights((FILE,), tmp_path / "mine", runtime) == (mine,)


def test_weights_may_lie_in_different_places(tmp_path: Path, runtime: Runtime) -> None:
    other = replace(FILE, name="finder.pth", sha256=hashlib.sha256(b"finds").hexdigest())
    own, mine = put(own_folder()), put(tmp_path / "mine", b"finds", "finder.pth")
    assert find_weights((other, FILE), tmp_path / "mine", runtime) == (mine, own)


def test_weights_that_are_nowhere_are_named_with_the_folders_and_the_ways(runtime: Runtime) -> None:  # case O05
    with pytest.raises(DataError) as caught:
        find_weights((FILE,), None, runtime)
    for part in ("reader.pth", str(own_folder()), "runtime.download=true", FILE.url, "the field `folder`"):
        assert part in str(caught.value)
    assert "extra `offline`" not in str(caught.value)
    with pytest.raises(DataError, match="the extra `offline`"):
        find_weights((replace(FILE, sha256="0" * 64),), None, runtime)


def test_weights_of_another_content_are_refused_in_the_configured_folder(tmp_path: Path, runtime: Runtime) -> None:
    path = put(tmp_path / "mine", b"other")
    put(own_folder())
    with pytest.raises(DataError, match=f"{path}: has the digest [0-9a-f]{{32}}; wanted {FILE.md5}"):
        find_weights((FILE,), tmp_path / "mine", runtime)


@pytest.mark.parametrize("sha256", [None, hashlib.sha256(CONTENT).hexdigest()])
def test_weights_that_change_are_noticed_in_the_same_process(runtime: Runtime, sha256: str | None) -> None:
    file = replace(FILE, sha256=sha256)
    put(own_folder())
    assert find_weights((file,), None, runtime)
    put(own_folder(), b"cut off")
    with pytest.raises(DataError, match=r"reader\.pth has the digest .*: remove it"):
        find_weights((file,), None, runtime)


def test_a_configured_folder_that_is_absent_is_an_error(tmp_path: Path, runtime: Runtime) -> None:
    put(own_folder())
    with pytest.raises(DataError, match=r"absent: no such folder; wanted one with reader\.pth"):
        find_weights((FILE,), tmp_path / "absent", runtime)


def test_other_files_of_a_configured_folder_are_named_once(
    tmp_path: Path, runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "mine")
    put(tmp_path / "mine", name="latin.pth")
    for _ in range(2):
        find_weights((FILE,), tmp_path / "mine", runtime)
    assert [record.getMessage().partition("mine ")[2] for record in caplog.records] == [
        "holds more than reader.pth (latin.pth): all of it is part of the engine's key; "
        "a folder of their own would be better"
    ]


def test_equal_weights_at_two_places_have_one_key_and_others_another(tmp_path: Path) -> None:  # case C01
    for name, content in (("a", CONTENT), ("b", CONTENT), ("c", b"other")):
        put(tmp_path / name, content, "english_g2.pth")
    files = FileDigests(tmp_path / "memory")
    keys = [key(easyocr_en(folder=tmp_path / name), files) for name in "abc"]
    assert keys[0] == keys[1] != keys[2]


def test_fetching_needs_permission_and_says_what_failed(runtime: Runtime) -> None:  # case O05
    with pytest.raises(DataError, match=r"reader\.pth cannot be fetched from https://127\.0\.0\.1:9/reader\.zip into "):
        find_weights((FILE,), None, replace(runtime, download=True))
    assert list(own_folder().glob("*.pth")) == []


class _Archive(BaseHTTPRequestHandler):
    asked: int
    archive: bytes

    def do_GET(self) -> None:
        type(self).asked += 1
        time.sleep(0.5)  # long enough for the other process to want it too
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.archive)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base class
        pass


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[type[_Archive], str]]:
    """A server for an archive with the file, and its address."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(FILE.name, CONTENT)
    handler = type("Served", (_Archive,), {"asked": 0, "archive": packed.getvalue()})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield handler, f"http://127.0.0.1:{server.server_port}/reader.zip"
    server.shutdown()
    thread.join()
    server.server_close()


WANT = """
import sys
from pathlib import Path
from glyphrank.ocr.scene_files import ModelFile
from glyphrank.ocr.scene_weights import find_weights
from glyphrank.runtime import Runtime
name, url, md5, place = sys.argv[1:]
runtime = Runtime("cpu", 1, 0, 60, 4, True, Path(place) / "outputs", Path(place) / "cache")
print(find_weights((ModelFile(name, url, md5),), None, runtime)[0].read_bytes().decode())
"""


def test_two_processes_fetch_a_file_once(
    tmp_path: Path, runtime: Runtime, served: tuple[type[_Archive], str]
) -> None:  # case O05
    handler, url = served
    command = [sys.executable, "-c", WANT, FILE.name, url, FILE.md5, str(runtime.cache.parent)]
    processes = [subprocess.Popen(command, env=os.environ, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == [CONTENT.decode()] * 2
    assert handler.asked == 1
    assert sorted(path.name for path in own_folder().iterdir() if path.suffix != ".lock") == [FILE.name]


def test_a_damaged_file_is_fetched_again_and_a_wrong_archive_leaves_nothing(
    runtime: Runtime, served: tuple[type[_Archive], str]
) -> None:  # case O05, C02
    handler, url = served
    put(own_folder(), b"cut off")
    allowed = replace(runtime, download=True)
    assert find_weights((replace(FILE, url=url),), None, allowed)[0].read_bytes() == CONTENT
    shutil.rmtree(own_folder())
    with pytest.raises(DataError, match=rf"as fetched from {url}, has the digest {FILE.md5}; wanted 0{{32}}"):
        find_weights((replace(FILE, url=url, md5="0" * 32),), None, allowed)
    handler.archive = b"<html>log in</html>"
    with pytest.raises(DataError, match="BadZipFile"):
        find_weights((replace(FILE, url=url),), None, allowed)
    assert [path for path in own_folder().iterdir() if path.suffix != ".lock"] == []
