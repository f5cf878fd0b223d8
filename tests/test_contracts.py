"""What every component in `conf/` promises; a new YAML is found and tested here without a line added."""

from __future__ import annotations

import copy
import pickle
import unicodedata
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from omegaconf import OmegaConf

from composing import CHOICES, CONF, filled
from glyphrank.builder import Builder, find_component
from glyphrank.datasets import Dataset
from glyphrank.encoders import Lexical, TextEncoder, VisualEncoder
from glyphrank.errors import DataError
from glyphrank.identity import FileDigests, key
from glyphrank.media import Sampler
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.ocr import OcrEngine
from glyphrank.records import Frames, Item, Line, Media, Query, Reading, Source, Task, Vectors
from glyphrank.runtime import Runtime
from glyphrank.transcript import Pooling, Transcript
from tiny_clip import write_tiny_clip
from unseen import unseen

ANOTHER = "another"

COMPONENTS = [(group, choice) for group, choice in CHOICES if choice != "none"]


def of(group: str) -> list[str]:
    return [choice for other, choice in COMPONENTS if other == group]


def component(group: str, choice: str, folder: Path = Path("/nowhere")) -> Any:
    """The component of a YAML, what it leaves open filled in."""
    node = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{choice}.yaml"), resolve=False)
    assert isinstance(node, dict)
    builder = Builder({"glyphrank"}, folder)
    built = builder.build(find_component(node["_target_"], {"glyphrank"}), filled(node))
    assert not builder.faults
    return built


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of launch: what a YAML leaves open is a tiny model in it."""
    folder = tmp_path_factory.mktemp("models")
    write_tiny_clip(folder / "nowhere")
    return folder


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 2, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")


def changed(built: Any, tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """For every field, nested ones too, a copy of the component in which that field alone differs."""
    for field in fields(built):
        value = getattr(built, field.name)
        if is_dataclass(value):
            variants = [(f"{field.name}.{name}", variant) for name, variant in changed(value, tmp_path)]
        else:
            variants = [(field.name, tmp_path if value is None or isinstance(value, Path) else [ANOTHER, value])]
        for name, variant in variants:
            twin = copy.copy(built)
            object.__setattr__(twin, field.name, variant)
            yield name, twin


@pytest.mark.parametrize(("group", "choice"), [pair for pair in COMPONENTS if pair[0] not in ("dataset", "tracking")])
def test_key_changes_with_every_field(group: str, choice: str, models: Path, tmp_path: Path) -> None:  # case C01
    (tmp_path / "file").write_text("content")
    files = FileDigests(tmp_path / "memory")
    built = component(group, choice, models)
    assert key(built, files) == key(component(group, choice, models), files)
    keys = {name: key(twin, files) for name, twin in changed(built, tmp_path)}
    assert key(built, files) not in keys.values()
    assert len(set(keys.values())) == len(keys)


@pytest.mark.parametrize(("group", "choice"), COMPONENTS)
def test_component_states_its_version_and_has_no_defaults(group: str, choice: str) -> None:
    kind = type(component(group, choice))
    assert isinstance(kind.VERSION, int)
    assert kind.VERSION >= 1
    assert [field.name for field in fields(kind) if field.default is not MISSING] == []


def lexical_encoders() -> list[str]:
    return [choice for choice in of("encoder") if hasattr(type(component("encoder", choice)), "build")]


def text_encoders() -> list[str]:
    return [choice for choice in of("encoder") if hasattr(type(component("encoder", choice)), "encode_texts")]


def visual_encoders() -> list[str]:
    return [choice for choice in of("encoder") if hasattr(type(component("encoder", choice)), "encode_frames")]


def test_every_encoder_fills_a_slot() -> None:
    assert sorted({*lexical_encoders(), *text_encoders(), *visual_encoders()}) == of("encoder")


@pytest.mark.parametrize("choice", lexical_encoders())
def test_lexical_encoder_finds_shared_words_and_never_rewards_empty_texts(choice: str) -> None:  # case I11, I12
    lexical: Lexical = component("encoder", choice)
    texts = ["서울은 수도이다", "부산은 항구이다", "표", "", "서울은 수도이다"]
    tokens = lexical.analyser.tokens(texts)
    assert len(tokens) == len(texts)
    assert tokens[0] == tokens[4]
    assert tokens[3] == []
    searcher = lexical.build(tokens)
    rows = searcher.rows(lexical.analyser.tokens(["표", "수도이다", "zzz", ""]))
    assert rows.shape == (4, 5)
    assert rows.dtype == np.float32
    assert np.isfinite(rows[0]).tolist() == [False, False, True, False, False]
    assert rows[1, 0] == rows[1, 4] > -np.inf
    assert np.isneginf(rows[2:]).all()
    assert np.isneginf(rows[:, 3]).all()


@pytest.mark.parametrize("choice", lexical_encoders())
def test_analyser_gives_one_answer_for_both_unicode_forms(choice: str) -> None:  # case P04
    tokens = component("encoder", choice).analyser.tokens(["한국어 문서", unicodedata.normalize("NFD", "한국어 문서")])
    assert tokens[0] == tokens[1] != []


@pytest.mark.parametrize("choice", text_encoders())
def test_text_encoder_gives_one_finite_row_a_text_or_says_what_is_missing(
    choice: str, models: Path, runtime: Runtime
) -> None:
    encoder: TextEncoder = component("encoder", choice, models)
    texts = ["the capital of France", "", "서울 " * 2000]
    if not is_here(encoder, runtime):
        with pytest.raises(DataError, match=r"runtime\.download=true"):
            encoder.encode_texts(texts, runtime)
        return
    first, second = (encoder.encode_texts(texts, runtime) for _ in range(2))
    assert first.values.shape == (3, encoder.encode_queries(["a"], runtime).values.shape[1])
    assert first.values.dtype == np.float32
    assert np.isfinite(first.values).all()
    assert np.array_equal(first.values, second.values)  # case E02
    assert first.truncated.tolist() == [False, False, True]  # case E04


def is_here(encoder: Any, runtime: Runtime) -> bool:
    """Whether an encoder's weights are on this machine."""
    try:
        encoder.find(runtime)
    except DataError:
        return False
    return True


@pytest.mark.parametrize("choice", visual_encoders())
def test_visual_encoder_gives_one_finite_row_an_item_or_says_what_is_missing(
    choice: str, models: Path, runtime: Runtime
) -> None:
    encoder: VisualEncoder = component("encoder", choice, models)
    if not is_here(encoder, runtime):
        with pytest.raises(DataError, match=r"runtime\.download=true"):
            encoder.preparation(runtime)
        return
    prepare = pickle.loads(pickle.dumps(encoder.preparation(runtime)))  # it travels to another process
    images = tuple(prepare(np.full((40, 30 + width, 3), 200, dtype=np.uint8)) for width in range(3))
    rows = encoder.encode_frames(iter([Frames(images), Frames(images[:1])]), runtime)
    assert rows.shape == (2, encoder.encode_queries(["a"], runtime).values.shape[1])
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("choice", of("frames"))
@pytest.mark.parametrize("count", [1, 2, 3, 15, 1000])
def test_sampler_takes_frames_in_order_and_none_twice(choice: str, count: int) -> None:  # case V07
    sampler: Sampler = component("frames", choice)
    places = sampler.places([number / 25 for number in range(count)])
    assert 1 <= len(places) <= count
    assert places == sorted(set(places))
    assert min(places) >= 0
    assert max(places) < count


@pytest.mark.parametrize("choice", of("index"))
def test_index_ranks_the_nearest_first_and_knows_every_entry(choice: str) -> None:
    values = np.eye(4, dtype=np.float32)[[0, 1, 2, 2]]
    rows = component("index", choice).build(Vectors(("a", "b", "c", "d"), values)).rows(np.eye(4, dtype=np.float32)[:3])
    assert rows.shape == (3, 4)
    assert rows.argmax(axis=1).tolist() == [0, 1, 2]
    assert rows[2, 2] == rows[2, 3]


def readers(looking: bool) -> list[str]:
    return [choice for choice in of("ocr") if component("ocr", choice).needs_frames == looking]


@pytest.mark.parametrize("choice", readers(looking=False))
def test_engine_of_texts_reads_good_items_and_reports_bad_ones(choice: str, runtime: Runtime) -> None:
    engine: OcrEngine = component("ocr", choice)
    text = "first\nsecond"
    good = engine.read(Item("p", None, text, published_ocr=text), unseen, runtime)
    assert [line.text for line in good.lines] == ["first", "second"]
    assert good.source in engine.sources
    bad = engine.read(Item("p", None, None), unseen, runtime)
    assert bad.failure
    assert bad.lines == ()


@pytest.mark.parametrize("choice", readers(looking=True))
def test_engine_that_looks_finds_nothing_on_white_and_reports_what_cannot_be_seen(
    choice: str, runtime: Runtime
) -> None:  # case O04, O05
    engine: OcrEngine = component("ocr", choice)
    item = Item("p", Media(Path("p.png"), None, "digest"), None)

    def torn() -> Frames:
        raise MediaError(MediaFault.damaged, "p.png: torn")

    bad = engine.read(item, torn, runtime)
    assert "p.png: torn" in str(bad.failure)
    white = Frames((np.full((60, 80, 3), 255, dtype=np.uint8),))
    try:
        assert engine.read(item, lambda: white, runtime) == Reading(Source.scene)
        assert Source.scene in engine.sources
    except DataError as error:
        assert "runtime.download=true" in str(error)  # noqa: PT017 - weights that are not on this machine
        assert choice != "easyocr_en"


@pytest.mark.parametrize("choice", of("transcript"))
def test_transcript_of_nothing_is_empty(choice: str) -> None:
    transcript: Transcript = component("transcript", choice)
    for lines in ((), (Line(" ", 0.9), Line("\t"))):
        assert transcript.write(Reading(Source.scene, lines)) == ()


@pytest.mark.parametrize("choice", of("transcript"))
def test_transcript_gives_texts_without_empty_ones_in_the_form_of_queries(choice: str) -> None:
    transcript: Transcript = component("transcript", choice)
    assert isinstance(transcript.pooling, Pooling)
    lines = tuple(Line(f"word{at} ＡＢ", 0.9, (0.1, 0.1, 0.9, 0.2), at, spans=((at, at + at % 3),)) for at in range(40))
    texts = transcript.write(Reading(Source.scene, lines, length=42))
    assert texts
    assert all(text.strip() for text in texts)
    assert [transcript.query(text) for text in texts] == list(texts)


@pytest.mark.parametrize("choice", of("fusion"))
def test_fusion_keeps_what_no_channel_found_out_and_equal_scores_equal(choice: str) -> None:  # case M01
    block = np.array([[0.5, 0.5, -np.inf, 0.1]], dtype=np.float32)
    fused = component("fusion", choice).fuse({"text": block, "lexical": block * 2})
    assert fused.shape == (1, 4)
    assert fused[0, 0] == fused[0, 1] > fused[0, 3] > -np.inf
    assert np.isneginf(fused[0, 2])


def test_every_dataset_loads_the_same_task_twice(runtime: Runtime, tmp_path: Path) -> None:
    for choice in datasets(with_root=False):
        dataset = component("dataset", choice)
        first, second = dataset.load(runtime), dataset.load(runtime)
        assert first.fingerprint == second.fingerprint
        assert len(first.items) >= 20


def datasets(with_root: bool) -> list[str]:
    """Those that read a folder of the person's own, or those that make their data."""
    return [
        choice
        for choice in of("dataset")
        if with_root == any(f.name == "root" for f in fields(component("dataset", choice)))
    ]


@pytest.mark.parametrize("choice", datasets(with_root=True))
def test_dataset_that_is_not_here_says_where_it_was_looked_for(choice: str, runtime: Runtime, tmp_path: Path) -> None:
    dataset: Dataset = component("dataset", choice, tmp_path)
    with pytest.raises(DataError) as caught:
        dataset.load(runtime)
    assert str(tmp_path / "nowhere") in str(caught.value) or "runtime.download=true" in str(caught.value)


def test_task_refuses_ids_that_are_equal_in_nfc() -> None:  # case P04
    items = tuple(Item(form, None, "x") for form in ("가", unicodedata.normalize("NFD", "가")))
    with pytest.raises(DataError, match="equal in NFC"):
        Task("t", (Query("q", "x"),), items, {"q": {"가": 1.0}}, "f")
