from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank.errors import DataError
from glyphrank.faults import Blocks, Faults


def gathered(*found: str) -> Faults:
    faults = Faults(Path("file"), shown=2)
    for fault in found:
        faults.add(fault)
    return faults


def test_a_message_counts_what_it_does_not_spell_out_and_the_faults_are_all() -> None:
    with pytest.raises(DataError) as caught:
        gathered("x", "y", "x", "z").stop()
    assert str(caught.value) == "file: 3 faults:\n  x\n  y\n  and 1 more"
    assert caught.value.faults == ("file: x", "file: y", "file: z")


def test_a_single_fault_is_one_line_and_none_no_error() -> None:
    with pytest.raises(DataError, match=r"^file: x$") as caught:
        gathered("x").stop()
    assert caught.value.faults == ("file: x",)
    gathered().stop()


def test_blocks_keep_the_faults_of_all_files() -> None:
    blocks = Blocks()
    for error in (DataError("a: 2 faults", ["a: x", "a: y"]), DataError("b: z"), DataError("b: z")):
        with blocks.keep():
            raise error
    with pytest.raises(DataError) as caught:
        blocks.stop()
    assert str(caught.value) == "a: 2 faults\nb: z"
    assert caught.value.faults == ("a: x", "a: y", "b: z")
