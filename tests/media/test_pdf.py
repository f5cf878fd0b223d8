from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.pdf import PageText, page_count, page_text, render_page
from glyphrank.records import TextState
from odd_files import odd_file
from page_marks import write_form, write_stamp
from pdf_files import cut_off, write_drawing, write_pdf


def test_page_text_gives_the_lines_of_the_page_that_is_named(tmp_path: Path) -> None:
    document = write_pdf(tmp_path / "two.pdf", "first page", "second page\nits other line")
    assert page_text(document, 2).text == "second page\nits other line"
    assert page_text(document, 1).state is TextState.text
    assert page_count(document) == 2


def test_page_text_makes_a_word_broken_at_a_hyphen_whole(tmp_path: Path) -> None:
    document = write_pdf(tmp_path / "hyphen.pdf", "they were recog-\nnised at once")
    assert page_text(document, 1).text == "they were recognised at once"


def test_page_state_tells_text_drawing_and_blank_apart(tmp_path: Path) -> None:  # case P02
    assert page_text(write_drawing(tmp_path / "drawn.pdf"), 1).state is TextState.image_only
    document = write_pdf(tmp_path / "blank.pdf", "", "   ", "x")
    assert [page_text(document, page).state for page in (1, 2, 3)] == [
        TextState.blank,
        TextState.blank,
        TextState.text,
    ]
    assert page_text(document, 2).text == ""


@pytest.mark.parametrize("write", [write_form, write_stamp])
def test_a_page_that_shows_a_form_or_a_stamp_alone_is_not_blank(
    tmp_path: Path, write: Callable[[Path, str], Path]
) -> None:  # case P02
    document = write(tmp_path / "a.pdf", "XXXX")
    assert (render_page(document, 1, 200, 10**6) < 100).any()
    assert page_text(document, 1) == PageText("", TextState.image_only)
    assert page_text(write(tmp_path / "empty.pdf", ""), 1) == PageText("", TextState.blank)


@pytest.mark.parametrize("page", [0, -1, 3])
def test_page_text_refuses_a_page_out_of_range(tmp_path: Path, page: int) -> None:  # case M15
    document = write_pdf(tmp_path / "two.pdf", "a", "b")
    with pytest.raises(MediaError, match=rf"two\.pdf: there is no page {page}; the document has 2") as caught:
        page_text(document, page)
    assert caught.value.fault is MediaFault.no_page


def test_each_cause_of_a_failure_has_its_own_fault(tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").write_bytes(b"")
    (tmp_path / "other.pdf").write_bytes(b"GIF89a and so on")
    write_pdf(tmp_path / "locked.pdf", "secret", password="word")
    cut_off(write_pdf(tmp_path / "cut.pdf", "a", "b"))
    faults = {}
    for name in ("absent", "empty", "other", "locked", "cut"):
        with pytest.raises(MediaError, match=rf"^{name}\.pdf: ") as caught:
            page_count(tmp_path / f"{name}.pdf")
        faults[name] = caught.value.fault
    assert faults == {
        "absent": MediaFault.missing,
        "empty": MediaFault.empty,
        "other": MediaFault.damaged,
        "locked": MediaFault.encrypted,
        "cut": MediaFault.damaged,
    }


@pytest.mark.parametrize("kind", ["a directory", "a named pipe", "a socket", "a device"])
def test_what_is_no_regular_file_is_named_and_not_opened(tmp_path: Path, kind: str) -> None:
    with pytest.raises(MediaError, match=rf"^odd\.pdf: cannot be read \({kind}, not a file\)$") as caught:
        page_text(odd_file(tmp_path / "odd.pdf", kind), 1)
    assert caught.value.fault is MediaFault.unreadable


@pytest.mark.parametrize("name", ["a\0b.pdf", "x" * 5000 + ".pdf"])
def test_a_name_that_no_disk_can_hold_is_a_fault_with_a_short_message(tmp_path: Path, name: str) -> None:
    with pytest.raises(MediaError, match="cannot be read") as caught:
        page_count(tmp_path / name)
    assert caught.value.fault is MediaFault.unreadable
    assert len(str(caught.value)) < 150
    assert "\0" not in str(caught.value)


def test_a_folder_without_permission_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(MediaError, match=r"a\.pdf: cannot be read \(Permission denied\)"):
        page_count(tmp_path / "a.pdf")


def test_a_place_below_a_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(MediaError) as caught:
        page_count(tmp_path / "a" / "b.pdf")
    assert caught.value.fault is MediaFault.missing


def test_an_encrypted_document_without_a_password_to_open_is_read(tmp_path: Path) -> None:
    assert page_text(write_pdf(tmp_path / "open.pdf", "readable", password=""), 1).text == "readable"


def test_a_failure_leaves_the_next_document_readable(tmp_path: Path) -> None:
    good = write_pdf(tmp_path / "good.pdf", "still here")
    for page in (9, 1, 9):
        if page == 9:
            with pytest.raises(MediaError):
                page_text(good, page)
        else:
            assert page_text(good, page).text == "still here"


THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from glyphrank.records import TextState
from glyphrank.media.pdf import page_count, page_text
path = Path(sys.argv[1])
def read(number):
    return page_count(path), page_text(path, number % 3 + 1).text
with ThreadPoolExecutor(10) as pool:
    found = set(pool.map(read, range(300)))
print(sorted(found))
"""


def test_ten_threads_read_the_same_text_as_one(tmp_path: Path) -> None:  # case P05
    document = write_pdf(tmp_path / "three.pdf", "one", "two", "three")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", THREADS, str(document)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([(3, "one"), (3, "three"), (3, "two")])
    assert done.stderr == ""
