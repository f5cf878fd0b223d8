"""Which inputs a run has for each of its stages, as far as the cache tells them; nothing is worked on.

The stages, their keys and their inputs are those of the modules that work: `sight`, `reading`, `stages`, `visual`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from glyphrank.bad_items import check_texts
from glyphrank.cache import Stage, recall
from glyphrank.errors import ConfigError, DataError
from glyphrank.identity import FileDigests, key
from glyphrank.ocr import OcrEngine, Pair
from glyphrank.rankings import Asked
from glyphrank.reading import as_reading, published_inputs, reading_stage, second_looks
from glyphrank.records import Item, Reading, Source, Task
from glyphrank.run import Run
from glyphrank.sight import NO_MEDIA, look_of, looks_stage
from glyphrank.stages import as_one_text, query_stage, text_inputs, text_stage, token_stage
from glyphrank.visual import frames_stage

READ, LOOKED_AT = "read", "looked at"

Found = TypeVar("Found")


@dataclass(frozen=True)
class Ask:
    """What one run wants of one stage.

    Attributes:
        name: what is made, for people.
        component: name of the class that works.
        inputs: digests, repeats among them.
        unknown: ids of items whose inputs are not known yet.
        until: what must happen to these first.
    """

    stage: Stage[Any, Any]
    name: str
    component: str
    inputs: Sequence[str]
    unknown: frozenset[str] = frozenset()
    until: str = ""


@dataclass(frozen=True)
class _Read:
    """Readings of n items, None where an item is still to be read, and what was asked for them."""

    readings: Sequence[Reading | None]
    asks: tuple[Ask, ...]


@dataclass(frozen=True)
class _Texts:
    """What is known of n transcripts: digests of all texts, and of each item's texts as one."""

    apart: Sequence[str]
    as_one: Sequence[str]
    unknown: frozenset[str]


@dataclass
class Survey:
    """Looks up what runs want; what several of them want alike is looked up once."""

    _kept: dict[Hashable, Any] = field(default_factory=dict)

    def asks(self, run: Run, task: Task) -> tuple[list[Ask], list[str]]:
        """What a run wants of its stages, in their order, and why some of it cannot be told."""
        asks: list[Ask] = []
        faults: list[str] = []
        for part in (self._of_reading, self._of_visual, self._of_text, self._of_lexical):
            try:
                for ask in part(run, task):
                    asks.append(ask)  # one by one: what was found before a fault is kept
            except (ConfigError, DataError) as error:
                faults.append(str(error))
        return asks, list(dict.fromkeys(faults))

    def _of_reading(self, run: Run, task: Task) -> Iterator[Ask]:
        if run.reads and run.ocr:
            yield from self._read(run, task).asks

    def _of_visual(self, run: Run, task: Task) -> Iterator[Ask]:
        if run.visual is None:
            return
        known, looks = self._looks(run, task), _with_media(task.items)
        yield self._look_ask(run, looks)
        inputs = [known[digest] for _, digest in looks if digest in known]
        unknown = frozenset(item.id for item, digest in looks if digest not in known)
        stage, until = frames_stage(run.visual, run.runtime), LOOKED_AT if unknown else ""
        yield Ask(stage, "vectors of frames", _class(run.visual), inputs, unknown, until)
        asked = text_inputs(Asked.of(task).texts)
        yield Ask(query_stage(run.visual, run.runtime), "vectors of queries", _class(run.visual), asked)

    def _of_text(self, run: Run, task: Task) -> Iterator[Ask]:
        if run.text is None:
            return
        texts = self._texts(run, task)
        until = READ if texts.unknown else ""
        stage = text_stage(run.text, run.runtime)
        yield Ask(stage, "vectors of texts", _class(run.text), texts.apart, texts.unknown, until)
        yield Ask(query_stage(run.text, run.runtime), "vectors of queries", _class(run.text), _queries(run, task))

    def _of_lexical(self, run: Run, task: Task) -> Iterator[Ask]:
        if run.lexical is None:
            return
        texts = self._texts(run, task)
        inputs, until = [*texts.as_one, *_queries(run, task)], READ if texts.unknown else ""
        stage = token_stage(run.lexical.analyser, run.runtime)
        yield Ask(stage, "tokens", _class(run.lexical.analyser), inputs, texts.unknown, until)

    def _texts(self, run: Run, task: Task) -> _Texts:
        """The transcripts of what is read, really written.

        Raises:
            DataError: all is read, and no item has a text.
        """

        def write() -> _Texts:
            readings = self._read(run, task).readings
            written = [run.transcript.write(reading) if reading else () for reading in readings]
            unknown = frozenset(item.id for item, found in zip(task.items, readings, strict=True) if found is None)
            if not unknown:
                check_texts(task, written, {})
            apart = text_inputs(text for texts in written for text in texts)
            return _Texts(apart, text_inputs(filter(None, map(as_one_text, written))), unknown)

        return self._once(("texts", *self._reader(run, task), _key(run.transcript, run)), write)

    def _read(self, run: Run, task: Task) -> _Read:
        if run.ocr is None:
            return _Read([None] * len(task.items), ())
        engine = run.ocr
        return self._once(("read", *self._reader(run, task)), lambda: self._readings(engine, task.items, run, task))

    def _reader(self, run: Run, task: Task) -> tuple[Hashable, ...]:
        return run.runtime.cache, task.fingerprint, _key(run.ocr, run), _key(run.frames, run)

    def _readings(self, engine: OcrEngine, items: Sequence[Item], run: Run, task: Task) -> _Read:
        if isinstance(engine, Pair):
            return self._in_turn(engine, items, run, task)
        if engine.needs_frames:
            return self._seen(engine, items, run, task)
        stage, inputs = reading_stage(engine, run.runtime), published_inputs(items)
        known = recall(stage, inputs)
        readings = [as_reading(known[digest]) if digest in known else None for digest in inputs]
        return _Read(readings, (Ask(stage, "readings", _class(engine), inputs),))

    def _in_turn(self, pair: Pair, items: Sequence[Item], run: Run, task: Task) -> _Read:
        """Readings of a pair; what the second engine gets is unknown where the first has not read."""
        first = self._readings(pair.first, items, run, task)
        pairs = list(enumerate(zip(items, first.readings, strict=True)))
        again = [at for at, (item, reading) in pairs if reading is not None and second_looks(pair, item, reading)]
        unread = frozenset(item.id for _, (item, reading) in pairs if reading is None)
        if not again and not unread:
            return first
        second = self._readings(pair.second, [items[at] for at in again], run, task)
        readings = list(first.readings)
        for at, found in zip(again, second.readings, strict=True):
            before = readings[at]
            readings[at] = pair.choose(before, found) if before and found else None
        until = READ if unread else ""
        return _Read(readings, (*first.asks, *(_also(ask, unread, until) for ask in second.asks)))

    def _seen(self, engine: OcrEngine, items: Sequence[Item], run: Run, task: Task) -> _Read:
        """Readings of an engine that looks at frames; its inputs are unknown where nobody looked."""
        looks, shown = self._looks(run, task), _with_media(items)
        unseen = frozenset(item.id for item, digest in shown if digest not in looks)
        inputs = [looks[digest] for _, digest in shown if digest in looks]
        stage = reading_stage(engine, run.runtime)
        known = recall(stage, inputs)
        readings: list[Reading | None] = []
        for item in items:
            look = looks.get(item.media.digest) if item.media else None
            unread = as_reading(known[look]) if look in known else None
            readings.append(unread if item.media else Reading(Source.scene, failure=NO_MEDIA))
        reading = Ask(stage, "readings", _class(engine), inputs, unseen, LOOKED_AT if unseen else "")
        return _Read(readings, (self._look_ask(run, shown), reading))

    def _looks(self, run: Run, task: Task) -> dict[str, str]:
        """Digest of media -> digest of its look, of all items of a task at which somebody looked."""

        def look() -> dict[str, str]:
            digests = [digest for _, digest in _with_media(task.items)]
            found = recall(looks_stage(run.frames, run.runtime), digests)
            return {digest: look_of(stored) for digest, stored in found.items()}

        return self._once(("looks", run.runtime.cache, task.fingerprint, _key(run.frames, run)), look)

    def _look_ask(self, run: Run, shown: Sequence[tuple[Item, str]]) -> Ask:
        stage = looks_stage(run.frames, run.runtime)
        return Ask(stage, "looks at frames", _class(run.frames), [digest for _, digest in shown])

    def _once(self, name: Hashable, find: Callable[[], Found]) -> Found:
        if name not in self._kept:
            self._kept[name] = find()
        kept: Found = self._kept[name]
        return kept


def _also(ask: Ask, unknown: frozenset[str], until: str) -> Ask:
    """The same with further items whose inputs are not known."""
    return replace(ask, unknown=ask.unknown | unknown, until=until or ask.until)


def _with_media(items: Sequence[Item]) -> list[tuple[Item, str]]:
    """The items that can be looked at, each with the digest of its media."""
    return [(item, item.media.digest) for item in items if item.media]


def _queries(run: Run, task: Task) -> Sequence[str]:
    """The inputs that queries are, in the form of the transcript."""
    return text_inputs(run.transcript.query(text) for text in Asked.of(task).texts)


def _key(component: object, run: Run) -> str:
    return key(component, FileDigests(run.runtime.cache / "files"))


def _class(component: object) -> str:
    return type(component).__name__
