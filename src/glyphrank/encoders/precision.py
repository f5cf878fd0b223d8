"""In which numbers models compute."""

from __future__ import annotations

from enum import StrEnum


class Precision(StrEnum):
    """Numbers in which a model computes; what it returns is float32 in any case."""

    float32 = "float32"
    float16 = "float16"
    bfloat16 = "bfloat16"
