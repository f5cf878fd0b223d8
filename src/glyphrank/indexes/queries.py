"""What every index asks of the queries it is given."""

from __future__ import annotations

import numpy as np

from glyphrank.records import FloatArray


def check_queries(queries: FloatArray, width: int) -> None:
    """Raises ValueError unless queries are (b, width) with finite unit rows.

    With vectors of unequal length an inner product ranks otherwise than a cosine.
    """
    if queries.ndim != 2 or queries.shape[1] != width:
        raise ValueError(f"queries of shape {queries.shape}; wanted (b, {width})")
    lengths = np.einsum("ij,ij->i", queries, queries)
    bad = np.flatnonzero(~(np.abs(lengths - 1) < 1e-3))
    if len(bad):
        raise ValueError(f"query number {bad[0]} of the block has squared length {lengths[bad[0]]}; wanted 1")
