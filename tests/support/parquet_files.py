"""Small parquet files with pictures in every form in which they are published."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COLOURS = ("red", "lime", "blue", "black", "white", "orange", "purple", "gray")


def png(colour: str, size: tuple[int, int] = (8, 6)) -> bytes:
    """A picture of one colour as a PNG file would hold it."""
    from PIL import Image

    data = io.BytesIO()
    Image.new("RGB", size, colour).save(data, "PNG")
    return data.getvalue()


def write_pictures(path: Path, pictures: Sequence[Any], form: Any = None, group: int = 3) -> Path:
    """A table with the columns `id` and `image`, in row groups of a few rows.

    Args:
        pictures: bytes, a dict of `bytes` and `path`, a text, or None, for each row.
        form: the Arrow type of the column; None: a struct of `bytes` and `path`, which bytes are put into.
    """
    import pyarrow as pa
    from pyarrow.parquet import write_table

    values = list(pictures)
    if form is None:
        form = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        values = [{"bytes": value, "path": None} if isinstance(value, bytes) else value for value in values]
    column = pa.array(values, form.value_type if pa.types.is_dictionary(form) else form)
    if pa.types.is_dictionary(form):
        column = column.dictionary_encode()
    ids = pa.array([f"p{row}" for row in range(len(values))])
    write_table(pa.table({"id": ids, "image": column}), path, row_group_size=group)
    return path
