"""A sample encoded again: what does not depend on the batch changes nothing, what does is counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counting_parts import Letters
from glyphrank.channels import Part, text_part, visual_part
from glyphrank.encoders.precision import Precision
from glyphrank.errors import ConfigError
from glyphrank.indexes.exact import Exact
from glyphrank.indexes.faiss_hnsw import FaissHnsw
from glyphrank.media.sampling import Middles
from glyphrank.metrics import Protocol
from glyphrank.probe import probe_channels, probe_lines, stored_probe, write_probe
from glyphrank.probe_sample import ITEMS, QUERIES, draw, text_gallery
from glyphrank.rankings import Asked
from glyphrank.records import Item, Query, Task
from glyphrank.run import Run
from glyphrank.sight import Sight
from glyphrank.ties import TieRule
from glyphrank.transcript import Pooling, Written
from pictures import pictured, write_picture
from probing import STILL, run_of
from shaky_encoders import STEADY, ShakyColours, ShakyLetters
from tasks import make_task

PAGES = {"p0": "aab", "p1": "abbx", "p2": "c", "p3": None}
ASKED = {"q0": "aa", "q1": "bbba", "q2": "bbba", "q3": "ccc", "q4": "c"}
RELEVANT = {"q0": ["p0"], "q1": ["p1"], "q2": ["p1"], "q3": ["p3"]}


@pytest.fixture
def sight(tmp_path: Path) -> Iterator[Sight]:
    runtime = replace(run_of(tmp_path).runtime, workers=0)
    with Sight(Middles(1, 100, 10_000), runtime) as opened:
        yield opened


def texts_of(task: Task, pooling: Pooling = Pooling.mean) -> Written:
    """Each item's own text, in words where several stand in it."""
    return Written([tuple(item.text.split("|")) if item.text else () for item in task.items], pooling)


def probed(run: Run, task: Task, written: Written, sight: Sight) -> dict[str, float]:
    """The probe of channel text."""
    part = text_of(run, task, written)
    return probe_channels(run, task, [part], written, sight)["text"]


def text_of(run: Run, task: Task, written: Written) -> Part:
    assert run.text is not None
    return text_part(run.text, run.index, Asked.of(task), task.items, written, run.runtime)


def of(probe: Mapping[str, float], way: str, *names: str) -> list[float]:
    return [probe[f"{way}/{name}"] for name in names]


def test_vectors_that_do_not_depend_on_the_batch_change_nothing(tmp_path: Path, sight: Sight) -> None:
    task = make_task(ASKED, PAGES, RELEVANT)
    found = probed(run_of(tmp_path, text=Letters(1.0)), task, texts_of(task), sight)
    names = ("queries", "items", "ranks_compared", *STILL, "largest_vector_difference", "largest_score_difference")
    for way in ("batch_1", "batch_7"):
        # q2 asks the text of q1, q3 wants an item without text, and q4 wants nothing
        assert of(found, way, *names) == [2, 2, 2, 0, 0, 0, 0, 0, 0]
    assert len(found) == 2 * len(names)


def test_ranks_that_change_with_the_batch_size_are_counted(tmp_path: Path, sight: Sight) -> None:
    task = make_task(ASKED, PAGES, RELEVANT)
    found = probed(run_of(tmp_path, text=ShakyLetters(at=7)), task, texts_of(task), sight)
    assert of(found, "batch_1", *STILL) == [0, 0, 0, 0]
    # p1 becomes (2, 1, 0) as p0 is: each query finds the two level, the relevant one last by the rule;
    # by id p1 comes first, which changes the list of q0 alone
    assert of(found, "batch_7", *STILL) == [2, 1, 1, 0]
    moved = np.array([2, 1, 0]) / np.sqrt(5) - np.array([1, 2, 0]) / np.sqrt(5)
    assert found["batch_7/largest_vector_difference"] == pytest.approx(np.abs(moved).max())
    assert found["batch_7/largest_score_difference"] == pytest.approx(abs(np.dot([1, 0, 0], moved)))


@pytest.mark.parametrize(("rule", "change"), [("optimistic", 0), ("pessimistic", 1), ("average", 0.5), ("textvr", 0.5)])
def test_ranks_are_compared_under_the_rule_of_the_protocol(
    tmp_path: Path, sight: Sight, rule: str, change: float
) -> None:
    task = make_task({"q": "b"}, {"p": "bx", "r": "a"}, {"q": ["p"]})
    run = run_of(tmp_path, f"metrics.ties={rule}", text=ShakyLetters(at=1))
    # p becomes what r is: both lie level at the right angle to the query
    assert run.metrics.ties is TieRule(rule)
    assert probed(run, task, texts_of(task), sight)["batch_1/largest_rank_change"] == change


def test_items_of_equal_texts_change_together(tmp_path: Path, sight: Sight) -> None:  # case M03
    pages = {f"p{number:03}": "abbx" for number in range(ITEMS + 44)} | {"other": "aac"}
    task = make_task({"q": "abb"}, pages, {"q": ["p000"]})
    found = probed(run_of(tmp_path, "metrics.ties=optimistic", text=ShakyLetters(at=1)), task, texts_of(task), sight)
    assert of(found, "batch_1", "items", *STILL) == [ITEMS, 0, 0, 0, 0]
    assert found["batch_1/largest_score_difference"] > 0.1


@pytest.mark.parametrize("pooling", Pooling)
def test_an_item_of_several_texts_is_pooled_as_before(tmp_path: Path, sight: Sight, pooling: Pooling) -> None:
    task = make_task({"q": "b"}, {"p": "bb|abx|bb", "r": "aab", "s": "ac|cc", "t": "abbb"}, {"q": ["p"]})
    written = texts_of(task, pooling)
    steady = probed(run_of(tmp_path, text=Letters(1.0)), task, written, sight)
    assert set(of(steady, "batch_1", *STILL, "largest_score_difference")) == {0.0}
    found = probed(run_of(tmp_path, text=ShakyLetters(at=1)), task, written, sight)
    assert found["batch_1/items"] == 4
    assert found["batch_1/ranks_changed"] == 0  # (1, 1, 0) stays what it is when it is turned round
    turned = make_task({"q": "b"}, {"p": "bb|bxx|bb", "r": "aab", "s": "ac|cc", "t": "abbb"}, {"q": ["p"]})
    moved = probed(run_of(tmp_path, text=ShakyLetters(at=1)), turned, texts_of(turned, pooling), sight)
    assert moved["batch_1/largest_rank_change"] == (0 if pooling is Pooling.best else 1)


def test_another_precision_is_tried_where_it_is_asked_for(tmp_path: Path, sight: Sight) -> None:
    task = make_task(ASKED, PAGES, RELEVANT)
    run = run_of(tmp_path, "probe_precision=float16", text=ShakyLetters(at=0))
    ShakyLetters.calls.clear()
    found = probed(run, task, texts_of(task), sight)
    assert {name.partition("/")[0] for name in found} == {"batch_1", "batch_7", "float16"}
    # p1 is not retrieved any more, so it has the gallery's size as rank
    assert of(found, "float16", *STILL) == [1, 3, 2, 1]
    again = ShakyLetters.calls[-6:]
    assert [call[:2] for call in again[::2]] == [(1, "float32"), (7, "float32"), (STEADY, "float16")]


def test_the_sizes_differ_from_that_of_the_run(tmp_path: Path, sight: Sight) -> None:
    task = make_task(ASKED, PAGES, RELEVANT)
    for size, others in ((1, {"batch_7", "batch_32"}), (7, {"batch_1", "batch_32"}), (32, {"batch_1", "batch_7"})):
        found = probed(run_of(tmp_path, f"runtime.batch_size={size}", text=Letters(1.0)), task, texts_of(task), sight)
        assert {name.partition("/")[0] for name in found} == others


def test_nothing_is_written_to_the_cache_and_the_channel_stays_as_it_is(tmp_path: Path, sight: Sight) -> None:
    task = make_task(ASKED, PAGES, RELEVANT)
    run = run_of(tmp_path, "probe_precision=float16", text=ShakyLetters(at=1))
    part = text_of(run, task, texts_of(task))
    before = [block.copy() for block in part.channel.blocks(8)]
    files = {path: path.read_bytes() for path in run.runtime.cache.rglob("*") if path.suffix == ".safetensors"}
    probe_channels(run, task, [part], texts_of(task), sight)
    after = {path: path.read_bytes() for path in run.runtime.cache.rglob("*") if path.suffix == ".safetensors"}
    assert after == files
    assert len(files) == 2  # queries and texts
    assert [block.tolist() for block in part.channel.blocks(8)] == [block.tolist() for block in before]


def test_an_approximate_index_is_probed_by_exact_search(tmp_path: Path, sight: Sight) -> None:
    task = make_task(ASKED, PAGES, RELEVANT)
    run = run_of(tmp_path, text=ShakyLetters(at=7), index=FaissHnsw(m=4, ef_construction=8, ef_search=8, depth=1))
    assert of(probed(run, task, texts_of(task), sight), "batch_7", *STILL) == [2, 1, 1, 0]


def test_looks_are_encoded_again_and_lexical_has_nothing_to_probe(tmp_path: Path) -> None:
    items = tuple(pictured(write_picture(tmp_path / f"{name}.png", name)) for name in ("red", "green", "blue"))
    task = Task("t", (Query("q", "red"), Query("r", "green"), Query("s", "a blue one")), items, GAINS, "f")
    run = run_of(tmp_path, "runtime.workers=0", "encoder@visual=clip_vit_b_32", text=None, visual=ShakyColours(1))
    with Sight(run.frames, run.runtime) as sight:
        part = visual_part(ShakyColours(1), Exact(), Asked.of(task), items, sight, run.runtime)
        found = probe_channels(run, task, [part], Written([], Pooling.mean), sight)
        (tmp_path / "green.png").unlink()
        gone = probe_channels(run, task, [part], Written([], Pooling.mean), sight)
    assert set(found) == {"visual"}
    assert of(found["visual"], "batch_1", "queries", "items", *STILL) == [3, 3, 2, 2, 2, 0]
    assert of(found["visual"], "batch_7", *STILL) == [0, 0, 0, 0]
    assert of(gone["visual"], "batch_1", "queries", "items", *STILL) == [3, 2, 2, 2, 2, 0]


GAINS = {"q": {"red": 1.0}, "r": {"green": 1.0}, "s": {"blue": 1.0}}


def test_a_sample_is_bounded_repeatable_and_holds_what_is_relevant(tmp_path: Path) -> None:
    texts = {f"p{number}": "a" * (number % 9) + "b" * (number // 9) + "c" for number in range(700)}
    asked = {f"q{number}": "a" * (number + 1) for number in range(100)}
    task = make_task(asked, texts, {f"q{number}": [f"p{number * 2}"] for number in range(100)})
    run = run_of(tmp_path, text=Letters(1.0))
    assert run.text is not None
    written = texts_of(task)
    gallery = text_gallery(run.text, text_of(run, task, written), written, run.runtime)
    sample, again = (draw(task, list(asked.values()), gallery, run.text, run.runtime) for _ in range(2))
    assert (len(sample.asking), len(sample.items)) == (QUERIES, ITEMS)
    assert sample.asking.tolist() == again.asking.tolist()
    assert sample.items.tolist() == again.items.tolist()
    wanted = {2 * number for number in sample.asking.tolist()}
    assert wanted <= set(sample.items.tolist())
    assert len({*sample.items.tolist()} & {2 * number for number in range(100)} - wanted) < 36  # others are drawn too


def test_without_a_query_that_can_be_sampled_nothing_is_compared(tmp_path: Path, sight: Sight) -> None:
    task = make_task({"q": "a"}, {"p": "a", "r": None}, {"q": ["r"]})
    found = probed(run_of(tmp_path, text=Letters(1.0)), task, texts_of(task), sight)
    assert of(found, "batch_1", "queries", "ranks_compared", *STILL) == [0, 0, 0, 0, 0, 0]


def test_a_precision_that_cannot_be_computed_is_named(
    tmp_path: Path, sight: Sight, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task(ASKED, PAGES, RELEVANT)
    run = run_of(tmp_path, "probe_precision=bfloat16", text=ShakyLetters(at=0))
    part, written = text_of(run, task, texts_of(task)), texts_of(task)
    real = ShakyLetters.encode_queries

    def without(self: ShakyLetters, texts: Sequence[str], runtime: Any) -> Any:
        if self.precision is Precision.bfloat16:
            raise RuntimeError("not implemented for 'BFloat16'")
        return real(self, texts, runtime)

    monkeypatch.setattr(ShakyLetters, "encode_queries", without)
    with pytest.raises(ConfigError, match=r"channel text cannot be encoded again as bfloat16 on device .*BFloat16"):
        probe_channels(run, task, [part], written, sight)


def test_a_probe_is_told_in_sentences() -> None:
    names = {"queries": 64.0, "items": 256.0, "ranks_compared": 70.0, "largest_vector_difference": 1.5e-7}
    still = {**names, **dict.fromkeys(STILL, 0.0), "largest_score_difference": 2e-7}
    moved = {**still, "ranks_changed": 3.0, "largest_rank_change": 0.5, "top_10_changed": 4.0, "vectors_lost": 1.0}
    probe = {
        "text": {f"{way}/{name}": n for way, of in (("batch_1", still), ("float16", moved)) for name, n in of.items()}
    }
    assert probe_lines(probe) == [
        "probe of channel text, batch size 1: 0 of 70 ranks change, 0 of 64 lists of ten; vectors differ by 1.5e-07 at "
        "most, scores by 2.0e-07 (256 items encoded again)",
        "probe of channel text, float16: 3 of 70 ranks change, by at most 0.5, 4 of 64 lists of ten; vectors differ by "
        "1.5e-07 at most, scores by 2.0e-07 (256 items encoded again); 1 vectors are lost",
    ]
    assert probe_lines({}) == []


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("probe=false", "probe_precision=float16"), "probe_precision is float16 without a probe; wanted probe=true"),
        (
            ("encoder@text=none", "encoder@lexical=bm25_words", "probe_precision=float16"),
            "none of the channels lexical has an encoder with the field precision",
        ),
    ],
)
def test_a_precision_without_a_probe_or_an_encoder_is_refused(
    tmp_path: Path, overrides: Sequence[str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        run_of(tmp_path, *overrides)


def test_a_run_without_vectors_may_be_probed_and_shows_nothing(tmp_path: Path, sight: Sight) -> None:
    run = run_of(tmp_path, "encoder@text=none", "encoder@lexical=bm25_words")
    task = Task("t", (Query("q", "a"),), (Item("p", None, "a"),), {"q": {"p": 1.0}}, "f")
    assert isinstance(run.metrics, Protocol)
    assert probe_channels(run, task, [], Written([("a",)], Pooling.mean), sight) == {}
    write_probe(tmp_path, run, {})
    assert stored_probe(tmp_path, run) == {}
