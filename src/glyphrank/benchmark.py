"""Published evaluations that say what may be seen, so that nothing else can be reported under their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from glyphrank.records import Source, View


class Benchmark(StrEnum):
    """Whose rules for channels are known.

    Sources: the cards of SDS KoPub VDR (arXiv:2511.04910) and TextVR (arXiv:2305.03347).
    """

    kopub_task1 = "kopub_task1"
    kopub_task2 = "kopub_task2"
    textvr = "textvr"


_ALLOWED: Mapping[Benchmark, tuple[tuple[View, ...], tuple[Source, ...]]] = {
    Benchmark.kopub_task1: ((View.text,), (Source.embedded, Source.published)),
    Benchmark.kopub_task2: ((View.frames,), tuple(Source)),
    Benchmark.textvr: (tuple(View), (Source.published, Source.scene)),
}
"""Views, and sources of text."""


def check_allowed(benchmark: Benchmark, views: Sequence[View], sources: Sequence[Source]) -> None:
    """Refuses what a benchmark does not let a channel see.

    Raises:
        ValueError: a view or a source is not among those that it allows.
    """
    for name, asked, allowed in zip(("views", "sources"), (views, sources), _ALLOWED[benchmark], strict=True):
        if not set(asked) <= set(allowed):
            raise ValueError(
                f"{name} is {', '.join(asked)}, but {benchmark} allows {', '.join(allowed)} only; choose metrics=pages "
                "or metrics=clips for numbers that bear no benchmark's name"
            )
