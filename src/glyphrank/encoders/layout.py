"""How the folder of a model is laid out: what must be there, and which files of a repository are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from glyphrank.encoders import model_folder


@dataclass(frozen=True)
class Layout:
    """One kind of folder.

    Attributes:
        name: what such a folder is called in messages, after "the folder of".
        lacks: what a folder is missing, None where it is complete.
        needed_files: those names of a repository that loading reads.
        weight_files: the files with weights that loading would read.
    """

    name: str
    lacks: Callable[[Path], str | None]
    needed_files: Callable[[Sequence[str]], list[str]]
    weight_files: Callable[[Path], list[Path]]


SENTENCE_TRANSFORMERS = Layout(
    "a sentence-transformers model", model_folder.lacks, model_folder.needed_files, model_folder.weight_files
)
