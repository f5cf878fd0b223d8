"""Readings of items, behind the cache: each engine's own, addressed by what the engine looks at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from glyphrank.bad_items import of_equal
from glyphrank.cache import Stage, remember
from glyphrank.digests import digest_json
from glyphrank.errors import ConfigError
from glyphrank.identity import recipe
from glyphrank.media.faults import MediaError
from glyphrank.ocr import OcrEngine, Pair
from glyphrank.progress import track
from glyphrank.records import Frames, Item, Line, Media, Reading, Source, TextState
from glyphrank.runtime import NeedsFiles, Runtime
from glyphrank.shards import LinesCodec
from glyphrank.sight import Sight, changed
from glyphrank.stages import component_stage

FEW_A_SHARD, MANY_A_SHARD = 8, 128
"""Items of a shard when something is opened for each, and when only texts are taken over."""


def read_items(ocr: OcrEngine, items: Sequence[Item], sight: Sight, runtime: Runtime) -> list[Reading]:
    """The reading of every item, equal items read once. Failures are not kept: the next run tries again."""
    if isinstance(ocr, Pair):
        return _read_in_turn(ocr, items, sight, runtime)
    return _read_looks(ocr, items, sight, runtime) if ocr.needs_frames else _read_texts(ocr, items, runtime)


def reading_stage(ocr: OcrEngine, runtime: Runtime, spacing: int = FEW_A_SHARD) -> Stage[Any, list[Any]]:
    """Where the readings of one engine lie; its inputs are digests of looks, or `published_inputs`."""
    return component_stage(
        "reading", lambda files: recipe(ocr, files), LinesCodec(), spacing, runtime, on_device=ocr.needs_frames
    )


def published_inputs(items: Sequence[Item]) -> list[str]:
    """What stands for each item among the inputs of an engine that takes texts: its published texts and files."""
    return [digest_json([item.text, _content(item.media), _content(item.published_ocr)]) for item in items]


def second_looks(pair: Pair, item: Item, reading: Reading) -> bool:
    """Whether the second engine of a pair reads an item of which the first gave this reading."""
    return not pair.enough(reading) and bool(item.media or not pair.second.needs_frames)


def as_reading(stored: Mapping[str, Any]) -> Reading:
    """A reading, from what its stage keeps of it."""
    lines = tuple(
        Line(text, confidence, None if box is None else tuple(box), frame, time, tuple(map(tuple, spans)))
        for text, confidence, box, frame, time, spans in stored["lines"]
    )
    return Reading(
        Source(stored["source"]), lines, None, TextState(stored["state"]), stored["length"], stored["length_known"]
    )


def _read_in_turn(pair: Pair, items: Sequence[Item], sight: Sight, runtime: Runtime) -> list[Reading]:
    """Each item by the first engine, or by the second where that is not enough."""
    readings = read_items(pair.first, items, sight, runtime)
    again = [
        position
        for position, (item, reading) in enumerate(zip(items, readings, strict=True))
        if second_looks(pair, item, reading)
    ]
    if not again:
        return readings
    second = read_items(pair.second, [items[position] for position in again], sight, runtime)
    for position, reading in zip(again, second, strict=True):
        readings[position] = pair.choose(readings[position], reading)
    return readings


def _read_texts(ocr: OcrEngine, items: Sequence[Item], runtime: Runtime) -> list[Reading]:
    """Readings by an engine that takes texts; its inputs are the published texts and files."""

    def frames() -> Frames:
        raise ConfigError(f"{type(ocr).__name__} asks for frames although its needs_frames is False")

    inputs = published_inputs(items)
    opened = sum(item.media is not None and item.media.cell is None and not (item.text or "").strip() for item in items)
    spacing = FEW_A_SHARD if 2 * opened > len(items) else MANY_A_SHARD

    def read(chosen: Sequence[Item]) -> list[Reading]:
        return [_checked(ocr.read(item, frames, runtime), item) for item in chosen]

    return _remember(ocr, items, inputs, read, spacing, runtime)


def _checked(reading: Reading, item: Item) -> Reading:
    """The reading, unless a file that it may come from is no longer the one that its digest stands for."""
    files = [item.published_ocr] if isinstance(item.published_ocr, Media) else []
    files += [item.media] if item.media and not (item.text or "").strip() else []
    why = next(filter(None, map(changed, files)), None)
    return reading if why is None else Reading(reading.source, failure=why)


def _content(published: str | Media | None) -> str | None:
    """What stands for a text, or for a file, among the inputs of an engine."""
    return published.digest if isinstance(published, Media) else published


def _read_looks(ocr: OcrEngine, items: Sequence[Item], sight: Sight, runtime: Runtime) -> list[Reading]:
    """Readings by an engine that looks at frames; its inputs are their pixels."""
    if isinstance(ocr, NeedsFiles):
        ocr.find(runtime)  # what it lacks is said before anything is decoded for it
    pixels = sight.pixels(items)
    readings = {position: Reading(Source.scene, failure=why) for position, why in pixels.failures.items()}
    seen = [position for position in range(len(items)) if position not in readings]

    inputs = [str(pixels.digests[position]) for position in seen]

    def read(chosen: Sequence[Item]) -> list[Reading]:
        wanted = [look_of[item.id] for item in chosen]
        looks = zip(chosen, sight.frames(chosen, wanted), strict=True)
        return [_read_look(ocr, item, frames, runtime) for item, frames in looks]

    look_of = {items[position].id: digest for position, digest in zip(seen, inputs, strict=True)}
    found = _remember(ocr, [items[position] for position in seen], inputs, read, FEW_A_SHARD, runtime)
    readings |= dict(zip(seen, found, strict=True))
    return [readings[position] for position in range(len(items))]


def _read_look(ocr: OcrEngine, item: Item, frames: Frames | MediaError, runtime: Runtime) -> Reading:
    if isinstance(frames, MediaError):
        return Reading(Source.scene, failure=str(frames))
    return ocr.read(item, lambda: frames, runtime)


def _remember(
    ocr: OcrEngine,
    items: Sequence[Item],
    inputs: Sequence[str],
    read: Callable[[Sequence[Item]], Sequence[Reading]],
    spacing: int,
    runtime: Runtime,
) -> list[Reading]:
    """The reading of each item, by the input that stands for it; a failure is told in the name of each item's file."""
    failures: dict[str, tuple[Item, str, Reading]] = {}

    def work(positions: Sequence[int]) -> list[Any]:
        chosen = [items[position] for position in positions]
        readings = read(chosen)
        for position, item, found in zip(positions, chosen, readings, strict=True):
            if found.failure is not None:
                failures[inputs[position]] = (item, found.failure, found)
        return [_plain(found) if found.failure is None else None for found in readings]

    stage = reading_stage(ocr, runtime, spacing)
    with track(len(set(inputs)), "reading items") as progress:
        found = remember(stage, inputs, work, progress.advance)
    known = dict(zip(found.digests, found.values, strict=True))
    pairs = zip(items, inputs, strict=True)
    return [
        _own(item, *failures[digest]) if digest in failures else as_reading(known[digest]) for item, digest in pairs
    ]


def _own(item: Item, read: Item, why: str, reading: Reading) -> Reading:
    return replace(reading, failure=of_equal(why, read.media, item.media))


def _plain(reading: Reading) -> dict[str, Any]:
    lines = [[line.text, line.confidence, line.box, line.frame, line.time, line.spans] for line in reading.lines]
    return {
        "source": reading.source.value,
        "lines": lines,
        "state": reading.state.value,
        "length": reading.length,
        "length_known": reading.length_known,
    }
