"""The digest of sources is taken anew where a file was changed, whatever was remembered of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from glyphrank.sources import digest_sources


def test_a_source_that_keeps_its_size_and_time_is_read_again(  # case C04
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "fleeting_source.py"
    source.write_text("answer = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    before, state = digest_sources({"fleeting_source"}), source.stat()
    assert digest_sources({"fleeting_source"}) == before
    source.write_text("answer = 2\n")
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    changed = digest_sources({"fleeting_source"})
    assert changed != before
    source.write_text("answer = 1\n")
    assert digest_sources({"fleeting_source"}) == before
