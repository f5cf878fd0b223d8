"""Whether relevance counts pages from another number than the corpus does: the right page would be a neighbour."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from glyphrank.audit.records import Finding, Level
from glyphrank.ids import nfc
from glyphrank.records import Item, Task

FEWEST = 10
"""Queries that must tell for one page, or there is no verdict."""
MOST = 0.75
"""Share of them that a neighbour must win. Were all three pages equally good, 8 of 10 would have a chance of 0.3 %."""
CLEARLY = 0.1
"""Share of a query's weight by which a page must fit better than the others to win."""

_WORD = re.compile(r"\w+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_NEIGHBOURS = {-1: ("before", "1 where the items count from 0"), 1: ("after", "0 where the items count from 1")}

Place = tuple[str, int]
"""A document and the number of a page in it."""


def check_page_base(task: Task, layers: Sequence[str | None]) -> Iterator[Finding]:
    """A warning where the page before, or the page after, fits the queries clearly better than the relevant page.

    Pages are items of one file with a page each, or items whose ids are alike but for a number after the last `_`. The
    words of a query (pairs of letters, in Hangul) weigh by how rare they are among the pages that are looked at, and a
    page fits as well as the share of that weight that it holds. Each query has one vote, for the page that fits clearly
    best; a neighbour that is relevant itself is not compared. A query whose page or whose neighbours have no text, or
    that tells for none of them, does not vote.

    Args:
        layers: (n,) text layer of each item, None where it has none; the published OCR text stands in for it.
    """
    asked = _asked(task, _pages(task.items))
    needed = sorted({n for one in asked for positions in one.pages.values() for n in positions})
    words = {n: _words(_text(task.items[n], layers[n])) for n in needed}
    weights = _weights(list(words.values()))
    votes = [_vote(one, words, weights) for one in asked]
    told = Counter(vote for vote in votes if vote is not None)
    total = sum(told.values())
    for shift, (where, hint) in _NEIGHBOURS.items():
        if total >= FEWEST and told[shift] >= MOST * total:
            ids = tuple(one.query for one, vote in zip(asked, votes, strict=True) if vote == shift)
            message = (
                f"page numbers look shifted by one: of {total} queries that tell, {told[shift]} clearly fit the page "
                f"{where} the relevant one and {told[0]} the relevant one; does relevance count pages from {hint}?"
            )
            yield Finding(Level.warning, "page_base", message, ids)


@dataclass(frozen=True)
class _Asked:
    """A query, and the positions of its relevant pages (under 0) and of their neighbours (under -1 and 1)."""

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
        beside = {
            shift: [
                at[document, number + shift]
                for document, number in (pages[n] for n in own)
                if (document, number + shift) in at and at[document, number + shift] not in own
            ]
            for shift in _NEIGHBOURS
        }
        if own:
            found.append(_Asked(query.id, query.text, {0: own, **beside}))
    return found


def _text(item: Item, layer: str | None) -> str:
    read = item.published_ocr if isinstance(item.published_ocr, str) else ""
    return layer if layer and layer.strip() else read


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


def _vote(asked: _Asked, words: Mapping[int, frozenset[str]], weights: Mapping[str, float]) -> int | None:
    """For which page a query tells: 0 for the relevant one, -1 or 1 for a neighbour, None for none of them."""
    unseen = math.log(2 * (len(words) + 1))
    wanted = {word: weights.get(word, unseen) for word in _words(asked.text)}
    total = sum(wanted.values())
    fits = {
        shift: max(sum(weight for word, weight in wanted.items() if word in words[n]) for n in readable) / total
        for shift, positions in asked.pages.items()
        if total and (readable := [n for n in positions if words[n]])
    }
    if 0 not in fits or len(fits) < 2:
        return None
    best, second = sorted(fits, key=lambda shift: -fits[shift])[:2]
    return best if fits[best] - fits[second] > CLEARLY else None
