"""What the folder of a sentence-transformers model holds: which files loading reads, and what is missing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from glyphrank.walked import files_below

_OTHER_FORMATS = {"onnx", "openvino"}
_SETTINGS = {".json", ".txt", ".model", ".jinja"}
_WITH_CONFIG = {"Pooling", "WeightedLayerPooling", "Dense", "LayerNorm", "CNN", "BoW", "WordWeights"}
"""Kinds of modules that do not load without a config.json of their own; Normalize and Dropout do."""
_WITH_WEIGHTS = {"Transformer", "Dense"}
_VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.tiktoken")
_BYTE_TOKENISERS = ("ByT5Tokenizer", "CanineTokenizer", "PerceiverTokenizer")
"""Tokenisers that read bytes or characters, and so have no vocabulary."""


def lacks(folder: Path) -> str | None:
    """What is missing for a model to be loaded from a folder, None where it is complete.

    `modules.json` is wanted because it names the pooling; without it a library would assume one. It also tells what
    else must be there: a network has its config.json, a tokeniser and weights, and most modules have a config.json.
    """
    if not _is_dir(folder):
        return "no such folder"
    if not _is_file(folder / "modules.json"):
        return "no modules.json"
    modules = _modules(folder)
    if not modules:
        return "a damaged modules.json"
    lack = next((lack for kind, path in modules for lack in _lacks_module(folder, kind, path)), None)
    if lack is None and not weight_files(folder):
        lack = _no_weights("")
    if lack is None:
        lack = next((lack for index in _files(folder, ".index.json") if (lack := _lacks_shard(index))), None)
    return lack


def weight_files(folder: Path) -> list[Path]:
    """The files with weights that loading would read, in order; in each folder safetensors go before pickles."""
    names = [path.relative_to(folder).as_posix() for path in _files(folder)]
    return [folder / name for name in needed_files(names) if PurePosixPath(name).suffix not in _SETTINGS]


def needed_files(names: Sequence[str]) -> list[str]:
    """Those files of a repository that loading reads: settings, tokeniser and one format of weights.

    >>> needed_files(["README.md", "config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.onnx"])
    ['config.json', 'model.safetensors']
    """
    paths = [PurePosixPath(name) for name in sorted(names) if not _OTHER_FORMATS & set(PurePosixPath(name).parts)]
    safe = {path.parent for path in paths if path.match("model*.safetensors")}
    return [
        str(path)
        for path in paths
        if path.suffix in _SETTINGS
        or path.match("model*.safetensors")
        or (path.match("pytorch_model*.bin") and path.parent not in safe)
    ]


def _files(folder: Path, suffix: str = "") -> list[Path]:
    return sorted(Path(path) for path, _ in files_below(str(folder), suffix))


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Kind (the last part of the class's name) and path of every module; empty where the list is damaged."""
    listed = _json(folder / "modules.json")
    if not isinstance(listed, list):
        return []
    found = [(entry.get("type"), entry.get("path")) for entry in listed if isinstance(entry, dict)]
    modules = [
        (kind.rpartition(".")[2], path)
        for kind, path in found
        if isinstance(kind, str) and isinstance(path, str) and _is_below(path)
    ]
    return modules if len(modules) == len(listed) else []


def _is_below(path: str) -> bool:
    return not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts


def _lacks_module(folder: Path, kind: str, path: str) -> Iterator[str]:
    """What one module lacks; nothing is known, and nothing wanted, of kinds that are not of sentence-transformers."""
    inside = f"{path.rstrip('/')}/" if path else ""
    if (kind in _WITH_CONFIG or kind == "Transformer") and not _is_file(folder / path / "config.json"):
        yield f"no {inside}config.json"
    if kind == "Transformer" and not _has_tokeniser(folder / path):
        yield f"no tokeniser ({inside}tokenizer.json, vocab.txt or *.model)"
    if kind in _WITH_WEIGHTS and not any(file.parent == folder / path for file in weight_files(folder)):
        yield _no_weights(inside)


def _no_weights(inside: str) -> str:
    return f"no {inside}*.safetensors and no {inside}pytorch_model*.bin"


def _has_tokeniser(folder: Path) -> bool:
    if any(_is_file(file) for pattern in _VOCABULARIES for file in folder.glob(pattern)):
        return True
    settings = _json(folder / "tokenizer_config.json")
    return isinstance(settings, dict) and settings.get("tokenizer_class") in _BYTE_TOKENISERS


def _lacks_shard(index: Path) -> str | None:
    """Which file of a list of shards is missing; None too where all are, since then the other format is there."""
    listed = _json(index)
    names = listed.get("weight_map") if isinstance(listed, dict) else None
    if (
        not isinstance(names, dict)
        or not names
        or not all(isinstance(name, str) and _is_below(name) for name in names.values())
    ):
        return f"a damaged {index.name}"
    shards = set(names.values())
    missing = sorted(shard for shard in shards if not _is_file(index.parent / shard))
    return f"no {missing[0]}" if missing and len(missing) < len(shards) else None


def _json(path: Path) -> object:
    """What a file holds, None where it cannot be read or is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


# Asked of `os.path`, which answers False where pathlib raises: names too long, folders without permission.
def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113


def _is_dir(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112
