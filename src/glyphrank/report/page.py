"""`report.html`: one page that holds a run's numbers, its plots, and the queries worth a look with what they found.

It needs nothing beside itself: styles, script and pictures stand in it, and a policy in its head forbids it to load
anything. All that comes from data is escaped by the template.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glyphrank.known_secrets import hide
from glyphrank.outcome import Report
from glyphrank.redaction import REDACTED, redact, redact_text
from glyphrank.report.page_numbers import slices_of, tables_of
from glyphrank.report.page_plots import HEIGHT, WIDTH, bars_of, curves_of
from glyphrank.report.page_records import Page, Spot
from glyphrank.report.results import config_text
from glyphrank.report.table import COLUMNS, REVERSE
from glyphrank.whole_files import replace_whole

if TYPE_CHECKING:
    from jinja2 import Template

PAGE = "report.html"
_TEMPLATE, _STYLE, _SCRIPT = "page.html.j2", "page.css", "page.js"
_GENERATOR = '<meta name="generator" content="glyphrank">'
_HEAD = 1000
"""Bytes in which a page says who made it."""
_LONGEST, _LONGEST_SENTENCE = 200, 1000
"""Characters of an id or a value, and of a sentence that may name one, that are shown."""
_BEGINNING = 140
"""Characters of a longer text that stand without being unfolded."""
_MOST_LISTED = 200
"""Failed items and notes that the page lists."""
_ENCODERS = ("encoder@visual", "encoder@text", "encoder@lexical")
_STAGES = ("dataset", "frames", "ocr", "transcript", *_ENCODERS, "index", "fusion", "metrics")
"""Slots of the configuration as the pipeline comes to them."""
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]")
_KANA = re.compile("[\u3041-\u30ff]")


def write_page(path: Path, page: Page) -> None:
    """Writes the page whole; an OSError where it cannot be."""
    text = render(page)
    replace_whole(path, lambda new: new.write_text(text, encoding="utf-8"), durable=False)


def is_page(path: Path) -> bool:
    """Whether a file begins as the pages do that are written here; an OSError where it cannot be read."""
    with path.open("rb") as file:
        return _GENERATOR.encode() in file.read(_HEAD)


def render(page: Page) -> str:
    """The page as HTML."""
    report = page.report
    used = {placed.item_id for query in page.queries for placed in (*query.top, *query.relevant)}
    items = {item_id: page.items[item_id] for item_id in dict.fromkeys(page.items) if item_id in used}
    numbers = {item_id: number for number, item_id in enumerate(items)}
    shown = Counter(kind for query in page.queries for kind in query.kinds)
    text = _template().render(
        page=page,
        report=report,
        name=_clean(page.name),
        notes=[_sentence(note) for note in report.notes[:_MOST_LISTED]],
        failures=[(item, _sentence(why)) for item, why in islice(report.failures.items(), _MOST_LISTED)],
        config=_clean(config_text(redact(_own(report)))),
        choices={name.rpartition("@")[2]: choice for name, choice in _choices(report).items()},
        settings=_settings(report),
        headline=_headline(report),
        tables=tables_of(report),
        slices=slices_of(report),
        plots=curves_of(report),
        bars=bars_of(page.best_ranks, report.counts["items"]),
        width=WIDTH,
        height=HEIGHT,
        shown=shown,
        judged=report.counts["queries"] - report.counts.get("queries_without_relevant", 0),
        numbers=numbers,
        pictures=[item.pictures.images for item in items.values()],
        generator=_GENERATOR,
        style=_part(_STYLE),
        script=_part(_SCRIPT),
    )
    return "".join(sign if _may_stand(sign) else "\ufffd" for sign in text) if not _whole(text) else text


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    surroundings = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "language": language,
        "place": place,
        "score": score,
        "rank": rank,
        "grade": grade,
        "beginning": beginning,
        "chosen": chosen,
        "shortened": shortened,
        "sentence": _sentence,
        "clean": _clean,
        "lower_first": lambda text: text[:1].lower() + text[1:],
    }
    surroundings.filters.update(filters)
    return surroundings.get_template(_TEMPLATE)


def language(text: str) -> str | None:
    """The language of a text, for the choice of letters and of line breaks: `ko`, `ja`, or None where it is not told.

    >>> language("예산 2026"), language("budget")
    ('ko', None)
    """
    if _HANGUL.search(text):
        return "ko"
    return "ja" if _KANA.search(text) else None


def place(spot: Spot) -> str:
    """A rank, or the ranks between which an item lies with those that score as it does.

    >>> place(Spot(0.5, 3, 3)), place(Spot(0.5, 3, 7)), place(Spot(None))
    ('3', '3–7', '–')
    """
    if spot.score is None:
        return "–"
    return str(spot.first) if spot.first == spot.last else f"{spot.first}–{spot.last}"


def score(spot: Spot) -> str:
    """A score in four digits, or that there is none."""
    return "not retrieved" if spot.score is None else f"{spot.score:#.4g}"


def rank(value: float) -> str:
    """A rank, which ties may make a fraction."""
    return f"{value:.1f}".removesuffix(".0")


def grade(value: float) -> str:
    """How good a rank is: a class of the style."""
    return "good" if value <= 1 else "fair" if value <= 10 else "poor"


def beginning(text: str) -> str:
    """The first words of a longer text, on one line; a text that is short enough as it is."""
    line = " ".join(text.split())
    if len(line) <= _BEGINNING:
        return line
    return f"{line[:_BEGINNING].rsplit(' ', 1)[0]} …"


def chosen(values: Mapping[str, str], fields: Mapping[str, Sequence[str]]) -> str:
    """For each field the number of a query's value, or null, as JSON: not every sign can stand in an attribute.

    >>> chosen({"b": "y"}, {"a": ("x",), "b": ("x", "y")})
    '[null, 1]'
    """
    own = [(values.get(field), known) for field, known in fields.items()]
    return json.dumps([known.index(value) if value in known else None for value, known in own])


def shortened(text: str, most: int = _LONGEST) -> str:
    """The first characters of an id or a value, and how many more there are.

    >>> shortened("abc"), shortened("abc", 2)
    ('abc', 'ab … 1 more characters')
    """
    return text if len(text) <= most else f"{text[:most]} … {len(text) - most} more characters"


def _headline(report: Report) -> dict[str, str]:
    """The number that stands for the run, with its name and interval."""
    bare = report.primary.removeprefix(REVERSE)
    start = REVERSE if bare != report.primary else ""
    digits = 1 if bare.endswith("rank") else 3
    interval = report.intervals.get(report.primary)
    return {
        "name": start + COLUMNS.get(bare, bare),
        "value": f"{report.metrics[report.primary]:.{digits}f}",
        "interval": "–".join(f"{end:.{digits}f}" for end in interval) if interval else "",
    }


def _settings(report: Report) -> dict[str, str]:
    """What a person named: slot -> choice, and what of it was changed: field -> value."""
    return {**_choices(report), **{name: _clean(str(_field(report, name))) for name in report.changed}}


def _choices(report: Report) -> dict[str, str]:
    """Slot -> choice in the order of the stages; those that leave a slot empty, or only track, say nothing."""
    named = {name: choice for name, choice in report.choices.items() if choice not in ("none", None)}
    rest = [name for name in named if name not in _STAGES and name != "tracking"]
    return {name: _clean(str(named[name])) for name in (*_STAGES, *rest) if name in named}


def _field(report: Report, name: str) -> object:
    node: object = redact(_own(report))
    for step in name.split("."):
        node = node.get(step, "changed") if isinstance(node, Mapping) else "changed"
    return node


def _own(report: Report) -> dict[str, object]:
    return {name: node for name, node in report.config.items() if name != "hydra"}


def _clean(text: str) -> str:
    return hide(redact_text(text), REDACTED)


def _sentence(text: str) -> str:
    return shortened(_clean(text), _LONGEST_SENTENCE)


def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _whole(text: str) -> bool:
    return text.isprintable() or all(map(_may_stand, set(text)))


def _may_stand(sign: str) -> bool:
    """Whether HTML and UTF-8 can hold a sign: no half of a pair, no control but for white space."""
    return sign in "\n\t\r" or unicodedata.category(sign) not in ("Cc", "Cs")
