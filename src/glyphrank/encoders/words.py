r"""Analysers that need no dictionary: words, and the character n-grams of words.

A word is a run of `\w` of the NFC form, in lower case. In Korean that is an eojeol, particles included, so that
`서울은` and `서울` differ as words and share the 2-gram `서울`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from glyphrank.encoders.plain import plain

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Words:
    """Words in lower case, in order and with repeats."""

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """For each text its words.

        >>> Words().tokens(["표 3. GNU/리눅스란?", ""])
        [['표', '3', 'gnu', '리눅스란'], []]
        """
        return [_words(text) for text in texts]


@dataclass(frozen=True)
class Ngrams:
    """Runs of `n` characters inside words; a word of fewer characters stays whole, so that `표` can be found.

    Attributes:
        n: characters in a token, at least 1.
    """

    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()

    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError(f"n is {self.n}; wanted at least 1")

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """For each text the n-grams of its words.

        >>> Ngrams(n=2).tokens(["서울은 표"])
        [['서울', '울은', '표']]
        """
        return [[gram for word in _words(text) for gram in self._grams(word)] for text in texts]

    def _grams(self, word: str) -> list[str]:
        return [word[start : start + self.n] for start in range(max(1, len(word) - self.n + 1))]


def _words(text: str) -> list[str]:
    # Lower case comes after cutting: it turns some letters into a letter and a mark, and a mark is not in \w.
    return [word.lower() for word in _WORD.findall(plain(text))]
