"""From frames and transcripts to channels: which items take part in which, and why others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from glyphrank.bad_items import shown
from glyphrank.encoders import Lexical, TextEncoder, VisualEncoder
from glyphrank.errors import DataError
from glyphrank.indexes import Index
from glyphrank.indexes.exact import Exact
from glyphrank.last_values import recent
from glyphrank.pooling import pool
from glyphrank.rankings import Asked
from glyphrank.records import IntArray, Item, Vectors
from glyphrank.runtime import Runtime
from glyphrank.scoring import Channel, matrix, place, select
from glyphrank.sight import Sight
from glyphrank.stages import EncodedTexts, as_one_text, encode_queries, encode_texts, text_inputs, tokenise
from glyphrank.transcript import Written
from glyphrank.visual import encode_frames

UNUSABLE = "its vector is zero or not finite"


@dataclass(frozen=True)
class Part:
    """A channel with what it could not use.

    Attributes:
        failures: item id -> why the item has no part in the channel although it has what the channel looks at.
        counts: what was cut or left out, e.g. `truncated_texts`.
        exact: the channel under exact search, None where its index is exact itself.
        vector_size: numbers in a vector as the encoder gives it, None where there are no vectors. Nothing projects it.
    """

    channel: Channel
    failures: Mapping[str, str]
    counts: Mapping[str, int]
    exact: Channel | None = None
    vector_size: int | None = None


def lexical_part(lexical: Lexical, asked: Asked, written: Sequence[Sequence[str]], runtime: Runtime) -> Part:
    """Channel `lexical`: BM25 and its kind, over the items that have a text.

    Args:
        asked: the distinct query texts.
        written: (n,) the texts of each item's transcript, none empty; several of one item are read as one.
    """
    texts = [as_one_text(found) for found in written]
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
    written: Written,
    runtime: Runtime,
) -> Part:
    """Channel `text`: dense vectors of transcripts, over the items that have one; arguments as in `lexical_part`.

    An item of several texts takes part with those that have a vector.
    """
    texts = _in_one(tuple(written.texts))
    digests = _by_item(tuple(text_inputs(texts)), tuple(written.texts))
    encoded = encode_texts(encoder, texts, runtime)
    failed = encoded.failed
    usable = [tuple(digest for digest in own if digest not in failed) for own in digests] if failed else digests
    vectors, entries = pool(encoded.vectors, usable, written.pooling)
    if not vectors.ids:
        raise DataError(f"channel text: {type(encoder).__name__} gave no text a usable vector; {UNUSABLE} each time")
    present = entries.reshape(len(items), -1).max(axis=1) >= 0
    failures = {items[row].id: UNUSABLE for row in np.flatnonzero(~present).tolist() if digests[row]}
    queries = encode_queries(encoder, asked.texts, runtime)
    channel, exact = _dense("text", index, vectors, entries, queries, asked)
    counts = {
        "truncated_texts": _count(encoded.truncated, digests),
        "unusable_texts": _count(failed, digests),
    }
    return Part(channel, failures, {**counts, **_counts_of_queries(queries, asked, "")}, exact, _size(encoded.vectors))


def visual_part(
    encoder: VisualEncoder, index: Index, asked: Asked, items: Sequence[Item], sight: Sight, runtime: Runtime
) -> Part:
    """Channel `visual`: queries against frames, over the items that can be seen; arguments as in `lexical_part`."""
    encoded = encode_frames(encoder, items, sight, runtime)
    if not encoded.vectors.ids:
        raise DataError("\n".join(["channel visual: no item can be seen", *shown(encoded.failures)]))
    queries = encode_queries(encoder, asked.texts, runtime)
    entries = place(encoded.vectors.ids, ["" if digest is None else digest for digest in encoded.digests])
    channel, exact = _dense("visual", index, encoded.vectors, entries, queries, asked)
    without = {"items_without_media": sum(item.media is None for item in items)}
    counts = {**without, **_counts_of_queries(queries, asked, "visual_")}
    return Part(channel, encoded.failures, counts, exact, _size(encoded.vectors))


def _dense(
    name: str,
    index: Index,
    vectors: Vectors,
    rows: IntArray,
    queries: EncodedTexts,
    asked: Asked,
) -> tuple[Channel, Channel | None]:
    """A channel of vectors, and the same under exact search where the index is approximate.

    Args:
        vectors: of the distinct inputs, under their digests.
        rows: (n,) or (n, w), the vectors of each item, -1 where it has none.
    """
    entries, number = matrix(vectors, keep_few=not index.approximate)
    asking, query_number = matrix(queries.vectors)
    asked_digests = text_inputs(asked.texts)
    channel = Channel(
        name,
        index.build(entries),
        asking.values,
        select(query_number, place(queries.vectors.ids, asked_digests)),
        select(number, rows),
    )
    return channel, replace(channel, searcher=Exact().build(entries)) if index.approximate else None


@recent(2)
def _in_one(texts: tuple[Sequence[str], ...]) -> tuple[str, ...]:
    """All texts, item after item."""
    return tuple(chain.from_iterable(texts))


@recent(2)
def _by_item(digests: tuple[str, ...], texts: tuple[Sequence[str], ...]) -> Sequence[tuple[str, ...]]:
    """(n,) the digests of each item's texts, from those of all."""
    following = iter(digests)
    return [tuple(islice(following, len(own))) for own in texts]


def _count(wanted: Set[str], digests: Sequence[Sequence[str]]) -> int:
    """How many digests are among those wanted."""
    return sum(map(wanted.__contains__, chain.from_iterable(digests))) if wanted else 0


def _size(vectors: Vectors) -> int:
    return int(vectors.values.shape[1])


def _counts_of_queries(queries: EncodedTexts, asked: Asked, prefix: str) -> dict[str, int]:
    digests = text_inputs(asked.texts)
    return {
        f"{prefix}truncated_queries": sum(digests[number] in queries.truncated for number in asked.number),
        f"{prefix}failed_queries": sum(digests[number] in queries.failed for number in asked.number),
    }


def _numbered(present: Sequence[int], size: int) -> IntArray:
    """(size,) the number of each position in `present`, -1 for the others."""
    numbers = np.full(size, -1, dtype=np.int64)
    numbers[np.asarray(present, dtype=np.int64)] = np.arange(len(present))
    return numbers
