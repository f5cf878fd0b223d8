"""A seeded sample of a channel of vectors: its queries and items, their vectors as the run has them, and new ones.

New vectors are made past the cache and go nowhere else; those of the run are read from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glyphrank.channels import Part
from glyphrank.digests import digest_text
from glyphrank.encoders import TextEncoder, VisualEncoder
from glyphrank.ids import nfc
from glyphrank.media.faults import MediaError
from glyphrank.records import Encoded, FloatArray, Frames, IntArray, Item, Task, Vectors
from glyphrank.runtime import Runtime
from glyphrank.scoring import unit_rows
from glyphrank.sight import Sight
from glyphrank.stages import encode_queries, encode_texts
from glyphrank.transcript import Pooling, Written
from glyphrank.visual import encode_frames

QUERIES, ITEMS = 64, 256
"""Distinct texts of queries, and items, in a sample at most."""

Fresh = Mapping[str, FloatArray | None]
"""Digest of an input -> its new unit vector, None where it is zero or not finite; no entry where its file went."""


@dataclass(frozen=True)
class Gallery:
    """The items' side of a channel of vectors.

    Attributes:
        inputs: (n,) digests of each item's inputs (its texts, or its look); none where it has no part in the channel.
        vectors: of all distinct inputs, under their digests.
        pooling: of several inputs of an item.
        encode: new vectors of inputs, by an encoder and at a batch size that are given.
    """

    inputs: Sequence[Sequence[str]]
    vectors: Vectors
    pooling: Pooling
    encode: Callable[[Any, Sequence[str], Runtime], Fresh]


@dataclass(frozen=True)
class Sample:
    """What is encoded again.

    Attributes:
        asking: (s,) positions of queries of different texts, ascending.
        relevant: query id -> {item id: gain} of these, the items being those that have a part in the channel.
        texts: digest -> text of each query as the encoder gets it, in this order.
        queries: the run's vectors of these texts, in this order.
        items: positions of items, ascending.
    """

    asking: IntArray
    relevant: Mapping[str, Mapping[str, float]]
    texts: Mapping[str, str]
    queries: Vectors
    items: IntArray

    def encode_again(self, gallery: Gallery, encoder: Any, runtime: Runtime) -> tuple[Fresh, Fresh]:
        """New vectors of the queries, and of all inputs of the items."""
        digests = dict.fromkeys(digest for position in self.items for digest in gallery.inputs[position])
        return (
            _encode_texts(encoder.encode_queries, self.texts, runtime) if self.texts else {},
            gallery.encode(encoder, list(digests), runtime) if digests else {},
        )


def text_gallery(encoder: TextEncoder, part: Part, written: Written, runtime: Runtime) -> Gallery:
    """The items' side of channel `text`."""
    present = set(_taking_part(part))
    own = [tuple(found) if position in present else () for position, found in enumerate(written.texts)]
    texts = {digest_text(text): text for found in own for text in found}
    encoded = encode_texts(encoder, list(texts.values()), runtime)
    inputs = [tuple(d for d in map(digest_text, found) if d not in encoded.failed) for found in own]

    def encode(other: TextEncoder, digests: Sequence[str], at: Runtime) -> Fresh:
        return _encode_texts(other.encode_texts, {digest: texts[digest] for digest in digests}, at)

    return Gallery(inputs, encoded.vectors, written.pooling, encode)


def visual_gallery(
    encoder: VisualEncoder, part: Part, items: Sequence[Item], sight: Sight, runtime: Runtime
) -> Gallery:
    """The items' side of channel `visual`."""
    present = _taking_part(part)
    encoded = encode_frames(encoder, [items[position] for position in present], sight, runtime)
    known = set(encoded.vectors.ids)
    looks = {n: look for n, look in zip(present, encoded.digests, strict=True) if look is not None and look in known}
    examples = {look: items[position] for position, look in reversed(looks.items())}

    def encode(other: VisualEncoder, digests: Sequence[str], at: Runtime) -> Fresh:
        return _encode_looks(other, {digest: examples[digest] for digest in digests}, sight, at)

    inputs = [(looks[position],) if position in looks else () for position in range(len(items))]
    return Gallery(inputs, encoded.vectors, Pooling.best, encode)


def draw(task: Task, asked: Sequence[str], gallery: Gallery, encoder: Any, runtime: Runtime) -> Sample:
    """A sample of a channel, the same for the same task.

    Queries are drawn among those that have a relevant item with a part in the channel, each text once. Items are the
    relevant ones of these queries first, as many as there is room for, and others.

    Args:
        asked: (q,) text of every query in the form in which the channel encodes it.
    """
    random = np.random.default_rng(0)
    present = {nfc(item.id): n for n, item in enumerate(task.items) if gallery.inputs[n]}
    relevant = {
        nfc(query): {name: gain for name, gain in gains.items() if nfc(name) in present}
        for query, gains in task.relevant.items()
    }
    first: dict[str, int] = {}
    for position, (query, text) in enumerate(zip(task.queries, asked, strict=True)):
        if relevant.get(nfc(query.id)):
            first.setdefault(text, position)
    drawn = np.sort(random.permutation(np.array(list(first.values()), dtype=np.int64))[:QUERIES])
    known = encode_queries(encoder, [asked[position] for position in drawn], runtime)
    asking = np.array([n for n in drawn if digest_text(asked[n]) not in known.failed], dtype=np.int64)
    gains = {task.queries[n].id: relevant[nfc(task.queries[n].id)] for n in asking}
    wanted = list(dict.fromkeys(present[nfc(name)] for found in gains.values() for name in found))[:ITEMS]
    others = random.permutation(np.setdiff1d(list(present.values()), wanted))[: ITEMS - len(wanted)]
    return Sample(
        asking=asking,
        relevant=gains,
        texts={digest_text(asked[n]): asked[n] for n in asking},
        queries=known.vectors,
        items=np.sort(np.concatenate([np.array(wanted, dtype=np.int64), others.astype(np.int64)])),
    )


def _taking_part(part: Part) -> list[int]:
    """Positions of the items that have a vector in the channel."""
    columns = part.channel.columns
    return [int(position) for position in np.flatnonzero(columns.reshape(len(columns), -1).max(axis=1) >= 0)]


def _encode_texts(
    encode: Callable[[Sequence[str], Runtime], Encoded], texts: Mapping[str, str], runtime: Runtime
) -> Fresh:
    return _fresh(list(texts), encode(list(texts.values()), runtime).values)


def _encode_looks(encoder: VisualEncoder, examples: Mapping[str, Item], sight: Sight, runtime: Runtime) -> Fresh:
    """Vectors of looks, each of an item that shows it; what cannot be decoded any more is left out."""
    taken: list[str] = []

    def readable() -> Iterator[Frames]:
        seen = sight.frames(examples.values(), list(examples), encoder.preparation(runtime))
        for digest, frames in zip(examples, seen, strict=True):
            if not isinstance(frames, MediaError):
                taken.append(digest)
                yield frames

    values = encoder.encode_frames(readable(), runtime)
    return _fresh(taken, values)


def _fresh(digests: Sequence[str], values: FloatArray) -> Fresh:
    rows, usable = unit_rows(values)
    return {digest: row if good else None for digest, row, good in zip(digests, rows, usable, strict=True)}
