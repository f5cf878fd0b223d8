"""What a task is, wherever it lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from glyphrank.digests import digest_json
from glyphrank.records import Item, Media, Query


def fingerprint(queries: Sequence[Query], items: Sequence[Item], relevant: Mapping[str, Mapping[str, float]]) -> str:
    """Digest of ids, texts, slices, media and published OCR by content, in order, and of relevance."""
    return digest_json(
        {
            "queries": [[query.id, query.text, dict(query.slices)] for query in queries],
            "items": [
                [item.id, item.text, dict(item.slices), _content(item.media), _content(item.published_ocr)]
                for item in items
            ],
            "relevant": {query: dict(gains) for query, gains in relevant.items()},
        }
    )


def _content(published: str | Media | None) -> object:
    """A text as it is, a file by its digest; the two never look alike."""
    return {"digest": published.digest} if isinstance(published, Media) else published
