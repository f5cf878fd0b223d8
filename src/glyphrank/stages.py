"""The stages that work on texts, each behind the cache: tokens and vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glyphrank.array_shards import Arrays, ArraysCodec
from glyphrank.cache import Remembered, Stage, Values, remember
from glyphrank.devices import choose_device
from glyphrank.digests import digest_json, digest_text
from glyphrank.encoders import Analyser, TextEncoder, VisualEncoder
from glyphrank.errors import ConfigError
from glyphrank.identity import FileDigest, FileDigests, recipe
from glyphrank.last_values import recent
from glyphrank.progress import track
from glyphrank.records import BoolArray, Encoded, FloatArray, Vectors
from glyphrank.runtime import Runtime
from glyphrank.scoring import unit_rows
from glyphrank.shards import Codec, TokensCodec, Value
from glyphrank.traced import check_sources_of, check_stage

TEXTS_A_SHARD = 128


@dataclass(frozen=True)
class EncodedTexts:
    """Vectors of the distinct texts among those asked for, under the texts' digests.

    Attributes:
        vectors: of the u texts that could be encoded.
        truncated: digests of texts longer than the model reads.
        failed: digests of texts whose vector is zero or not finite.
    """

    vectors: Vectors
    truncated: frozenset[str]
    failed: frozenset[str]


def component_stage(
    name: str,
    describe: Callable[[FileDigest], Mapping[str, object]],
    codec: Codec[Value, Values],
    spacing: int,
    runtime: Runtime,
    on_device: bool = False,
) -> Stage[Value, Values]:
    """The stage of a component's work, with a key that is looked at again after each shard.

    Args:
        describe: the recipe of the component and of all else that can change a value, given digests of files.
        on_device: whether a model does the work, on the device of the runtime.

    Raises:
        DataError: a component is not the one of which the identity of the run that works was taken.
    """

    def described() -> Mapping[str, object]:
        return describe(FileDigests(runtime.cache / "files"))

    def is_current() -> bool:
        check_sources_of(what)
        return digest_json(described()) == key

    what = described()
    check_stage(name, what)
    key = digest_json(what)
    return Stage(
        *(runtime.cache, name, what, key, spacing, codec),
        device=(lambda: choose_device(runtime.device)) if on_device else None,
        is_current=is_current,
    )


def token_stage(analyser: Analyser, runtime: Runtime) -> Stage[Sequence[str], list[list[str]]]:
    """Where the tokens of texts lie, those of queries among them; its inputs are `text_inputs`."""
    return component_stage("tokens", lambda files: recipe(analyser, files), TokensCodec(), TEXTS_A_SHARD, runtime)


def query_stage(encoder: TextEncoder | VisualEncoder, runtime: Runtime) -> Stage[Arrays, dict[str, NDArray[Any]]]:
    """Where the vectors of queries lie; its inputs are `text_inputs`."""
    return _vector_stage(encoder, "query", runtime)


def text_stage(encoder: TextEncoder, runtime: Runtime) -> Stage[Arrays, dict[str, NDArray[Any]]]:
    """Where the vectors of texts lie; its inputs are `text_inputs`."""
    return _vector_stage(encoder, "text", runtime)


def text_inputs(texts: Iterable[str]) -> Sequence[str]:
    """What stands for each text among the inputs of a stage."""
    return _digests(tuple(texts))


@recent(4)
def _digests(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Items and queries are asked for by several stages of a run, and again by the next cell of a sweep."""
    return tuple(map(digest_text, texts))


def as_one_text(texts: Sequence[str]) -> str:
    """What tokens are made of: all texts of an item's transcript; empty where there is none."""
    return "\n".join(texts)


def tokenise(analyser: Analyser, texts: Sequence[str], runtime: Runtime) -> list[list[str]]:
    """The tokens of every text, equal texts cut once."""
    inputs = text_inputs(texts)
    stage = token_stage(analyser, runtime)
    found = _remember(stage, inputs, lambda at: analyser.tokens([texts[i] for i in at]), "cutting texts into tokens")
    known = dict(zip(found.digests, found.values, strict=True))
    return [known[digest] for digest in inputs]


def encode_queries(encoder: TextEncoder | VisualEncoder, texts: Sequence[str], runtime: Runtime) -> EncodedTexts:
    """Unit vectors of the distinct queries."""
    return _encode(query_stage(encoder, runtime), "encoding queries", encoder.encode_queries, texts, runtime)


def encode_texts(encoder: TextEncoder, texts: Sequence[str], runtime: Runtime) -> EncodedTexts:
    """Unit vectors of the distinct texts."""
    return _encode(text_stage(encoder, runtime), "encoding texts", encoder.encode_texts, texts, runtime)


def _vector_stage(
    encoder: TextEncoder | VisualEncoder, side: str, runtime: Runtime
) -> Stage[Arrays, dict[str, NDArray[Any]]]:
    return component_stage(
        "vectors",
        lambda files: {"side": side, "encoder": recipe(encoder, files)},
        ArraysCodec(),
        TEXTS_A_SHARD,
        runtime,
        on_device=True,
    )


def _encode(
    stage: Stage[Arrays, dict[str, NDArray[Any]]],
    description: str,
    encode: Callable[[Sequence[str], Runtime], Encoded],
    texts: Sequence[str],
    runtime: Runtime,
) -> EncodedTexts:
    inputs = text_inputs(texts)

    def work(positions: Sequence[int]) -> list[Mapping[str, Any] | None]:
        encoded = encode([texts[position] for position in positions], runtime)
        maker = type(getattr(encode, "__self__", encode)).__name__
        if encoded.values.ndim != 2 or not len(encoded.values) == len(encoded.truncated) == len(positions):
            raise ConfigError(
                f"{maker} gave values of shape {encoded.values.shape} and truncated of shape "
                f"{encoded.truncated.shape} for {len(positions)} texts; wanted ({len(positions)}, d) and one a text"
            )
        values, usable = unit_rows(encoded.values)
        return [
            {"values": value, "truncated": np.asarray(cut)} if good else None
            for value, cut, good in zip(values, encoded.truncated, usable, strict=True)
        ]

    found = _remember(stage, inputs, work, description)
    values: FloatArray = found.values.get("values", np.empty((0, 1), dtype=np.float32))
    cut: BoolArray = found.values.get("truncated", np.zeros(len(found.digests), dtype=np.bool_))
    names = found.digests
    if found.failed:
        kept = [row for row, digest in enumerate(names) if digest not in found.failed]
        names, values = tuple(names[row] for row in kept), values[kept]
    return EncodedTexts(
        vectors=Vectors(names, values),
        truncated=frozenset(found.digests[row] for row in np.flatnonzero(cut)),
        failed=found.failed,
    )


def _remember(
    stage: Stage[Any, Any], inputs: Sequence[str], work: Callable[[Sequence[int]], Sequence[Any]], description: str
) -> Remembered[Any]:
    with track(len(set(inputs)), description) as progress:
        return remember(stage, inputs, work, progress.advance)
