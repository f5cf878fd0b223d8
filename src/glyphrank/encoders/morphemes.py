"""Korean morphemes by Kiwi (github.com/bab2min/kiwipiepy): nouns and stems without their particles."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from glyphrank.encoders.plain import plain
from glyphrank.packages import import_package

_PART = re.compile(r"\w+")


@dataclass(frozen=True)
class Morphemes:
    """The forms of morphemes with given parts of speech, in lower case.

    Kiwi takes dates, versions, addresses and the like for one morpheme each (tags W_SERIAL, W_URL, ...). These give
    their whole form and its parts between signs: `2024.05.03` gives itself, `2024`, `05` and `03`, so that an exact
    match weighs most and `2024-05-03` or `2024` still match. On a Korean manual of 151 pages (568 such morphemes, none
    in its 228 queries) hit rates at 1, 5 and 10 are .570, .846 and .917; with whole forms alone .566, .851 and .921;
    without these morphemes, when no date can be found, .570, .851 and .921: one query more or less.

    One thread works at a time; the results of Kiwi do not depend on how many there are.

    Attributes:
        tags: beginnings of the tags that are kept, in the Sejong tag set and Kiwi's own: `N` keeps NNG, NNP, NNB, NR
            and NP; `W_` keeps W_SERIAL (dates, versions, IP addresses), W_URL, W_EMAIL, W_HASHTAG, W_MENTION, W_EMOJI.
    """

    VERSION: ClassVar[int] = 2
    PACKAGES: ClassVar[tuple[str, ...]] = ("kiwipiepy", "kiwipiepy_model")

    tags: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.tags or not all(self.tags):
            raise ValueError(f"tags is {self.tags}; wanted at least one, and none empty")

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """For each text its morphemes; `서울은` gives `서울`, the particle `은` (JX) falls away."""
        return [self._forms(plain(text)) for text in texts]

    def _forms(self, text: str) -> list[str]:
        if not text or text.isspace():
            return []
        kept = [token for token in _kiwi().tokenize(text) if token.tag.startswith(self.tags)]
        return [form for token in kept for form in _with_parts(token.form.lower(), token.tag)]


def _with_parts(form: str, tag: str) -> list[str]:
    """A form, and its parts where it is one of Kiwi's patterns and has several."""
    parts = _PART.findall(form) if tag.startswith("W_") else []
    return [form, *(part for part in parts if part != form)]


@functools.cache
def _kiwi() -> Any:
    """The analyser with its model (about 2 s to load), once a process."""
    with warnings.catch_warnings():
        # Zero workers means that no thread stays behind for a forked child to wait on; the package warns each time
        # that zero once meant something else.
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_package("kiwipiepy", "kiwipiepy").Kiwi(num_workers=0)
