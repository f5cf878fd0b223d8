"""From topics to pages of invented reports: numbers are drawn, templates are filled, queries are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

YEAR = 2025


@dataclass(frozen=True)
class Topic:
    """What a page is about, as templates; the same topic returns for every place.

    Templates may name `{place}`, `{other}` (the place compared with), `{year}`, `{last}` (the year before), `{total}`,
    `{total_last}`, `{change}` (by how much the total rose or fell), `{top}` and `{top_value}` (largest row of the
    table), `{peak}`, `{peak_value}`, `{dip}` (highest and lowest mark of the chart), `{extra}`, `{other_total}`.

    Attributes:
        table: title, with its unit.
        rows: labels of the table's rows.
        amounts: least and greatest value of a cell.
        chart: title, with its unit.
        marks: labels of the chart's axis.
        levels: least and greatest value of a mark.
        extras: least and greatest `{extra}`.
        asked: type of query -> its two wordings, taken in turn by place.
        everywhere: a query that every page of the topic answers; None for most topics.
        comparison: a sentence that the first place's page alone has, and the query for it.
    """

    heading: str
    paragraphs: tuple[str, ...]
    table: str
    rows: tuple[str, ...]
    amounts: tuple[int, int]
    chart: str
    marks: tuple[str, ...]
    levels: tuple[int, int]
    extras: tuple[int, int]
    asked: Mapping[str, tuple[str, str]]
    everywhere: str | None = None
    comparison: tuple[str, str] | None = None


@dataclass(frozen=True)
class Language:
    """One language of the sample: its topics, the places they are told of, and the words that all pages share."""

    code: str
    topics: tuple[Topic, ...]
    places: tuple[str, ...]
    title: str
    note: str
    row_head: str
    total: str
    more: str
    less: str


@dataclass(frozen=True)
class Page:
    """One page, ready to be drawn.

    Attributes:
        number: page of its document, from 1.
        years: heads of the table's columns, oldest first.
        cells: for each row of the table its label and a value for each year; the last row is the total.
        bars: value of each mark of the chart.
    """

    language: str
    title: str
    note: str
    number: int
    heading: str
    paragraphs: tuple[str, ...]
    table: str
    row_head: str
    years: tuple[int, ...]
    cells: tuple[tuple[str, tuple[int, ...]], ...]
    chart: str
    marks: tuple[str, ...]
    bars: tuple[int, ...]


@dataclass(frozen=True)
class Question:
    """A query with its slices and the gains of pages, named by (number of the document, number of the page)."""

    text: str
    language: str
    type: str
    gains: Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class _Numbers:
    """What was drawn for one topic in one place."""

    cells: tuple[tuple[int, ...], ...]
    bars: tuple[int, ...]
    extra: int

    @property
    def totals(self) -> tuple[int, ...]:
        return tuple(sum(column) for column in zip(*self.cells, strict=True))


def documents(languages: Sequence[Language], pages: int, seed: int) -> list[list[Page]]:
    """`pages` pages in documents of one place each; documents take the languages in turn.

    Equal arguments give equal pages.
    """
    return [
        [_page(language, place, number, seed) for number in range(count)]
        for language, place, count in _plan(languages, pages)
    ]


def questions(languages: Sequence[Language], pages: int, seed: int) -> list[Question]:
    """The queries that the pages of `documents` answer, page by page, then those that several pages answer."""
    plan = _plan(languages, pages)
    single = [
        Question(_ask(language, place, topic, kind, seed), language.code, kind, {(number, topic + 1): 1})
        for number, (language, place, count) in enumerate(plan)
        for topic in range(count)
        for kind in ("text", "table", "chart")
    ]
    return single + [question for language in languages for question in _shared(language, plan)]


def _plan(languages: Sequence[Language], pages: int) -> list[tuple[Language, int, int]]:
    """For each document its language, the number of its place and how many pages it has."""
    plan: list[tuple[Language, int, int]] = []
    left = pages
    while left > 0:
        language = languages[len(plan) % len(languages)]
        plan.append((language, len(plan) // len(languages), min(left, len(language.topics))))
        left -= len(language.topics)
    return plan


def _shared(language: Language, plan: Sequence[tuple[Language, int, int]]) -> list[Question]:
    """Queries that pages of two or more documents answer."""
    found: list[Question] = []
    for number, topic in enumerate(language.topics):
        pages = [
            (document, number + 1)
            for document, (other, _, count) in enumerate(plan)
            if other is language and number < count
        ]
        if len(pages) > 1 and topic.everywhere:
            found.append(Question(topic.everywhere, language.code, "text", dict.fromkeys(pages, 1)))
        if len(pages) > 1 and topic.comparison:
            query = topic.comparison[1].format(place=language.places[0], other=language.places[1])
            found.append(Question(query, language.code, "text", {pages[0]: 2, pages[1]: 1}))
    return found


def _page(language: Language, place: int, number: int, seed: int) -> Page:
    topic = language.topics[number]
    numbers = _draw(topic, language.places[place], seed)
    words = _words(language, place, topic, seed)
    paragraphs = [*topic.paragraphs, *([topic.comparison[0]] if topic.comparison and place == 0 else [])]
    rows = zip((*topic.rows, language.total), (*numbers.cells, numbers.totals), strict=True)
    return Page(
        language=language.code,
        title=language.title.format(**words),
        note=language.note.format(**words),
        number=number + 1,
        heading=topic.heading,
        paragraphs=tuple(paragraph.format(**words) for paragraph in paragraphs),
        table=topic.table,
        row_head=language.row_head,
        years=(YEAR - 2, YEAR - 1, YEAR),
        cells=tuple(rows),
        chart=topic.chart,
        marks=topic.marks,
        bars=numbers.bars,
    )


def _ask(language: Language, place: int, number: int, kind: str, seed: int) -> str:
    topic = language.topics[number]
    wordings = topic.asked[kind]
    return wordings[place % len(wordings)].format(**_words(language, place, topic, seed))


def _draw(topic: Topic, place: str, seed: int) -> _Numbers:
    """Numbers for a topic in a place; they depend on nothing else, so that pages may quote one another."""
    # Random.random is the one method whose sequence Python promises to keep for a seed.
    source = Random(f"{seed}/{place}/{topic.heading}").random  # noqa: S311 -- invented figures, no secret

    def between(bounds: tuple[int, int]) -> int:
        return bounds[0] + int(source() * (bounds[1] - bounds[0] + 1))

    cells = []
    for _ in topic.rows:
        first = between(topic.amounts)
        second = round(first * (0.9 + 0.25 * source()))
        cells.append((first, second, round(second * (0.9 + 0.25 * source()))))
    return _Numbers(tuple(cells), tuple(between(topic.levels) for _ in topic.marks), between(topic.extras))


def _words(language: Language, place: int, topic: Topic, seed: int) -> dict[str, str]:
    """What templates may name, as text."""
    numbers = _draw(topic, language.places[place], seed)
    other = language.places[1 if place == 0 else 0]
    total, last = numbers.totals[-1], numbers.totals[-2]
    newest = [row[-1] for row in numbers.cells]
    change = language.more if total >= last else language.less
    return {
        "place": language.places[place],
        "other": other,
        "year": str(YEAR),
        "last": str(YEAR - 1),
        "total": f"{total:,}",
        "total_last": f"{last:,}",
        "change": change.format(percent=f"{abs(total - last) / last:.1%}".replace("%", " %")),
        "top": topic.rows[newest.index(max(newest))],
        "top_value": f"{max(newest):,}",
        "peak": topic.marks[numbers.bars.index(max(numbers.bars))],
        "peak_value": f"{max(numbers.bars):,}",
        "dip": topic.marks[numbers.bars.index(min(numbers.bars))],
        "extra": f"{numbers.extra:,}",
        "other_total": f"{_draw(topic, other, seed).totals[-1]:,}",
    }
