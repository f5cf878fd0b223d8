"""What the folder of an open_clip model holds: its settings, its weights, and what is missing.

The layout is open_clip's own, in a local folder and in repositories of the hub: `open_clip_config.json` with
`model_cfg` and `preprocess_cfg`, one file of weights, and the files of a tokeniser where the model has one of its own.
Nothing here imports a model library.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from glyphrank.encoders.layout import Layout
from glyphrank.errors import DataError

SETTINGS = "open_clip_config.json"
WEIGHTS = ("open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin")
"""Names under which open_clip saves weights, the first that is there is loaded. Other files of weights beside them hold
the same model in the form of transformers."""
_TOKENISER = {"special_tokens_map.json", "added_tokens.json", "tokenizer_config.json", "vocab.json", "merges.txt"}
_VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
_MEAN = (0.48145466, 0.4578275, 0.40821073)
_STD = (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True)
class ClipSettings:
    """What a model's folder says of itself, open_clip's defaults filled in.

    Attributes:
        size: height and width in pixels of the pictures it takes.
        mean, std: of each channel, in fractions of white; pictures are shifted and scaled by them.
        interpolation: `bicubic` or `bilinear`.
        fill: level of all channels, 0 to 255, of what padding adds.
        model: the `model_cfg` as it stands.
    """

    size: tuple[int, int]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    interpolation: str
    fill: int
    model: Mapping[str, Any]

    @property
    def text_model(self) -> str | None:
        """Name of the transformers model whose architecture the text tower has; None for open_clip's own."""
        name = self.model["text_cfg"].get("hf_model_name")
        return None if name is None else str(name)


def read_settings(folder: Path) -> ClipSettings:
    """The settings of a model's folder.

    Raises:
        DataError: the file cannot be read, or says what no model of open_clip can be made of.
    """
    path = folder / SETTINGS
    found = _load(path)
    if isinstance(found, str):
        raise DataError(f"{path}: {found}; wanted the settings that open_clip saves with a model")
    model, picture = found["model_cfg"], found.get("preprocess_cfg") or {}
    try:
        return ClipSettings(
            _size(model["vision_cfg"].get("image_size", 224)),
            _channels(picture.get("mean") or _MEAN),
            _channels(picture.get("std") or _STD),
            # open_clip resizes so for every other name when it does not train.
            "bilinear" if picture.get("interpolation") == "bilinear" else "bicubic",
            int(picture.get("fill_color") or 0),
            model,
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: its sizes or colours are damaged ({error}); fetch the file again") from error


def weight_files(folder: Path) -> list[Path]:
    """The file with weights that is loaded, none where there is none."""
    return [folder / name for name in WEIGHTS if _is_file(folder / name)][:1]


def needed_files(names: Sequence[str]) -> list[str]:
    """Those files of a repository that loading reads: settings, tokeniser and one file of weights.

    >>> needed_files(["README.md", "open_clip_config.json", "open_clip_model.safetensors", "model.safetensors"])
    ['open_clip_config.json', 'open_clip_model.safetensors']
    """
    weights = [name for name in WEIGHTS if name in names][:1]
    return [name for name in sorted(names) if name == SETTINGS or name in weights or _is_of_tokeniser(name)]


def _lacks(folder: Path) -> str | None:
    lack = _lacks_settings(folder)
    if lack is None and not weight_files(folder):
        lack = f"no weights ({' or '.join(WEIGHTS)})"
    return lack


def _lacks_settings(folder: Path) -> str | None:
    if not os.path.isdir(folder):  # noqa: PTH112  (Path.is_dir raises for a name that no disk allows)
        return "no such folder"
    if not _is_file(folder / SETTINGS):
        return f"no {SETTINGS}"
    found = _load(folder / SETTINGS)
    if isinstance(found, str):
        return f"a damaged {SETTINGS} ({found})"
    if found["model_cfg"]["text_cfg"].get("hf_tokenizer_name") and not _has_vocabulary(folder):
        return "no tokeniser (tokenizer.json, vocab.txt, vocab.json or *.model), which its settings ask for"
    return None


def _lacks_text_model(folder: Path) -> str | None:
    if not os.path.isdir(folder):  # noqa: PTH112
        return "no such folder"
    return None if _is_file(folder / "config.json") else "no config.json"


OPEN_CLIP = Layout("an open_clip model", _lacks, needed_files, weight_files)
UNTRAINED = Layout("the settings of an open_clip model", _lacks_settings, needed_files, lambda folder: [])
TEXT_MODEL = Layout(
    "a transformers model",
    _lacks_text_model,
    lambda names: [name for name in names if name == "config.json"],
    lambda _: [],
)


def _load(path: Path) -> dict[str, Any] | str:
    """The settings with the parts that every model has, or what is wrong with them."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return f"it cannot be read: {error}"
    model = found.get("model_cfg") if isinstance(found, dict) else None
    if not isinstance(model, dict):
        return "it has no model_cfg"
    lack = [name for name in ("vision_cfg", "text_cfg") if not isinstance(model.get(name), dict)]
    if lack or not isinstance(model.get("embed_dim"), int):
        return f"its model_cfg has no {' and no '.join(lack or ['embed_dim'])}"
    return dict(found)


def _size(value: object) -> tuple[int, int]:
    height, width = value if isinstance(value, list) else (value, value)
    if not (isinstance(height, int) and isinstance(width, int) and height > 0 and width > 0):
        raise ValueError(f"image_size is {value!r}; wanted one or two numbers of pixels")
    return height, width


def _channels(value: object) -> tuple[float, ...]:
    numbers = tuple(float(number) for number in value) if isinstance(value, list | tuple) else (float(str(value)),) * 3
    if len(numbers) != 3:
        raise ValueError(f"found {len(numbers)} numbers, wanted 3, one a channel")
    return numbers


def _is_of_tokeniser(name: str) -> bool:
    path = PurePosixPath(name)
    return len(path.parts) == 1 and (name in _TOKENISER or any(path.match(pattern) for pattern in _VOCABULARIES))


def _has_vocabulary(folder: Path) -> bool:
    return any(_is_file(path) for pattern in _VOCABULARIES for path in folder.glob(pattern))


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113
