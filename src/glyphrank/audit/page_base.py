"""Whether relevance counts pages from another number than the corpus does: the right page would be a neighbour."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from glyphrank.audit.records import Finding, Level
from glyphrank.garble import judge
from glyphrank.ids import nfc
from glyphrank.records import Item, Task, TextState

FEWEST = 10
"""Queries that must tell for one page, or there is no verdict."""
MOST = 0.8
"""Share of them that a neighbour must win. Were all three pages equally good, 8 of 10 would have a chance of 0.3 %."""
CLEARLY = 0.1
"""Share of a query's weight by which a page must fit better than the others to win."""
HARDLY = 0.05
"""Share by which the relevant page may fit better than the page beyond the neighbour, in the mean. Shifted sample pages
have up to .003, shifted corpora of random words .05 (but for 1 of 600); a heading with half of the words has .3."""
SHORT = 0.5
"""Part of the neighbour's words that the pages it is compared with must have, or their lack of words tells nothing."""
THIN, GARBLED = 100, 0.1
"""`thin_below` and `garbled_above` of `garble.judge` for the text of a page that is compared."""

_WORD = re.compile(r"\w+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_NEIGHBOURS = {-1: ("before", "1 where the items count from 0"), 1: ("after", "0 where the items count from 1")}

Place = tuple[str, int]
"""A document and the number of a page in it."""


def check_page_base(
    task: Task, layers: Sequence[str | None], thin_below: int = THIN, garbled_above: float = GARBLED
) -> Iterator[Finding]:
    """A warning where the page before, or the page after, fits the queries clearly better than the relevant page.

    Pages are items of one file with a page each, or items whose ids are alike but for a number after the last `_`. The
    words of a query (pairs of letters, in Hangul) weigh by how rare they are among the pages that are looked at, and a
    page fits as well as the share of that weight that it holds. Each query has one vote, for the page that fits clearly
    best; a neighbour that is relevant itself is not compared.

    The right page may well say less than its neighbour: a chart is discussed on the page before, a heading elaborated
    on the page after. So a neighbour gets a vote only where neither the relevant page nor the one beyond the neighbour
    is short beside it, and it is accused only if over its votes the relevant page hardly fits better than the one
    beyond: under a shift these are merely the two pages beside the right one, while a right page knows more of what is
    asked. Pages that are thin or garbled do not vote. A document whose right pages share no word with what is asked of
    them, and their neighbours all, cannot be told from a shifted one.

    Args:
        layers: (n,) text layer of each item, None where it has none; the published OCR text stands in for one that is
            thin or garbled.
        thin_below, garbled_above: as for `garble.judge`.
    """
    asked = _asked(task, _pages(task.items))
    needed = sorted({n for one in asked for positions in one.pages.values() for n in positions})
    words = {n: _words(_text(task.items[n], layers[n], thin_below, garbled_above)) for n in needed}
    weights = _weights(list(words.values()))
    votes = {one.query: vote for one in asked if (vote := _vote(one, words, weights)) is not None}
    told = Counter(vote.shift for vote in votes.values())
    total = sum(told.values())
    for shift, (where, hint) in _NEIGHBOURS.items():
        leads = {query: vote.lead for query, vote in votes.items() if vote.shift == shift}
        if total >= FEWEST and len(leads) >= MOST * total and sum(leads.values()) <= HARDLY * len(leads):
            message = (
                f"page numbers look shifted by one: of {total} queries that tell, {len(leads)} clearly fit the page "
                f"{where} the relevant one and {told[0]} the relevant one; does relevance count pages from {hint}?"
            )
            yield Finding(Level.warning, "page_base", message, tuple(leads))


@dataclass(frozen=True)
class _Asked:
    """A query, and the positions of its relevant pages (under 0), their neighbours (-1, 1) and those beyond (-2, 2)."""

    query: str
    text: str
    pages: Mapping[int, Sequence[int]]


def _pages(items: Sequence[Item]) -> dict[int, Place]:
    """Position of an item -> which page of which document it is, for those that are pages."""
    found: dict[int, Place] = {}
    for position, item in enumerate(items):
        head, mark, tail = item.id.rpartition("_")
        if item.media is not None and item.media.page is not None:
            found[position] = (str(item.media.path), item.media.page)
        elif mark and tail.isascii() and tail.isdigit():
            found[position] = (f"{nfc(head)}_", int(tail))
    return found


def _asked(task: Task, pages: Mapping[int, Place]) -> list[_Asked]:
    """The queries whose relevant items are pages."""
    positions = {nfc(item.id): position for position, item in enumerate(task.items)}
    at = {place: position for position, place in pages.items()}
    relevant = {nfc(query): [positions[nfc(item)] for item in gains] for query, gains in task.relevant.items()}
    found = []
    for query in task.queries:
        own = [n for n in relevant.get(nfc(query.id), []) if n in pages]
        found_pages: dict[int, list[int]] = {0: own}
        for shift in (-1, 1, -2, 2):
            places = [(document, number + shift) for document, number in (pages[n] for n in own)]
            nearer = {*own, *found_pages.get(shift // 2, [])} if shift % 2 == 0 else {*own}
            found_pages[shift] = [at[place] for place in places if place in at and at[place] not in nearer]
        if own:
            found.append(_Asked(query.id, query.text, found_pages))
    return found


def _text(item: Item, layer: str | None, thin_below: int, garbled_above: float) -> str:
    """The text layer, or the published OCR text, whichever first is worth comparing; else nothing."""
    for text in (layer, item.published_ocr):
        if isinstance(text, str) and judge(text, thin_below, garbled_above) is TextState.text:
            return text
    return ""


def _words(text: str) -> frozenset[str]:
    """The different words of a text in lower case; of words with Hangul their pairs of letters."""
    found: set[str] = set()
    for word in _WORD.findall(nfc(text).lower()):
        if _HANGUL.search(word) and len(word) > 2:
            found.update(word[start : start + 2] for start in range(len(word) - 1))
        else:
            found.add(word)
    return frozenset(found)


def _weights(pages: Sequence[frozenset[str]]) -> dict[str, float]:
    """How rare each word is: the logarithm of the pages for each page that holds it."""
    holding = Counter(word for words in pages for word in words)
    return {word: math.log((len(pages) + 1) / (count + 0.5)) for word, count in holding.items()}


@dataclass(frozen=True)
class _Fit:
    """How much of a query's weight a page holds, and how many of its words are no mere figures."""

    share: float
    size: int


@dataclass(frozen=True)
class _Vote:
    """For which page a query tells, and by how much the relevant page fits better than the one beyond that page."""

    shift: int
    lead: float


def _vote(asked: _Asked, words: Mapping[int, frozenset[str]], weights: Mapping[str, float]) -> _Vote | None:
    """The vote of a query: 0 for the relevant page, -1 or 1 for a neighbour, None where it does not tell."""
    unseen = math.log(2 * (len(words) + 1))
    wanted = {word: weights.get(word, unseen) for word in _words(asked.text)}
    total = sum(wanted.values())
    if not total:
        return None
    fits = {
        shift: max((_fit(words[n], wanted, total) for n in readable), key=lambda fit: fit.share)
        for shift, positions in asked.pages.items()
        if (readable := [n for n in positions if words[n]])
    }
    compared = sorted((shift for shift in (0, *_NEIGHBOURS) if shift in fits), key=lambda shift: -fits[shift].share)
    if 0 not in compared or len(compared) < 2:
        return None
    best, second = compared[:2]
    if fits[best].share - fits[second].share <= CLEARLY:
        return None
    if best == 0:
        return _Vote(0, 0.0)
    beyond = fits.get(2 * best)
    if beyond is None or min(fits[0].size, beyond.size) < SHORT * fits[best].size:
        return None
    return _Vote(best, fits[0].share - beyond.share)


def _fit(page: frozenset[str], wanted: Mapping[str, float], total: float) -> _Fit:
    held = sum(weight for word, weight in wanted.items() if word in page)
    return _Fit(held / total, sum(not word.isdecimal() for word in page))
