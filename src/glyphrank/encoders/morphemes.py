"""Korean morphemes by Kiwi (github.com/bab2min/kiwipiepy): nouns and stems without their particles."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from glyphrank.encoders.plain import plain


@dataclass(frozen=True)
class Morphemes:
    """The forms of morphemes with given parts of speech, in lower case.

    One thread works at a time; the results of Kiwi do not depend on how many there are.

    Attributes:
        tags: beginnings of the tags that are kept, in the Sejong tag set: `N` keeps NNG, NNP, NNB, NR and NP.
    """

    VERSION: ClassVar[int] = 1
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
        return [token.form.lower() for token in _kiwi().tokenize(text) if token.tag.startswith(self.tags)]


@functools.cache
def _kiwi() -> Any:
    """The analyser with its model (about 2 s to load), once a process."""
    from kiwipiepy import Kiwi

    with warnings.catch_warnings():
        # Zero workers means that no thread stays behind for a forked child to wait on; the package warns each time
        # that zero once meant something else.
        warnings.simplefilter("ignore", DeprecationWarning)
        return Kiwi(num_workers=0)
