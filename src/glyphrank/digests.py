"""Digests: short names for content of any length. Equal content has one digest, wherever it lies."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path


def digest_text(*parts: str) -> str:
    """32 hexadecimal digits for a sequence of texts; ("ab", "c") and ("a", "bc") differ."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "big"))
        hasher.update(data)
    return hasher.hexdigest()[:32]


def digest_json(value: object) -> str:
    """32 hexadecimal digits for a value of plain types; the order of mappings does not matter."""
    return digest_text(json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=True))


def digest_file(path: Path) -> str:
    """SHA-256 of a file's content, 64 hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
