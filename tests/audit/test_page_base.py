"""A page base that is shifted by one is found by the words of queries and pages, and a right one is not accused."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from glyphrank.audit.page_base import check_page_base
from glyphrank.audit.records import Finding, Level
from glyphrank.audit.text_layers import text_layers
from glyphrank.datasets.folder import Folder
from glyphrank.datasets.sample_pages import SamplePages
from glyphrank.records import Item, Media, Task
from glyphrank.runtime import Runtime
from tasks import make_task

LETTERS = {"english": "abdeiklmnorstu", "korean": "가나다라마바사아자차카타파하고노도로모보소오조"}
DOCUMENTS, PAGES = 5, 6


def _task(language: str, seed: int, as_files: bool = False) -> Task:
    """Documents of six pages, which share half their words, and for each page a query of its words and others."""
    chance = random.Random(seed)
    length = 6 if language == "english" else 3
    words = ["".join(chance.choices(LETTERS[language], k=length)) for _ in range(400)]
    items: list[Item] = []
    queries: dict[str, str] = {}
    relevant: dict[str, list[str]] = {}
    for document in range(DOCUMENTS):
        common = chance.sample(words, 20)
        for page in range(1, PAGES + 1):
            name = f"{document}-{'abcdefg'[page]}" if as_files else f"문서 {document}_v2_{page}"
            media = Media(Path(f"/x/{document}.pdf"), page, name) if as_files else None
            own = chance.sample(words, 20)
            items.append(Item(name, media, " ".join(chance.sample([*own, *common], 40))))
            asked = [*chance.sample(own, 2), chance.choice(common), chance.choice(words), "the"]
            relevant[f"q{len(queries)}"] = [name]
            queries[f"q{len(queries)}"] = " ".join(asked)
    return make_task(queries, items, relevant)


def _shifted(task: Task, by: int) -> Task:
    """The task with every relevant page moved by some places, and none where that leads out of the document."""
    positions = {item.id: position for position, item in enumerate(task.items)}
    moved: dict[str, Mapping[str, float]] = {}
    for query, gains in task.relevant.items():
        places = [(positions[item] + by, gain) for item, gain in gains.items()]
        kept = {task.items[n].id: gain for n, gain in places if 0 <= n < len(task.items) and _is_near(task, n, n - by)}
        moved[query] = kept
    return replace(task, relevant=moved)


def _is_near(task: Task, first: int, second: int) -> bool:
    """Whether two items are pages of one document."""
    one, other = task.items[first], task.items[second]
    if one.media and other.media:
        return one.media.path == other.media.path
    return one.id.rpartition("_")[0] == other.id.rpartition("_")[0]


def _found(task: Task, texts: Sequence[str | None] | None = None) -> list[Finding]:
    return list(check_page_base(task, [item.text for item in task.items] if texts is None else texts))


@pytest.mark.parametrize("as_files", [False, True])
@pytest.mark.parametrize("language", LETTERS)
@pytest.mark.parametrize("seed", range(5))
def test_a_shift_by_one_is_seen_and_none_is_not(language: str, seed: int, as_files: bool) -> None:  # case M15
    task = _task(language, seed, as_files)
    assert _found(task) == []
    for by, side in ((1, "before"), (-1, "after")):
        (finding,) = _found(_shifted(task, by))
        assert (finding.level, finding.kind) == (Level.warning, "page_base")
        assert f"fit the page {side} the relevant one" in finding.message
        assert len(finding.ids) >= 15


def _lines(pages: range) -> dict[str, str]:
    """Pages that share a long line, each with a word of its own."""
    return {
        f"d_{page}": f"word{page} {' '.join(LETTERS['english'])} {'of a page of this document ' * 4}" for page in pages
    }


def test_the_sentence_has_the_counts() -> None:  # case M15
    queries = {f"q{page}": f"word{page}" for page in range(1, 13)}
    task = make_task(queries, _lines(range(14)), {f"q{page}": [f"d_{page + 1}"] for page in range(1, 13)})
    (finding,) = _found(task)
    assert finding.message == (
        "page numbers look shifted by one: of 12 queries that tell, 12 clearly fit the page before the relevant one "
        "and 0 the relevant one; does relevance count pages from 1 where the items count from 0?"
    )
    assert finding.ids == tuple(queries)


def test_fewer_than_ten_queries_are_no_evidence() -> None:
    relevant = {f"q{page}": [f"d_{page + 1}"] for page in range(1, 10)}
    task = make_task({f"q{page}": f"word{page}" for page in range(1, 10)}, _lines(range(12)), relevant)
    assert _found(task) == []


Page = Callable[[Sequence[str], Sequence[str]], Sequence[str]]
"""What stands on the relevant page, of the words of the topic and of sixty others."""


@pytest.mark.parametrize(
    "right_page",
    [
        pytest.param(lambda topic, own: ["그림", "1", topic[0]], id="chart with hardly a word"),
        pytest.param(lambda topic, own: own[:20], id="chart with few words"),
        pytest.param(lambda topic, own: [*own[:20], *map(str, range(60))], id="chart full of figures"),
        pytest.param(lambda topic, own: [topic[0], topic[1], *own[:40]], id="chart that names what it shows"),
        pytest.param(lambda topic, own: [*topic[:3], *own], id="heading"),
        pytest.param(lambda topic, own: ["\ufffd" * len(word) for word in own], id="garbled page"),
    ],
)
@pytest.mark.parametrize("side", [-1, 1])
def test_a_right_page_whose_neighbour_says_more_is_not_accused(right_page: Page, side: int) -> None:
    for seed in range(10):
        chance = random.Random(seed)
        words = [f"word{number}" for number in range(3000)]
        texts, queries, relevant = {}, {}, {}
        for document in range(15):
            topic = chance.sample(words, 6)
            for page in range(1, 8):
                own = chance.sample(words, 60)
                shown = {4: right_page(topic, own), 4 + side: [*topic, *own]}.get(page, [*own, *topic[:1]])
                texts[f"{document}_{page}"] = " ".join(shown)
            queries[f"q{document}"] = " ".join(topic)
            relevant[f"q{document}"] = [f"{document}_4"]
        assert _found(make_task(queries, texts, relevant)) == []


def test_pages_that_run_on_into_one_another_are_not_accused() -> None:
    for seed in range(10):
        chance = random.Random(seed)
        words = [f"word{number}" for number in range(3000)]
        pages: list[list[str]] = [chance.sample(words, 30)]
        for _ in range(40):
            pages.append([*pages[-1][15:], *chance.sample(words, 15)])
        asked = {f"q{n}": chance.randrange(41) for n in range(60)}
        queries = {query: " ".join(chance.sample(pages[page], 5)) for query, page in asked.items()}
        texts = {f"d_{n}": " ".join(page) for n, page in enumerate(pages)}
        assert _found(make_task(queries, texts, {query: [f"d_{page}"] for query, page in asked.items()})) == []


def test_queries_about_other_things_accuse_nobody() -> None:
    for seed in range(20):
        task = _task("english", seed)
        texts = list({query.text: query.id for query in task.queries})
        random.Random(seed).shuffle(texts)
        queries = tuple(replace(query, text=text) for query, text in zip(task.queries, texts, strict=True))
        assert _found(replace(task, queries=queries)) == []


def test_a_neighbour_that_is_relevant_too_is_no_reproach() -> None:
    texts = _lines(range(1, 32))
    queries = {f"q{page}": f"word{page + 1}" for page in range(1, 30)}
    relevant = {f"q{page}": [f"d_{page}", f"d_{page + 1}"] for page in range(1, 30)}
    assert _found(make_task(queries, texts, relevant)) == []


def test_pages_without_text_give_no_verdict_unless_published_ocr_stands_in() -> None:
    task = _shifted(_task("korean", 0), 1)
    assert _found(task, [None] * len(task.items)) == []
    read = tuple(replace(item, text="쪽", published_ocr=item.text) for item in task.items)
    assert len(_found(replace(task, items=read))) == 1
    assert len(_found(replace(task, items=read), [None] * len(read))) == 1


def test_items_that_are_no_pages_are_not_compared() -> None:
    task = _task("english", 0)
    names = {item.id: f"{item.id}.mp4" for item in task.items}
    items = tuple(replace(item, id=names[item.id]) for item in task.items)
    shifted = _shifted(task, 1)
    relevant = {query: {names[item]: gain for item, gain in gains.items()} for query, gains in shifted.relevant.items()}
    assert _found(replace(task, items=items, relevant=relevant)) == []


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    folder = tmp_path_factory.mktemp("pages")
    return Runtime("cpu", 1, 0, 60, 4, False, folder / "outputs", folder / "cache")


def _verdicts(task: Task) -> list[int]:
    """How many warnings there are for a task as it is, and shifted up and down."""
    texts = text_layers(task.items).texts
    return [len(_found(shifted, texts)) for shifted in (task, _shifted(task, 1), _shifted(task, -1))]


@pytest.mark.parametrize("pages", [12, 24])
def test_the_sample_pages_are_not_accused_and_shifted_ones_are(pages: int, runtime: Runtime) -> None:  # case M15
    assert _verdicts(SamplePages(pages, 7).load(runtime)) == [0, 1, 1]


@pytest.mark.shared
def test_a_real_guide_is_not_accused_and_a_shifted_one_is(runtime: Runtime, shared_data: Path) -> None:  # case M15
    assert _verdicts(Folder(shared_data / "guide_ko", "test").load(runtime)) == [0, 1, 1]
