"""CSV files of which a cell may be as long as an id or a field of a dataset is."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager

_LONGEST = 2**31 - 1
"""Characters; more than that the csv module takes on some systems only."""


@contextmanager
def long_cells() -> Iterator[None]:
    """Lifts the csv module's limit of 131,072 characters a cell, which is the whole process's, for as long as it lasts.

    What is written has no such limit, and must be readable again.
    """
    before = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)
