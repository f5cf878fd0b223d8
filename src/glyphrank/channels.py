"""From transcripts to channels: which items take part in which, and why others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from glyphrank.encoders import Lexical, TextEncoder
from glyphrank.errors import DataError
from glyphrank.identity import digest_text
from glyphrank.indexes import Index
from glyphrank.rankings import Asked
from glyphrank.records import IntArray, Item, Runtime
from glyphrank.scoring import Channel, matrix, place, select
from glyphrank.stages import encode_queries, encode_texts, tokenise

UNUSABLE = "its vector is zero or not finite"


@dataclass(frozen=True)
class Part:
    """A channel with what it could not use.

    Attributes:
        failures: item id -> why the item has no part in the channel although it has a text.
        counts: what was cut or left out, e.g. `truncated_texts`.
    """

    channel: Channel
    failures: Mapping[str, str]
    counts: Mapping[str, int]


def lexical_part(lexical: Lexical, asked: Asked, texts: Sequence[str], runtime: Runtime) -> Part:
    """Channel `lexical`: BM25 and its kind, over the items that have a text.

    Args:
        asked: the distinct query texts.
        texts: (n,) the transcript of each item, "" where there is none.
    """
    present = [position for position, text in enumerate(texts) if text]
    searcher = lexical.build(tokenise(lexical.analyser, [texts[position] for position in present], runtime))
    queries = tokenise(lexical.analyser, asked.texts, runtime)
    channel = Channel("lexical", searcher, queries, np.arange(len(asked.texts)), _numbered(present, len(texts)))
    without = np.array([not tokens for tokens in queries], dtype=np.bool_)
    return Part(channel, {}, {"queries_without_tokens": int(without[asked.number].sum())})


def text_part(
    encoder: TextEncoder,
    index: Index,
    asked: Asked,
    items: Sequence[Item],
    texts: Sequence[str],
    runtime: Runtime,
) -> Part:
    """Channel `text`: dense vectors of transcripts, over the items that have one; arguments as in `lexical_part`."""
    digests = [digest_text(text) if text else "" for text in texts]
    encoded = encode_texts(encoder, [text for text in texts if text], runtime)
    if not encoded.vectors.ids:
        raise DataError(f"channel text: {type(encoder).__name__} gave no text a usable vector; {UNUSABLE} each time")
    entries, number = matrix(encoded.vectors)
    queries = encode_queries(encoder, asked.texts, runtime)
    asked_digests = [digest_text(text) for text in asked.texts]
    asking, query_number = matrix(queries.vectors)
    channel = Channel(
        "text",
        index.build(entries),
        asking.values,
        select(query_number, place(queries.vectors.ids, asked_digests)),
        select(number, place(encoded.vectors.ids, digests)),
    )
    failures = {item.id: UNUSABLE for item, digest in zip(items, digests, strict=True) if digest in encoded.failed}
    counts = {
        "truncated_texts": sum(digest in encoded.truncated for digest in digests),
        "truncated_queries": sum(asked_digests[number] in queries.truncated for number in asked.number),
        "failed_queries": sum(asked_digests[number] in queries.failed for number in asked.number),
    }
    return Part(channel, failures, counts)


def _numbered(present: Sequence[int], size: int) -> IntArray:
    """(size,) the number of each position in `present`, -1 for the others."""
    numbers = np.full(size, -1, dtype=np.int64)
    numbers[np.asarray(present, dtype=np.int64)] = np.arange(len(present))
    return numbers
