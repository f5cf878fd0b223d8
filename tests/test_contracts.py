"""What every component in `conf/` promises; a new YAML is found and tested here without a line added."""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from omegaconf import OmegaConf

from composing import CHOICES, CONF
from glyphrank.builder import Builder, find_component
from glyphrank.datasets.folder import Folder
from glyphrank.encoders import Lexical, TextEncoder
from glyphrank.errors import DataError
from glyphrank.identity import FileDigests, key
from glyphrank.records import Item, Query, Reading, Runtime, Source, Task, Vectors

ANOTHER = "another"

COMPONENTS = [(group, choice) for group, choice in CHOICES if choice != "none"]
OPEN = {"root": ".", "uri": "http://127.0.0.1:5000"}


def of(group: str) -> list[str]:
    return [choice for other, choice in COMPONENTS if other == group]


def component(group: str, choice: str, folder: Path = Path("/nowhere")) -> Any:
    """The component of a YAML, what it leaves open filled in."""
    node = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{choice}.yaml"), resolve=False)
    assert isinstance(node, dict)
    filled = {
        str(name): OPEN.get(str(name)) if value == "???" or str(value).startswith("${") else value
        for name, value in node.items()
    }
    builder = Builder({"glyphrank"}, folder)
    built = builder.build(find_component(filled["_target_"], {"glyphrank"}), filled)
    assert not builder.faults
    return built


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime("cpu", 2, 0, False, tmp_path / "outputs", tmp_path / "cache")


def changed(built: Any, tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """For every field, nested ones too, a copy of the component in which that field alone differs."""
    for field in fields(built):
        value = getattr(built, field.name)
        if is_dataclass(value):
            variants = [(f"{field.name}.{name}", variant) for name, variant in changed(value, tmp_path)]
        else:
            variants = [(field.name, tmp_path if value is None else [ANOTHER, value])]
        for name, variant in variants:
            twin = copy.copy(built)
            object.__setattr__(twin, field.name, variant)
            yield name, twin


@pytest.mark.parametrize(("group", "choice"), [pair for pair in COMPONENTS if pair[0] not in ("dataset", "tracking")])
def test_key_changes_with_every_field(group: str, choice: str, tmp_path: Path) -> None:  # case C01
    (tmp_path / "file").write_text("content")
    files = FileDigests(tmp_path / "memory")
    built = component(group, choice)
    assert key(built, files) == key(component(group, choice), files)
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


def test_every_encoder_fills_a_slot() -> None:
    assert sorted(lexical_encoders() + text_encoders()) == of("encoder")


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
def test_text_encoder_gives_one_finite_row_a_text_or_says_what_is_missing(choice: str, runtime: Runtime) -> None:
    encoder: TextEncoder = component("encoder", choice)
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
        encoder.weights.find(runtime)
    except DataError:
        return False
    return True


@pytest.mark.parametrize("choice", of("index"))
def test_index_ranks_the_nearest_first_and_knows_every_entry(choice: str) -> None:
    values = np.eye(4, dtype=np.float32)[[0, 1, 2, 2]]
    rows = component("index", choice).build(Vectors(("a", "b", "c", "d"), values)).rows(np.eye(4, dtype=np.float32)[:3])
    assert rows.shape == (3, 4)
    assert rows.argmax(axis=1).tolist() == [0, 1, 2]
    assert rows[2, 2] == rows[2, 3]


@pytest.mark.parametrize("choice", of("ocr"))
def test_ocr_reads_good_items_and_reports_bad_ones(choice: str, runtime: Runtime) -> None:
    engine = component("ocr", choice)
    good = engine.read(Item("p", None, "first\nsecond"), runtime)
    assert [line.text for line in good.lines] == ["first", "second"]
    bad = engine.read(Item("p", None, None), runtime)
    assert bad.failure
    assert bad.lines == ()


@pytest.mark.parametrize("choice", of("transcript"))
def test_transcript_of_nothing_is_empty(choice: str) -> None:
    assert component("transcript", choice).write(Reading(Source.scene)) == ""


@pytest.mark.parametrize("choice", of("fusion"))
def test_fusion_keeps_what_no_channel_found_out_and_equal_scores_equal(choice: str) -> None:  # case M01
    block = np.array([[0.5, 0.5, -np.inf, 0.1]], dtype=np.float32)
    fused = component("fusion", choice).fuse({"text": block, "lexical": block * 2})
    assert fused.shape == (1, 4)
    assert fused[0, 0] == fused[0, 1] > fused[0, 3] > -np.inf
    assert np.isneginf(fused[0, 2])


def test_every_dataset_loads_the_same_task_twice(runtime: Runtime, tmp_path: Path) -> None:
    for choice in of("dataset"):
        dataset = component("dataset", choice)
        if isinstance(dataset, Folder):
            continue  # has no data of its own; tests/datasets covers it
        first, second = dataset.load(runtime), dataset.load(runtime)
        assert first.fingerprint == second.fingerprint
        assert len(first.items) >= 20


def test_task_refuses_ids_that_are_equal_in_nfc() -> None:  # case P04
    items = tuple(Item(form, None, "x") for form in ("가", unicodedata.normalize("NFD", "가")))
    with pytest.raises(DataError, match="equal in NFC"):
        Task("t", (Query("q", "x"),), items, {"q": {"가": 1.0}}, "f")
