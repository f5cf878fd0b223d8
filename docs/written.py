"""Markdown, and values as a person types them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf


def plain(file: Path) -> dict[str, Any]:
    """A YAML as plain values; what refers to something else stays a text."""
    node = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    return {str(name): value for name, value in node.items()} if isinstance(node, dict) else {}


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; line breaks and bars in cells are made harmless."""
    lines = [heads, ["---"] * len(heads), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def safe(words: str) -> str:
    """With no bracket outside code that would be taken for a tag."""
    parts = words.split("`")  # every other one stands between backquotes
    return "`".join(part if place % 2 else part.replace("<", "&lt;") for place, part in enumerate(parts))


def sentence(words: str) -> str:
    """With a capital and a full stop."""
    words = safe(words)
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith(('.', '?', '!')) else '.'}"


def shown(value: Any) -> str:
    """A value as it stands in a YAML, as code."""
    if isinstance(value, str) and value not in ("", " ") and value == value.strip() and "\n" not in value:
        return f"`{value}`"
    if isinstance(value, list):
        return f"`[{','.join(str(entry) for entry in value)}]`"
    if isinstance(value, dict):
        return f"`{{{','.join(f'{name}:{entry}' for name, entry in value.items())}}}`"
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())
