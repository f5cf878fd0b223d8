"""Folders of models for tests, as the hub's repositories lay them out; the files are empty or a few bytes long."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

_KINDS = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}


def modules(kinds: Mapping[str, str]) -> str:
    """modules.json for paths and the kinds of their modules."""
    return json.dumps(
        [
            {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for number, (path, kind) in enumerate(kinds.items())
        ]
    )


MINILM: Mapping[str, str] = {
    "modules.json": modules(_KINDS),
    "config.json": "{}",
    "tokenizer.json": "{}",
    "1_Pooling/config.json": "{}",
    "model.safetensors": "weights",
}
"""The least that a model needs; 2_Normalize has no file at all."""


def write_model(folder: Path, files: Mapping[str, str]) -> Path:
    """A folder with the files, which are named by their path in it."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder
